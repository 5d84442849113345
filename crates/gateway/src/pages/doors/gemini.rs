//! Gemini's calls for picture models, and its list of them.

use std::sync::Arc;

use atelier_contract::family::{FinishedJob, IMAGE_BODY};
use atelier_contract::picture_chats::{GeminiAction, GeminiAnswer, GeminiCall, GeminiModels};
use serde_json::{Value, json};

use super::picture_events::PictureWire;
use super::picture_models::{PictureCall, picture_models};
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Json, JsonOrEvents, RawBody};
use crate::http::request::IncomingRequest;

const WIRE: PictureWire = PictureWire {
    opening: |_| None,
    progress: GeminiAnswer::progress,
    // Its clients take everything between events for a part of one.
    comments: false,
    closing: |finished| vec![json!(GeminiAnswer::of(finished))],
    end: "",
};

/// Draws what the last content says. The path names the model, and behind its last colon what is to be done.
pub(crate) async fn generate(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<GeminiCall, IMAGE_BODY>,
) -> Result<JsonOrEvents<GeminiAnswer>, Denial> {
    let path = received.decoded_param(0);
    let (model, action) = GeminiAction::split(&path)?;
    let wish = GeminiCall::read(action, fields)?;
    let call = PictureCall::of(&app, received.caller()?, Some(model), wish)?;
    let reply = match action {
        GeminiAction::Generate => call.answer(&app, &received, generated).await,
        GeminiAction::Predict => call.answer(&app, &received, predicted).await,
        GeminiAction::Stream => call.events(&app, &received, WIRE).await,
    };
    Ok(JsonOrEvents::of(reply?))
}

fn generated(finished: &FinishedJob<'_>) -> Value {
    json!(GeminiAnswer::of(finished))
}

fn predicted(finished: &FinishedJob<'_>) -> Value {
    json!(GeminiAnswer::predicted(finished))
}

/// The picture models that can be used now.
pub(crate) async fn models(
    app: Arc<App>,
    received: IncomingRequest,
    (): (),
) -> Result<Json<GeminiModels>, Denial> {
    let models = picture_models(&app, received.caller()?);
    Ok(Json(GeminiModels::of(models)))
}
