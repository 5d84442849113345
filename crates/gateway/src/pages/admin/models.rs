//! Models that the operator sells: made, changed and removed, and asked about before.

use std::sync::Arc;

use atelier_contract::fields::{Count, Flag};
use atelier_contract::models::ModelDefinition;
use atelier_contract::pages::models::{ModelPreview, ModelQuery};
use atelier_contract::pages::patch::Patch;
use atelier_engine::ModelEdit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{BodyAndQuery, Data, Query, RawBody, WholeList};
use crate::http::request::IncomingRequest;
use crate::pages::rows::models::SoldModel;

/// Bytes of a model: every rule that one may have fits.
const MODEL_BODY: usize = 1024 * 1024;

/// A body in the shape of a `T`, as it came: null takes something away.
type RawModelBody<T> = RawBody<T, MODEL_BODY>;

/// How a removal is asked for; it has no body.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ModelRemovalQuery {
    /// `true` removes nothing and says which of the latest jobs would be refused.
    #[serde(default)]
    preview: Flag<false>,
    /// The revision to be removed; with another one now, nothing is.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// A change of a model: the fields that are given, each as a whole; null takes one away.
#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "only its shape is told; the engine reads the body as it came"
)]
pub(crate) struct ModelChange {
    /// What it shall be.
    #[serde(flatten)]
    definition: Patch<ModelDefinition>,
    /// The revision that the change was made on; with another one now, it is refused.
    #[serde(default)]
    revision: Option<Count<0, 1_000_000_000, 0>>,
}

/// Result of a change, or of its preview.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ModelEditResult {
    /// The model as it is now.
    Model(Box<SoldModel>),
    /// Effect of the change.
    Preview(ModelPreview),
}

/// Lists the operator's models, by name.
pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<WholeList<SoldModel>, Denial> {
    let models = app.engine.admin().models().list().await?;
    Ok(WholeList(models.into_iter().map(SoldModel::from).collect()))
}

/// Shows a model.
pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Data<SoldModel>, Denial> {
    let name = received.decoded_param(0);
    let model = app.engine.admin().models().one(&name).await?;
    Ok(Data(model.into()))
}

/// Makes a model.
pub(crate) async fn create(
    app: Arc<App>,
    received: IncomingRequest,
    BodyAndQuery(RawBody(fields, _), query): BodyAndQuery<
        RawModelBody<ModelDefinition>,
        ModelQuery,
    >,
) -> Result<Data<ModelEditResult>, Denial> {
    if query.preview.on() {
        return preview(&app, ModelEdit::Create(fields)).await;
    }
    let models = app.engine.admin().models();
    let made = models.create(received.operator()?, fields).await?;
    Ok(Data(ModelEditResult::Model(Box::new(made.into()))))
}

/// Changes a model, for requests from now on.
pub(crate) async fn change(
    app: Arc<App>,
    received: IncomingRequest,
    BodyAndQuery(RawBody(fields, _), query): BodyAndQuery<RawModelBody<ModelChange>, ModelQuery>,
) -> Result<Data<ModelEditResult>, Denial> {
    let name = received.decoded_param(0);
    if query.preview.on() {
        return preview(&app, ModelEdit::Change { name, fields }).await;
    }
    let models = app.engine.admin().models();
    let changed = models.change(received.operator()?, &name, fields).await?;
    Ok(Data(ModelEditResult::Model(Box::new(changed.into()))))
}

/// Removes a model; its jobs go on.
pub(crate) async fn remove(
    app: Arc<App>,
    received: IncomingRequest,
    Query(query): Query<ModelRemovalQuery>,
) -> Result<Data<ModelEditResult>, Denial> {
    let name = received.decoded_param(0);
    if query.preview.on() {
        return preview(&app, ModelEdit::Remove { name }).await;
    }
    let revision = query.revision.map(|revision| revision.get() as u32);
    let models = app.engine.admin().models();
    let removed = models.remove(received.operator()?, &name, revision).await?;
    Ok(Data(ModelEditResult::Model(Box::new(removed.into()))))
}

/// What a change would have meant for the latest jobs.
async fn preview(app: &App, edit: ModelEdit) -> Result<Data<ModelEditResult>, Denial> {
    let preview = app.engine.admin().models().preview(edit).await?;
    Ok(Data(ModelEditResult::Preview(preview)))
}
