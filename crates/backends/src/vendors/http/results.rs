//! What an answer brings, and where: files, prompts, a seed, a cost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::pointer::JsonPointers;
use super::sums::SumPlace;
use crate::backend::Cost;
use crate::field_error::FieldError;
use crate::files::looks_made;
use crate::task_vendor::{AnswerForm, FileSource, TaskReply, TaskResult, files_in};

/// How files stand in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FileForm {
    /// As addresses.
    #[default]
    Address,
    /// As base64 in fields of these names, which may be large.
    Base64,
    /// As addresses or `data:` addresses, wherever they are below; 24 MiB at most.
    Any,
    /// The answer itself is the file; 24 MiB at most.
    Body,
}

/// Where files are.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FilePlace {
    #[serde(default)]
    at: JsonPointers,
    #[serde(default, rename = "as")]
    form: FileForm,
}

/// What an answer brings.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ResultPlaces {
    /// Where files are; the first place that has any counts.
    files: Vec<FilePlace>,
    /// Prompts found in a picture.
    prompts: JsonPointers,
    /// The seed.
    seed: JsonPointers,
    /// The prompt that was really used.
    revised_prompt: JsonPointers,
    /// What it took.
    cost: Option<SumPlace>,
}

impl ResultPlaces {
    /// Refuses places that nothing can be read from.
    pub(super) fn check(&self, place: &str) -> Result<(), FieldError> {
        let wrong =
            |index: usize, why: &str| Err(FieldError::new(format!("{place}.files.{index}"), why));
        if self.files.is_empty() && self.prompts.is_empty() {
            let why = "is missing: say where the files are, such as [{\"at\": \"/data/*/url\"}]";
            return Err(FieldError::new(format!("{place}.files"), why));
        }
        let forms: Vec<FileForm> = self.files.iter().map(|one| one.form).collect();
        for (index, file) in self.files.iter().enumerate() {
            match file.form {
                FileForm::Body if !file.at.is_empty() => {
                    return wrong(index, "has a place in an answer that is a file");
                }
                FileForm::Body => {}
                _ if file.at.is_empty() => return wrong(index, "needs at"),
                FileForm::Base64 if file.at.names().is_none() => {
                    return wrong(
                        index,
                        "base64 is found by the name of its field: at must end in one",
                    );
                }
                FileForm::Base64 if forms.contains(&FileForm::Any) => {
                    return wrong(
                        index,
                        "base64 must not stand beside any, which finds it too",
                    );
                }
                _ => {}
            }
        }
        match &self.cost {
            Some(cost) => cost.check(&format!("{place}.cost")),
            None => Ok(()),
        }
    }

    /// Whether the answer itself is a file.
    pub(super) fn is_body(&self) -> bool {
        self.files.iter().any(|file| file.form == FileForm::Body)
    }

    /// How the answer is read.
    pub(super) fn form(&self) -> AnswerForm<'_> {
        let whole = |file: &FilePlace| matches!(file.form, FileForm::Any | FileForm::Body);
        if self.files.iter().any(whole) {
            return AnswerForm::Whole;
        }
        let blobs = self
            .files
            .iter()
            .filter(|file| file.form == FileForm::Base64);
        AnswerForm::Document(
            blobs
                .flat_map(|file| file.at.names().unwrap_or_default())
                .collect(),
        )
    }

    /// What an answer brings; `None` where nothing is found.
    pub(super) fn read(&self, reply: &mut TaskReply) -> Option<TaskResult> {
        let mut files = Vec::new();
        for place in &self.files {
            files = place.read(reply);
            if !files.is_empty() {
                break;
            }
        }
        let body = &reply.body;
        let prompts = self.prompts.all(body).into_iter();
        let prompts: Vec<String> = prompts
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect();
        if files.is_empty() && prompts.is_empty() {
            return None;
        }
        let seed = self.seed.text(body);
        Some(TaskResult {
            files,
            prompts,
            seed: seed.and_then(|text| text.parse().ok()),
            revised_prompt: self
                .revised_prompt
                .text(body)
                .filter(|text| !text.is_empty()),
            cost: self.cost(body),
            notes: Value::Null,
        })
    }

    /// What an answer says that it took.
    pub(super) fn cost(&self, body: &Value) -> Option<Cost> {
        self.cost.as_ref()?.read(body)
    }

    /// The same of what the answer to the order said, as a task keeps it.
    pub(super) fn kept_cost(&self, micros: &Value) -> Option<Cost> {
        self.cost.as_ref()?.kept(micros)
    }
}

impl FilePlace {
    fn read(&self, reply: &mut TaskReply) -> Vec<FileSource> {
        if self.form == FileForm::Body {
            let bytes = &reply.answer.bytes;
            return looks_made(bytes)
                .then(|| FileSource::File(bytes.clone()))
                .into_iter()
                .collect();
        }
        let found = self.at.all(&reply.body);
        match self.form {
            FileForm::Address => {
                let texts = found.iter().flat_map(leaves);
                let texts = texts.filter(|text| !text.is_empty());
                texts
                    .map(|text| FileSource::Address(text.to_owned()))
                    .collect()
            }
            FileForm::Base64 => {
                let numbers = found.iter().flat_map(numbers);
                let files = numbers.filter_map(|number| reply.file(number));
                files.map(FileSource::File).collect()
            }
            FileForm::Any => found.iter().flat_map(any).collect(),
            FileForm::Body => Vec::new(),
        }
    }
}

/// The texts of a value that is one or a list of them.
fn leaves(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The same of what stands for files that were taken out as they came.
fn numbers(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    }
}

/// Addresses and files below a value; a text that is neither may be bare base64.
fn any(value: &Value) -> Vec<FileSource> {
    let found = files_in(value);
    if !found.is_empty() {
        return found;
    }
    let bytes = leaves(value)
        .into_iter()
        .filter_map(|text| STANDARD.decode(text.trim()).ok());
    let made = bytes.filter(|bytes| looks_made(bytes));
    made.map(|bytes| FileSource::File(bytes.into())).collect()
}
