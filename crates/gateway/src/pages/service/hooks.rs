//! Vendors' own callbacks. The word in the path proves that it was given to this vendor for one attempt, and vendors that sign
//! what they post must have signed it; the body is never believed, it only means that the vendor is worth asking.

use std::sync::Arc;

use atelier_contract::{Code, Refusal};
use atelier_engine::WebhookRequest;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{BodyBytes, Data};
use crate::http::request::IncomingRequest;

/// Has a job asked about at once.
pub(crate) async fn take(
    app: Arc<App>,
    received: IncomingRequest,
    BodyBytes(body): BodyBytes,
) -> Result<Data<&'static str>, Denial> {
    let post = WebhookRequest {
        headers: received.head.headers.clone(),
        body,
    };
    let runner = app.engine.runner();
    let (backend, token) = (received.param(0), received.param(1));
    if !runner.vendor_hook(backend, token, &post).await {
        return Err(Refusal::new(Code::NotFound, "there is nothing at this path").into());
    }
    Ok(Data("noted"))
}
