//! The public keys of receipts, for everyone who checks one.

use std::sync::Arc;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Document;
use crate::http::reply;
use crate::http::request::IncomingRequest;

/// All keys that receipts were ever signed with, as a JSON Web Key Set.
pub(crate) async fn keys(app: Arc<App>, _: IncomingRequest, (): ()) -> Result<Document, Denial> {
    let keys = app.engine.admin().receipts().keys().await?;
    Ok(Document(reply::json_of(&keys)))
}
