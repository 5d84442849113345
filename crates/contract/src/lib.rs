//! What the service promises: families, fields, prices, result shapes.
//!
//! Invariants: contract never waits, never reads a clock, a file or the network; the table [`FAMILIES`] is the only
//! place that knows a path, a field, a rule, a price key or a result shape.

pub mod banned;
pub mod body;
pub mod brief;
pub mod families;
pub mod family;
pub mod fault;
pub mod fields;
pub mod hooks;
pub mod ids;
pub mod job;
pub mod metrics;
pub mod midjourney;
pub mod models;
pub mod notes;
pub mod operation;
pub mod pages;
pub mod quota;
pub mod refusal;
pub mod scopes;
pub mod tariff;
pub mod time;

pub use banned::{PromptRule, WordList, broken_rule, refuse_banned, refuse_translation};
pub use families::artgen::account::{
    ArtgenStatus as FamilyStatus, EndpointStatus, ModeStatus, PATH as ACCOUNT_PATH,
};
pub use families::shortcuts::{SHORTCUTS, Shortcut};
pub use families::{FAMILIES, operation};
pub use fault::FaultKind;
pub use ids::{AccountId, AttemptId, BackendId, JobId, WorkerId};
pub use job::{File, Job, JobState, Output, Role, Speed};
pub use notes::Notes;
pub use quota::{Quota, QuotaText};
pub use refusal::{Code, Refusal};
pub use scopes::{Scope, Scopes};
pub use tariff::{Price, Tariff};

/// What a family file needs.
pub(crate) mod prelude {
    pub(crate) use schemars::{JsonSchema, Schema, SchemaGenerator};
    pub(crate) use serde::{Deserialize, Serialize};
    pub(crate) use serde_json::Value;

    pub(crate) use crate::brief::{Brief, Task};
    pub(crate) use crate::families::example;
    pub(crate) use crate::family::{Family, Fetch, Finished, JobIds, Keep, Submit};
    pub(crate) use crate::family::{answer, framed, job, shaped};
    pub(crate) use crate::fields::{HookUrl, ImageUrl};
    pub(crate) use crate::job::{Job, JobState};
    pub(crate) use crate::operation::{Context, Operation, Order};
    pub(crate) use crate::quota::{Quota, QuotaText};
    pub(crate) use crate::refusal::Refusal;
    pub(crate) use crate::tariff::Price;
}
