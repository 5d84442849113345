//! The trace that calls to a vendor belong to: whoever asks for work says it once, and every call made on the way carries
//! it, without one of the adapters knowing of it.

use std::future::Future;

use http::HeaderValue;

tokio::task_local! {
    static PARENT: Option<HeaderValue>;
}

/// The header of W3C Trace Context.
pub(super) const HEADER: &str = "traceparent";

/// Does something whose calls to vendors carry this header; none without one.
pub async fn with_traceparent<F: Future>(parent: Option<String>, act: F) -> F::Output {
    let parent = parent.and_then(|text| HeaderValue::try_from(text).ok());
    PARENT.scope(parent, act).await
}

/// What the calls made here carry.
pub(super) fn parent() -> Option<HeaderValue> {
    PARENT.try_with(Clone::clone).ok().flatten()
}
