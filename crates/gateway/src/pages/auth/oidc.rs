//! Signing in at a provider of OpenID Connect: the way there, and the way back.

use std::sync::Arc;

use atelier_contract::pages::PageOutput;
use atelier_contract::{Code, Refusal};
use atelier_engine::ProviderReturn;
use hyper::header::{HeaderValue, SET_COOKIE};
use schemars::JsonSchema;
use serde::Deserialize;

use super::link_page;
use super::links::{browser_of, language_of};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Output, Query};
use crate::http::reply::{self, Reply};
use crate::http::request::IncomingRequest;
use crate::http::session;

const TOO_MANY: &str = "too many sign-ins were begun within the hour; wait";

/// Where a browser is led, and a cookie; or a page that says what is wrong.
pub(crate) enum OidcReply {
    To(String, Option<HeaderValue>),
    Page(Reply),
}

impl Output for OidcReply {
    const GIVES: PageOutput = PageOutput::Media("text/html");

    fn reply(self) -> Reply {
        match self {
            Self::To(address, cookie) => {
                let mut reply = reply::see_other(&address);
                if let Some(cookie) = cookie {
                    reply.headers_mut().append(SET_COOKIE, cookie);
                }
                reply
            }
            Self::Page(reply) => reply,
        }
    }
}

/// Leads a browser to a provider.
pub(crate) async fn start(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<OidcReply, Denial> {
    let counted = app.rates.begin_sign_in(received.from.peer);
    counted.map_err(|seconds| Denial::too_many_requests(TOO_MANY, seconds))?;
    let browser = browser_of(&received);
    let sign_ins = app.engine.people().sign_ins();
    match sign_ins.begin_oidc(received.param(0), &browser).await {
        Ok(address) => {
            let cookie = session::browser_cookie(&app, &received, &browser.word);
            Ok(OidcReply::To(address, cookie))
        }
        Err(refusal) => Ok(OidcReply::Page(refused(&received, &refusal))),
    }
}

/// What a provider leads somebody back with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct ReturnQuery {
    /// The word that they were led there with.
    #[serde(default)]
    pub(crate) state: Option<String>,
    /// What proves to the provider that they were there.
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// The provider's own word of who it is.
    #[serde(default)]
    pub(crate) iss: Option<String>,
    /// Why it let nobody in.
    #[serde(default)]
    pub(crate) error: Option<String>,
}

/// Signs in whoever a provider led back to the browser that was led there.
pub(crate) async fn finish(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ReturnQuery>,
) -> Result<OidcReply, Denial> {
    let given = ProviderReturn {
        state: query.state.unwrap_or_default(),
        code: query.code.unwrap_or_default(),
        issuer: query.iss,
        error: query.error,
    };
    let browser = browser_of(&received);
    let sign_ins = app.engine.people().sign_ins();
    match sign_ins
        .finish_oidc(received.param(0), given, browser)
        .await
    {
        Ok(signed_in) => {
            let cookie = session::person_cookie(&app, &received, &signed_in.word);
            // Nowhere else: whatever the way back says, it leads to the console.
            Ok(OidcReply::To("/console/".into(), cookie))
        }
        Err(refusal) => {
            if refusal.code == Code::Unauthorized {
                session::count_wrong(&app, &received)?;
            }
            Ok(OidcReply::Page(refused(&received, &refusal)))
        }
    }
}

fn refused(received: &IncomingRequest, refusal: &Refusal) -> Reply {
    link_page::refused(language_of(&received.head.headers), refusal)
}
