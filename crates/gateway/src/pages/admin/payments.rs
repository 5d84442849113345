//! Payments of all accounts: looked at, confirmed and refunded.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::fields::Text;
use atelier_contract::pages::list::{ListQuery, PageNumber, PageSize};
use atelier_contract::pages::payments::{
    AccountPayment, PaymentEventView, PaymentReport, RefundWish, TopupView,
};
use atelier_engine::RefundRequest;
use atelier_engine::records::{PaymentFilter, PaymentState};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::payments::{account_payment, event_view, refund_view};

/// Which payments are asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) struct PaymentQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    limit: PageSize,
    /// Only those of this account.
    #[serde(default)]
    account_id: Option<Text<100>>,
    /// Only those in this state.
    #[serde(default)]
    state: Option<Text<20>>,
}

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<PaymentQuery>,
) -> Result<List<AccountPayment>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let state = query.state.as_deref().map(|word| {
        let known = PaymentState::ALL.map(PaymentState::word).join(", ");
        let wrong = || Refusal::invalid("state", format_args!("must be one of {known}"));
        PaymentState::from_word(word).ok_or_else(wrong)
    });
    let filter = PaymentFilter {
        account_id: query.account_id.map(|id| id.to_string()),
        state: state.transpose()?,
    };
    let payments = app.engine.admin().payments();
    let (rows, total) = payments.list(&filter, page, limit).await?;
    Ok(List {
        rows: rows.into_iter().map(account_payment).collect(),
        total,
        page,
        limit,
    })
}

/// One payment with its events and refunds.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<PaymentReport>, Denial> {
    let (payments, id) = (app.engine.admin().payments(), received.param(0));
    let payment = account_payment(payments.one(id, None).await?);
    let details = payments.details(id).await?;
    Ok(Data(PaymentReport {
        payment,
        references: details.references,
        events: details.events.into_iter().map(event_view).collect(),
        refunds: details.refunds.into_iter().map(refund_view).collect(),
    }))
}

/// Events that do not fit.
pub(crate) async fn mismatches(
    app: Arc<App>,
    _: IncomingRequest,
    Query(query): Query<ListQuery>,
) -> Result<List<PaymentEventView>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let payments = app.engine.admin().payments();
    let (rows, total) = payments.mismatches(page, limit).await?;
    Ok(List {
        rows: rows.into_iter().map(event_view).collect(),
        total,
        page,
        limit,
    })
}

/// Confirms a payment that no provider reports.
pub(crate) async fn confirm(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountPayment>, Denial> {
    let payments = app.engine.admin().payments();
    let confirmed = payments.confirm(received.operator()?, received.param(0));
    Ok(Data(account_payment(confirmed.await?)))
}

/// Gives money back.
pub(crate) async fn refund(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<RefundWish>,
) -> Result<Data<AccountPayment>, Denial> {
    let request = RefundRequest {
        money: wish.money,
        idempotency_key: wish.idempotency_key.map(|key| key.to_string()),
    };
    let payments = app.engine.admin().payments();
    let refunded = payments.refund(received.operator()?, received.param(0), &request);
    Ok(Data(account_payment(refunded.await?)))
}

/// What an account buys by itself.
pub(crate) async fn topup(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<TopupView>, Denial> {
    let admin = app.engine.admin();
    let account = admin.accounts().one(&received.account_param(0)).await?;
    Ok(Data(admin.payments().topup(&account.id).await?))
}

/// Has an account buy nothing by itself any more.
pub(crate) async fn remove_topup(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<TopupView>, Denial> {
    let (id, payments) = (received.account_param(0), app.engine.admin().payments());
    Ok(Data(
        payments.remove_topup(received.operator()?, &id).await?,
    ))
}
