//! The interface described: for machines and for people, without a key.

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
