//! Jobs that are ordered through a compatibility API: images that must have a URL are kept first, then the job is submitted as by
//! its own endpoint.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::Fields;
use atelier_contract::fields::ImageData;
use atelier_contract::{AccountId, Code, Job, Refusal, operation};
use atelier_engine::{Call, Caller, Engine, Submission};
use serde_json::Value;
use tokio::time::timeout_at;

use crate::app::App;
use crate::config::Role;
use crate::http::denial::Denial;
use crate::http::idempotency::idempotency_key;
use crate::http::request::IncomingRequest;

/// How long the images of a call are kept for, of the time within which its caller is answered.
const KEPT_WITHIN: Duration = Duration::from_secs(6);
const NOT_KEPT: &str = "the images could not be kept in time; try again shortly";

/// A job to be submitted for the caller of a compatibility API.
pub(super) struct DoorOrder {
    /// `family.operation`.
    operation: &'static str,
    /// The body of its submit.
    fields: Fields,
    /// What is kept with the request though no caller can send it.
    pub(super) notes: Fields,
    /// Fields that take addresses alone; bytes that stand there are kept first.
    pub(super) addresses: &'static [&'static str],
    /// Images that stand before the prompt, as bytes or addresses.
    pub(super) leading: Vec<String>,
    /// What makes a repetition known where the call has no `Idempotency-Key`.
    pub(super) usual_key: Option<String>,
}

impl DoorOrder {
    pub(super) fn new(operation: &'static str, fields: Fields) -> Self {
        Self {
            operation,
            fields,
            notes: Fields::new(),
            addresses: &[],
            leading: Vec::new(),
            usual_key: None,
        }
    }

    /// Submits it and reads its job.
    pub(super) async fn accepted(
        self,
        app: &Arc<App>,
        received: &IncomingRequest,
    ) -> Result<Job, Denial> {
        let caller = received.caller()?.clone();
        let account = caller.account_id.clone();
        let call = self.call(received, caller)?;
        let app = Arc::clone(app);
        let work = async move {
            let submitted = call.submitted(&app.engine).await?;
            app.engine.jobs().job(&account, &submitted.job_id).await
        };
        Ok(received.admission.spend(work).await??)
    }

    /// Submits it.
    pub(super) async fn submitted(
        self,
        app: &Arc<App>,
        received: &IncomingRequest,
    ) -> Result<Submission, Denial> {
        let call = self.call(received, received.caller()?.clone())?;
        let app = Arc::clone(app);
        let work = async move { call.submitted(&app.engine).await };
        Ok(received.admission.spend(work).await??)
    }

    fn call(self, received: &IncomingRequest, caller: Caller) -> Result<DoorCall, Refusal> {
        let known = operation(self.operation);
        let (family, submit) =
            known.ok_or_else(|| Refusal::new(Code::NotFound, "there is nothing at this path"))?;
        let given = idempotency_key(&received.head.headers)?;
        Ok(DoorCall {
            call: Call {
                caller,
                family,
                submit,
                fields: self.fields,
                files: Vec::new(),
                idempotency_key: given.or(self.usual_key),
                custody: received.from.role == Role::Custody && family.custody,
                notes: self.notes,
                begun: received.admission.waits_since(),
            },
            addresses: self.addresses,
            leading: self.leading,
        })
    }
}

/// A call whose images are yet to be kept.
struct DoorCall {
    call: Call,
    addresses: &'static [&'static str],
    leading: Vec<String>,
}

impl DoorCall {
    async fn submitted(mut self, engine: &Engine) -> Result<Submission, Refusal> {
        if let Some(earlier) = self.earlier(engine).await? {
            return Ok(earlier);
        }
        let until = self.call.begun + KEPT_WITHIN;
        let kept = timeout_at(until, self.keep_images(engine)).await;
        kept.map_err(|_| Refusal::new(Code::Overloaded, NOT_KEPT))??;
        let callers = engine.admin().callers();
        self.call.caller = callers.refreshed(&self.call.caller).await?;
        engine.intake().submit(self.call).await
    }

    /// The job of an earlier call of the same name. Images that are kept have another address each time, so that nothing else would
    /// tell that it is the same call.
    async fn earlier(&self, engine: &Engine) -> Result<Option<Submission>, Refusal> {
        let Some(key) = self
            .call
            .idempotency_key
            .as_ref()
            .filter(|_| self.has_images())
        else {
            return Ok(None);
        };
        let found = engine
            .jobs()
            .called(&self.call.caller.account_id, key)
            .await;
        match found {
            Ok(job_id) => Ok(Some(Submission {
                job_id,
                replayed: true,
                changes: None,
            })),
            Err(refusal) if refusal.code == Code::JobNotFound => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// Whether there are images to be kept.
    fn has_images(&self) -> bool {
        let given = self
            .addresses
            .iter()
            .filter_map(|name| self.call.fields.get(*name));
        let texts = given.flat_map(|value| match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            value => Vec::from_iter(value.as_str()),
        });
        let mut texts = texts.chain(self.leading.iter().map(String::as_str));
        texts.any(|text| !is_address(text))
    }

    /// Puts addresses in the place of images.
    async fn keep_images(&mut self, engine: &Engine) -> Result<(), Refusal> {
        let account = self.call.caller.account_id.clone();
        for name in self.addresses {
            match self.call.fields.get_mut(*name) {
                Some(Value::String(given)) => {
                    *given = stored_url(engine, &account, name, given).await?;
                }
                Some(Value::Array(items)) => {
                    for (index, item) in items.iter_mut().enumerate() {
                        if let Value::String(given) = item {
                            let place = format!("{name}[{index}]");
                            *given = stored_url(engine, &account, &place, given).await?;
                        }
                    }
                }
                _ => {}
            }
        }
        let mut words = Vec::new();
        for picture in &self.leading {
            words.push(stored_url(engine, &account, "base64Array", picture).await?);
        }
        if let Some(Value::String(prompt)) = self.call.fields.get_mut("prompt")
            && !words.is_empty()
        {
            words.push(std::mem::take(prompt));
            *prompt = words.join(" ");
        }
        Ok(())
    }
}

fn is_address(given: &str) -> bool {
    given.starts_with("http://") || given.starts_with("https://")
}

/// The address of an image; bytes are kept first.
pub(super) async fn stored_url(
    engine: &Engine,
    account: &AccountId,
    field: &str,
    given: &str,
) -> Result<String, Refusal> {
    if is_address(given) {
        return Ok(given.to_owned());
    }
    let unusable = |why: &str| Refusal::field(Code::ImageUnusable, field, why);
    let ImageData::Inline(inline) = ImageData::from_base64(given).map_err(unusable)? else {
        return Ok(given.to_owned());
    };
    let bytes = inline.bytes.unwrap_or_default().to_vec();
    let uploads = engine.assets().uploads();
    let upload = uploads.keep(account, bytes.into()).await?;
    Ok(uploads.url(&upload))
}
