//! The models that the account can use now, with their rules and prices.

use std::sync::Arc;

use atelier_contract::pages::models::AccountModel;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;
use crate::pages::usable_models::usable;

/// Lists them.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<Vec<AccountModel>>, Denial> {
    let models = app.models();
    let usable = usable(&app, &models);
    Ok(Data(usable.iter().map(|model| model.view()).collect()))
}
