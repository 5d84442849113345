//! Answers of the vendor that are kept with its description, each with what it means. They are read whenever the description
//! is, by the very code that reads the vendor's own, so that a change that would misread one is refused when it is saved.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::HttpVendor;
use crate::backend::{Cost, Fault};
use crate::field_error::FieldError;
use crate::http::VendorResponse;
use crate::task_vendor::{AnswerForm, FileSource, TaskReply, TaskResult, TaskStatus, TaskVendor};
use crate::vendor_errors;

/// What an answer was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecordedStep {
    /// An order.
    Submit,
    /// A question about a task.
    Poll,
    /// The call that gets the result.
    Fetch,
    /// The upload of a picture.
    Upload,
    /// The search for an order.
    Search,
    /// The probe.
    Probe,
}

impl RecordedStep {
    fn word(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Poll => "poll",
            Self::Fetch => "fetch",
            Self::Upload => "upload",
            Self::Search => "search",
            Self::Probe => "probe",
        }
    }
}

/// An answer as it came.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedAnswer {
    /// Which of `calls`; none for an upload and the probe.
    #[serde(default)]
    call: String,
    /// What it was given to.
    to: RecordedStep,
    #[serde(default = "good")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The document, or a text that is none.
    #[serde(default)]
    body: Value,
    /// The request that it answered, for whoever reads it.
    #[serde(default)]
    #[expect(dead_code, reason = "it is kept for people")]
    request: Value,
    /// What it means, such as `{"task": {"id": "t1"}}`, `{"state": "done", "files": 1}` or `{"class": "rate", "after": 30}`.
    #[serde(default)]
    means: Map<String, Value>,
}

/// A status that is good.
fn good() -> u16 {
    200
}

impl RecordedAnswer {
    /// The answer, as if it came now.
    fn response(&self, vendor: &HttpVendor) -> VendorResponse {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let name = HeaderName::from_bytes(name.to_lowercase().as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                headers.insert(name, value);
            }
        }
        let bytes = match &self.body {
            Value::Null => Bytes::new(),
            Value::String(text) => Bytes::from(text.clone()),
            body => Bytes::from(body.to_string()),
        };
        VendorResponse {
            status: self.status,
            headers,
            bytes,
            secrets: vendor.base().http.secrets().clone(),
        }
    }

    /// What the answer means by the description.
    fn meaning(&self, vendor: &HttpVendor, place: &str) -> Result<Value, FieldError> {
        let answer = self.response(vendor);
        let good = answer.is_good();
        match self.to {
            RecordedStep::Probe => return Ok(vendor.probe_meaning(&answer)),
            RecordedStep::Upload => {
                let upload = vendor.upload.as_ref();
                let upload = upload.ok_or_else(|| {
                    FieldError::new(format!("{place}.to"), "there is no upload in the settings")
                })?;
                if !good {
                    return Ok(shown_fault(&vendor.fault(&answer)));
                }
                let body = answer.json().unwrap_or_default();
                return Ok(json!({"value": upload.value.first(&body)}));
            }
            _ => {}
        }
        let call = vendor.calls.get(&self.call).ok_or_else(|| {
            let names: Vec<&str> = vendor.calls.keys().map(String::as_str).collect();
            let why = format!("must be one of {}", names.join(", "));
            FieldError::new(format!("{place}.call"), why)
        })?;
        let task = match self.to {
            RecordedStep::Fetch => call.fetching(),
            _ => call.nobody(),
        };
        let form = match self.to {
            RecordedStep::Submit => call.start_form(),
            RecordedStep::Search => AnswerForm::PLAIN,
            _ => call.question_form(&task),
        };
        if !good {
            let fault = vendor.fault(&answer);
            let fault = match self.to {
                RecordedStep::Submit => vendor_errors::of_start(&answer, fault),
                _ => vendor_errors::of_question(fault),
            };
            return Ok(shown_fault(&fault));
        }
        let reply = match TaskReply::kept(answer, &form) {
            Ok(reply) => reply,
            Err(fault) => return Ok(shown_fault(&fault)),
        };
        Ok(match self.to {
            RecordedStep::Submit => shown(call.started(&vendor.errors, &vendor.base().http, reply)),
            RecordedStep::Search => match vendor.searched(call, &reply) {
                Ok(found) => json!({"task": found.map(bare)}),
                Err(fault) => shown_fault(&fault),
            },
            _ => shown(call.polled(&vendor.errors, &task, reply)),
        })
    }
}

/// Reads every recorded answer, and refuses a description by which one means something else than was written.
pub(super) fn check(vendor: &HttpVendor, all: &[RecordedAnswer]) -> Result<(), FieldError> {
    let mut seen = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let place = format!("settings.recorded.{index}");
        let meaning = one.meaning(vendor, &place)?;
        if one.means.is_empty() {
            let why = format!("is missing; by these settings it means {meaning}");
            return Err(FieldError::new(format!("{place}.means"), why));
        }
        for (name, written) in &one.means {
            let made = &meaning[name.as_str()];
            if !agree(written, made) {
                let why = format!("is {written}, but by these settings the answer means {meaning}");
                return Err(FieldError::new(format!("{place}.means.{name}"), why));
            }
        }
        seen.push((one.call.as_str(), one.to, meaning));
    }
    for (name, call) in &vendor.calls {
        let has = |steps: &[RecordedStep], state: &str| {
            seen.iter().any(|(call, to, meaning)| {
                call == name
                    && steps.contains(to)
                    && (state.is_empty() || meaning["state"] == state)
            })
        };
        let missing = if !has(&[RecordedStep::Submit], "") {
            Some(("submit", "that takes it"))
        } else if call.is_answered_at_once() {
            (!has(&[RecordedStep::Submit], "done")).then_some(("submit", "with a result"))
        } else if call.is_fetched() {
            (!has(&[RecordedStep::Fetch], "done")).then_some(("fetch", "with a result"))
        } else {
            (!has(&[RecordedStep::Poll], "done")).then_some(("poll", "with a result"))
        };
        if let Some((step, which)) = missing {
            let why = format!(
                "has no answer to {step} of {name} {which}: what an answer means is checked by one whenever the settings are \
                 saved"
            );
            return Err(FieldError::new("settings.recorded", why));
        }
    }
    Ok(())
}

/// What each recorded answer means by the description, as whoever writes one reads it.
pub(super) fn meanings(vendor: &HttpVendor, all: &[RecordedAnswer]) -> Vec<Value> {
    let meaning = |(index, one): (usize, &RecordedAnswer)| {
        let read = one.meaning(vendor, &format!("settings.recorded.{index}"));
        let means = read.unwrap_or_else(|wrong| json!({"problem": wrong.to_string()}));
        json!({"call": one.call, "to": one.to.word(), "means": means})
    };
    all.iter().enumerate().map(meaning).collect()
}

/// Whether a meaning is what was written: a number of files is that of a list.
fn agree(written: &Value, made: &Value) -> bool {
    match (written, made) {
        (Value::Number(count), Value::Array(all)) => count.as_u64() == Some(all.len() as u64),
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Object(written), Value::Object(made)) => written
            .iter()
            .all(|(name, one)| made.get(name).is_some_and(|made| agree(one, made))),
        (written, made) => written == made,
    }
}

fn shown(status: Result<TaskStatus, Fault>) -> Value {
    match status {
        Ok(TaskStatus::Task(task)) if task["fetches"] == true => {
            json!({"state": "fetch", "task": bare(task)})
        }
        Ok(TaskStatus::Task(task)) => json!({"state": "taken", "task": bare(task)}),
        Ok(TaskStatus::Running(percent)) => json!({"state": "running", "progress": percent}),
        Ok(TaskStatus::Done(task_result)) => shown_result(&task_result),
        Ok(TaskStatus::Failed(fault)) => {
            let mut shown = shown_fault(&fault);
            shown["state"] = json!("failed");
            shown
        }
        Err(fault) => shown_fault(&fault),
    }
}

fn shown_result(task_result: &TaskResult) -> Value {
    let file = |file: &FileSource| match file {
        FileSource::Address(address) => json!(address),
        FileSource::File(bytes) => json!(format!("{} bytes", bytes.len())),
    };
    let files: Vec<Value> = task_result.files.iter().map(file).collect();
    json!({
        "state": "done",
        "files": files,
        "prompts": task_result.prompts,
        "seed": task_result.seed,
        "revised_prompt": task_result.revised_prompt,
        "cost": task_result.cost.as_ref().map(shown_cost),
    })
}

fn shown_fault(fault: &Fault) -> Value {
    json!({
        "class": fault.class.word(),
        "after": fault.after.map(|after| after.as_secs_f64()),
        "cost": fault.cost.as_ref().map(shown_cost),
        "words": fault.detail,
    })
}

fn shown_cost(cost: &Cost) -> Value {
    json!({"amount": cost.micros as f64 / 1e6, "currency": cost.currency})
}

/// A task as operators wrote it.
fn bare(mut task: Value) -> Value {
    if let Some(fields) = task.as_object_mut() {
        fields.remove("call");
        fields.remove("fetches");
        fields.remove("micros");
    }
    task
}

impl HttpVendor {
    /// What an answer to the probe means.
    fn probe_meaning(&self, answer: &VendorResponse) -> Value {
        if let Some(fault) = self.probe_refusal(answer) {
            return shown_fault(&fault);
        }
        if answer.is_good() || self.is_healthy(answer) {
            let balance = self.balance(answer);
            return json!({"state": "well", "balance": balance.as_ref().map(shown_cost)});
        }
        shown_fault(&self.fault(answer))
    }
}
