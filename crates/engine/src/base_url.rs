//! The URL under which the caller of a request reached the service. While the operator has set no public URL, it begins the URLs of
//! whatever is rendered for that caller. It is no parameter, because every page that renders a job would have to hand it on.

use std::sync::Arc;

tokio::task_local! {
    static BASE: Arc<str>;
}

/// Runs a future for a caller who reached the service under a URL.
pub fn with_base_url<F: Future>(base: Arc<str>, work: F) -> impl Future<Output = F::Output> {
    BASE.scope(base, work)
}

/// The same of something that does not wait.
pub fn with_base_url_now<T>(base: &Arc<str>, work: impl FnOnce() -> T) -> T {
    BASE.sync_scope(Arc::clone(base), work)
}

/// The URL under which the caller of this task reached the service, where it is known and counts.
pub(crate) fn current() -> Option<Arc<str>> {
    BASE.try_with(Arc::clone).ok()
}
