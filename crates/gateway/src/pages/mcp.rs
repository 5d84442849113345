//! The door for agents: messages of the Model Context Protocol over streamable HTTP.

use std::sync::Arc;

use atelier_contract::family::IMAGE_BODY;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::app::App;
use crate::http::denial::Denial;
use crate::http::page::{Messages, RawBody};
use crate::http::request::IncomingRequest;
use crate::mcp::{self, Agent, McpHeaders, SESSION};

/// A message as JSON-RPC has it.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "McpMessage")]
#[expect(
    dead_code,
    reason = "only its shape is told; the message is read as it came"
)]
pub(super) struct Message {
    /// `2.0`.
    #[serde(default)]
    jsonrpc: String,
    /// Names a request; a notification has none.
    #[serde(default)]
    id: Option<Value>,
    /// Question.
    #[serde(default)]
    method: String,
    /// Inputs.
    #[serde(default)]
    params: Option<Value>,
}

pub(super) async fn answer(
    app: Arc<App>,
    received: IncomingRequest,
    RawBody(message, _): RawBody<Message, IMAGE_BODY>,
) -> Result<Messages, Denial> {
    let caller = received.caller()?.clone();
    let session = received
        .head
        .headers
        .get(SESSION)
        .and_then(|value| value.to_str().ok());
    let query = received.head.uri.query().unwrap_or_default();
    let mut fields = url::form_urlencoded::parse(query.as_bytes());
    let only = fields
        .find(|(name, _)| name == "tools")
        .map(|(_, value)| value.into_owned());
    let only = only.unwrap_or_default();
    let agent = Agent {
        caller,
        admission: Arc::clone(&received.admission),
        session: session.unwrap_or_default().to_owned(),
        mcp_headers: McpHeaders::of(&received.head.headers),
        modern: false,
        only: only
            .split(',')
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .map(str::to_owned)
            .collect(),
        app,
    };
    Ok(Messages(mcp::answer(agent, message).await))
}
