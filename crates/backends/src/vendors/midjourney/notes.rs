//! What a task leaves behind for its follow-ups.

use atelier_contract::Job;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::buttons::{self, Button};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MidjourneyNotesKind {
    Midjourney,
}

/// The vendor's names for a finished job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MidjourneyNotes {
    /// Tells them from the notes of other back ends.
    kind: MidjourneyNotesKind,
    /// The vendor's number of the task.
    pub(super) task: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) buttons: Vec<Button>,
    /// Its seed, when the vendor told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<String>,
}

impl MidjourneyNotes {
    /// The notes on a finished task.
    pub(super) fn of_task(id: &str, task: &Value) -> Self {
        let seed = match &task["seed"] {
            Value::String(seed) if !seed.is_empty() => Some(seed.clone()),
            Value::Number(seed) => Some(seed.to_string()),
            _ => None,
        };
        Self {
            kind: MidjourneyNotesKind::Midjourney,
            task: id.to_owned(),
            buttons: buttons::of_task(task),
            seed,
        }
    }

    /// The notes on an earlier job; `None` when another kind of back end made it.
    pub(super) fn of(job: &Job) -> Option<Self> {
        job.output()?.notes.read()
    }

    /// The form in which they are stored.
    pub(super) fn write(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
