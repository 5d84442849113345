//! Products: made, changed and taken off sale.

use std::sync::Arc;

use atelier_contract::family::SMALL_BODY;
use atelier_contract::fields::Count;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::payments::ProductView;
use atelier_contract::products::ProductDefinition;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Data, Query, RawBody, WholeList};
use crate::http::request::IncomingRequest;

/// A change of a product: the fields that are given, each as a whole; null takes `quota`, `plan` or `credit_days` away.
#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "only its shape is told; the engine reads the body as it came"
)]
pub(crate) struct ProductChange {
    /// What it shall be.
    #[serde(flatten)]
    definition: Patch<ProductDefinition>,
    /// The revision that the change was made on; with another one now, it is refused.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// How a removal is asked for; it has no body.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ProductRemovalQuery {
    /// The revision to be removed; with another one now, nothing is.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<ProductView>, Denial> {
    Ok(WholeList(app.engine.admin().products().list().await?))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<ProductView>, Denial> {
    let name = received.decoded_param(0);
    Ok(Data(app.engine.admin().products().one(&name).await?))
}

pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<ProductDefinition, SMALL_BODY>,
) -> Result<Data<ProductView>, Denial> {
    let products = app.engine.admin().products();
    Ok(Data(products.create(received.operator()?, fields).await?))
}

/// Changes a product, for payments that begin from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<ProductChange, SMALL_BODY>,
) -> Result<Data<ProductView>, Denial> {
    let (name, products) = (received.decoded_param(0), app.engine.admin().products());
    let changed = products.change(received.operator()?, &name, fields).await?;
    Ok(Data(changed))
}

/// Takes a product off sale.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ProductRemovalQuery>,
) -> Result<Data<ProductView>, Denial> {
    let name = received.decoded_param(0);
    let revision = query.revision.map(|revision| revision.get() as u32);
    let products = app.engine.admin().products();
    Ok(Data(
        products
            .remove(received.operator()?, &name, revision)
            .await?,
    ))
}
