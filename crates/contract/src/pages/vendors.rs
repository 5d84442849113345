//! The vendors that back ends can be set up at.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A vendor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VendorRow {
    /// Its name, as a back end gives it.
    pub name: &'static str,
    /// One sentence about it.
    pub about: &'static str,
    /// Whether a worker account needs a credential.
    pub needs_credential: bool,
    /// The JSON Schema of its own settings; null when it says nothing about them.
    pub settings: Option<Value>,
}
