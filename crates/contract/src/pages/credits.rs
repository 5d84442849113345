//! What an account has: what never ends, and credits that do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quota::Quota;

/// What an account has, and what of it ends.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreditsView {
    /// What can be spent and never ends; it is spent last.
    pub base: Quota,
    /// What unfinished jobs hold of what never ends.
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
    /// What it came of, as whoever granted it said.
    pub note: String,
    /// What was granted.
    pub amount: Quota,
    /// What can be spent of it.
    pub left: Quota,
    /// What unfinished jobs hold of it.
    pub held: Quota,
    /// What was spent of it.
    pub spent: Quota,
    /// What was not spent when it ended, or was taken away.
    pub lapsed: Quota,
    /// When it ends, `YYYY-MM-DD HH:MM:SS` in UTC: it is of no use from that instant.
    pub expires: String,
}
