//! The plan of the caller's account.

use std::sync::Arc;

use atelier_contract::pages::plans::AccountPlanView;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountPlanView>, Denial> {
    let plans = app.engine.admin().plans();
    Ok(Data(plans.of(received.account()?).await?))
}

/// Ends a plan that the caller has bought, with the period that was paid for.
pub(crate) async fn end(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountPlanView>, Denial> {
    received.admission.act(&app.rates)?;
    let plans = app.engine.admin().plans();
    Ok(Data(plans.end_own(received.caller()?).await?))
}
