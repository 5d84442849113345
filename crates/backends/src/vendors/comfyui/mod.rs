//! ComfyUI: workflows that the operator has written, filled in for each piece of work, queued under an identifier of
//! our own, and asked about until their files are there. A lost submit is looked up by that identifier.

mod inputs;
mod outputs;
mod pending_prompts;
mod progress;
mod queue;
mod server;
mod settings;
mod template;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use atelier_fairness::reservation::Reservation;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use crate::backend::{
    Backend, BoxFuture, Class, Cost, Fault, LostSubmit, PollOutcome, StartOutcome, Work,
};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::VendorRequest;
use crate::inputs::{seed_of_parent, unsupported};
use crate::support::FieldSupport;
use crate::task_vendor::refused_field;
use crate::vendor::{Setup, Vendor};
use crate::vendor_errors;
use crate::worker::Worker;
use server::{CALL, ComfyUi};
use settings::ComfyUiSettings;

pub(super) const VENDOR: Vendor = Vendor {
    name: "comfyui",
    about: "ComfyUI with workflows of your own, run by yourself",
    needs_credential: false,
    address: "",
    settings: settings::schema,
    ready: "",
    build,
};

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings = ComfyUiSettings::read(setup.settings)?;
    let mut http = setup.http;
    if !setup.credential.is_empty() {
        http = http.with_bearer(setup.credential.reveal())?;
    }
    let server = ComfyUi {
        http: http.clone(),
        settings: Arc::new(settings),
        cleanup_tasks: TaskTracker::new(),
    };
    Ok(Worker::new(&http, server))
}

impl ComfyUi {
    async fn begin(&self, work: &Work) -> Result<StartOutcome, Fault> {
        if work.brief.task == Task::Seed {
            return seed_of_parent(work).map(StartOutcome::Done);
        }
        self.settings.check(work)?;
        let template = self.settings.template(work)?;
        let values = self.values(work).await?;
        let is_single = values.len() == 1;
        let mut submits = self.submits();
        for (index, values) in values.into_iter().enumerate() {
            let graph = template.filled(&values);
            let graph = graph.map_err(|name| unsupported(&name, "is needed by the back end"))?;
            let id = queue::id(&work.attempt_id, index as u32);
            if is_single {
                self.listen_to(&id, template.len(), work).await;
            }
            submits.add(id, graph).await?;
        }
        Ok(StartOutcome::Ticket(json!({"prompts": submits.finish()})))
    }

    /// How many calls an attempt takes: each prompt, and before them each file, of which a grid has some for each quarter.
    fn calls(&self, work: &Work) -> u32 {
        let prompts = self.settings.prompts(work).unwrap_or(1);
        let brief = &work.brief;
        let files = brief.sources.len()
            + usize::from(brief.mask.is_some())
            + usize::from(brief.video.is_some())
            + usize::from(work.parent.is_some());
        prompts + prompts * files as u32
    }

    /// Looks for every prompt of an attempt; all of them are there, or what is there is of no use and stopped when no more
    /// will come.
    async fn found(&self, work: &Work, late: bool) -> Result<Option<Value>, Fault> {
        let count = self.settings.prompts(work)?;
        let ids: Vec<String> = (0..count)
            .map(|index| queue::id(&work.attempt_id, index))
            .collect();
        let mut known = Vec::new();
        for id in &ids {
            if !matches!(self.state(id).await?, queue::PromptState::Unknown) {
                known.push(id.clone());
            }
        }
        if known.len() == ids.len() {
            return Ok(Some(json!({"prompts": ids})));
        }
        if late {
            self.stop(&known).await;
        }
        Ok(None)
    }

    async fn health_check(&self) -> Result<(), Fault> {
        let answer = self.http.ask(VendorRequest::get("system_stats")).await?;
        if !answer.is_good() {
            return Err(vendor_errors::fault_of(&answer));
        }
        if answer.json()?.get("system").is_none() {
            return Err(Fault::vendor(Class::Retry, answer.start()));
        }
        match self.settings.missing(&self.asked("object_info").await?) {
            Some(what) => Err(Fault::vendor(Class::Unable, what)),
            None => Ok(()),
        }
    }
}

/// The prompts of a ticket.
fn prompts(ticket: &Value) -> Vec<String> {
    let ids = ticket["prompts"].as_array().into_iter().flatten();
    ids.filter_map(|id| id.as_str().map(str::to_owned))
        .collect()
}

impl Backend for ComfyUi {
    fn serves(&self, operation: &str) -> bool {
        self.settings.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        LostSubmit::LookUp
    }

    fn submit_limit(&self, work: &Work) -> Duration {
        CALL * self.calls(work)
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        match self.settings.capabilities(operation, brief) {
            Ok(capabilities) => capabilities.support(operation, brief),
            Err(fault) => vec![refused_field(fault)],
        }
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move { self.begin(&work).await })
    }

    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(async move { self.polled(work, &prompts(ticket)).await })
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.stop(&prompts(ticket)).await })
    }

    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        late: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async move { Ok(self.found(work, late).await?.map(StartOutcome::Ticket)) })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move { self.health_check().await.map(|()| None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
