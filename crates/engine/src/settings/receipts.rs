//! Receipts of what accounts were charged for.

use serde::Deserialize;

/// Receipts of what accounts were charged for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptSettings {
    /// Whether jobs that are charged from now on get one.
    pub enabled: bool,
}
