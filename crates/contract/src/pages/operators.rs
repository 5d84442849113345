//! Named operators: their roles, and how one is made and listed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::Text;

/// What an operator may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OperatorRole {
    /// Look at everything and change everything.
    Operator,
    /// Look, and change nothing.
    Viewer,
}

impl OperatorRole {
    /// Both roles, the mightier one first.
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
    /// Role: `operator` or `viewer`.
    pub role: OperatorRole,
}
