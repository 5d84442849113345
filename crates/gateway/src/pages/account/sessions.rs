//! Sessions of the person who is signed in, in whichever account.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::{Code, Refusal};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;
use crate::pages::rows::people::PersonSessionRow;

/// Lists the sessions of the person.
pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<PersonSessionRow>>, Denial> {
    let person = received.person()?;
    let rows = app.engine.admin().sessions().of_person(&person.id).await?;
    let row = |row| PersonSessionRow::new(row, &person.session_id);
    Ok(Data(rows.into_iter().map(row).collect()))
}

/// Ends one of them at once.
pub(crate) async fn end(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let id = received.param(0).to_owned();
    let sessions = app.engine.admin().sessions();
    if !sessions.end(&received.person()?.id, &id).await? {
        return Err(Refusal::new(Code::NotFound, "no such session").into());
    }
    Ok(Data(ResourceId { id }))
}
