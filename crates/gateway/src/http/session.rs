//! Sessions of the console: a cookie that scripts cannot read stands for a key or an operator's token. What changes
//! something also carries a proof that only a page of this service can have read, whatever the method.

use std::sync::Arc;

use atelier_contract::pages::Access;
use atelier_contract::{Code, Refusal, Scope};
use atelier_engine::{Caller, Principal, SessionCredential, SignInBrowser, key};
use hyper::Method;
use hyper::header::{CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use subtle::ConstantTimeEq as _;

use super::caller;
use super::denial::Denial;
use super::names;
use super::request::IncomingRequest;
use crate::app::App;
use crate::server::proxies;

const NAME: &str = "atelier_session";
const PROOF: HeaderName = HeaderName::from_static("x-csrf-token");
/// The word of a browser in which somebody is about to sign in.
const BROWSER: &str = "atelier_browser";
/// As long as a session can last, in seconds.
const MOST_S: u64 = 7 * 24 * 3600;
/// The same of a person who signed in.
const PERSON_MOST_S: u64 = 30 * 24 * 3600;
/// As long as a sign-in can be finished.
const BROWSER_S: u64 = 15 * 60;
const TOO_MANY: &str = "this key opened too many sessions within the hour; wait";

/// Who a request's session stands for; nobody when it carries a key or a token itself, which then decides.
pub(super) async fn visitor(
    app: &Arc<App>,
    access: Access,
    received: &IncomingRequest,
) -> Result<Option<Principal>, Denial> {
    let headers = &received.head.headers;
    if caller::has_credential(headers) {
        return Ok(None);
    }
    // What cannot be a session is none, and nobody is asked.
    let Some(word) = session_token(headers).filter(|word| key::well_formed_session(word)) else {
        return Ok(None);
    };
    caller::before_asking(app, received, word).await?;
    let visitor = app
        .engine
        .admin()
        .sessions()
        .visitor(word, &app.root_hash)
        .await?;
    if visitor.is_none() {
        // One that is made up costs as much as a wrong key.
        caller::count_wrong(app, received.from)?;
    }
    // Some calls of other services make a job although they read by their method.
    let reads = matches!(received.head.method, Method::GET | Method::HEAD)
        && !matches!(access, Access::Caller(Scope::Submit) | Access::Operator);
    if visitor.is_some() && !reads {
        check_csrf_token(app, headers, word)?;
    }
    Ok(visitor)
}

/// Refuses to open a session for a page of another origin, which would have its visitor work in somebody else's name. Such
/// a page cannot say that it sends JSON without asking first.
pub(crate) fn only_from_own_pages(app: &App, received: &IncomingRequest) -> Result<(), Refusal> {
    only_by_own_pages(app, received)?;
    let media_type = received.head.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let name = media_type.and_then(|value| value.split(';').next());
    if name.is_some_and(|name| name.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::UnsupportedMedia,
        "Content-Type: must be application/json to sign in",
    ))
}

/// Opens a session with what somebody typed or with a link; wrong guesses are counted like wrong keys.
pub(crate) async fn open(
    app: &Arc<App>,
    received: &IncomingRequest,
    secret: &str,
) -> Result<String, Denial> {
    let earlier = session_token(&received.head.headers);
    let opener = if caller::is_root(app, secret) {
        SessionCredential::Root(&app.root_hash)
    } else {
        caller::before_asking(app, received, secret).await?;
        SessionCredential::Secret(secret)
    };
    // It is a call like any other. Any key may sign in, whatever else it may: what it opens is counted as its own, and with
    // that of the account's other keys.
    let may = |caller: &Caller| {
        check_address(caller, received)?;
        let account_id = &caller.account_id;
        received
            .admission
            .admit(&app.request_slots, &app.rates, account_id)?;
        let counted = app.rates.session(&caller.key_id, account_id);
        counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY, seconds))
    };
    let sessions = app.engine.admin().sessions();
    match sessions.open(opener, earlier, &app.root_hash, may).await {
        Err(denial) if denial.refusal.code == Code::Unauthorized => {
            caller::count_wrong(app, received.from)?;
            Err(denial)
        }
        opened => opened,
    }
}

/// Refuses a caller whose key, or one above it, may not be used from where a request comes from: the page of a session is open to all.
pub(crate) fn check_address(caller: &Caller, received: &IncomingRequest) -> Result<(), Refusal> {
    let policy = caller.policy.as_deref();
    policy.map_or(Ok(()), |policy| policy.check_address(received.from.peer))
}

/// Ends the session of a request.
pub(crate) async fn close(
    app: &Arc<App>,
    received: &IncomingRequest,
    everywhere: bool,
) -> Result<(), Denial> {
    if let Some(word) = session_token(&received.head.headers) {
        check_csrf_token(app, &received.head.headers, word)?;
        app.engine
            .admin()
            .sessions()
            .close(word, everywhere)
            .await?;
    }
    Ok(())
}

/// Ends an operator's look at an account; the word of the session that is left.
pub(crate) async fn end_visit(
    app: &Arc<App>,
    received: &IncomingRequest,
) -> Result<Option<String>, Denial> {
    let Some(word) = session_token(&received.head.headers) else {
        return Ok(None);
    };
    check_csrf_token(app, &received.head.headers, word)?;
    Ok(Some(app.engine.admin().sessions().end_visit(word).await?))
}

/// The word of the session that a request carries.
pub(crate) fn session_token(headers: &HeaderMap) -> Option<&str> {
    cookie_word(headers, NAME)
}

/// The word of the browser in which somebody is about to sign in.
pub(crate) fn browser_word(headers: &HeaderMap) -> Option<&str> {
    cookie_word(headers, BROWSER).filter(|word| SignInBrowser::is_word(word))
}

fn cookie_word<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter();
    let mut found = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == wanted);
    let (_, word) = found.next()?;
    // Two that differ say nothing about who calls.
    found.all(|(_, other)| other == word).then_some(word)
}

/// The line that gives a browser its session, or takes it away. It is for TLS alone when the caller came by it, as far as
/// anybody says so: the listener, a known proxy, the page itself, or the settings.
pub(crate) fn cookie(
    app: &App,
    received: &IncomingRequest,
    word: Option<&str>,
) -> Option<HeaderValue> {
    let (word, seconds) = word.map_or(("", 0), |word| (word, MOST_S));
    lasting_cookie(app, received, word, seconds)
}

/// The same for a person, who is signed in for longer.
pub(crate) fn person_cookie(
    app: &App,
    received: &IncomingRequest,
    word: &str,
) -> Option<HeaderValue> {
    lasting_cookie(app, received, word, PERSON_MOST_S)
}

fn lasting_cookie(
    app: &App,
    received: &IncomingRequest,
    word: &str,
    seconds: u64,
) -> Option<HeaderValue> {
    let secure = secure(app, received);
    let line =
        format!("{NAME}={word}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&line).ok()
}

/// The line that lets a browser be known again in which somebody is about to sign in. It comes along when a link of an e-mail or a
/// provider leads here, which a session does not.
pub(crate) fn browser_cookie(
    app: &App,
    received: &IncomingRequest,
    word: &str,
) -> Option<HeaderValue> {
    let secure = secure(app, received);
    let line = format!(
        "{BROWSER}={word}; Path=/auth/v1; HttpOnly; SameSite=Lax; Max-Age={BROWSER_S}{secure}"
    );
    HeaderValue::from_str(&line).ok()
}

fn secure(app: &App, received: &IncomingRequest) -> &'static str {
    let (headers, from) = (&received.head.headers, received.from);
    let by_tls = from.by_tls
        || (from.by_proxy && proxies::forwarded_over_tls(headers))
        || names::came_by_tls(headers)
        || app.config.base_url.starts_with("https://");
    if by_tls { "; Secure" } else { "" }
}

/// Counts something made up that somebody tried to sign in with, like a wrong key.
pub(crate) fn count_wrong(app: &App, received: &IncomingRequest) -> Result<(), Denial> {
    caller::count_wrong(app, received.from)
}

/// Refuses what a page of another origin has a browser do in somebody's name.
pub(crate) fn only_by_own_pages(app: &App, received: &IncomingRequest) -> Result<(), Refusal> {
    if app
        .names
        .is_own_page(&received.head, received.from.by_proxy)
    {
        return Ok(());
    }
    let message = "only a page of the service itself may sign in; this one has another Origin";
    Err(Refusal::new(Code::Forbidden, message))
}

fn check_csrf_token(app: &App, headers: &HeaderMap, word: &str) -> Result<(), Refusal> {
    let given = headers.get(PROOF).map(HeaderValue::as_bytes);
    let wanted = app.engine.admin().sessions().proof(word);
    let proven = given.is_some_and(|given| bool::from(given.ct_eq(wanted.as_bytes())));
    proven.then_some(()).ok_or_else(|| {
        Refusal::new(
            Code::Forbidden,
            "a session needs the header `X-CSRF-Token` for what changes something",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, line.parse().expect("a header"));
        }
        session_token(&headers).map(str::to_owned)
    }

    #[test]
    fn a_session_is_read_from_among_other_cookies() {
        let one = Some("se_1".to_owned());
        assert_eq!(found(&["a=b; atelier_session=se_1; c=d"]), one);
        assert_eq!(found(&["a=b", "atelier_session=se_1"]), one);
        assert_eq!(found(&["xatelier_session=se_1", "a"]), None);
        assert_eq!(found(&["atelier_session=se_1; atelier_session=se_2"]), None);
    }
}
