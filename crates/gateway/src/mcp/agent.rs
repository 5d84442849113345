//! Who asks, and the names of its calls.

use std::sync::Arc;

use atelier_contract::hex;
use atelier_engine::Caller;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope::McpHeaders;
use crate::app::App;
use crate::http::admission::Admission;

/// An agent and the account it works for.
pub(crate) struct Agent {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    pub(crate) admission: Arc<Admission>,
    /// The name of the session, as the agent gave it.
    pub(crate) session: String,
    /// What the headers of the request say.
    pub(crate) mcp_headers: McpHeaders,
    /// Whether the request is of the revision without a handshake.
    pub(crate) modern: bool,
    /// Only tools whose names begin with one of these, when there are any.
    pub(crate) only: Vec<String>,
}

impl Agent {
    /// The name of one call: the same request of the same session is the same job. Without a session there is none.
    pub(super) fn name_of(&self, id: &Value) -> Option<String> {
        if self.session.is_empty() {
            return None;
        }
        let whole = format!("{}\n{}\n{id}", self.caller.account_id, self.session);
        let hash = Sha256::digest(whole.as_bytes());
        Some(format!("mcp-{}", hex(&hash)))
    }
}
