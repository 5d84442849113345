//! The vendors that back ends can be set up at.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A vendor that back ends can be set up at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VendorRow {
    /// Its name, as a back end gives it.
    pub name: &'static str,
    /// One sentence about it.
    pub about: &'static str,
    /// Whether a worker account needs a credential.
    pub needs_credential: bool,
    /// Where it usually is; null for programs that operators run themselves.
    pub address: Option<&'static str>,
    /// The JSON Schema of its own settings.
    pub settings: Value,
    /// The models that a universal vendor is ready for, each with what it serves and how its inputs are filled; null for
    /// one that needs no mapping.
    pub mappings: Option<Value>,
}
