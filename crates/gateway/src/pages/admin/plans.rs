//! Plans: made, changed and removed, and which account has which.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::fields::{Count, OperatorDate};
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::plans::{AccountPlanView, PlanView, PlanWish};
use atelier_contract::plans::PlanDefinition;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Body, Data, Query, RawBody, WholeList};
use crate::http::request::IncomingRequest;

/// A change of a plan: the fields that are given, each as a whole; null takes the group away.
#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "only its shape is told; the engine reads the body as it came"
)]
pub(crate) struct PlanChange {
    /// What it shall be.
    #[serde(flatten)]
    definition: Patch<PlanDefinition>,
    /// The revision that the change was made on; with another one now, it is refused.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// How a removal is asked for; it has no body.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PlanRemovalQuery {
    /// The revision to be removed; with another one now, nothing is.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<PlanView>, Denial> {
    Ok(WholeList(app.engine.admin().plans().list().await?))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<PlanView>, Denial> {
    let name = received.decoded_param(0);
    Ok(Data(app.engine.admin().plans().one(&name).await?))
}

pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<PlanDefinition, SMALL_BODY>,
) -> Result<Data<PlanView>, Denial> {
    let plans = app.engine.admin().plans();
    Ok(Data(plans.create(received.operator()?, fields).await?))
}

/// Changes a plan, for periods that begin from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<PlanChange, SMALL_BODY>,
) -> Result<Data<PlanView>, Denial> {
    let (name, plans) = (received.decoded_param(0), app.engine.admin().plans());
    let changed = plans.change(received.operator()?, &name, fields).await?;
    Ok(Data(changed))
}

/// Removes a plan that no account has.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<PlanRemovalQuery>,
) -> Result<Data<PlanView>, Denial> {
    let name = received.decoded_param(0);
    let revision = query.revision.map(|revision| revision.get() as u32);
    let plans = app.engine.admin().plans();
    Ok(Data(
        plans.remove(received.operator()?, &name, revision).await?,
    ))
}

/// The plan of an account.
pub(crate) async fn of_account(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountPlanView>, Denial> {
    let account = app
        .engine
        .admin()
        .accounts()
        .one(&received.account_param(0))
        .await?;
    Ok(Data(app.engine.admin().plans().of(&account.id).await?))
}

/// Gives an account a plan, or another one.
pub(crate) async fn assign(
    app: Arc<App>,
    received: IncomingRequest,
    Body(wish): Body<PlanWish>,
) -> Result<Data<AccountPlanView>, Denial> {
    let (id, from_ms) = (received.account_param(0), wish.from.map(OperatorDate::ms));
    let plans = app.engine.admin().plans();
    let assigned = plans.assign(received.operator()?, &id, &wish.plan, from_ms);
    Ok(Data(assigned.await?))
}

/// Has the plan of an account end at its next renewal.
pub(crate) async fn end(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<AccountPlanView>, Denial> {
    let id = received.account_param(0);
    let plans = app.engine.admin().plans();
    Ok(Data(plans.end(received.operator()?, &id).await?))
}
