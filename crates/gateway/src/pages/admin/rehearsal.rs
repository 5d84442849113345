//! Back ends that are rehearsed.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::rehearsal::Rehearsal;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

/// Lists the back ends that are rehearsed, with what was compared.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<Rehearsal>>, Denial> {
    Ok(Data(app.engine.rehearsals().list().await?))
}

/// Begins a rehearsal anew.
pub(crate) async fn clear(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (by, id) = (received.operator()?, received.param(0));
    app.engine.rehearsals().clear(by, id).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}
