//! What the caller's account has, and what of it ends.

use std::sync::Arc;

use atelier_contract::pages::credits::CreditsView;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Data;
use crate::http::request::IncomingRequest;
use crate::pages::rows::credits::credits_view;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<CreditsView>, Denial> {
    let credits = app.engine.admin().credits();
    Ok(Data(credits_view(credits.of(received.account()?).await?)))
}
