//! Pages without a key: the interface described for machines and for people, and the console.

use std::sync::Arc;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Document, Html};
use crate::http::received::Received;
use crate::http::reply;

/// The OpenAPI document.
pub(crate) async fn document(app: Arc<App>, _: Received, (): ()) -> Result<Document, Denial> {
    Ok(Document(reply::json_bytes(app.document.clone())))
}

/// The readable page; it draws itself from `/openapi.json` without anything from elsewhere.
pub(crate) async fn page(_: Arc<App>, _: Received, (): ()) -> Result<Html, Denial> {
    Ok(Html(reply::html(include_str!("../../openapi/page.html"))))
}
