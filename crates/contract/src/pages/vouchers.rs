//! Vouchers: codes that are worth quota, as operators make them and callers redeem them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Count, OperatorDate, Text};
use crate::quota::Quota;

/// A new batch of vouchers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct NewVouchers {
    /// How many codes, at most 10,000.
    pub count: Count<1, 10_000, 1>,
    /// Value of each code, more than 0.
    pub amount: Quota,
    /// Note that callers see beside the quota.
    #[serde(default)]
    pub note: Option<Text<200>>,
    /// When the codes can no longer be redeemed, `YYYY-MM-DD` (its midnight UTC) or RFC 3339; never when absent.
    #[serde(default)]
    pub expires: Option<OperatorDate>,
    /// When the quota ends that they give; never when this and `credit_days` are absent.
    #[serde(default)]
    pub credit_expires: Option<OperatorDate>,
    /// How many days after it was redeemed a code's quota ends, at most 3,660; with both, whichever comes first.
    #[serde(default)]
    pub credit_days: Option<Count<1, 3_660, 30>>,
    /// How many codes of the batch one account may redeem.
    #[serde(default)]
    pub per_account: Option<Count<1, 10_000, 1>>,
}

/// A batch of vouchers as the operator sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VoucherBatchView {
    /// Identifier of the batch.
    pub id: String,
    /// What it is for.
    pub note: String,
    /// How many codes it has.
    pub count: i64,
    /// How many of them were redeemed.
    pub redeemed: i64,
    /// Value of each code.
    pub amount: Quota,
    /// How many of them one account may redeem.
    pub per_account: i64,
    /// When its codes can no longer be redeemed, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub expires: Option<String>,
    /// When the quota ends that they give.
    pub credit_expires: Option<String>,
    /// How many days after it was redeemed a code's quota ends.
    pub credit_days: Option<i64>,
    /// When it was made.
    pub created_at: String,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A batch that was just made.
#[derive(Clone, Serialize, JsonSchema)]
pub struct MadeVouchers {
    /// The batch.
    #[serde(flatten)]
    pub batch: VoucherBatchView,
    /// Its codes as a table, one in a line below `code`; no other answer shows them.
    pub csv: String,
}

/// A code to be redeemed.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct RedeemedCode {
    /// The code; case and dashes do not matter, an O is a 0, an I or L is a 1.
    pub code: Text<100>,
}

/// Credit from the code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedeemedView {
    /// Identifier of its row in the ledger, and of the credit.
    pub id: String,
    /// The batch that it was of.
    pub batch: String,
    /// Value of the code.
    pub amount: Quota,
    /// When that ends, `YYYY-MM-DD HH:MM:SS` in UTC; null when it does not.
    pub expires: Option<String>,
    /// When it was redeemed.
    pub redeemed_at: String,
}
