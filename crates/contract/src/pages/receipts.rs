//! Receipts as callers see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::receipts::ReceiptPayload;

/// A receipt of an account, signed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Receipt")]
pub struct ReceiptView {
    /// Counts the receipts of the account from 1.
    pub number: i64,
    /// The hash that the next receipt names as `previous`: SHA-256 of the signed text, in hexadecimal digits.
    pub hash: String,
    /// The key that signed it, as in `/.well-known/atelier-receipts`.
    pub kid: String,
    /// The signed receipt: compact JWS, EdDSA.
    pub signed: String,
    /// What it says.
    #[serde(flatten)]
    pub payload: ReceiptPayload,
}

/// A key that signs receipts from now on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MadeReceiptKey {
    /// Its name.
    pub kid: String,
}
