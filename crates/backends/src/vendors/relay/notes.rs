//! What a relayed job leaves behind for its follow-ups.

use atelier_contract::Job;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RelayNotesKind {
    Relay,
}

/// The names the remote gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RelayNotes {
    /// Tells them from the notes of other back ends.
    kind: RelayNotesKind,
    /// The job's number at the remote service.
    #[serde(rename = "jobId")]
    pub(super) job_id: String,
    /// Of the character it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) username: Option<String>,
}

impl RelayNotes {
    /// Notes on a job.
    pub(super) fn new(job_id: &str, username: Option<String>) -> Self {
        Self {
            kind: RelayNotesKind::Relay,
            job_id: job_id.to_owned(),
            username,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_another_back_end_are_not_read() {
        let notes = RelayNotes::new("a", None);
        let written = notes.write();
        assert_eq!(
            written,
            serde_json::json!({ "kind": "relay", "jobId": "a" })
        );
        assert_eq!(RelayNotes::deserialize(&written).ok(), Some(notes));
        let other = serde_json::json!({ "kind": "scene", "jobId": "a" });
        assert!(RelayNotes::deserialize(&other).is_err());
    }
}
