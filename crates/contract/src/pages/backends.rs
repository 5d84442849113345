//! A back end: a vendor at an address. One shape for the configuration, the operator, the documents and the store.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use super::name::Name;
use super::workers::{Health, WorkerSpec, WorkerView};
use crate::body::Fields;

use crate::fields::{Count, Flag, Text};
use crate::names::{canonical_name, unknown_name};

/// Characters of a back end's settings.
const SETTINGS_MOST: usize = 1_000_000;

/// A back end as the operator describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendSpec {
    /// Name given by the operator.
    pub name: Name,
    /// The vendor; it cannot be changed later.
    pub vendor: Text<100>,
    /// URL of the vendor's API.
    pub base_url: Text<2048>,
    /// The vendor's own settings.
    #[serde(default, deserialize_with = "settings")]
    pub settings: Fields,
    /// The operations or families it may serve, with `_` or `-`; empty for all it can.
    #[serde(default, deserialize_with = "operations")]
    pub operations: Vec<String>,
    /// Its place in the order of fall-back, lowest first.
    #[serde(default)]
    pub rank: Count<-1_000_000, 1_000_000, 100>,
    /// Whether it is used.
    #[serde(default)]
    pub enabled: Flag<true>,
}

fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(fields)
            if serde_json::to_string(&fields).is_ok_and(|text| text.len() <= SETTINGS_MOST) =>
        {
            Ok(fields)
        }
        _ => Err(de::Error::custom(
            "must be an object of at most a million characters",
        )),
    }
}

fn operations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let entries = Vec::<String>::deserialize(deserializer)?;
    let read = |entry: &String| {
        let name = canonical_name(entry).ok_or_else(|| de::Error::custom(unknown_name(entry)))?;
        Ok(name.to_owned())
    };
    entries.iter().map(read).collect()
}

/// A back end of the configuration with its worker accounts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct DeclaredBackend {
    /// The back end; its name tells it from the others.
    #[serde(flatten)]
    pub spec: BackendSpec,
    /// Its worker accounts, told apart by their names.
    #[serde(default)]
    pub accounts: Vec<WorkerSpec>,
}

/// A back end as the operator sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Backend")]
pub struct BackendView {
    /// Identifier of the back end.
    pub id: String,
    /// Name given by the operator.
    pub name: String,
    /// Name of the vendor it is at.
    pub vendor: String,
    /// Base URL; null for the embedded engine.
    pub base_url: Option<String>,
    /// The vendor's own settings.
    pub settings: Fields,
    /// The operations or families it may serve; empty for all it can.
    pub operations: Vec<String>,
    /// Its place in the order of fall-back, lowest first.
    pub rank: i64,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether it comes from the configuration, or is part of the program.
    pub declared: bool,
    /// When it was made.
    pub created_at: Option<String>,
    /// The worker accounts that it has.
    pub accounts: Vec<WorkerView>,
    /// Running jobs.
    pub busy: usize,
    /// Slots.
    pub slots: usize,
    /// Health, if it has no worker account: `no_account`, or that of the embedded engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
}
