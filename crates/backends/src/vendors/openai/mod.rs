//! The OpenAI Images and Videos wire formats, for the vendor itself and for the servers that speak them: LocalAI,
//! SGLang, vLLM-Omni, stable-diffusion.cpp and resellers. Pictures are answered in the call; videos are polled.

mod answer;
mod fields;

mod images;
mod settings;
mod skills;
mod videos;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use serde_json::Value;

use crate::answers;
use crate::backend::{Backend, Cost, Fault, Later, LostSubmit, Progress, Started, Work};
use crate::hooks::Post;
use crate::http::{VendorCall, VendorHttp};
use crate::inputs::cannot;
use crate::regard::Regarded;
use crate::reserved::Reserved;
use crate::tasks::refused;
use crate::vendor::{Setup, Vendor};
use crate::worker::Worker;
use crate::wrong::Wrong;
use settings::Settings;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "openai",
    about: "OpenAI Images and Videos, and the servers that speak their formats",
    needs_credential: false,
    address: "https://api.openai.com/v1",
    settings: settings::schema,
    ready: "",
    build,
};

/// A worker account.
struct OpenAi {
    http: VendorHttp,
    settings: Settings,
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let settings = Settings::read(setup.settings)?;
    let mut http = setup.http;
    if !setup.credential.is_empty() {
        let key = setup.credential.reveal();
        http = if settings.key_header {
            http.with_header(("api-key", "credential"), key)?
        } else {
            http.with_header(("authorization", "credential"), &format!("Bearer {key}"))?
        };
    }
    if let Some(organization) = &settings.organization {
        http = http.with_header(("openai-organization", "organization"), organization)?;
    }
    if let Some(project) = &settings.project {
        http = http.with_header(("openai-project", "project"), project)?;
    }
    Ok(Worker::new(&http.clone(), OpenAi { http, settings }))
}

impl OpenAi {
    /// The vendor's name of the model for a piece of work.
    fn model(&self, work: &Work) -> Result<String, Fault> {
        let model = self.settings.model(&work.operation, &work.brief.model);
        let model = model.ok_or_else(|| cannot("model", "no back end serves this model"))?;
        Ok(model.to_owned())
    }

    async fn begin(&self, work: Work) -> Result<Started, Fault> {
        match work.brief.task {
            Task::Animate | Task::Extend(_) => self.start_video(&work).await,
            _ => {
                // Nobody is told that it was taken before it is done.
                work.progress.begin();
                let made = work.unless_cancelled(self.make_images(&work)).await;
                made.map(Started::Done)
            }
        }
    }

    async fn look(&self) -> Result<(), Fault> {
        let answer = self.http.ask(VendorCall::get("models")).await?;
        // Some of the compatible servers have no list of models; that they answer is enough.
        if answer.is_good() || matches!(answer.status, 404 | 405) {
            return Ok(());
        }
        Err(answers::fault_of(&answer))
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

    fn regard(&self, operation: &str, brief: &Brief) -> Vec<Regarded> {
        let skills = self.settings.skills(brief);
        let mut all = skills.regard(operation, brief);
        if let (true, Err(fault)) = (brief.task.is_video(), self.settings.check_size(brief)) {
            all.push(refused(fault));
        }
        all
    }

    fn reserve(&self, _: &Arc<str>, _: &Brief, _: bool) -> Option<Reserved> {
        None
    }

    fn start(&self, work: Work) -> Later<'_, Result<Started, Fault>> {
        Box::pin(self.begin(work))
    }

    fn poll<'a>(&'a self, work: &'a Work, ticket: &'a Value) -> Later<'a, Result<Progress, Fault>> {
        Box::pin(self.poll_video(work, ticket))
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> Later<'a, ()> {
        Box::pin(self.delete_video(ticket))
    }

    fn look_up<'a>(&'a self, _: &'a Work, _: bool) -> Later<'a, Result<Option<Started>, Fault>> {
        Box::pin(async { Ok(None) })
    }

    fn probe(&self) -> Later<'_, Result<Option<Cost>, Fault>> {
        Box::pin(async move { self.look().await.map(|()| None) })
    }

    /// Nothing is signed here; the address of the hook is the proof.
    fn hears<'a>(&'a self, _: &'a Post) -> Later<'a, bool> {
        Box::pin(async { true })
    }
}
