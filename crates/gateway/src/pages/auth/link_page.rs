//! The page behind the link of an e-mail. It has no script and is the same for whoever only looks: what it does, its button does.

use atelier_contract::Refusal;
use atelier_contract::pages::people::Language;
use atelier_engine::LinkPage;
use hyper::StatusCode;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
};

use crate::http::reply::{self, Reply};

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);
const NOT_KEPT: HeaderValue = HeaderValue::from_static("no-store");
/// The word in the address goes to nobody else, and a form says which page it is on.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// The words of the page in one language.
struct PageWords {
    sign_in: &'static str,
    as_whom: &'static str,
    button: &'static str,
    code: &'static str,
    code_text: &'static str,
    code_warning: &'static str,
    invitation: &'static str,
    into: &'static str,
    open: &'static str,
    accept: &'static str,
    known: &'static str,
    over: &'static str,
    over_text: &'static str,
    console: &'static str,
}

/// The page of a link.
pub(super) fn reply(language: Language, word: &str, found: &LinkPage) -> Reply {
    let words = words(language);
    let (title, body) = match found {
        LinkPage::Here { email } => {
            let text = words.as_whom.replace("{email}", &escaped(email));
            (
                words.sign_in,
                format!("<p>{text}</p>{}", button(word, words.button)),
            )
        }
        LinkPage::Elsewhere { code } => {
            let (first, last) = code.split_at(code.len() / 2);
            let body = format!(
                "<p>{}</p><p class=\"code\">{first} {last}</p><p class=\"dim\">{}</p>",
                words.code_text, words.code_warning
            );
            (words.code, body)
        }
        LinkPage::Invitation { email, account } => {
            let text = match account {
                Some(account) => words.into.replace("{account}", &escaped(account)),
                None => words.open.to_owned(),
            };
            let text = text.replace("{email}", &escaped(email));
            let body = format!("<p>{text}</p>{}", button(word, words.accept));
            (words.invitation, body)
        }
        LinkPage::KnownInvitation { email, .. } => {
            let text = words.known.replace("{email}", &escaped(email));
            (
                words.invitation,
                format!("<p>{text}</p>{}", to_console(words)),
            )
        }
        LinkPage::Over => {
            let body = format!("<p>{}</p>{}", words.over_text, to_console(words));
            (words.over, body)
        }
    };
    page(language, title, &body)
}

/// What is shown when a button could not do what it says.
pub(super) fn refused(language: Language, refusal: &Refusal) -> Reply {
    let words = words(language);
    let body = format!("<p>{}</p>{}", escaped(&refusal.message), to_console(words));
    let mut reply = page(language, words.over, &body);
    let status = StatusCode::from_u16(refusal.code.status());
    *reply.status_mut() = status.unwrap_or(StatusCode::BAD_REQUEST);
    reply
}

fn button(word: &str, label: &str) -> String {
    format!(
        "<form method=\"post\" action=\"/auth/v1/link/{}\"><button class=\"button make\"><b>{label}</b></button></form>",
        escaped(word)
    )
}

fn to_console(words: &PageWords) -> String {
    format!(
        "<p><a class=\"button\" href=\"/console/\">{}</a></p>",
        words.console
    )
}

fn page(language: Language, title: &str, body: &str) -> Reply {
    let text = format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · Atelier</title>\n<link rel=\"stylesheet\" href=\"/console/style.css\">\n</head>\n<body>\n\
         <main class=\"sign-in\"><div class=\"card\"><p class=\"brand\">Atelier<b>.</b></p>\n<h1>{title}</h1>\n{body}\n</div></main>\n\
         </body>\n</html>\n",
        language.word()
    );
    let mut reply = reply::text("text/html; charset=utf-8", text);
    let headers = reply.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(CACHE_CONTROL, NOT_KEPT);
    headers.insert(REFERRER_POLICY, SAME_ORIGIN);
    headers.insert(ROBOTS, HeaderValue::from_static("noindex"));
    reply
}

/// A text whose words cannot become HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn words(language: Language) -> &'static PageWords {
    match language {
        Language::English => &PageWords {
            sign_in: "Sign in",
            as_whom: "You are about to sign in as <b>{email}</b>.",
            button: "Sign in",
            code: "Your code",
            code_text: "This is not the browser in which the link was asked for. Type this code there:",
            code_warning: "Type it only on the page where you asked for the link yourself, and tell it to nobody.",
            invitation: "Invitation",
            into: "Join the account <b>{account}</b> as <b>{email}</b>?",
            open: "Create an account for <b>{email}</b>?",
            accept: "Accept",
            known: "Sign in as <b>{email}</b> to accept the invitation.",
            over: "This link does not work",
            over_text: "It was used, it is over, or it was taken back. Ask for another one.",
            console: "To the console",
        },
        Language::German => &PageWords {
            sign_in: "Anmelden",
            as_whom: "Sie melden sich als <b>{email}</b> an.",
            button: "Anmelden",
            code: "Ihr Code",
            code_text: "Dies ist nicht der Browser, in dem der Link angefordert wurde. Geben Sie dort diesen Code ein:",
            code_warning: "Geben Sie ihn nur auf der Seite ein, auf der Sie den Link selbst angefordert haben, und nennen Sie ihn niemandem.",
            invitation: "Einladung",
            into: "Dem Konto <b>{account}</b> als <b>{email}</b> beitreten?",
            open: "Ein Konto für <b>{email}</b> anlegen?",
            accept: "Annehmen",
            known: "Melden Sie sich als <b>{email}</b> an, um die Einladung anzunehmen.",
            over: "Dieser Link funktioniert nicht",
            over_text: "Er wurde benutzt, ist abgelaufen oder wurde zurückgezogen. Fordern Sie einen neuen an.",
            console: "Zur Konsole",
        },
        Language::Chinese => &PageWords {
            sign_in: "登录",
            as_whom: "您将以 <b>{email}</b> 登录。",
            button: "登录",
            code: "您的验证码",
            code_text: "这不是请求链接的浏览器。请在那里输入此验证码：",
            code_warning: "只在您自己请求链接的页面上输入，不要告诉任何人。",
            invitation: "邀请",
            into: "以 <b>{email}</b> 加入账户 <b>{account}</b>？",
            open: "为 <b>{email}</b> 创建账户？",
            accept: "接受",
            known: "请以 <b>{email}</b> 登录以接受邀请。",
            over: "此链接无效",
            over_text: "它已被使用、已过期或已被撤回。请重新请求。",
            console: "前往控制台",
        },
    }
}
