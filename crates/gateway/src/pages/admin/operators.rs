//! Named operators and viewers, beside the one of the configuration.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::operators::{IssuedOperator, NewOperator, OperatorRole, OperatorRow};
use atelier_contract::time::timestamp;
use atelier_engine::{OperatorView, ROOT};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;

/// Lists every operator there is or was, the one of the configuration first.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<OperatorRow>>, Denial> {
    let operators = app.engine.admin().operators().list().await?;
    let rows = std::iter::once(root()).chain(operators.into_iter().map(row));
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
    let operator = row(operator);
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

/// The operator of the configuration, who has no record.
fn root() -> OperatorRow {
    OperatorRow {
        id: ROOT.to_owned(),
        name: ROOT.to_owned(),
        role: OperatorRole::Operator,
        prefix: None,
        created_at: None,
        last_used_at: None,
        revoked_at: None,
    }
}

fn row(operator: OperatorView) -> OperatorRow {
    OperatorRow {
        id: operator.id,
        name: operator.name,
        role: operator.role,
        prefix: Some(operator.prefix),
        created_at: Some(timestamp(operator.created_ms)),
        last_used_at: operator.last_used_ms.map(timestamp),
        revoked_at: operator.revoked_ms.map(timestamp),
    }
}
