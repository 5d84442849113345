//! What an export is asked for.

use atelier_contract::pages::exports::{ExportFormat, ExportKind};
use atelier_store::SpenderFilter;

/// Which rows are exported, and how they are written.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    pub kind: ExportKind,
    pub format: ExportFormat,
    /// Of this account, or of all.
    pub account_id: Option<String>,
    /// Whether the account takes its own; others see whose a row is.
    pub is_own: bool,
    pub of: SpenderFilter,
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
}
