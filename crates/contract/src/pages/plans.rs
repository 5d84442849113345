//! Plans as operators and callers see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{OperatorDate, Text};
use crate::plans::{Every, PlanDefinition, Then};
use crate::quota::Quota;

/// A plan as operators see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub struct PlanView {
    /// What an operator said of it.
    #[serde(flatten)]
    pub definition: PlanDefinition,
    /// Counts the changes of this name, from 1.
    pub revision: u32,
    /// When it was changed last, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub changed_at: String,
}

/// The plan that an account shall have.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct PlanWish {
    /// Its name.
    pub plan: Text<64>,
    /// When its first period begins, `YYYY-MM-DD` (its midnight UTC) or RFC 3339; at once when absent. An account that has a plan gets
    /// another one at once where that gives more, and with the next renewal where it gives less.
    #[serde(default)]
    pub from: Option<OperatorDate>,
}

/// The plan of an account.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AccountPlan")]
#[serde(rename_all = "camelCase")]
pub struct AccountPlanView {
    /// Its name; null without a plan.
    pub plan: Option<String>,
    /// Quota of each period.
    pub quota: Option<Quota>,
    /// How long a period is.
    pub every: Option<Every>,
    /// What can be spent after the plan's quota.
    pub then: Option<Then>,
    /// Unused quota that carries over into the next period.
    pub rollover: Option<Quota>,
    /// The group that the account is in while it has the plan.
    pub group: Option<String>,
    /// When this period began, `YYYY-MM-DD HH:MM:SS` in UTC; null of one that is yet to begin.
    pub from: Option<String>,
    /// When it is renewed, or begins.
    pub until: Option<String>,
    /// The plan that the next renewal makes of it, where that is another one.
    pub next: Option<String>,
    /// Whether the next renewal is its end.
    pub ends: bool,
    /// Whether payments renew it; else the clock does.
    pub by_payment: bool,
    /// How many periods after this one are paid for.
    pub paid_ahead: i64,
    /// Whether its period is over and the next one is not paid for.
    pub unpaid: bool,
    /// Until when it waits for that payment; null when it does not wait, and when it has waited long enough: nothing can be spent then until
    /// it is paid for or ended.
    pub waits_until: Option<String>,
}
