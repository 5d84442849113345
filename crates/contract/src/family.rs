//! The table's own types: a family with its submits, its fetches and the frame of its results.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::ids::JobId;
use crate::job::{Job, JobState};

mod answer;
mod frame;
mod lifetime;
mod refusal_body;
mod submit;

pub use crate::time::timestamp;
pub use answer::{ASYNC, AnswerWay, AnswerWish, StreamEvent, WAY_FIELDS};
pub use frame::{envelope_schema, envelope_schema_with_queue, to_json};
pub use lifetime::ResultLifetime;
pub use refusal_body::{RefusedData, refusal_body};
pub use submit::{
    AnswerMode, FORM_BODY, FinishedJob, IMAGE_BODY, SMALL_BODY, SubmitEndpoint, submit_and_wait,
    submit_job,
};

/// How a family's job identifiers look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobIds {
    /// UUID-shaped, ordered by time.
    Uuid,
    /// A prefix and 18 random digits.
    Digits(&'static str),
}

/// One way to read a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchEndpoint {
    /// Path; GET and POST both answer.
    pub path: &'static str,
    /// The documented name of the parameter; `jobId` and `job_id` are both accepted.
    pub param: &'static str,
}

/// A family of endpoints.
#[derive(Clone, Copy)]
pub struct Family {
    /// The word before the dot of its operations.
    pub name: &'static str,
    /// Its name as documents and the console show it.
    pub title: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// How its job identifiers look.
    pub ids: JobIds,
    /// The prefix of its paths, which decides the shape of refusals.
    pub prefix: &'static str,
    /// Jobs are counted against `max_queue` under this name.
    pub queue: &'static str,
    /// Whether waiting has a word of its own (`PENDING_QUEUE`).
    pub shows_waiting: bool,
    /// What an error response has as `data`.
    pub refused_data: RefusedData,
    /// `message` of an accepted submit.
    pub accepted_message: &'static str,
    /// Whether its jobs run on the caller's own worker accounts when they are asked for at the custody host.
    pub custody: bool,
    /// Whether the operator's list of banned words holds for its prompts without being told so.
    pub banned_words: bool,
    /// The fields of its stored requests that hold the main prompt; earlier releases may have stored it in another one.
    pub prompt_fields: &'static [&'static str],
    /// What a prompt asks for, without what it says is to be left out.
    pub asked_for: fn(&str) -> Cow<'_, str>,
    /// Time limit in seconds when the request has none.
    pub timeout_s: u32,
    /// How long result addresses work.
    pub keep: ResultLifetime,
    /// Every endpoint that creates a job.
    pub submits: &'static [SubmitEndpoint],
    /// Every endpoint that reads a job.
    pub fetches: &'static [FetchEndpoint],
    /// The whole body of a fetch result and of a callback.
    pub render: fn(&Family, &Job) -> Value,
    /// Every key of [`Family::render`] described, for the documents.
    pub shape: fn(&mut SchemaGenerator) -> Schema,
}

impl Family {
    /// The common case; a family states only how it differs.
    pub const USUAL: Self = Self {
        name: "",
        title: "",
        about: "",
        ids: JobIds::Uuid,
        prefix: "",
        queue: "",
        shows_waiting: false,
        refused_data: RefusedData::Null,
        accepted_message: "success",
        custody: false,
        banned_words: false,
        prompt_fields: &["prompt"],
        asked_for: |prompt| Cow::Borrowed(prompt),
        timeout_s: 600,
        keep: ResultLifetime::Day,
        submits: &[],
        fetches: &[],
        render: |family, job| family.frame(job, Value::Null),
        shape: |_| Schema::default(),
    };

    /// How this family spells a state in responses.
    pub const fn state_word(&self, state: JobState) -> &'static str {
        match state {
            JobState::Waiting if !self.shows_waiting => JobState::Running.word(),
            other => other.word(),
        }
    }

    /// `message` of a fetch result: the reason on failure, nothing while running.
    pub fn message(&self, job: &Job) -> Value {
        match job.state {
            JobState::Succeeded => self.accepted_message.into(),
            JobState::Failed => job.message.clone().unwrap_or_default().into(),
            _ => Value::Null,
        }
    }

    /// The usual fetch result: the frame around what a finished job shows, and null until there is something.
    pub fn framed_result<T: Serialize>(&self, job: &Job, result: Option<T>) -> Value {
        self.frame(job, result.map_or(Value::Null, |result| to_json(&result)))
    }

    /// The usual frame: `{status, message, jobId, data}`.
    pub fn frame(&self, job: &Job, data: Value) -> Value {
        let mut body = Map::new();
        body.insert("status".into(), self.state_word(job.state).into());
        body.insert("message".into(), self.message(job));
        body.insert("jobId".into(), job.id.as_str().into());
        body.insert("data".into(), data);
        Value::Object(body)
    }

    /// The body of an accepted submit.
    pub fn accepted(&self, id: &JobId) -> Value {
        json!({ "status": "SUCCESS", "message": self.accepted_message, "data": { "jobId": id } })
    }
}
