//! What a family file needs.

pub(crate) use schemars::{JsonSchema, Schema, SchemaGenerator};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::Value;

pub(crate) use crate::brief::{Brief, Task};
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

/// The valid request that stands beside the table, one file per operation.
macro_rules! example {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/examples/",
            $name,
            ".json"
        ))
    };
}
pub(crate) use example;
