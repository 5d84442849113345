//! What an operator says of a group: one shape for the store, the operator's pages and the command line. Reading it bounds every
//! count, length and number; [`GroupDefinition::check`] then holds it against the tariff and the catalogue.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::fields::{List, as_text};
use crate::models::{AMOUNT_MOST, FACTOR_MOST, NOT_A_NAME, bounded, is_name};
use crate::quota::Quota;
use crate::time::date_ms;

/// Rules that one group may have.
const RULES_MOST: usize = 500;
/// Characters of what a rule matches: names of models are shorter, keys of the tariff are not much longer.
const MATCH_MOST: usize = 100;
const DAY_MS: i64 = 24 * 3_600_000;

/// A group of accounts as an operator describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GroupDefinition")]
pub struct GroupDefinition {
    /// Its name: 1 to 64 of `a-z 0-9 . _ : / -`; large letters are made small.
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._:/-]+$"))]
    pub name: String,
    /// Price rules of its accounts; where none matches, the usual prices apply.
    #[serde(default, deserialize_with = "rules")]
    #[schemars(length(max = 500))]
    pub rules: Vec<GroupRule>,
}

/// Price rule of a group, from a day on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GroupRule")]
pub struct GroupRule {
    /// What it is for: the name of a model, a key of the tariff, an operation, a family (both in either spelling), `*` for everything, or `custody` for the
    /// callers' own worker accounts. The most specific rule counts, in this order.
    #[serde(rename = "match", deserialize_with = "matched")]
    #[schemars(length(min = 1, max = 100))]
    pub matches: String,
    /// Factor on the total, from 0 to 100.
    #[serde(
        default,
        deserialize_with = "factor",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 100))]
    pub factor: Option<Quota>,
    /// Amount that replaces a model's base price or a key of the tariff; units and factors stay.
    #[serde(
        default,
        deserialize_with = "amount",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub amount: Option<Quota>,
    /// The day from whose midnight (UTC) on it counts, `YYYY-MM-DD`; without one it counts until another one begins.
    #[serde(
        default,
        deserialize_with = "day",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 40))]
    pub from: Option<String>,
}

/// A definition as it was at one revision; definitions are never changed, only followed by others.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRevision {
    /// What the operator said.
    pub definition: GroupDefinition,
    /// Counts the changes of this name, from 1; 0 for a group that is there before anybody said anything of it.
    pub revision: u32,
    /// Whether the group was taken away with this revision.
    pub removed: bool,
    /// When it was written, in milliseconds since 1970.
    pub changed_ms: i64,
}

impl GroupDefinition {
    /// A group without rules.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            rules: Vec::new(),
        }
    }
}

impl GroupRule {
    /// From when on it counts, in milliseconds since 1970.
    pub fn from_ms(&self) -> i64 {
        self.from.as_deref().and_then(date_ms).unwrap_or(i64::MIN)
    }
}

impl fmt::Display for GroupRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.matches)?;
        match (self.factor, self.amount) {
            (Some(factor), _) => write!(f, " x{factor}")?,
            (None, Some(amount)) => write!(f, "={amount}")?,
            (None, None) => {}
        }
        match &self.from {
            Some(day) => write!(f, " from {day}"),
            None => Ok(()),
        }
    }
}

/// A day, or a moment of one, in milliseconds since 1970.
pub fn day_ms(text: &str) -> Option<i64> {
    date_ms(text.trim())
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = as_text(deserializer)?;
    if is_name(&text) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(D::Error::custom(NOT_A_NAME))
    }
}

fn rules<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<GroupRule>, D::Error> {
    let rules = List::<GroupRule, 0, RULES_MOST>::deserialize(deserializer)?;
    Ok(rules.into_iter().collect())
}

fn matched<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = as_text(deserializer)?;
    let text = text.trim();
    if text.is_empty() || text.len() > MATCH_MOST || text.chars().any(char::is_control) {
        return Err(D::Error::custom(format_args!(
            "must be 1 to {MATCH_MOST} characters"
        )));
    }
    Ok(text.to_owned())
}

fn factor<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quota>, D::Error> {
    number(deserializer, FACTOR_MOST)
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quota>, D::Error> {
    number(deserializer, AMOUNT_MOST)
}

fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    most: i64,
) -> Result<Option<Quota>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let number = value.map(|value| bounded(value, most));
    number.transpose().map_err(D::Error::custom)
}

/// A midnight in UTC, as `YYYY-MM-DD`.
fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(value) = Option::<Value>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = as_text(value).map_err(D::Error::custom)?;
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let midnight = date_ms(text).filter(|at_ms| at_ms.rem_euclid(DAY_MS) == 0);
    let midnight = midnight.and_then(|at_ms| Timestamp::from_millisecond(at_ms).ok());
    let date = midnight.map(|at| at.to_zoned(TimeZone::UTC).date().to_string());
    // Years of other than four digits are no dates that anybody means.
    match date.filter(|date| date.len() == 10) {
        Some(date) => Ok(Some(date)),
        None => Err(D::Error::custom(
            "must be a date, YYYY-MM-DD, or a midnight in UTC",
        )),
    }
}
