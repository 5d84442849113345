//! Any vendor with a JSON interface, by a description: how it is ordered from, asked and stopped, where its answers have what,
//! and what its words mean. A description is data; what it cannot say is refused where it stands.

mod call;
mod check;
mod classes;
mod entries;
mod errors;
mod keyed_hash;
mod maps;
mod names;
mod pictures;
mod pointer;
mod recorded;
mod request;
mod results;
mod settings;
mod sign;
mod signers;
mod sums;
mod template;
mod text;
mod values;
mod webhook;

use std::collections::{BTreeMap, BTreeSet};

use atelier_contract::brief::Brief;
use serde_json::{Value, json};

use crate::backend::{Cost, Fault, LostSubmit, Work};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::{VendorRequest, VendorResponse};
use crate::inputs::unsupported;
use crate::mapping::OrderValues;
use crate::task_vendor::{
    AnswerForm, Capabilities, TaskBackend, TaskBase, TaskPlan, TaskReply, TaskStatus, TaskVendor,
    UsualTiming, VideoSources,
};
use crate::vendor::{Setup, Vendor, schema_of};
use crate::vendor_errors::{ErrorRule, VendorError};
use crate::worker::Worker;
use call::VendorCall;
use entries::ModelOffer;
use errors::{ErrorReader, WordList};
use maps::WordMap;
use pictures::{JobPictures, UploadCall};
use pointer::JsonPointers;
use request::{CallValues, RequestTemplate};
use settings::HttpSettings;
use sums::SumPlace;
use values::{CallShare, JobValues, start_name};
use webhook::WebhookCheck;

pub(super) const VENDOR: Vendor = Vendor {
    name: "http",
    about: "Any vendor with a JSON interface, by a description of its calls and answers",
    needs_credential: false,
    address: "",
    settings: schema_of::<HttpSettings>,
    ready: "",
    build,
};

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 5,
    timeout_seconds: 120,
};
/// A call with its pictures is not larger.
const MOST_CALL: usize = 96 * 1024 * 1024;

/// What is done about an order whose answer never came.
enum LostRule {
    Unknown,
    Repeat,
    Key,
    Search {
        request: RequestTemplate,
        task: BTreeMap<String, JsonPointers>,
    },
}

/// How the vendor is asked whether it is well.
struct ProbeRule {
    request: RequestTemplate,
    healthy: Option<WordList>,
    balance: Option<SumPlace>,
}

/// A worker account at a vendor that is described.
struct HttpVendor {
    base: TaskBase,
    calls: BTreeMap<String, VendorCall>,
    offers: BTreeMap<String, ModelOffer>,
    maps: BTreeMap<String, WordMap>,
    errors: ErrorReader,
    upload: Option<UploadCall>,
    lost: LostRule,
    webhook: WebhookCheck,
    probe: ProbeRule,
}

/// What each answer that is kept with a description means by it.
pub(super) fn meanings(setup: Setup) -> Result<Vec<Value>, FieldError> {
    let (vendor, recorded) = HttpVendor::described(setup)?;
    Ok(recorded::meanings(&vendor, &recorded))
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let (vendor, recorded) = HttpVendor::described(setup)?;
    recorded::check(&vendor, &recorded)?;
    Ok(TaskBackend::worker(vendor))
}

impl HttpVendor {
    /// What serves a request.
    fn offer(&self, operation: &str, brief: &Brief) -> Result<&ModelOffer, Fault> {
        let variant = |name: &str| self.offers.get(&format!("{operation}/{name}"));
        let pictured = !brief.sources.is_empty();
        let ended = brief.last_frame.is_some() || (brief.looped && pictured);
        let found = [
            variant("mask").filter(|_| brief.mask.is_some()),
            variant("end").filter(|_| ended),
            variant("image").filter(|_| pictured),
            self.offers.get(operation),
        ];
        let found = found.into_iter().flatten().next();
        found.ok_or_else(|| unsupported("prompt", "no back end for such a request is available"))
    }

    /// The call that serves a request.
    fn call(&self, offer: &ModelOffer) -> Result<&VendorCall, Fault> {
        let name = &offer.written.call;
        let call = self.calls.get(name);
        call.ok_or_else(|| {
            Fault::ours(format!("a model names the call {name}, which is not there"))
        })
    }

    fn call_for(&self, work: &Work) -> Result<&VendorCall, Fault> {
        self.call(self.offer(&work.operation, &work.brief)?)
    }

    /// The call that a task came from.
    fn call_of(&self, task: &Value) -> Result<&VendorCall, Fault> {
        let name = VendorCall::name_of(task);
        let mut polled = self
            .calls
            .values()
            .filter(|call| !call.is_answered_at_once());
        let found = match (self.calls.get(name), name) {
            (Some(call), _) => Some(call),
            // What was ordered before calls were written down came from the only one.
            (None, "") => polled.next().filter(|_| polled.next().is_none()),
            (None, _) => None,
        };
        found.ok_or_else(|| VendorCall::unknown(name))
    }

    /// What the answer to a search says.
    fn searched(&self, call: &VendorCall, reply: &TaskReply) -> Result<Option<Value>, Fault> {
        if let Some(fault) = self.errors.refusal(reply) {
            return Err(fault);
        }
        let LostRule::Search { task, .. } = &self.lost else {
            return Ok(None);
        };
        Ok(call.found(task, &reply.body))
    }

    /// What a model can do for a request.
    fn skills(&self, offer: &ModelOffer, call: &VendorCall) -> Capabilities {
        const WORDS: &[&str] = &["quality", "moderation", "style"];
        const ANIME: &[&str] = &["steps", "scale", "sampler"];
        let places = call.places();
        let named = |all: &[&'static str]| {
            let has = |name: &&'static str| places.has(&[*name]) || self.is_mapped(call, name);
            all.iter().copied().filter(has).collect::<Vec<_>>()
        };
        let mut films = places.films(offer.lengths());
        let mut pictures = places.pictures();
        if let Some(most) = offer.written.most_images {
            films.references = films.references.min(most);
            pictures.references = pictures.references.min(most);
        }
        pictures.transparent = places.has(&["background"]);
        Capabilities {
            films: Some(films),
            pictures: Some(pictures),
            seeds: places.has(&["seed"]),
            strength: places.has(&["strength"]),
            words: named(WORDS),
            anime: named(ANIME),
            ..Capabilities::default()
        }
    }

    /// Whether a call has a place for a value by way of a table.
    fn is_mapped(&self, call: &VendorCall, name: &str) -> bool {
        call.named().iter().any(|place| {
            let map = place
                .strip_prefix("map.")
                .and_then(|map| self.maps.get(map));
            map.is_some_and(|map| map.looks_up(name))
        })
    }
}

impl TaskVendor for HttpVendor {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        self.offers
            .keys()
            .any(|key| key.split('/').next() == Some(operation))
    }

    fn capabilities(&self, operation: &str, brief: &Brief) -> Result<Capabilities, Fault> {
        let offer = self.offer(operation, brief)?;
        let call = self.call(offer)?;
        call.places().check_frames(brief)?;
        Ok(self.skills(offer, call))
    }

    fn start_form(&self, work: &Work) -> AnswerForm<'_> {
        let call = self.call_for(work);
        call.map_or(AnswerForm::PLAIN, VendorCall::start_form)
    }

    fn question_form(&self, task: &Value) -> AnswerForm<'_> {
        let call = self.call_of(task);
        call.map_or(AnswerForm::PLAIN, |call| call.question_form(task))
    }

    fn makes_in_call(&self, work: &Work) -> bool {
        self.call_for(work)
            .is_ok_and(VendorCall::is_answered_at_once)
    }

    fn starts(&self, work: &Work) -> u32 {
        let count = work.brief.count.clamp(1, 16);
        let Ok(offer) = self.offer(&work.operation, &work.brief) else {
            return count;
        };
        let counts = self
            .call(offer)
            .is_ok_and(|call| call.places().has(&["count"]));
        count.div_ceil(offer.per_call(counts))
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let offer = self.offer(&work.operation, &work.brief)?;
        let call = self.call(offer)?;
        let (places, names) = (call.places(), call.named());
        places.check_frames(&work.brief)?;
        let can = self.skills(offer, call);
        let (Some(films), Some(pictures)) = (can.films, can.pictures) else {
            return Err(Fault::ours("a model that makes nothing"));
        };
        let mut order = OrderValues::of_work(work, &films, &pictures).await?;
        let sources = VideoSources::of(&work.brief, &films);
        let mut given = JobPictures::of(work, &mut order, &sources, call.pictures).await?;
        let http = &self.base.http;
        given.prepare(&names, self.upload.as_ref(), http).await?;
        let inline = names.iter().filter(|name| names::is_bytes(name)).count();
        if given.size().saturating_mul(inline) > MOST_CALL {
            return Err(unsupported("image", "is too large for the back end"));
        }
        let mut values = JobValues::new(work, offer, &self.maps, order);
        values.pictures = given;
        if places.has(&["model"]) && !values.has_model() {
            return Err(unsupported("model", "no back end serves this model"));
        }
        let (count, finish) = (work.brief.count.clamp(1, 16), values.finish());
        let per_call = offer.per_call(places.has(&["count"]));
        Ok(TaskPlan {
            starts: self.starts(work),
            passes: Vec::new(),
            finish,
            call: Box::new(move |place| {
                let left = count.saturating_sub(place * per_call);
                let share = CallShare {
                    place,
                    count: left.clamp(1, per_call),
                };
                call.submit.filled(&CallValues {
                    value: &|name| values.of(name, share),
                    files: &|name| values.pictures.files(name),
                })
            }),
        })
    }

    fn started(&self, work: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let call = self.call_for(work)?;
        call.started(&self.errors, &self.base.http, reply)
    }

    /// The question about a task whose call is not there any more comes to nothing, whatever is answered.
    fn poll_request(&self, task: &Value) -> VendorRequest {
        let call = self.call_of(task);
        call.map_or_else(|_| self.probe(), |call| call.question(task))
    }

    fn task_status(&self, _: &Work, task: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        self.call_of(task)?.polled(&self.errors, task, reply)
    }

    fn error_rules(&self) -> &[ErrorRule] {
        &self.errors.rules
    }

    fn read_error(&self, body: &Value) -> Option<VendorError> {
        self.errors.said(body)
    }

    fn fault(&self, answer: &VendorResponse) -> Fault {
        self.errors.fault(answer)
    }

    fn stop(&self, task: &Value) -> Option<VendorRequest> {
        self.call_of(task).ok()?.cancel(task)
    }

    fn lost_submit(&self) -> LostSubmit {
        match self.lost {
            LostRule::Unknown => LostSubmit::Unknown,
            LostRule::Repeat => LostSubmit::Repeat,
            LostRule::Key | LostRule::Search { .. } => LostSubmit::LookUp,
        }
    }

    fn lost(&self, work: &Work, place: u32) -> Option<VendorRequest> {
        let LostRule::Search { request, .. } = &self.lost else {
            return None;
        };
        let name = start_name(work, place);
        let value = |_: &str| json!(name);
        Some(request.filled(&CallValues::plain(&value)))
    }

    fn found(&self, work: &Work, reply: TaskReply) -> Result<Option<Value>, Fault> {
        self.searched(self.call_for(work)?, &reply)
    }

    /// Ordering again under the same names gives the first answers.
    fn named_task(&self, work: &Work) -> Option<Value> {
        matches!(self.lost, LostRule::Key).then(|| json!({"name": start_name(work, 0)}))
    }

    fn probe(&self) -> VendorRequest {
        let nothing = |_: &str| Value::Null;
        self.probe.request.filled(&CallValues::plain(&nothing))
    }

    fn probe_refusal(&self, answer: &VendorResponse) -> Option<Fault> {
        let reply = TaskReply::kept(answer.clone(), &AnswerForm::PLAIN).ok()?;
        let refused = answer.is_good().then(|| self.errors.refusal(&reply))?;
        refused.filter(|_| !self.is_healthy(answer))
    }

    fn is_healthy(&self, answer: &VendorResponse) -> bool {
        let (Some(healthy), Ok(body)) = (&self.probe.healthy, answer.json()) else {
            return false;
        };
        let said = self.errors.said(&body).unwrap_or_default();
        let codes: BTreeSet<&str> = said.code.split_whitespace().collect();
        healthy.has(&answer.status.to_string()) || codes.into_iter().any(|code| healthy.has(code))
    }

    fn balance(&self, answer: &VendorResponse) -> Option<Cost> {
        self.probe.balance.as_ref()?.read(&answer.json().ok()?)
    }

    async fn verify_webhook(&self, post: &WebhookRequest) -> bool {
        self.webhook.fits(post)
    }
}
