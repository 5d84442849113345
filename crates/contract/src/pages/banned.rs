//! The words that no prompt may contain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words that no prompt of artgen, and of the families that `prompts.families` names, may contain: whole, in any case and
/// however they are written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BannedWords {
    /// The words; an entry of several words is banned as a phrase.
    pub words: Vec<String>,
}
