//! Chat completions for picture models: the last message of the user is drawn, and the assistant says the picture.

use std::sync::Arc;

use atelier_contract::family::{FinishedJob, IMAGE_BODY};
use atelier_contract::picture_chats::{ChatCompletion, ChatRequest};
use serde_json::{Value, json};

use super::picture_events::PictureWire;
use super::picture_models::PictureCall;
use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{JsonOrEvents, RawBody};
use crate::http::request::IncomingRequest;

const WIRE: PictureWire = PictureWire {
    opening: |job| Some(ChatCompletion::opening(job)),
    progress: ChatCompletion::progress,
    comments: true,
    closing: |finished| ChatCompletion::closing(finished, false),
    end: "data: [DONE]\n\n",
};
const WIRE_WITH_USAGE: PictureWire = PictureWire {
    closing: |finished| ChatCompletion::closing(finished, true),
    ..WIRE
};

pub(crate) async fn complete(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(fields, _): RawBody<ChatRequest, IMAGE_BODY>,
) -> Result<JsonOrEvents<ChatCompletion>, Denial> {
    let (model, wish, stream) = ChatRequest::read(fields)?;
    let call = PictureCall::of(&app, received.caller()?, model.as_deref(), wish)?;
    let reply = if stream.wanted {
        let wire = if stream.usage { WIRE_WITH_USAGE } else { WIRE };
        call.events(&app, &received, wire).await
    } else {
        call.answer(&app, &received, said).await
    };
    Ok(JsonOrEvents::of(reply?))
}

fn said(finished: &FinishedJob<'_>) -> Value {
    json!(ChatCompletion::of(finished))
}
