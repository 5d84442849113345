//! What an account has: what never ends, and credits that do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quota::Quota;

/// Credits of an account with their expiry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreditsView {
    /// Quota that never expires; it is spent last.
    pub base: Quota,
    /// Quota without expiry that is reserved for unfinished jobs.
    pub held: Quota,
    /// What it owes; incoming quota pays it first.
    pub debt: Quota,
    /// How much it may owe for work.
    #[serde(rename = "creditLimit")]
    pub credit_limit: Quota,
    /// Credits in the order in which they are spent; then those that have ended, the latest first, 100 at most.
    pub credits: Vec<CreditView>,
}

/// Quota that ends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreditView {
    /// Identifier of the credit, which is that of its row in the ledger.
    pub id: String,
    /// `voucher`, `payment`, `plan`, `import` or `grant`.
    pub source: String,
    /// Reason given with the grant.
    pub note: String,
    /// Granted quota.
    pub amount: Quota,
    /// Part that can be spent.
    pub left: Quota,
    /// Part reserved for unfinished jobs.
    pub held: Quota,
    /// Spent part.
    pub spent: Quota,
    /// Part that expired unspent or was withdrawn.
    pub lapsed: Quota,
    /// When it ends, `YYYY-MM-DD HH:MM:SS` in UTC: it is of no use from that instant.
    pub expires: String,
}
