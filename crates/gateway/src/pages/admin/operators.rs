//! Named operators and viewers, beside the one of the configuration.

use std::sync::Arc;

use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::operators::NewOperator;
use atelier_engine::AddressedPerson;

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

/// Makes an operator; this answer is the only one that shows its token. A person signs in and has none.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewOperator>,
) -> Result<Data<IssuedOperator>, Denial> {
    let by = received.operator()?;
    let (operator, token) = if let Some(email) = new.email {
        let to = AddressedPerson {
            email,
            language: new.language,
        };
        let people = app.engine.people().persons();
        let made = people.appoint(by, &new.name, new.role, &to).await?;
        (made, None)
    } else {
        let operators = app.engine.admin().operators();
        let (operator, token) = operators.create(by, &new.name, new.role).await?;
        (operator, Some(token))
    };
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
