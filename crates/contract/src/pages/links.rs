//! Links: whoever has one may see a file of a job, until it ends or its owner takes it back.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::fields::Count;

/// The longest life of a link: a year.
const LONGEST_S: i64 = 31_536_000;
/// The usual one: a week.
const USUAL_S: i64 = 604_800;

/// Which file of a job a link shall show, and for how long.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewLink {
    /// The place of the file in `files` of the job, from 0.
    #[serde(default)]
    pub file: Count<0, 99, 0>,
    /// Seconds until the link ends; a week when absent. It ends with the file in any case.
    #[serde(default)]
    pub expires_in: Count<60, LONGEST_S, USUAL_S>,
}
