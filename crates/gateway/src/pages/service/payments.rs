//! Events of payment providers. Anyone can post here, so bodies are small and count as strangers' memory; what the provider did not sign is
//! rejected and leaves nothing behind.

use std::sync::Arc;

use atelier_engine::WebhookRequest;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{BodyBytes, Words};
use crate::http::reply;
use crate::http::request::IncomingRequest;

/// The largest event: an invoice of many lines is smaller.
const EVENT_MOST: usize = 256 * 1024;

/// Has an event count.
pub(crate) async fn take(
    app: Arc<App>,
    received: IncomingRequest,
    BodyBytes(body): BodyBytes<EVENT_MOST>,
) -> Result<Words, Denial> {
    let post = WebhookRequest {
        headers: received.head.headers.clone(),
        body,
    };
    let query = received.head.uri.query().unwrap_or_default();
    let payments = app.engine.admin().payments();
    let answer = payments.hook(received.param(0), query, &post).await?;
    Ok(Words(reply::text(
        "text/plain; charset=utf-8",
        answer.to_owned(),
    )))
}
