//! The words that no prompt may contain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words that no prompt of any family may contain, whole and in any case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BannedWords {
    /// The words; a line of several words is banned as it stands.
    pub words: Vec<String>,
}
