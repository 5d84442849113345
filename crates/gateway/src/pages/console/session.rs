//! Signing in and out of the console.

use std::sync::Arc;

use atelier_contract::families::artgen::account::AccountRecord;
use atelier_contract::pages::PageOutput;
use atelier_contract::pages::session::{Session, SignIn, SignOut, SignOutReply, SignedInOperator};
use atelier_contract::{Code, Refusal, Scope};
use atelier_engine::Caller;
use hyper::header::{HeaderValue, SET_COOKIE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, Output, Query};
use crate::http::reply::Reply;
use crate::http::request::IncomingRequest;
use crate::http::session;
use crate::pages::artgen::record;

/// The usual envelope, and a cookie beside it.
pub(crate) struct WithCookie<T>(Data<T>, Option<HeaderValue>);

impl<T: Serialize + JsonSchema + Send + 'static> Output for WithCookie<T> {
    const GIVES: PageOutput = Data::<T>::GIVES;

    fn reply(self) -> Reply {
        let mut reply = self.0.reply();
        if let Some(cookie) = self.1 {
            reply.headers_mut().append(SET_COOKIE, cookie);
        }
        reply
    }
}

/// Who is signed in; nothing when nobody is.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Option<Session>>, Denial> {
    let shown = match session::session_token(&received.head.headers) {
        Some(word) => of(&app, &received, word).await?,
        None => None,
    };
    Ok(Data(shown))
}

/// Signs somebody in with a key, an operator's token or a link.
pub(crate) async fn open(
    app: Arc<App>,
    received: IncomingRequest,
    Body(given): Body<SignIn>,
) -> Result<WithCookie<Session>, Denial> {
    session::only_from_own_pages(&app, &received)?;
    let word = session::open(&app, &received, given.secret.trim()).await?;
    let opened = of(&app, &received, &word).await?.ok_or_else(nobody)?;
    Ok(WithCookie(
        Data(opened),
        session::cookie(&app, &received, Some(&word)),
    ))
}

/// Signs somebody out, here or everywhere.
pub(crate) async fn close(
    app: Arc<App>,
    received: IncomingRequest,
    Query(how): Query<SignOut>,
) -> Result<WithCookie<SignOutReply>, Denial> {
    let word = if how.visit.on() {
        session::end_visit(&app, &received).await?
    } else {
        session::close(&app, &received, how.everywhere.on()).await?;
        None
    };
    let data = Data(SignOutReply { signed_out: true });
    let cookie = session::cookie(&app, &received, word.as_deref());
    Ok(WithCookie(data, cookie))
}

/// Lets an operator look at an account with its own eyes, read only.
pub(crate) async fn visit(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<WithCookie<Session>, Denial> {
    let earlier = session::session_token(&received.head.headers);
    let (by, account) = (received.acting()?, received.account_param(0));
    let sessions = app.engine.admin().sessions();
    let word = sessions
        .visit(by, &account, earlier, &app.root_hash)
        .await?;
    let opened = of(&app, &received, &word).await?.ok_or_else(nobody)?;
    Ok(WithCookie(
        Data(opened),
        session::cookie(&app, &received, Some(&word)),
    ))
}

async fn of(app: &App, received: &IncomingRequest, word: &str) -> Result<Option<Session>, Denial> {
    let Some(visitor) = app
        .engine
        .admin()
        .sessions()
        .visitor(word, &app.root_hash)
        .await?
    else {
        return Ok(None);
    };
    if let Some(caller) = &visitor.caller {
        session::check_address(caller, received)?;
    }
    let account: Option<AccountRecord> = match &visitor.caller {
        Some(caller) => Some(record(
            app.engine
                .admin()
                .accounts()
                .own(&caller.account_id)
                .await?,
        )),
        None => None,
    };
    let looks = |caller: &Caller| !caller.scopes.allow(Scope::Submit);
    Ok(Some(Session {
        looking: visitor.caller.as_ref().is_some_and(looks),
        csrf: app.engine.admin().sessions().proof(word),
        account,
        operator: visitor.operator.map(|operator| SignedInOperator {
            name: operator.name,
            role: operator.role.word().to_owned(),
        }),
    }))
}

fn nobody() -> Refusal {
    Refusal::new(Code::Unauthorized, "not signed in")
}
