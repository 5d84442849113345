//! Stable Diffusion WebUI and the servers that keep its routes (Forge, stable-diffusion.cpp): text to picture, picture
//! to picture with or without a mask, upscaling. A call lasts as long as the making; how far it is is asked beside it.

mod body;
mod call;
mod plan;
mod server;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use atelier_fairness::reservation::Reservation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

use crate::backend::{
    Backend, BoxFuture, Cost, Fault, LostSubmit, PollOutcome, StartOutcome, Work, WorkOutput,
};
use crate::field_error::FieldError;
use crate::hooks::WebhookRequest;
use crate::http::VendorRequest;
use crate::images::{FinishOptions, finish_images};
use crate::inputs;
use crate::seeds;
use crate::support::{FieldSupport, SupportLevel};
use crate::task_vendor::{Capabilities, ImageCapabilities, MaskSupport, label};
use crate::vendor::{Setup, Vendor};
use crate::worker::Worker;
use call::CallSpan;
use server::SdWebUi;
use settings::SdWebUiSettings;

pub(super) const VENDOR: Vendor = Vendor {
    name: "sdwebui",
    about: "Stable Diffusion WebUI and servers with its routes, run by yourself",
    needs_credential: false,
    address: "",
    settings: settings::schema,
    ready: "",
    build,
};

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings = SdWebUiSettings::read(setup.settings)?;
    let mut http = setup.http;
    if !setup.credential.is_empty() {
        let basic = STANDARD.encode(setup.credential.reveal());
        http = http.with_secret(setup.credential.reveal()).with_header(
            "authorization",
            "credential",
            &format!("Basic {basic}"),
        )?;
    }
    let worker = SdWebUi {
        http: http.clone(),
        settings,
        cleanup_tasks: TaskTracker::new(),
    };
    Ok(Worker::new(&http, worker))
}

impl SdWebUi {
    async fn make(&self, work: &Work) -> Result<WorkOutput, Fault> {
        // A follow-up repeats the parent's flags; its own choices come from its own identifier.
        let fixed = work.brief.seed.filter(|_| work.parent.is_none());
        let seed = fixed.unwrap_or_else(|| seeds::of_job(&work.job_id));
        if work.brief.task == Task::Seed {
            return inputs::seed_of_parent(work);
        }
        let plan = self.plan(work).await?;
        let mut pictures = Vec::new();
        let all = plan.strokes.len();
        for (index, stroke) in plan.strokes.into_iter().enumerate() {
            let at = CallSpan {
                index,
                from: index * 95 / all,
                to: (index + 1) * 95 / all,
            };
            pictures.extend(self.painted(work, stroke, seed, at).await?);
            let taken: usize = pictures.iter().map(Bytes::len).sum();
            if taken as u64 > self.http.most_file() {
                return Err(Fault::useless("the pictures together are too large"));
            }
        }
        let finish = FinishOptions {
            seed: Some(seed),
            tell_seed: work.brief.tells_seed,
            notes: json!({"seed": seed}),
            ..plan.finish
        };
        finish_images(work, pictures, finish).await
    }

    async fn health_check(&self) -> Result<(), Fault> {
        let answer = self
            .http
            .ask(VendorRequest::get("sdapi/v1/samplers"))
            .await?;
        if answer.is_good() {
            return answer.json().map(|_| ());
        }
        Err(call::refused(&answer))
    }
}

impl Backend for SdWebUi {
    fn serves(&self, operation: &str) -> bool {
        self.settings.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        // The server is the operator's own, and the same seed makes the same picture.
        LostSubmit::Repeat
    }

    /// It is never looked up.
    fn submit_limit(&self, _: &Work) -> Duration {
        Duration::ZERO
    }

    fn takes_hints(&self) -> bool {
        false
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        let references = match brief.task {
            Task::Anime if brief.extra["base_image"] != true => 0,
            Task::Edit => 1,
            _ => usize::MAX,
        };
        let capabilities = Capabilities {
            seeds: true,
            strength: true,
            anime: vec![
                "steps",
                "step",
                "scale",
                "sampler",
                "noise_schedule",
                "character_prompts",
            ],
            ..Capabilities::pictures(ImageCapabilities {
                masks: MaskSupport::White,
                references,
                negative: true,
                transparent: false,
                backgrounds: false,
            })
        };
        let mut all = capabilities.support(operation, brief);
        // Of several pictures beside the words the first is used.
        for source in brief.sources.iter().skip(1) {
            let same = |one: &&mut FieldSupport| one.field == label(source);
            if let Some(one) = all.iter_mut().rev().find(same).filter(|_| references > 1) {
                one.support = SupportLevel::Ignored;
            }
        }
        all
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reservation> {
        None
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        Box::pin(async move {
            // Nobody is told that it was taken before it is done.
            work.progress.begin();
            let made = work.unless_cancelled(self.make(&work)).await;
            made.map(StartOutcome::Done)
        })
    }

    fn poll<'a>(&'a self, _: &'a Work, _: &'a Value) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        Box::pin(async { Err(Fault::ours("this vendor gives no tickets")) })
    }

    fn cancel<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, ()> {
        Box::pin(async {})
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

    /// Nothing is signed here; the address of the hook is the proof.
    fn verify_webhook<'a>(&'a self, _: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        Box::pin(async { true })
    }
}
