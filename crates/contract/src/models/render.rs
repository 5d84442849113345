//! What is shown of a job: as its family renders it, with the caller's words where those of `like` stand.

use serde_json::Value;

use super::names::SPELLINGS;
use super::note::{ModelNote, note_of};
use super::words::{FreeKind, text_of};
use crate::body::Fields;
use crate::family::{Family, FinishedJob, StreamEvent};
use crate::job::Job;

/// Levels of a rendered job that are looked into: the frame, its data, and an item of it.
const DEPTH: u8 = 4;

/// The body of a fetch result and of a callback: the family's, in the caller's words.
pub fn render_job(family: &Family, job: &Job) -> Value {
    let mut body = (family.render)(family, job);
    restore_words(&mut body, &job.request);
    body
}

/// The answer of a synchronous call, in the caller's words.
pub fn render_answer(render: fn(&FinishedJob<'_>) -> Value, finished: &FinishedJob<'_>) -> Value {
    let mut body = render(finished);
    restore_words(&mut body, &finished.job.request);
    body
}

/// The events of a streamed answer, in the caller's words.
pub fn render_events(
    render: fn(&FinishedJob<'_>) -> Vec<StreamEvent>,
    finished: &FinishedJob<'_>,
) -> Vec<StreamEvent> {
    let mut events = render(finished);
    for event in &mut events {
        restore_words(&mut event.data, &finished.job.request);
    }
    events
}

fn restore_words(body: &mut Value, stored: &Fields) {
    if let Some(note) = note_of(stored).filter(|note| !note.said.is_empty()) {
        restore_in(body, &note, stored, DEPTH);
    }
}

fn restore_in(body: &mut Value, note: &ModelNote, stored: &Fields, depth: u8) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match body {
        Value::Object(fields) => {
            for (name, value) in fields {
                if value.is_object() || value.is_array() {
                    restore_in(value, note, stored, depth);
                } else if let Some(word) = word_for(name, value, note, stored) {
                    *value = word;
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                restore_in(item, note, stored, depth);
            }
        }
        _ => {}
    }
}

/// The caller's word for a rendered one, of the same type.
fn word_for(name: &str, value: &Value, note: &ModelNote, stored: &Fields) -> Option<Value> {
    let (field, word) = note.said.iter().find(|(field, _)| shows(name, field))?;
    let stands_in = stored.get(field);
    let is_stand_in = stands_in.is_some_and(|word| text_of(word) == text_of(value));
    // A quality may be rendered as what it came to, which is a word of `like` too.
    let is_quality = FreeKind::of(field) == Some(FreeKind::Quality) && value.is_string();
    (is_stand_in || is_quality).then(|| match value {
        Value::String(_) => text_of(word).into_owned().into(),
        _ => word.clone(),
    })
}

/// Whether a key of a result shows a field of the request; results are spelt in one way, requests in two.
fn shows(name: &str, field: &str) -> bool {
    name == field
        || (SPELLINGS.contains(&name) && SPELLINGS.contains(&field))
        || (name == "videoLength" && field == "video_length")
}
