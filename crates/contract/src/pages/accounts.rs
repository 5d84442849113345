//! Fields of accounts, as operators set them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::list::{PageNumber, PageSize};
use crate::fields::{Count, Text, as_text, words};
use crate::quota::Quota;

words! {
    /// By what accounts are listed.
    pub AccountOrder = Created {
        /// The oldest first.
        Created "created",
        /// By e-mail address.
        Email "email",
        /// The highest balance first.
        Balance "balance",
    }
}

/// Which accounts to list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AccountsQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Accounts on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only accounts with this in their e-mail address, in any case; an identifier finds its account.
    #[serde(default)]
    pub q: Option<Text<254>>,
    /// The order of the list.
    #[serde(default)]
    pub sort: AccountOrder,
}

/// An e-mail address: a name and a host, at most 254 characters, no white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

const MOST_CHARACTERS: usize = 254;

impl Email {
    /// The address without the type around it.
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
    /// The amount, zero or more.
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
