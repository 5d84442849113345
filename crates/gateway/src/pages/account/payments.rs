//! The caller buys something.

use std::sync::Arc;

use atelier_contract::fields::Flag;
use atelier_contract::pages::list::ListQuery;
use atelier_contract::pages::payments::{PaymentView, PaymentWish, ShopView, TopupView, TopupWish};
use atelier_engine::records::PaymentFilter;
use atelier_engine::{PaymentRequest, TopupRequest};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::payments::{offer_view, payment_view};

/// What can be bought, and through whom.
pub(crate) async fn offers(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<ShopView>, Denial> {
    let admin = app.engine.admin();
    let products = admin.products().list().await?;
    Ok(Data(ShopView {
        products: products.into_iter().map(offer_view).collect(),
        providers: admin.payments().providers(),
    }))
}

/// Begins a payment.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<PaymentWish>,
) -> Result<Data<PaymentView>, Denial> {
    let text = |text: atelier_contract::fields::Text<64>| text.to_string();
    let request = PaymentRequest {
        product: wish.product.to_string(),
        provider: wish.provider.map(text),
        return_url: wish.return_url.map(|url| url.to_string()),
        save: wish.save.is_some_and(Flag::on),
    };
    // Each leaves a row and an act behind, paid or not.
    received.admission.act(&app.rates)?;
    let payments = app.engine.admin().payments();
    let begun = payments.create(received.caller()?, &request).await?;
    Ok(Data(payment_view(begun)))
}

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<PaymentView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let filter = PaymentFilter {
        account_id: Some(received.account()?.to_string()),
        state: None,
    };
    let payments = app.engine.admin().payments();
    let (rows, total) = payments.list(&filter, page, limit).await?;
    Ok(List {
        rows: rows.into_iter().map(payment_view).collect(),
        total,
        page,
        limit,
    })
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<PaymentView>, Denial> {
    let payments = app.engine.admin().payments();
    let account_id = received.account()?;
    let found = payments.one(received.param(0), Some(account_id)).await?;
    Ok(Data(payment_view(found)))
}

/// What the account buys by itself.
pub(crate) async fn topup(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<TopupView>, Denial> {
    let payments = app.engine.admin().payments();
    Ok(Data(payments.topup(received.account()?).await?))
}

/// Sets what the account buys by itself.
pub(crate) async fn set_topup(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<TopupWish>,
) -> Result<Data<TopupView>, Denial> {
    let request = TopupRequest {
        product: wish.product.to_string(),
        provider: wish.provider.map(|name| name.to_string()),
        threshold: wish.threshold,
        monthly_cap: wish.monthly_cap,
    };
    received.admission.act(&app.rates)?;
    let payments = app.engine.admin().payments();
    let set = payments.set_topup(received.caller()?, &request).await?;
    Ok(Data(set))
}

/// Has the account buy nothing by itself any more.
pub(crate) async fn remove_topup(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<TopupView>, Denial> {
    received.admission.act(&app.rates)?;
    let payments = app.engine.admin().payments();
    Ok(Data(payments.remove_own_topup(received.caller()?).await?))
}
