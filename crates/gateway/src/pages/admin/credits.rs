//! What an account has, and what of it ends: looked at, granted and taken away.

use std::sync::Arc;

use atelier_contract::pages::credits::CreditsView;
use atelier_engine::CreditRequest;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data};
use crate::http::request::IncomingRequest;
use crate::pages::rows::accounts::{AccountRow, Credit};
use crate::pages::rows::credits::credits_view;

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<CreditsView>, Denial> {
    let credits = app.engine.admin().credits();
    let found = credits.of(&received.account_param(0)).await?;
    Ok(Data(credits_view(found)))
}

/// Grants quota, or takes some away.
pub(crate) async fn credit(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<Credit>,
) -> Result<Data<AccountRow>, Denial> {
    let id = received.account_param(0);
    let request = CreditRequest::from(wish);
    let credits = app.engine.admin().credits();
    let account = credits.credit(received.operator()?, &id, request).await?;
    Ok(Data(account.into()))
}
