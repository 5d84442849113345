//! Issuing keys of an account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Moment, Text};
use crate::scopes::Scopes;

/// What a new key shall be called and when it ends.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// A name to tell keys apart; `key` when absent.
    #[serde(default)]
    pub name: Option<Text<100>>,
    /// What it is good for; everything when absent.
    #[serde(default)]
    pub scopes: Option<Scopes>,
    /// When it stops working; never when absent.
    #[serde(default)]
    pub expires_at: Option<Moment>,
}

/// A key that was just issued.
#[derive(Serialize, JsonSchema)]
pub struct IssuedKey {
    /// Identifier of the key, to revoke it by.
    pub id: String,
    /// The key itself; no other answer shows it.
    pub api_key: String,
}

/// The thing that was revoked, removed or sent again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Named")]
pub struct ResourceId {
    /// Identifier of the thing.
    pub id: String,
}
