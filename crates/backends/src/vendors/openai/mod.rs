//! The OpenAI Images and Videos wire formats, for the vendor itself and for the servers that speak them: LocalAI,
//! SGLang, vLLM-Omni, stable-diffusion.cpp and resellers. Pictures are answered in the call; videos are polled.

mod account;
mod capabilities;
mod fields;
mod images;
mod renames;
mod reply;
mod settings;
mod usage;
mod videos;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use atelier_fairness::reservation::Reservation;
use serde_json::Value;

use crate::backend::{
    Backend, BoxFuture, Cost, Fault, LostSubmit, PollOutcome, StartOutcome, Work, unknown_model,
};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::VendorRequest;
use crate::support::FieldSupport;
use crate::task_vendor::refused_field;
use crate::vendor::{Setup, Vendor};
use crate::vendor_errors;
use crate::worker::Worker;
use account::OpenAi;
use settings::{OpenAiSettings, ServerDialect};

pub(super) const VENDOR: Vendor = Vendor {
    name: "openai",
    about: "OpenAI Images and Videos, and the servers that speak their formats",
    needs_credential: false,
    address: "https://api.openai.com/v1",
    settings: settings::schema,
    ready: "",
    build,
};

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings = OpenAiSettings::read(setup.settings)?;
    let mut http = setup.http;
    if !setup.credential.is_empty() {
        let key = setup.credential.reveal();
        http = if settings.key_header {
            http.with_header("api-key", "credential", key)?
        } else {
            http.with_bearer(key)?
        };
    }
    if let Some(organization) = &settings.organization {
        http = http.with_header("openai-organization", "organization", organization)?;
    }
    if let Some(project) = &settings.project {
        http = http.with_header("openai-project", "project", project)?;
    }
    let server = OpenAi {
        http: http.clone(),
        settings,
        keeps_videos: AtomicBool::default(),
    };
    Ok(Worker::new(&http, server))
}

impl OpenAi {
    async fn begin(&self, work: Work) -> Result<StartOutcome, Fault> {
        match work.brief.task {
            Task::Animate | Task::Extend(_) => self.start_video(&work).await,
            _ => {
                // Nobody is told that it was taken before it is done.
                work.progress.begin();
                let made = work.unless_cancelled(self.make_images(&work)).await;
                made.map(StartOutcome::Done)
            }
        }
    }

    async fn health_check(&self) -> Result<(), Fault> {
        let answer = self.http.ask(VendorRequest::get("models")).await?;
        // Some of the compatible servers have no list of models; that they answer is enough.
        if matches!(answer.status, 404 | 405) {
            return Ok(());
        }
        if !answer.is_good() {
            return Err(vendor_errors::fault_of(&answer));
        }
        let listed = answer.json().unwrap_or_default();
        self.check_models(&listed, self.settings.model_names())
    }

    /// Whether it lists the models that routes name; what keeps it from listing any was said before.
    async fn check_routed(&self, names: &[String]) -> Result<(), Fault> {
        let answer = self.http.ask(VendorRequest::get("models")).await?;
        if !answer.is_good() {
            return Ok(());
        }
        let listed = answer.json().unwrap_or_default();
        self.check_models(&listed, names.iter().map(String::as_str))
    }

    /// Compares models that are sent with those that the server lists, where it lists any.
    fn check_models<'a>(
        &self,
        body: &Value,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Fault> {
        let listed = body["data"].as_array().into_iter().flatten();
        let listed: Vec<&str> = listed.filter_map(|model| model["id"].as_str()).collect();
        // It has one model, which is not asked for by its name.
        if listed.is_empty() || self.settings.dialect == ServerDialect::Sdcpp {
            return Ok(());
        }
        // Azure lists what one could deploy, and is asked for deployments, which have names of their own.
        if self.settings.key_header {
            return Ok(());
        }
        // Proxies list patterns, too.
        let is_listed = |name: &str| {
            let mut listed = listed.iter();
            listed.any(|one| match one.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *one == name,
            })
        };
        match names.into_iter().find(|name| !is_listed(name)) {
            Some(other) => {
                let listed = listed.join(", ");
                let detail = format!("{}: it lists {listed}", unknown_model(other));
                Err(Fault::unknown_model(vendor_errors::shortened(&detail)))
            }
            None => Ok(()),
        }
    }
}

impl Backend for OpenAi {
    fn serves(&self, operation: &str) -> bool {
        self.settings.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        if self.settings.free {
            LostSubmit::Repeat
        } else {
            LostSubmit::Unknown
        }
    }

    /// It is never looked up.
    fn submit_limit(&self, _: &Work) -> Duration {
        Duration::ZERO
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        let capabilities = self.settings.capabilities(brief);
        let mut all = capabilities.support(operation, brief);
        if let (true, Err(fault)) = (brief.task.is_video(), self.settings.check_size(brief)) {
            all.push(refused_field(fault));
        }
        all
    }

    fn ordered_seconds(&self, _: &str, brief: &Brief) -> u32 {
        self.settings.capabilities(brief).ordered_seconds(brief)
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(self.begin(work))
    }

    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(self.poll_video(work, ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(self.delete_video(ticket))
    }

    fn look_up<'a>(
        &'a self,
        _: &'a Work,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move { self.health_check().await.map(|()| None) })
    }

    fn find_models<'a>(&'a self, names: &'a [String]) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.check_routed(names))
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
