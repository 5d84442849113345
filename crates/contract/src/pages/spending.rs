//! Whose spending is asked for: filters of usage and of movements, and what usage is added up by.

use schemars::JsonSchema;
use serde::Deserialize;

use super::list::{PageNumber, PageSize};
use crate::fields::{Moment, Text};

/// Which movements to list.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerQuery {
    /// Number of the page, from 1.
    #[serde(default)]
    pub page: PageNumber,
    /// Rows on a page, at most 100.
    #[serde(default)]
    pub limit: PageSize,
    /// Only movements at this moment or later. With this or one of the next, the latest 100,000 of the period are looked at.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Only movements before this moment.
    #[serde(default)]
    pub to: Option<Moment>,
    /// Only of jobs that came by this key.
    #[serde(default)]
    pub key_id: Option<Text<100>>,
    /// Only of jobs of this member of the account.
    #[serde(default)]
    pub member_id: Option<Text<100>>,
    /// Only of jobs that name this model.
    #[serde(default)]
    pub model: Option<Text<100>>,
    /// Only of jobs of this operation, as `artgen.imagine`.
    #[serde(default)]
    pub operation: Option<Text<100>>,
    /// Only of jobs with this tag, as `project:a`.
    #[serde(default)]
    pub tag: Option<Text<200>>,
    /// Only of jobs of this end user.
    #[serde(default)]
    pub user: Option<Text<256>>,
    /// Operators only: the account; required with any of the filters.
    #[serde(default)]
    pub account_id: Option<Text<100>>,
}

/// The period and the jobs that usage is summed up for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageQuery {
    /// First moment; 30 days before the last one when absent.
    #[serde(default)]
    pub from: Option<Moment>,
    /// Last moment; now when absent.
    #[serde(default)]
    pub to: Option<Moment>,
    /// `key`, `member`, `model`, `operation` or `tag:NAME`: adds up by that. By a tag, or with a filter by one or by an end user, the
    /// latest 100,000 jobs are looked at, for a second at most, and `from` says how far that came.
    #[serde(default)]
    pub by: Option<Text<80>>,
    /// Only jobs that came by this key.
    #[serde(default)]
    pub key_id: Option<Text<100>>,
    /// Only jobs of this member of the account.
    #[serde(default)]
    pub member_id: Option<Text<100>>,
    /// Only jobs that name this model.
    #[serde(default)]
    pub model: Option<Text<100>>,
    /// Only jobs of this operation, as `artgen.imagine`.
    #[serde(default)]
    pub operation: Option<Text<100>>,
    /// Only jobs with this tag, as `project:a`.
    #[serde(default)]
    pub tag: Option<Text<200>>,
    /// Only jobs of this end user.
    #[serde(default)]
    pub user: Option<Text<256>>,
    /// Operators only: the account.
    #[serde(default)]
    pub account_id: Option<Text<100>>,
}
