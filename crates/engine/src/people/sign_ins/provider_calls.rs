//! Calls to providers of OpenID Connect, through the guarded way out.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::http::VendorRequest;
use atelier_identity::{CallError, ProviderCall, ProviderRequest, ProviderResponse};
use url::{Position, Url};

use crate::context::Context;

/// How long a provider may take for an answer.
const PROVIDER_TIME: Duration = Duration::from_secs(10);
/// How much it may say.
const PROVIDER_BYTES: u64 = 1024 * 1024;

/// Calls to providers, through the guarded way out. Their addresses are the operator's, and may be private.
pub(super) fn provider_calls(context: &Arc<Context>) -> ProviderCall {
    let context = Arc::clone(context);
    Arc::new(move |request| {
        let context = Arc::clone(&context);
        Box::pin(async move {
            let answer = provider_call(&context, request).await;
            answer.map_err(CallError)
        })
    })
}

async fn provider_call(
    context: &Context,
    request: ProviderRequest,
) -> Result<ProviderResponse, String> {
    let url: Url = request.url.parse().map_err(|_| "no address".to_owned())?;
    let origin = url.origin().ascii_serialization();
    let http = context.outbound().vendor(&origin, true);
    let http = http.map_err(|why| why.to_string())?;
    let method = request.method.parse().map_err(|_| "no method".to_owned())?;
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let mut call = VendorRequest::new(method, path)
        .within(PROVIDER_TIME)
        .at_most(PROVIDER_BYTES);
    let mut media_type = String::new();
    for (name, value) in &request.headers {
        match name.as_str() {
            "accept" => call = call.header("accept", value),
            "authorization" => call = call.header("authorization", value),
            "content-type" => media_type.clone_from(value),
            _ => {}
        }
    }
    if !request.body.is_empty() {
        call = call.body(request.body, media_type);
    }
    let answer = http.ask(call).await.map_err(|fault| fault.detail)?;
    let media_type = answer.headers.get("content-type");
    let media_type = media_type.and_then(|value| value.to_str().ok());
    Ok(ProviderResponse {
        status: answer.status,
        media_type: media_type.unwrap_or_default().to_owned(),
        body: answer.bytes.to_vec(),
    })
}
