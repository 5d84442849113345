//! Statements: who they are from, and when months are closed.

use std::path::PathBuf;

use atelier_contract::settings::within;
use serde::Deserialize;

/// Who statements are from, and when months are closed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementSettings {
    /// The name of the operator.
    pub name: String,
    /// The lines of the address.
    pub address: Vec<String>,
    /// What tax law asks for, such as a VAT number.
    pub tax_line: String,
    /// A picture; empty for none.
    pub logo: PathBuf,
    /// The day on which the month before is closed for all accounts; 0 for never.
    #[serde(deserialize_with = "within::<_, _, 0, 28>")]
    pub close_on_day: i64,
}
