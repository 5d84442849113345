//! Named operators and viewers, beside the one of the configuration.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::operators::NewOperator;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::pages::rows::operators::{IssuedOperator, OperatorRow};

/// Lists every operator there is or was, the one of the configuration first.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<OperatorRow>>, Denial> {
    let operators = app.engine.admin().operators().list().await?;
    let operators = operators.into_iter().map(OperatorRow::from);
    let rows = std::iter::once(OperatorRow::root()).chain(operators);
    Ok(Data(rows.collect()))
}

/// Makes an operator; this answer is the only one that shows its token.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewOperator>,
) -> Result<Data<IssuedOperator>, Denial> {
    let made = app
        .engine
        .admin()
        .operators()
        .create(received.operator()?, &new.name, new.role);
    let (operator, token) = made.await?;
    let operator = operator.into();
    Ok(Data(IssuedOperator { operator, token }))
}

/// Revokes an operator's token at once.
pub(crate) async fn revoke(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (by, id) = (received.operator()?, received.param(0));
    app.engine.admin().operators().revoke(by, id).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}
