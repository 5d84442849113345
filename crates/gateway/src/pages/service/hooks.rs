//! Vendors' own callbacks. The word in the path proves that it was given to this vendor for one attempt, and vendors that sign
//! what they post must have signed it; the body is not believed, it only means that the vendor is worth asking, unless the vendor
//! says nowhere else what became of its work.

use std::sync::Arc;

use atelier_contract::hooks::HOOK_PATH;
use atelier_contract::pages::PageInput;
use atelier_contract::{Code, Refusal};
use atelier_engine::{HookListener, MOST_KEPT, WebhookRequest};
use bytes::Bytes;
use hyper::http::request::Parts;

use crate::app::App;
use crate::http::body::UnreadBody;
use crate::http::denial::Denial;
use crate::http::page::{BodyBytes, Data, Input};
use crate::http::request::IncomingRequest;

/// What was posted under a word that is ours. Under any other nothing is read, and strangers' bodies take none of its memory.
pub(crate) struct VendorPost(Bytes);

impl Input for VendorPost {
    const TAKES: PageInput = <BodyBytes>::TAKES;

    async fn read(app: &App, head: &Parts, given: UnreadBody) -> Result<Self, Denial> {
        let said = head.uri.path().strip_prefix(HOOK_PATH);
        let said = said.and_then(|said| said.split_once('/'));
        let runner = app.engine.runner();
        let listener = said.and_then(|(backend, token)| runner.hook_listener(backend, token));
        let Some(listener) = listener else {
            return Err(nothing().into());
        };
        given.vouch();
        let body = match listener {
            HookListener::Keeper => BodyBytes::<MOST_KEPT>::read(app, head, given).await?.0,
            HookListener::Looker => <BodyBytes>::read(app, head, given).await?.0,
            // It may be on its way here, and the post comes again.
            HookListener::Nobody => {
                return Err(Refusal::new(Code::Overloaded, "nobody listens here yet").into());
            }
        };
        Ok(Self(body))
    }
}

/// Has a job asked about at once.
pub(crate) async fn take(
    app: Arc<App>,
    received: IncomingRequest,
    VendorPost(body): VendorPost,
) -> Result<Data<&'static str>, Denial> {
    let post = WebhookRequest {
        headers: received.head.headers.clone(),
        body,
    };
    let runner = app.engine.runner();
    let (backend, token) = (received.param(0), received.param(1));
    if !runner.vendor_hook(backend, token, &post).await? {
        return Err(nothing().into());
    }
    Ok(Data("noted"))
}

fn nothing() -> Refusal {
    Refusal::new(Code::NotFound, "there is nothing at this path")
}
