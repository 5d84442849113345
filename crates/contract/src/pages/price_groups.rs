//! Groups of accounts as operators see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Flag, Text};
use crate::groups::{GroupDefinition, GroupRevision};
use crate::pages::preview::PricePreview;
use crate::time::timestamp;

/// How a change of a group is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GroupQuery {
    /// Whether to answer what the latest jobs would have cost, and not to make the change.
    #[serde(default)]
    pub preview: Flag<false>,
    /// The day that rules are judged on in such an answer, `YYYY-MM-DD`; today when absent.
    #[serde(default)]
    pub at: Option<Text<40>>,
}

/// A group as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Group")]
pub struct GroupView {
    /// What an operator said of it.
    #[serde(flatten)]
    pub definition: GroupDefinition,
    /// Counts the changes of this name, from 1; 0 of `default` before anybody changed it.
    pub revision: u32,
    /// When it was changed last, `YYYY-MM-DD HH:MM:SS` in UTC; null before anybody changed it.
    pub changed_at: Option<String>,
    /// How many accounts are in it; null of `default`, which has all others.
    pub accounts: Option<i64>,
}

/// Effect of other rules on recent successful jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupPreview {
    /// The jobs of the group's accounts, what they were charged and what they would be.
    #[serde(flatten)]
    pub preview: PricePreview,
    /// Whether the jobs of all accounts were looked at, since the group has no account yet.
    pub everybody: bool,
}

impl GroupView {
    /// A group as operators see it.
    pub fn of(row: GroupRevision, accounts: Option<i64>) -> Self {
        Self {
            changed_at: (row.revision > 0).then(|| timestamp(row.changed_ms)),
            definition: row.definition,
            revision: row.revision,
            accounts,
        }
    }
}
