//! Models as operators and accounts see them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::jobs::MediaKind;
use crate::fields::Flag;
use crate::groups::GroupRule;
use crate::models::{ModelDefinition, ModelPrice, ModelRevision};
use crate::quota::Quota;
use crate::time::timestamp;

/// How a change of a model is asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct ModelQuery {
    /// Whether to answer what the change would mean and not to make it.
    #[serde(default)]
    pub preview: Flag<false>,
}

/// A model as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Model")]
pub struct ModelView {
    /// What an operator said of it.
    #[serde(flatten)]
    pub definition: ModelDefinition,
    /// Counts the changes of this name, from 1.
    pub revision: u32,
    /// Whether it was taken away.
    pub removed: bool,
    /// Whether it is part of the interface and only set here.
    pub builtin: bool,
    /// The operations whose requests may name it.
    pub operations: Vec<&'static str>,
    /// When it was changed last, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub changed_at: String,
}

impl ModelView {
    /// A row as operators see it.
    pub fn of(row: &ModelRevision) -> Self {
        Self {
            builtin: row.definition.like.is_none(),
            operations: crate::models::operations_of(&row.definition),
            definition: row.definition.clone(),
            revision: row.revision,
            removed: row.removed,
            changed_at: timestamp(row.changed_ms),
        }
    }
}

/// A model that an account can use now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountModel {
    /// Its name as requests give it.
    pub name: String,
    /// Its name as people read it.
    pub title: String,
    /// The family it belongs to.
    pub family: &'static str,
    /// Other names that requests may call it by.
    pub aliases: Vec<String>,
    /// The operations whose requests may name it.
    pub operations: Vec<AccountOperation>,
    /// Price from the catalogue; null if the tariff has it, see `tariff`.
    pub price: Option<ModelPrice>,
    /// The price in one line for people; empty where the tariff has it.
    pub price_text: String,
    /// Prices of the tariff, by key; empty if the catalogue has the price.
    pub tariff: BTreeMap<String, Quota>,
    /// The account's group, if it changes prices: amounts are then those of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// From when on it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retires: Option<String>,
    /// The model to use in its place then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
}

/// An operation of a model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountOperation {
    /// Its name, `family.operation`.
    pub name: &'static str,
    /// Where requests are posted to.
    pub path: &'static str,
    /// The field of the request that names the model.
    pub model_field: &'static str,
    /// Kind of result, `picture` or `video`.
    pub makes: MediaKind,
    /// The rule of the account's group that counts here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<GroupRule>,
    /// Allowed values of requests for this model, by field.
    pub fields: BTreeMap<String, AccountField>,
}

/// Allowed values of a field.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountField {
    /// The values that are allowed, where there is a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<Value>>,
    /// The least that a number may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The most that a number may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Default of the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether every request needs it.
    pub required: bool,
}

/// Effect of a change of a model on recent successful jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreview {
    /// Jobs that were looked at, the latest first.
    pub jobs: u32,
    /// Whether there were more.
    pub more: bool,
    /// Quota that was charged.
    pub was: Quota,
    /// Quota that would have been charged, without jobs that would be rejected.
    pub would_be: Quota,
    /// How many would be refused.
    pub would_refuse: u32,
    /// The latest of those, with the reason.
    pub refused: Vec<PreviewRefusal>,
}

/// A job that would be refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewRefusal {
    /// Identifier of the job.
    pub job_id: String,
    /// Why it would be refused.
    pub message: String,
}
