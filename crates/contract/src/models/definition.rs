//! What an operator says of a model: one shape for the configuration, the store, the operator's pages and the command line.
//! Reading it bounds every count, length and number; [`super::ModelCatalogue::check`] then holds it against what there is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::names::{
    ALIASES_MOST, FIELDS_MOST, GROUPS_MOST, NOT_A_NAME, ROUTES_MOST, TEXT_MOST, WORDS_MOST,
    is_name, model_key,
};
use super::price::ModelPrice;
use super::routes::{Route, Routes};
use super::short_text::text;
use crate::fields::{Flag, List, as_text};
use crate::time::date_ms;

/// A model as an operator describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelDefinition")]
pub struct ModelDefinition {
    /// Name in requests: 1 to 64 of `a-z A-Z 0-9 . _ : / -`, unique without regard to case.
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._:/-]+$"))]
    pub name: String,
    /// Its name as people read it.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 200))]
    pub title: Option<String>,
    /// The built-in model it is like, `family/model`, or an operation; none for the settings of a built-in model.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 200))]
    pub like: Option<String>,
    /// Rules that narrow those of `like`, by field.
    #[serde(
        default,
        deserialize_with = "rules",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub fields: BTreeMap<String, FieldRule>,
    /// Other names that requests may call it by.
    #[serde(
        default,
        deserialize_with = "aliases",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 32))]
    pub aliases: Vec<String>,
    /// The back ends that make it; without any their own mappings decide.
    #[serde(
        default,
        deserialize_with = "routes",
        skip_serializing_if = "Routes::is_empty"
    )]
    #[schemars(with = "Vec<Route>", length(max = 50))]
    pub routes: Routes,
    /// Price for all operations or for each; without one the tariff's price of `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// The groups of accounts that see it and may use it; empty for all.
    #[serde(
        default,
        deserialize_with = "groups",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(length(max = 32))]
    pub groups: Vec<String>,
    /// Whether requests may name it.
    #[serde(default = "enabled_by_default", deserialize_with = "switch")]
    pub enabled: bool,
    /// From when on it is refused, `YYYY-MM-DD` (its midnight UTC) or RFC 3339.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 40))]
    pub retires: Option<String>,
    /// The model that refusals name in its place.
    #[serde(
        default,
        deserialize_with = "text",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 64))]
    pub successor: Option<String>,
}

/// Rules that narrow a field of `like`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with allowed, min, max, default or refused"
)]
#[schemars(rename = "FieldRule")]
pub struct FieldRule {
    /// The values that are allowed; of sizes, seconds and qualities also those that `like` does not know.
    #[serde(
        default,
        deserialize_with = "words",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(min = 1, max = 64))]
    pub allowed: Option<Vec<Value>>,
    /// The least that a number may be.
    #[serde(
        default,
        deserialize_with = "number",
        skip_serializing_if = "Option::is_none"
    )]
    pub min: Option<f64>,
    /// The most that a number may be.
    #[serde(
        default,
        deserialize_with = "number",
        skip_serializing_if = "Option::is_none"
    )]
    pub max: Option<f64>,
    /// Default of the field.
    #[serde(
        default,
        deserialize_with = "scalar",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<Value>,
    /// Whether requests must not have the field; its default still counts.
    #[serde(
        default,
        deserialize_with = "switch",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub refused: bool,
}

/// A definition as it was at one revision; definitions are never changed, only followed by others.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRevision {
    /// What the operator said.
    pub definition: ModelDefinition,
    /// Counts the changes of this name, from 1.
    pub revision: u32,
    /// Whether the model was taken away with this revision.
    pub removed: bool,
    /// When it was written, in milliseconds since 1970.
    pub changed_ms: i64,
}

impl ModelDefinition {
    /// A definition that says nothing but a name.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            like: None,
            fields: BTreeMap::new(),
            aliases: Vec::new(),
            routes: Routes::default(),
            price: None,
            groups: Vec::new(),
            enabled: true,
            retires: None,
            successor: None,
        }
    }

    /// Its name without regard to case.
    pub fn key(&self) -> String {
        model_key(&self.name)
    }

    /// From when on it is refused, in milliseconds since 1970; `None` without a date that can be read.
    pub fn retires_ms(&self) -> Option<i64> {
        self.retires.as_deref().and_then(date_ms)
    }

    /// Whether it is refused by now because of its date.
    pub fn is_retired(&self, now_ms: i64) -> bool {
        self.retires_ms().is_some_and(|from| from <= now_ms)
    }

    /// Whether accounts of a group know of it; names of groups are the same in any case.
    pub fn is_visible_to(&self, group: &str) -> bool {
        let is_it = |one: &String| one.eq_ignore_ascii_case(group);
        self.groups.is_empty() || self.groups.iter().any(is_it)
    }
}

const fn enabled_by_default() -> bool {
    true
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = as_text(deserializer)?;
    if is_name(&text) {
        Ok(text)
    } else {
        Err(D::Error::custom(NOT_A_NAME))
    }
}

fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Flag::<true>::deserialize(deserializer).map(Flag::on)
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let number = match &value {
        None => return Ok(None),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse::<f64>().ok(),
        Some(_) => None,
    };
    match number.filter(|number| number.abs() <= 1e15) {
        Some(number) => Ok(Some(number)),
        None => Err(D::Error::custom("must be a number")),
    }
}

/// One value that a field may have: a short text, a number or a switch.
fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    match &value {
        None | Some(Value::Bool(_) | Value::Number(_)) => Ok(value),
        Some(Value::String(text)) if !text.is_empty() && text.chars().count() <= TEXT_MOST => {
            Ok(value)
        }
        Some(_) => Err(D::Error::custom(format_args!(
            "must be a number, true, false or a text of 1 to {TEXT_MOST} characters"
        ))),
    }
}

/// A value of a list, read as [`scalar`] reads it.
struct FieldWord(Value);

impl<'de> Deserialize<'de> for FieldWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = scalar(deserializer)?;
        let value = value.ok_or_else(|| D::Error::custom("must not be null"))?;
        Ok(Self(value))
    }
}

/// A name of a list, read as [`name`] reads it.
struct ListedName(String);

impl<'de> Deserialize<'de> for ListedName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        name(deserializer).map(Self)
    }
}

fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Value>>, D::Error> {
    let words: Option<List<FieldWord, 1, WORDS_MOST>> = Option::deserialize(deserializer)?;
    Ok(words.map(|list| list.into_iter().map(|word| word.0).collect()))
}

fn aliases<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = List::<ListedName, 0, ALIASES_MOST>::deserialize(deserializer)?;
    Ok(names.into_iter().map(|name| name.0).collect())
}

fn groups<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = List::<ListedName, 0, GROUPS_MOST>::deserialize(deserializer)?;
    Ok(names.into_iter().map(|name| name.0).collect())
}

fn routes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Routes, D::Error> {
    let routes = List::<Route, 0, ROUTES_MOST>::deserialize(deserializer)?;
    Ok(routes.into_iter().collect())
}

fn rules<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, FieldRule>, D::Error> {
    // Nothing said of a field is no rule for it.
    let rules = BTreeMap::<String, Option<FieldRule>>::deserialize(deserializer)?;
    let rules = rules.into_iter();
    let rules: BTreeMap<String, FieldRule> = rules
        .filter_map(|(field, rule)| Some((field, rule?)))
        .collect();
    if rules.len() > FIELDS_MOST {
        return Err(D::Error::custom(format_args!(
            "must be rules for at most {FIELDS_MOST} fields, is {}",
            rules.len()
        )));
    }
    Ok(rules)
}
