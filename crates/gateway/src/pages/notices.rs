//! Notices and who is told of them, of the caller's account and of the operators.

use std::sync::Arc;

use atelier_contract::Refusal;
use atelier_contract::fields::Moment;
use atelier_contract::pages::callbacks::CallbackSecret;
use atelier_contract::pages::keys::ResourceId;
use atelier_contract::pages::notices::{
    NewSubscription, NoticeSample, NoticesQuery, SentNotice, SubscriptionRow,
};
use atelier_engine::records::Period;
use atelier_engine::{NoticeList, NoticeOwner, SubscriptionRequest};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, List, Query};
use crate::http::request::IncomingRequest;
use crate::pages::rows::notices::{sent_notice, subscription_row};

fn account(received: &IncomingRequest) -> Result<NoticeOwner, Refusal> {
    Ok(NoticeOwner::of_caller(received.caller()?))
}

fn operators(received: &IncomingRequest) -> Result<NoticeOwner, Refusal> {
    Ok(NoticeOwner::operators(received.operator()?))
}

pub(super) async fn own(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<NoticesQuery>,
) -> Result<List<SentNotice>, Denial> {
    list(&app, &account(&received)?, query).await
}

pub(super) async fn of_operators(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<NoticesQuery>,
) -> Result<List<SentNotice>, Denial> {
    list(&app, &operators(&received)?, query).await
}

async fn list(
    app: &App,
    owner: &NoticeOwner,
    query: NoticesQuery,
) -> Result<List<SentNotice>, Denial> {
    let (page, limit) = (query.page.get(), query.limit.get());
    let asked = NoticeList {
        kind: query.kind,
        period: Period {
            from_ms: query.from.map(Moment::ms),
            to_ms: query.to.map(Moment::ms),
        },
        language: query.language,
        page,
        limit,
    };
    let (rows, total) = app.engine.notices().list(owner, asked).await?;
    Ok(List {
        rows: rows
            .into_iter()
            .map(|(notice, sent)| sent_notice(notice, sent))
            .collect(),
        total,
        page,
        limit,
    })
}

pub(super) async fn own_subscriptions(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<SubscriptionRow>>, Denial> {
    subscriptions(&app, &account(&received)?).await
}

pub(super) async fn operator_subscriptions(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<Vec<SubscriptionRow>>, Denial> {
    subscriptions(&app, &operators(&received)?).await
}

async fn subscriptions(
    app: &App,
    owner: &NoticeOwner,
) -> Result<Data<Vec<SubscriptionRow>>, Denial> {
    let found = app.engine.notices().subscriptions(owner).await?;
    Ok(Data(found.into_iter().map(subscription_row).collect()))
}

/// Has the caller's account be told of something.
pub(super) async fn subscribe(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewSubscription>,
) -> Result<Data<SubscriptionRow>, Denial> {
    let (owner, may) = (account(&received)?, || received.admission.act(&app.rates));
    let made = app.engine.notices().subscribe(&owner, new.into(), may);
    Ok(Data(subscription_row(made.await?)))
}

/// Has the operators be told of something.
pub(super) async fn subscribe_operators(
    app: Arc<App>,
    received: IncomingRequest,
    Body(new): Body<NewSubscription>,
) -> Result<Data<SubscriptionRow>, Denial> {
    let (owner, request) = (operators(&received)?, SubscriptionRequest::from(new));
    let may = || Ok::<_, Refusal>(());
    let made = app.engine.notices().subscribe(&owner, request, may);
    Ok(Data(subscription_row(made.await?)))
}

pub(super) async fn unsubscribe(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (owner, id) = (account(&received)?, received.param(0));
    let may = || received.admission.act(&app.rates);
    app.engine.notices().unsubscribe(&owner, id, may).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

pub(super) async fn unsubscribe_operators(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ResourceId>, Denial> {
    let (owner, id) = (operators(&received)?, received.param(0));
    let may = || Ok::<_, Refusal>(());
    app.engine.notices().unsubscribe(&owner, id, may).await?;
    Ok(Data(ResourceId { id: id.to_owned() }))
}

/// Sends a sample to the address of a subscription.
pub(super) async fn sample(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<NoticeSample>, Denial> {
    let owner = account(&received)?;
    let sent = app.engine.notices().sample(&owner, received.param(0));
    Ok(Data(sent.await?))
}

pub(super) async fn sample_operators(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<NoticeSample>, Denial> {
    let owner = operators(&received)?;
    let sent = app.engine.notices().sample(&owner, received.param(0));
    Ok(Data(sent.await?))
}

/// The secret that webhooks of operators' notices are signed with.
pub(super) async fn secret(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Data<CallbackSecret>, Denial> {
    let secret = app.engine.notices().secret().await?;
    Ok(Data(CallbackSecret { secret }))
}
