//! A call that wants work done: its fields, its files and its key.

use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::family::{AnswerMode, AnswerWay, Family, SubmitEndpoint, WAY_FIELDS};
use atelier_contract::groups::PriceGroup;
use atelier_contract::operation::Order;
use atelier_contract::{JobId, Refusal, hex};
use atelier_store::Idempotency;
use base64::Engine as _;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::admin::Caller;
use crate::context::Context;
use crate::wake::Changes;

/// A call that wants work done.
pub struct Call {
    pub caller: Caller,
    /// The family of the endpoint.
    pub family: &'static Family,
    pub submit: &'static SubmitEndpoint,
    /// The fields of the body.
    pub fields: Fields,
    /// Files of a multipart body, by field.
    pub files: Vec<(String, Vec<u8>)>,
    /// The caller's own key for this call.
    pub idempotency_key: Option<String>,
    /// Whether it must run on the caller's own hosted account.
    pub custody: bool,
    /// What is kept with the request though no caller can send it: what the door it came through needs later.
    pub notes: Fields,
    /// Since when the caller waits for an answer: what it waited for before is part of the time that it is answered within.
    pub begun: Instant,
}

/// An endpoint and the family that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct FamilyEndpoint {
    pub(super) family: &'static Family,
    pub(super) submit: &'static SubmitEndpoint,
}

/// What is to be paid for.
pub(super) struct BilledOrder<'a> {
    pub(super) endpoint: FamilyEndpoint,
    pub(super) order: &'a Order,
    /// The request as it is stored.
    pub(super) stored: &'a Fields,
    /// Whether it runs on a worker account of the caller's own.
    pub(super) custody: bool,
}

/// What quotes of one moment go by.
pub struct QuoteTerms {
    pub(super) group: Option<Arc<PriceGroup>>,
    pub(super) now_ms: i64,
}

#[derive(Debug)]
pub struct Submission {
    pub job_id: JobId,
    /// Whether it is the answer to an earlier, equal call.
    pub replayed: bool,
    /// What is heard of it since before it was accepted, when its caller waits for the end.
    pub changes: Option<Changes>,
}

impl Call {
    /// Puts the files of a multipart body where the JSON form of the same call has its base64.
    pub(super) fn place_files(&mut self) -> Result<(), Refusal> {
        for (name, bytes) in std::mem::take(&mut self.files) {
            let name = name.strip_suffix("[]").unwrap_or(&name);
            if !self.submit.files.contains(&name) {
                let known = self.submit.files.join(", ");
                let message = format!("is not a file field; those are {known}");
                return Err(Refusal::invalid(name, message));
            }
            let encoded = Value::String(base64::engine::general_purpose::STANDARD.encode(bytes));
            match self.fields.get_mut(name) {
                None => {
                    let list = Value::Array(vec![encoded]);
                    self.fields.insert(name.to_owned(), list);
                }
                Some(Value::Array(list)) => list.push(encoded),
                Some(_) => {
                    return Err(Refusal::invalid(
                        name,
                        "must be given once, as files or as text",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether its caller waits for the result, in whichever form that comes.
    pub(super) fn waits(&self) -> bool {
        let wish = self.submit.answer_wish(&self.fields);
        matches!(self.submit.answers_with, AnswerMode::Answer(_))
            && wish.is_ok_and(|wish| wish.way != AnswerWay::Later)
    }

    /// The caller's promise that repeats mean the same call, if it made one.
    pub(super) fn idempotency(&self, context: &Context) -> Option<Idempotency> {
        let key = self.idempotency_key.as_ref()?;
        let mut hasher = Sha256::new();
        hasher.update(self.submit.name.as_bytes());
        hasher.update([0]);
        // In order, whatever order they came in: a build may keep that.
        let mut fields = self.fields.clone();
        if matches!(self.submit.answers_with, AnswerMode::Answer(_)) {
            // How the answer is wanted is no part of what is made.
            for name in WAY_FIELDS {
                fields.remove(name);
            }
        }
        let mut fields = Value::Object(fields);
        fields.sort_all_objects();
        hasher.update(fields.to_string().as_bytes());
        // The same words mean another call on the caller's own accounts.
        if self.custody {
            hasher.update(b"\0custody");
        }
        Some(Idempotency {
            key: key.clone(),
            fingerprint: hex(&hasher.finalize()),
            keep_after_ms: context.now_ms() - context.settings().retention.idempotency_hours.ms(),
        })
    }
}

/// The built-in model that a stored request names, be it in the place of an operator's.
pub(super) fn built_in_model(stored: &Fields) -> Option<&str> {
    let mut spellings = ["model", "modelName"].into_iter();
    spellings.find_map(|spelling| stored.get(spelling)?.as_str())
}

/// Letters of an end user's name that are kept.
const USER_MOST: usize = 256;

/// The end user that a request names as OpenAI's clients do.
pub(super) fn end_user(fields: &Fields) -> Option<String> {
    let user = fields.get("user")?.as_str()?.trim();
    (!user.is_empty()).then(|| user.chars().take(USER_MOST).collect())
}
