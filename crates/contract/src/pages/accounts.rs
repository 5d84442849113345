//! Accounts as the operator sees and makes them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::fields::{Count, Flag, Text, as_text};
use crate::quota::Quota;

/// An e-mail address: a name and a host, at most 254 characters, no white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

const MOST_CHARACTERS: usize = 254;

impl Email {
    /// The address.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let text = text.trim();
        let plain = text.len() <= MOST_CHARACTERS
            && !text.chars().any(|c| c.is_whitespace() || c.is_control());
        match text.split_once('@') {
            Some((name, host))
                if plain && !name.is_empty() && !host.is_empty() && !host.contains('@') =>
            {
                Ok(Self(text.to_owned()))
            }
            _ => Err(de::Error::custom("must be an e-mail address")),
        }
    }
}

impl JsonSchema for Email {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Email".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "email", "maxLength": MOST_CHARACTERS })
    }
}

/// Quota that cannot be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonNegativeQuota(Quota);

impl NonNegativeQuota {
    /// The amount.
    pub const fn get(self) -> Quota {
        self.0
    }
}

impl<'de> Deserialize<'de> for NonNegativeQuota {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let amount = Quota::deserialize(deserializer)?;
        if amount < Quota::ZERO {
            return Err(de::Error::custom("must not be negative"));
        }
        Ok(Self(amount))
    }
}

impl JsonSchema for NonNegativeQuota {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Balance".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "multipleOf": 0.001 })
    }
}

/// Unfinished jobs allowed in one queue.
pub type MaxQueue = Count<1, 1_000_000, 10>;

/// Calls per second; 0 for the configured number.
pub type Rate = Count<0, 1_000_000, 0>;

/// Percent of a whole; 0 for the configured part.
pub type Percent = Count<0, 100, 0>;

/// Bytes; 0 for the configured number.
pub type Storage = Count<0, 1_000_000_000_000_000, 0>;

/// A new account.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewAccount {
    /// E-mail address.
    pub email: Email,
    /// Quota granted at once.
    pub balance: NonNegativeQuota,
    /// Unfinished jobs allowed in one queue; the configured number when absent.
    #[serde(default)]
    pub max_queue: Option<MaxQueue>,
    /// Whether the address counts as verified.
    #[serde(default)]
    pub email_verified: Flag<true>,
}

/// What shall be different of an account.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AccountChange {
    /// E-mail address.
    #[serde(default)]
    pub email: Option<Email>,
    /// Unfinished jobs allowed in one queue.
    #[serde(default)]
    pub max_queue: Option<MaxQueue>,
    /// Submits per second that it may make; 0 for the configured number.
    #[serde(default)]
    pub submits_per_second: Option<Rate>,
    /// Other calls per second that it may make; 0 for the configured number.
    #[serde(default)]
    pub calls_per_second: Option<Rate>,
    /// The most that it may have of what is not given back by itself (requests under way, bodies, inputs, event streams,
    /// downloads), in percent of the whole; 0 for an eighth.
    #[serde(default)]
    pub share_percent: Option<Percent>,
    /// Bytes of results and inputs that may be kept for it; 0 for the configured number.
    #[serde(default)]
    pub max_storage: Option<Storage>,
    /// Whether the address counts as verified.
    #[serde(default)]
    pub email_verified: Option<Flag<true>>,
    /// Whether its keys are refused.
    #[serde(default)]
    pub disabled: Option<Flag<false>>,
}

/// Quota to grant, or to take away.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Credit {
    /// How much; negative to take away.
    pub amount: Quota,
    /// Why, for the ledger.
    #[serde(default)]
    pub reason: Option<Text<500>>,
    /// The same key credits once.
    #[serde(default)]
    pub idempotency_key: Option<Text<255>>,
}

/// An account.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Account")]
pub struct AccountRow {
    /// Identifier.
    pub id: String,
    /// E-mail address.
    pub email: String,
    /// When the address was verified, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub email_verified_at: Option<String>,
    /// Quota that can be spent.
    pub balance: Quota,
    /// Quota held by unfinished jobs.
    pub freeze_balance: Quota,
    /// Unfinished jobs allowed in one queue.
    pub max_queue: i64,
    /// Submits per second that it may make; 0 for the configured number.
    pub submits_per_second: i64,
    /// Other calls per second that it may make; 0 for the configured number.
    pub calls_per_second: i64,
    /// The most that it may have of what is not given back by itself, in percent of the whole; 0 for an eighth.
    pub share_percent: i64,
    /// Bytes of results and inputs that may be kept for it; 0 for the configured number.
    pub max_storage: i64,
    /// Bytes of results and inputs that are kept for it.
    pub stored_bytes: i64,
    /// Whether its keys are refused.
    pub disabled: bool,
    /// When it was made.
    pub created_at: String,
}

/// An account that was just made.
#[derive(Serialize, JsonSchema)]
pub struct MadeAccount {
    /// The account.
    #[serde(flatten)]
    pub account: AccountRow,
    /// Its first key; no other answer shows it.
    pub api_key: String,
}
