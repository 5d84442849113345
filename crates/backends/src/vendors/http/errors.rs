//! What an answer says that brings no result: where its code and its words are, and which class they mean.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

use super::classes::ErrorClass;
use super::pointer::{JsonPointers, text_of};
use crate::backend::{Class, Fault};
use crate::field_error::FieldError;
use crate::http::VendorResponse;
use crate::task_vendor::TaskReply;
use crate::vendor_errors::{self, ErrorRule, LONGEST_REST, VendorError};

/// Where code, words and the blamed field of an error are.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ErrorPlaces {
    /// The code for programs.
    pub(super) code: JsonPointers,
    /// The words for people.
    pub(super) message: JsonPointers,
    /// The field that it blames.
    pub(super) param: JsonPointers,
}

impl ErrorPlaces {
    /// What a document says there, if anything.
    fn read(&self, body: &Value) -> Option<VendorError> {
        let (code, message) = (self.code.text(body), self.message.text(body));
        if code.is_none() && message.is_none() {
            return None;
        }
        Some(VendorError {
            param: self.param.text(body).unwrap_or_default(),
            ..VendorError::new(code.unwrap_or_default(), message.unwrap_or_default())
        })
    }
}

/// A line of the table of errors: all that it names must fit, and the first line that fits counts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorLine {
    /// The status; any when left out. A task that failed has 200.
    #[serde(default)]
    status: u16,
    /// A part of the code.
    #[serde(default)]
    code: String,
    /// A part of the words.
    #[serde(default)]
    words: String,
    /// What it means.
    class: ErrorClass,
}

/// One word or several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct WordList(Vec<String>);

impl TryFrom<Value> for WordList {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let words: Option<Vec<String>> = match &written {
            Value::Array(all) => all.iter().map(text_of).collect(),
            one => text_of(one).map(|one| vec![one]),
        };
        let words = words.filter(|words| !words.is_empty());
        words
            .map(Self)
            .ok_or_else(|| "must be a word or a number, or a list of them".to_owned())
    }
}

impl WordList {
    /// Whether a word is one of them.
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|one| one == word)
    }
}

impl JsonSchema for WordList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WordList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = ["string", "number", "boolean"];
        json_schema!({
            "anyOf": [{"type": one}, {"type": "array", "items": {"type": one}}],
        })
    }
}

/// A sign by which an answer with a good status is an error all the same.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RefusalSign {
    /// Where the sign is.
    at: JsonPointers,
    /// It is an error with one of these; with neither, whatever stands there is one.
    #[serde(default)]
    is: Option<WordList>,
    /// It is an error with anything but these.
    #[serde(default)]
    unless: Option<WordList>,
    /// What it means; by the table of errors when left out.
    #[serde(default)]
    class: Option<ErrorClass>,
    /// Whether the value stands for the status that the answer does not have.
    #[serde(default)]
    is_status: bool,
}

impl RefusalSign {
    fn check(&self, place: &str) -> Result<(), FieldError> {
        if self.at.is_empty() {
            return Err(FieldError::new(place, "needs at"));
        }
        if self.is.is_some() && self.unless.is_some() {
            return Err(FieldError::new(
                place,
                "has is and unless, and needs one of them",
            ));
        }
        Ok(())
    }

    /// The value by which an answer is an error.
    fn sign(&self, body: &Value) -> Option<String> {
        let word = self.at.text(body)?;
        let refused = match (&self.is, &self.unless) {
            (Some(is), _) => is.has(&word),
            (None, Some(unless)) => !unless.has(&word),
            (None, None) => true,
        };
        refused.then_some(word)
    }
}

/// In what a time is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TimeUnit {
    #[default]
    Seconds,
    Milliseconds,
}

/// Where an answer says how long to wait.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitPlace {
    at: JsonPointers,
    #[serde(default)]
    unit: TimeUnit,
}

/// How errors are read.
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorReader {
    places: ErrorPlaces,
    pub(super) rules: Vec<ErrorRule>,
    signs: Vec<RefusalSign>,
    wait: Option<WaitPlace>,
}

/// What operators write about errors.
pub(super) struct WrittenErrors {
    pub(super) places: ErrorPlaces,
    pub(super) lines: Vec<ErrorLine>,
    pub(super) signs: Vec<RefusalSign>,
    pub(super) wait: Option<WaitPlace>,
}

impl ErrorReader {
    pub(super) fn new(written: WrittenErrors) -> Result<Self, FieldError> {
        for (index, sign) in written.signs.iter().enumerate() {
            sign.check(&format!("settings.refusals.{index}"))?;
        }
        let mut rules = Vec::new();
        for (index, line) in written.lines.iter().enumerate() {
            if line.status == 0 && line.code.is_empty() && line.words.is_empty() {
                let place = format!("settings.errors.{index}");
                return Err(FieldError::new(place, "needs a status, a code or words"));
            }
            let class = line.class.into();
            rules.push(ErrorRule::written(
                line.status,
                &line.code,
                &line.words,
                class,
            ));
        }
        Ok(Self {
            places: written.places,
            rules,
            signs: written.signs,
            wait: written.wait,
        })
    }

    /// What a document says about a failure.
    pub(super) fn said(&self, body: &Value) -> Option<VendorError> {
        self.places.read(body).or_else(|| VendorError::read(body))
    }

    /// What an answer without a good status means.
    pub(super) fn fault(&self, answer: &VendorResponse) -> Fault {
        let body = answer.json().ok();
        let said = body.as_ref().and_then(|body| self.said(body));
        self.patient(
            vendor_errors::fault_by(&self.rules, answer, said),
            body.as_ref(),
        )
    }

    /// The fault of an answer that is an error in spite of its status.
    pub(super) fn refusal(&self, reply: &TaskReply) -> Option<Fault> {
        let body = &reply.body;
        let found = self
            .signs
            .iter()
            .find_map(|sign| Some((sign, sign.sign(body)?)));
        let (sign, word) = found?;
        let said = self
            .said(body)
            .unwrap_or_else(|| VendorError::new(&*word, ""));
        let fault = match sign.class {
            Some(class) => classed(class.into(), &said),
            None if sign.is_status => {
                let answer = VendorResponse {
                    status: word.parse().unwrap_or(500),
                    ..reply.answer.clone()
                };
                vendor_errors::fault_by(&self.rules, &answer, Some(said))
            }
            None => vendor_errors::failed_by(&self.rules, &said),
        };
        Some(self.patient(fault, Some(body)))
    }

    /// The fault of a task that failed: by the word for its state, or by what is said of it.
    pub(super) fn failure(
        &self,
        places: Option<&ErrorPlaces>,
        class: Option<Class>,
        reply: &TaskReply,
    ) -> Fault {
        let body = &reply.body;
        let own = places.and_then(|places| places.read(body));
        let said = own.or_else(|| self.said(body)).unwrap_or_default();
        let fault = match class {
            Some(class) => classed(class, &said),
            None => vendor_errors::failed_by(&self.rules, &said),
        };
        self.patient(fault, Some(body))
    }

    /// The same fault with the time that the document asks for.
    fn patient(&self, fault: Fault, body: Option<&Value>) -> Fault {
        let asked = self.wait.as_ref().zip(body).and_then(|(wait, body)| {
            let count = wait.at.number(body)?;
            let seconds = match wait.unit {
                TimeUnit::Seconds => count,
                TimeUnit::Milliseconds => count / 1000.0,
            };
            Duration::try_from_secs_f64(seconds).ok()
        });
        Fault {
            after: asked.map(|asked| asked.min(LONGEST_REST)).or(fault.after),
            ..fault
        }
    }
}

/// The fault of a class with the vendor's words for operators.
fn classed(class: Class, said: &VendorError) -> Fault {
    Fault {
        detail: vendor_errors::shortened(&said.words()),
        ..vendor_errors::fault_as(class)
    }
}
