//! Movements of quota.

use atelier_contract::Quota;
use atelier_contract::time::timestamp;
use atelier_engine::records;
use schemars::JsonSchema;
use serde::Serialize;

/// A movement of quota.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LedgerRow {
    /// Identifier of the row.
    pub(crate) id: String,
    /// When it happened, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub(crate) time: String,
    /// `grant`, `hold`, `capture`, `release` or `adjust`.
    pub(crate) kind: String,
    /// The quota that was moved.
    pub(crate) amount: Quota,
    /// The job it belongs to.
    pub(crate) job_id: Option<String>,
    /// Balance after the movement.
    pub(crate) balance: Quota,
    /// Held quota after the movement.
    pub(crate) freeze_balance: Quota,
    /// Why, as whoever moved it said.
    pub(crate) reason: String,
    /// The key that its job came by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_id: Option<String>,
    /// The member of the account who asked for that job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) member_id: Option<String>,
    /// The model that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Whose quota; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) account_id: Option<String>,
}

/// As the owner sees it.
impl From<records::LedgerRow> for LedgerRow {
    fn from(entry: records::LedgerRow) -> Self {
        Self {
            id: entry.id,
            time: timestamp(entry.time_ms),
            kind: entry.kind,
            amount: entry.amount,
            job_id: entry.job_id,
            balance: entry.balance_after,
            freeze_balance: entry.frozen_after,
            reason: entry.reason,
            key_id: entry.key_id,
            member_id: entry.member_id,
            model: entry.model,
            account_id: None,
        }
    }
}

impl LedgerRow {
    /// As operators see it: with the account.
    pub(crate) fn with_account(entry: records::LedgerRow) -> Self {
        let account_id = Some(entry.account_id.clone());
        Self {
            account_id,
            ..entry.into()
        }
    }
}
