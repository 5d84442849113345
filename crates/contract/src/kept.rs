//! What is kept beside a stored request though no caller can send it: what the compatibility API that it came through needs later.
//! Requests keep only documented fields, so that none of these names can come from outside.

use serde_json::Value;

use crate::body::Fields;

/// The prompt in English.
pub const UNDERSTOOD: &str = "understood";
/// What a client of midjourney-proxy calls a task by.
pub const MIDJOURNEY_STATE: &str = "mjState";
/// The compatibility API whose words a job's callback is told in.
pub const API: &str = "$api";
/// Kling's, as [`API`] keeps it.
pub const KLING: &str = "kling";
/// The caller's own name for a task.
pub const EXTERNAL_ID: &str = "$externalId";
/// The name of the model, as the caller of a conversation gave it.
pub const CHAT_MODEL: &str = "$chatModel";
/// The fields of the call that had no effect.
pub const IGNORED: &str = "$ignored";

/// Every name that is kept and is no part of what was asked.
pub const KEPT: [&str; 6] = [
    UNDERSTOOD,
    MIDJOURNEY_STATE,
    API,
    EXTERNAL_ID,
    CHAT_MODEL,
    IGNORED,
];

/// The fields of the call that had no effect, as its compatibility API found them.
pub fn ignored(request: &Fields) -> impl Iterator<Item = String> + '_ {
    let names = request.get(IGNORED).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned)
}
