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
pub mod secret;
pub mod settings;
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
pub use job::{File, FileRole, Job, JobState, Output, Speed};
pub use notes::Notes;
pub use quota::{Quota, QuotaText};
pub use refusal::{Code, Refusal};
pub use scopes::{Scope, Scopes};
pub use secret::Secret;
pub use tariff::{Price, Tariff};

/// What a family file needs.
pub(crate) mod prelude {
    pub(crate) use schemars::{JsonSchema, Schema, SchemaGenerator};
    pub(crate) use serde::{Deserialize, Serialize};
    pub(crate) use serde_json::Value;

    pub(crate) use crate::brief::{Brief, Task};
    pub(crate) use crate::families::example;
    pub(crate) use crate::family::{
        Family, FetchEndpoint, FinishedJob, JobIds, ResultLifetime, SubmitEndpoint,
    };
    pub(crate) use crate::family::{envelope_schema, submit_and_wait, submit_job, to_json};
    pub(crate) use crate::fields::{HookUrl, ImageUrl};
    pub(crate) use crate::job::{Job, JobState};
    pub(crate) use crate::operation::{Operation, Order, ReferencedJobs};
    pub(crate) use crate::quota::{Quota, QuotaText};
    pub(crate) use crate::refusal::Refusal;
    pub(crate) use crate::tariff::Price;
}
