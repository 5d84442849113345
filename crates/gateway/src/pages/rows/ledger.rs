//! Movements of quota.

use atelier_contract::Quota;
use atelier_contract::groups::GroupRule;
use atelier_contract::models::PriceLine;
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
    /// `grant`, `hold`, `capture`, `release` or `adjust`; `expire` of a credit that ended.
    pub(crate) kind: String,
    /// The quota that was moved.
    pub(crate) amount: Quota,
    /// The job it belongs to.
    pub(crate) job_id: Option<String>,
    /// Balance after the movement.
    pub(crate) balance: Quota,
    /// Reserved quota after the movement.
    pub(crate) freeze_balance: Quota,
    /// Why, as whoever moved it said.
    pub(crate) reason: String,
    /// The key that its job came by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key_id: Option<String>,
    /// Member of the account who submitted that job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) member_id: Option<String>,
    /// The model that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The group whose prices its job was accepted with, unless it is the one that all begin in and had no rule for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// The rule of that group that counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<GroupRule>,
    /// Whose quota; operators see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) account_id: Option<String>,
}

/// As the owner sees it.
impl From<records::LedgerRow> for LedgerRow {
    fn from(entry: records::LedgerRow) -> Self {
        let lines = entry.price_lines.as_deref();
        let lines: Option<Vec<PriceLine>> =
            lines.and_then(|lines| serde_json::from_str(lines).ok());
        // Every line names the same.
        let line = lines.and_then(|lines| lines.into_iter().next());
        let (group, rule) = line.map_or((None, None), |line| (line.group, line.rule));
        Self {
            id: entry.id,
            time: timestamp(entry.time_ms),
            kind: entry.cause.unwrap_or(entry.kind),
            amount: entry.amount,
            job_id: entry.job_id,
            balance: entry.balance_after,
            freeze_balance: entry.frozen_after,
            reason: entry.reason,
            key_id: entry.key_id,
            member_id: entry.member_id,
            model: entry.model,
            group,
            rule,
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
