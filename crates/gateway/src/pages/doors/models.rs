//! The models that an account can use now, in the form of the vendor's own client libraries.

use std::sync::Arc;

use atelier_contract::models::{Model, models};
use atelier_contract::{Code, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Json;
use crate::http::request::IncomingRequest;

/// When the models came to be, as far as clients want to know: the names are those of the interface and older than any
/// installation. 2025-01-01.
const CREATED: i64 = 1_735_689_600;

/// A list of models.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelList {
    /// `list`.
    object: &'static str,
    /// The models.
    data: Vec<ModelRow>,
}

/// A model.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelRow {
    /// Its name in requests.
    id: String,
    /// `model`.
    object: &'static str,
    /// Seconds since 1970.
    created: i64,
    /// The family it belongs to.
    owned_by: &'static str,
}

impl ModelRow {
    fn of(model: &Model) -> Self {
        Self {
            id: model.name.clone(),
            object: "model",
            created: CREATED,
            owned_by: model.family.name,
        }
    }
}

fn is_usable(app: &App, model: &Model) -> bool {
    let mut submits = model.submits.iter();
    submits.any(|submit| app.engine.runner().serves(submit, &model.name))
}

pub(crate) async fn list(
    app: Arc<App>,
    _: IncomingRequest,
    (): (),
) -> Result<Json<ModelList>, Denial> {
    let usable = models().iter().filter(|model| is_usable(&app, model));
    Ok(Json(ModelList {
        object: "list",
        data: usable.map(ModelRow::of).collect(),
    }))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<ModelRow>, Denial> {
    let name = received.param(0);
    let model = models().iter().find(|model| model.name == name);
    if let Some(model) = model.filter(|model| is_usable(&app, model)) {
        Ok(Json(ModelRow::of(model)))
    } else {
        let message = "no such model can be used now; GET /v1/models lists those that can";
        Err(Refusal::new(Code::NotFound, message).into())
    }
}
