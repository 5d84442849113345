//! Keys of an account.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

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
    pub scopes: Option<ScopeList>,
    /// When it stops working; never when absent.
    #[serde(default)]
    pub expires_at: Option<Moment>,
}

/// What a key is good for, as a list of words.
#[derive(Clone, Copy, Debug)]
pub struct ScopeList(pub Scopes);

impl<'de> Deserialize<'de> for ScopeList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        let scopes = Scopes::of_words(words.iter().map(String::as_str));
        scopes
            .map(Self)
            .ok_or_else(|| de::Error::custom("must be a list of submit, read, account or all"))
    }
}

impl JsonSchema for ScopeList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ScopeList".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = ["submit", "read", "account", "all"];
        json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": words } })
    }
}

/// A key that was just issued.
#[derive(Serialize, JsonSchema)]
pub struct IssuedKey {
    /// Identifier.
    pub id: String,
    /// The key itself; no other answer shows it.
    pub api_key: String,
}

/// A key without its secret.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Key")]
pub struct KeyRow {
    /// Identifier.
    pub id: String,
    /// The name its owner gave it.
    pub name: String,
    /// The first characters of the key.
    pub prefix: String,
    /// What it is good for.
    pub scopes: Vec<&'static str>,
    /// When it was issued, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: String,
    /// When it was last used, to the minute.
    pub last_used_at: Option<String>,
    /// When it stops working.
    pub expires_at: Option<String>,
}

/// The thing that was revoked, removed or sent again.
#[derive(Serialize, JsonSchema)]
pub struct Named {
    /// Its identifier.
    pub id: String,
}
