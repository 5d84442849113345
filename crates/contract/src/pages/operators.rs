//! Named operators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Text;

/// What an operator may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OperatorRole {
    /// Everything.
    Operator,
    /// Look, and change nothing.
    Viewer,
}

impl OperatorRole {
    /// Every role.
    pub const ALL: [Self; 2] = [Self::Operator, Self::Viewer];

    /// The word on the wire.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }

    /// The role with a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// An operator to be made.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewOperator {
    /// The name in the audit list: 1 to 64 characters of a to z, 0 to 9 and `. _ - @`, never used before.
    pub name: Text<64>,
    /// `operator` or `viewer`.
    pub role: OperatorRole,
}

/// An operator without its token.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Operator")]
pub struct OperatorRow {
    /// Identifier; `root` for the token of the configuration.
    pub id: String,
    /// The name in the audit list.
    pub name: String,
    /// What it may do.
    pub role: OperatorRole,
    /// The first characters of its token.
    pub prefix: Option<String>,
    /// When it was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub created_at: Option<String>,
    /// When its token was last used, to the minute.
    pub last_used_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// An operator that was just made.
#[derive(Serialize, JsonSchema)]
pub struct IssuedOperator {
    /// The operator.
    #[serde(flatten)]
    pub operator: OperatorRow,
    /// The token itself; no other answer shows it.
    pub token: String,
}
