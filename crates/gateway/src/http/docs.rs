//! Pages without a key: the interface described for machines and for people, and the console.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;

use super::{Answer, Received, reply};
use crate::app::App;
use crate::openapi;

/// The document never changes while the process runs, so it is made once.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| openapi::document().to_string().into());

/// The OpenAPI document.
pub(super) async fn document(_: Arc<App>, _: Received) -> Answer {
    Ok(reply::json_bytes(DOCUMENT.clone()))
}

/// The readable page.
pub(super) async fn page(_: Arc<App>, _: Received) -> Answer {
    Ok(reply::html(openapi::PAGE))
}

/// A page to look at an account with and to try a prompt; the key never leaves the caller's browser.
pub(super) async fn console(_: Arc<App>, _: Received) -> Answer {
    Ok(reply::html(include_str!("../console/page.html")))
}
