//! What other prices would have meant.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quota::Quota;

/// What the jobs of the last week cost, and what they would have cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PricePreview {
    /// Jobs that were looked at: those that succeeded, the latest first.
    pub jobs: u32,
    /// Whether there were more.
    pub more: bool,
    /// Quota that was charged.
    pub was: Quota,
    /// Quota that would have been charged.
    pub would_be: Quota,
    /// The same by family.
    pub families: Vec<PreviewRow>,
}

/// The same of one family.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRow {
    /// Name of the family, as people read it.
    pub title: String,
    /// How many of its jobs were looked at.
    pub jobs: u32,
    /// Quota that was charged.
    pub was: Quota,
    /// Quota that would have been charged.
    pub would_be: Quota,
}
