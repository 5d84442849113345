//! Signing in by e-mail: asking for a link, looking at it, and following it.

use std::sync::Arc;

use atelier_contract::pages::PageOutput;
use atelier_contract::pages::people::{Language, LinkWish};
use atelier_contract::pages::session::Session;
use atelier_contract::{Code, Refusal};
use atelier_engine::{LinkRequest, SignInBrowser};
use hyper::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::link_page;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, File, Output};
use crate::http::reply::{self, Reply};
use crate::http::request::IncomingRequest;
use crate::http::session;
use crate::network;
use crate::pages::console::session as console_session;

/// Characters of what a browser calls itself that are kept.
const AGENT_MOST: usize = 200;
const TOO_MANY_LINKS: &str = "too many sign-in links within the hour; wait, or sign in another way";

/// What is answered whoever asked for a link, and for whichever address.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LinkSent {
    /// Always true: whoever may sign in with the address gets an e-mail.
    pub(crate) sent: bool,
    /// Seconds for which the link works.
    pub(crate) expires_in: u32,
}

/// The usual envelope, with the word of the browser beside it.
pub(crate) struct LinkAnswer(Option<HeaderValue>);

impl Output for LinkAnswer {
    const GIVES: PageOutput = PageOutput::Data(SchemaGenerator::subschema_for::<LinkSent>);

    fn reply(self) -> Reply {
        let mut reply = reply::success(LinkSent {
            sent: true,
            expires_in: 900,
        });
        if let Some(cookie) = self.0 {
            reply.headers_mut().append(SET_COOKIE, cookie);
        }
        reply
    }
}

/// Sends a link to an address, if whoever has it may sign in. What is answered, and when, does not depend on that.
pub(crate) async fn ask(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<LinkWish>,
) -> Result<LinkAnswer, Denial> {
    session::only_from_own_pages(&app, &received)?;
    let counted = app.rates.link(&wish.email.folded(), received.from.peer);
    counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY_LINKS, seconds))?;
    let browser = browser_of(&received);
    let request = LinkRequest {
        email: wish.email,
        language: wish.language,
    };
    let sign_ins = app.engine.people().sign_ins();
    sign_ins.ask_link(request, &browser).await?;
    Ok(LinkAnswer(session::browser_cookie(
        &app,
        &received,
        &browser.word,
    )))
}

/// What stands behind a link: a page with a button, or with a code. Looking at it changes nothing, however often.
pub(crate) async fn look(app: Arc<App>, received: IncomingRequest, (): ()) -> Result<File, Denial> {
    let browser = session::browser_word(&received.head.headers);
    let word = received.param(0);
    let sign_ins = app.engine.people().sign_ins();
    let found = sign_ins.look(word, browser).await?;
    let language = language_of(&received.head.headers);
    Ok(File(link_page::reply(language, word, &found)))
}

/// Whoever followed a link: a browser is led to the console, everything else is told who is signed in.
pub(crate) enum FollowReply {
    /// The session, and its cookie.
    Session(Box<Session>, Option<HeaderValue>),
    /// The console, and the cookie of the session.
    Console(Option<HeaderValue>),
    /// A page that says what is wrong.
    Page(Reply),
}

impl Output for FollowReply {
    const GIVES: PageOutput = Data::<Session>::GIVES;

    fn reply(self) -> Reply {
        let (mut reply, cookie) = match self {
            Self::Session(session, cookie) => (reply::success(session), cookie),
            Self::Console(cookie) => (reply::see_other("/console/"), cookie),
            Self::Page(reply) => (reply, None),
        };
        if let Some(cookie) = cookie {
            reply.headers_mut().append(SET_COOKIE, cookie);
        }
        reply
    }
}

/// Signs in with the word of a link or with the code that it shows elsewhere.
pub(crate) async fn follow(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<FollowReply, Denial> {
    session::only_by_own_pages(&app, &received)?;
    let headers = &received.head.headers;
    let (language, by_form) = (language_of(headers), shows_pages(headers));
    let browser = browser_of(&received);
    let sign_ins = app.engine.people().sign_ins();
    let opened = sign_ins
        .open_link(&received.decoded_param(0), language, browser)
        .await;
    let signed_in = match opened {
        Ok(signed_in) => signed_in,
        Err(refusal) => {
            if matches!(refusal.code, Code::Unauthorized | Code::NotFound) {
                session::count_wrong(&app, &received)?;
            }
            if by_form {
                return Ok(FollowReply::Page(link_page::refused(language, &refusal)));
            }
            return Err(refusal.into());
        }
    };
    let cookie = session::person_cookie(&app, &received, &signed_in.word);
    if by_form {
        return Ok(FollowReply::Console(cookie));
    }
    let opened = console_session::of(&app, &received, &signed_in.word).await?;
    let nobody = || Refusal::new(Code::Unauthorized, "nobody is signed in");
    Ok(FollowReply::Session(
        Box::new(opened.ok_or_else(nobody)?),
        cookie,
    ))
}

/// The browser of a request: known again if it is about to sign in, else with a word of its own.
pub(crate) fn browser_of(received: &IncomingRequest) -> SignInBrowser {
    let headers = &received.head.headers;
    let agent = headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok());
    let agent = agent.unwrap_or_default().chars().take(AGENT_MOST).collect();
    SignInBrowser {
        word: session::browser_word(headers).map_or_else(SignInBrowser::new_word, str::to_owned),
        agent,
        network: network::holder(received.from.peer).to_string(),
        earlier: session::session_token(headers).map(str::to_owned),
    }
}

/// Whether whoever asks shows pages, as a browser does that follows a form.
pub(crate) fn shows_pages(headers: &HeaderMap) -> bool {
    let takes = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    takes.is_some_and(|takes| takes.contains("text/html"))
}

/// The language that a browser prefers, among those that there are.
pub(crate) fn language_of(headers: &HeaderMap) -> Language {
    let wanted = headers.get(ACCEPT_LANGUAGE);
    let wanted = wanted.and_then(|value| value.to_str().ok());
    let mut words = wanted.unwrap_or_default().split(',');
    let known = |word: &str| {
        let word = word.split(';').next().unwrap_or_default().trim();
        Language::from_word(word.split('-').next().unwrap_or_default())
    };
    words.find_map(known).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_language_that_there_is_is_taken() {
        for (given, language) in [
            ("de-AT,de;q=0.9,en;q=0.5", Language::German),
            ("fr, zh-Hans;q=0.8, en", Language::Chinese),
            ("fr", Language::English),
            ("", Language::English),
            ("*", Language::English),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, given.parse().expect("a header"));
            assert_eq!(language_of(&headers), language, "{given}");
        }
    }
}
