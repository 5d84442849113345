//! The secret that the caller's callbacks are signed with.

use std::sync::Arc;

use atelier_contract::pages::callbacks::CallbackSecret;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<CallbackSecret>, Denial> {
    let secret = app.engine.callbacks().secret(received.account()?).await?;
    Ok(Data(CallbackSecret { secret }))
}

pub(crate) async fn rotate(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<CallbackSecret>, Denial> {
    let account = received.account()?;
    let may = || received.admission.act(&app.rates);
    let secret = app.engine.callbacks().rotate_secret(account, may).await?;
    Ok(Data(CallbackSecret { secret }))
}
