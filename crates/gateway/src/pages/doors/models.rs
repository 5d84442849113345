//! The models that an account can use now in calls of the vendor's own client libraries, in the form of those.

use std::sync::Arc;

use atelier_contract::families::vidgen_partner::FAMILY;
use atelier_contract::models::ListedModel;
use atelier_contract::{Code, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::Json;
use crate::http::request::IncomingRequest;
use crate::pages::usable_models::{is_usable, usable, visible};

/// When built-in models came to be, as far as clients want to know: the names are those of the interface and older than any
/// installation. 2025-01-01.
const CREATED: i64 = 1_735_689_600;

/// Where calls of those libraries go.
const LIBRARIES: &str = "/v1/";

/// Whether a client library can name a model in some call.
fn has_call(model: &ListedModel<'_>) -> bool {
    let mut submits = model.submits.iter();
    // Their calls for videos become orders of a family whose own paths are elsewhere.
    let videos = FAMILY.submits;
    let is_video = |name| videos.iter().any(|submit| submit.name == name);
    submits.any(|submit| submit.path.starts_with(LIBRARIES) || is_video(submit.name))
}

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
    fn of(model: &ListedModel<'_>) -> Self {
        Self {
            id: model.name.to_owned(),
            object: "model",
            created: model.row.map_or(CREATED, |row| match &row.definition.like {
                Some(_) => row.changed_ms / 1000,
                // The settings of a built-in model make it no younger.
                None => CREATED,
            }),
            owned_by: model.family.name,
        }
    }
}

pub(crate) async fn list(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<ModelList>, Denial> {
    let (caller, models) = (received.caller()?, app.models());
    let mut usable = usable(&app, caller, &models);
    usable.retain(has_call);
    Ok(Json(ModelList {
        object: "list",
        data: usable.iter().map(ModelRow::of).collect(),
    }))
}

pub(crate) async fn show(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<ModelRow>, Denial> {
    let (name, models) = (received.decoded_param(0), app.models());
    let row = models.find(&name);
    let is_meant = |model: &ListedModel<'_>| match row {
        // By its name in any case, or by an alias.
        Some(row) => model.name.eq_ignore_ascii_case(&row.definition.name),
        None => model.name == name,
    };
    let listed = visible(&app, received.caller()?, &models);
    let model = listed
        .iter()
        .find(|model| is_meant(model) && has_call(model));
    if let Some(model) = model.filter(|model| is_usable(&app, model)) {
        Ok(Json(ModelRow::of(model)))
    } else {
        let message =
            "no such model can be used under /v1 now; GET /v1/models lists those that can";
        Err(Refusal::new(Code::NotFound, message).into())
    }
}
