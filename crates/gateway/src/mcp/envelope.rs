//! The revision without a handshake: every request carries which revision it speaks, and every result says that it is whole
//! and for how long it may be kept. Whoever asks for an older one begins with `initialize`, as before.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderMap;
use serde_json::{Value, json};

/// The revision of MCP that needs no handshake.
pub(super) const REVISION: &str = "2026-07-28";
/// What a request says of itself.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const ABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// What a result says of the service.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// What stands in the body stands in these headers too, for whatever is in between.
const HEADERS: [&str; 3] = ["mcp-protocol-version", "mcp-method", "mcp-name"];
/// Tools and templates change with the program alone; a result of a job never does. The list of results does.
const KEPT_MS: u32 = 300_000;

pub(super) const UNKNOWN_METHOD: i64 = -32601;
pub(super) const WRONG_PARAMS: i64 = -32602;
const HEADER_MISMATCH: i64 = -32020;
const UNKNOWN_REVISION: i64 = -32022;

/// What is wrong with a request: code, words, and what helps to put it right.
pub(super) type RpcError = (i64, String, Value);

/// What the service calls itself to agents.
pub(super) fn server() -> Value {
    json!({ "name": "atelier", "title": "Atelier", "version": env!("CARGO_PKG_VERSION") })
}

/// What the headers of a request say, as far as it has them.
#[derive(Clone, Default)]
pub(crate) struct McpHeaders([Option<String>; 3]);

impl McpHeaders {
    /// Takes them out of the head of a request.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| Some(decoded(headers.get(name)?.to_str().ok()?));
        Self(HEADERS.map(text))
    }
}

/// A header with letters that headers cannot have is in base64 and says so.
fn decoded(text: &str) -> String {
    let inner = text.strip_prefix("=?base64?");
    let inner = inner.and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|inner| STANDARD.decode(inner).ok());
    let plain = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    plain.unwrap_or_else(|| text.to_owned())
}

/// Whether a request is of this revision; one that is of no revision known here is wrong.
pub(super) fn check_revision(
    mcp_headers: &McpHeaders,
    method: &str,
    params: &Value,
) -> Result<bool, RpcError> {
    let meta = &params["_meta"];
    let Some(version) = meta.get(VERSION_KEY) else {
        return Ok(false);
    };
    let wrong = |code, words: &str| Err((code, words.to_owned(), Value::Null));
    let Some(version) = version.as_str() else {
        return wrong(WRONG_PARAMS, "the protocol version must be text");
    };
    if meta.get(ABILITIES_KEY).is_none() {
        return wrong(WRONG_PARAMS, "params._meta lacks the client's capabilities");
    }
    let name = ["name", "uri"].iter().find_map(|key| params[key].as_str());
    let meant = [Some(version), Some(method), name];
    let differs = |(given, meant): (&Option<String>, Option<&str>)| {
        given.as_deref().is_some_and(|given| meant != Some(given))
    };
    if mcp_headers.0.iter().zip(meant).any(differs) {
        return wrong(HEADER_MISMATCH, "the headers do not say what the body says");
    }
    if version != REVISION {
        let helps = json!({ "supported": [REVISION], "requested": version });
        return Err((
            UNKNOWN_REVISION,
            "unsupported protocol version".into(),
            helps,
        ));
    }
    Ok(true)
}

/// A result as this revision has it.
pub(super) fn wrap_result(method: &str, result: &Value) -> Value {
    let mut whole = result.clone();
    whole["resultType"] = "complete".into();
    whole["_meta"][SERVER_KEY] = server();
    let kept = match method {
        "server/discover" | "tools/list" | "resources/templates/list" | "resources/read" => {
            Some(KEPT_MS)
        }
        "resources/list" => Some(0),
        _ => None,
    };
    if let Some(kept) = kept {
        whole["ttlMs"] = kept.into();
        whole["cacheScope"] = "private".into();
    }
    whole
}

/// The status of an answer that is a fault, which this revision says in the head as well.
pub(super) fn status_of(code: i64) -> u16 {
    match code {
        UNKNOWN_METHOD => 404,
        _ => 400,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(version: &str) -> Value {
        json!({ "name": "quota", "_meta": { VERSION_KEY: version, ABILITIES_KEY: {} } })
    }

    #[test]
    fn a_request_is_of_this_revision_when_it_and_its_headers_say_so() {
        let mcp_headers = |headers: &[(&'static str, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| {
                let name = hyper::header::HeaderName::from_static(name);
                (name, hyper::header::HeaderValue::from_static(value))
            });
            McpHeaders::of(&pairs.collect())
        };
        let none = mcp_headers(&[]);
        assert_eq!(check_revision(&none, "tools/call", &json!({})), Ok(false));
        let ours = request(REVISION);
        assert_eq!(check_revision(&none, "tools/call", &ours), Ok(true));
        let all = mcp_headers(&[
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?cXVvdGE=?="),
        ]);
        assert_eq!(check_revision(&all, "tools/call", &ours), Ok(true));
        let other = mcp_headers(&[("mcp-name", "artgen_imagine")]);
        let code = |of: Result<bool, RpcError>| of.expect_err("wrong").0;
        assert_eq!(
            code(check_revision(&other, "tools/call", &ours)),
            HEADER_MISMATCH
        );
        let later = check_revision(&none, "tools/call", &request("2099-01-01"));
        let (code_of, _, helps) = later.expect_err("unknown");
        assert_eq!(
            (code_of, &helps["supported"][0]),
            (UNKNOWN_REVISION, &json!(REVISION))
        );
        let bare = json!({ "_meta": { VERSION_KEY: REVISION } });
        assert_eq!(
            code(check_revision(&none, "tools/list", &bare)),
            WRONG_PARAMS
        );
    }
}
