//! NovelAI: anime pictures with characters, vibes and references, answered within the call as an archive.

mod archive;
mod body;

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::backend::{Acceptance, Fault, Work};
use crate::field_error::FieldError;
use crate::files::looks_made;
use crate::http::VendorRequest;
use crate::images::FinishOptions;
use crate::inputs;
use crate::task_vendor::{
    ANIME, AnswerForm, Capabilities, FileSource, ImageCapabilities, MaskSupport, TaskBackend,
    TaskBase, TaskPlan, TaskReply, TaskResult, TaskStatus, TaskVendor, TimingSettings, UsualTiming,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::vendor_errors;
use crate::worker::Worker;

pub(super) const VENDOR: Vendor = Vendor {
    name: "novelai",
    about: "NovelAI: anime pictures with characters, vibes and references",
    needs_credential: true,
    address: "https://image.novelai.net",
    settings: schema_of::<NovelAiSettings>,
    ready: "",
    build,
};

/// The host that makes pictures, and the one that knows the account.
const PICTURES: &str = "image.novelai.net";
const ACCOUNT: &str = "https://api.novelai.net/";

const TIMING: UsualTiming = UsualTiming {
    poll_seconds: 1,
    timeout_seconds: 180,
};

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct NovelAiSettings {
    /// Our models, or `*`, to theirs.
    models: BTreeMap<String, String>,
    /// Words that are added for quality, by the vendor's model.
    quality: BTreeMap<String, String>,
    timeout_seconds: Option<u64>,
}

/// What the models can do.
const CAN: ImageCapabilities = ImageCapabilities {
    masks: MaskSupport::None,
    references: usize::MAX,
    negative: true,
    transparent: false,
    backgrounds: false,
};

struct NovelAi {
    base: TaskBase,
    settings: NovelAiSettings,
}

fn build(setup: Setup) -> Result<Worker, FieldError> {
    let settings: NovelAiSettings = read_settings(setup.settings)?;
    let http = setup
        .http
        .with_bearer(setup.credential.reveal())?
        .with_domain("novelai.net");
    let timing = TimingSettings::of_call(settings.timeout_seconds);
    Ok(TaskBackend::worker(NovelAi {
        base: TaskBase::new(http, timing, TIMING),
        settings,
    }))
}

impl NovelAi {
    fn model(&self, work: &Work) -> String {
        let ours = &*work.brief.model;
        let named = work.brief.vendor_model.as_ref();
        let named = named.or_else(|| self.settings.models.get(ours));
        let named = named.or_else(|| self.settings.models.get("*"));
        match (named, ours) {
            (Some(name), _) => name.clone(),
            (None, ours) => ours.replace("anime-diffusion", "nai-diffusion"),
        }
    }

    /// The vendor's own form of a picture whose mood is taken over.
    async fn vibe(&self, work: &Work, index: usize, model: &str) -> Result<String, Fault> {
        let image = inputs::png(inputs::source(work, index).await?).await?;
        let body = json!({
            "image": STANDARD.encode(image),
            "information_extracted": 1.0,
            "model": model,
        });
        let call = VendorRequest::post_json("ai/encode-vibe", &body).within(self.base.call_timeout);
        // Nothing is lost with it that could be looked for, so it may simply be done again.
        let again = |fault: Fault| Fault {
            taken: Acceptance::No,
            ..fault
        };
        let answer = self.base.http.submit(call).await.map_err(again)?;
        if !answer.is_good() {
            return Err(again(vendor_errors::of_start(&answer, self.fault(&answer))));
        }
        if answer.bytes.is_empty() || answer.json().is_ok() {
            return Err(again(vendor_errors::unexpected(&answer)));
        }
        Ok(STANDARD.encode(&answer.bytes))
    }
}

impl TaskVendor for NovelAi {
    fn base(&self) -> &TaskBase {
        &self.base
    }

    fn serves(&self, operation: &str) -> bool {
        let found = atelier_contract::operation(operation);
        found.is_some_and(|(_, submit)| submit.makes_only(&[Task::Anime]))
    }

    fn capabilities(&self, _: &str, _: &Brief) -> Result<Capabilities, Fault> {
        Ok(Capabilities {
            seeds: true,
            strength: true,
            anime: ANIME.to_vec(),
            ..Capabilities::pictures(CAN)
        })
    }

    fn makes_in_call(&self, _: &Work) -> bool {
        true
    }

    fn start_form(&self, _: &Work) -> AnswerForm<'_> {
        AnswerForm::Whole
    }

    async fn plan<'a>(&'a self, work: &'a Work) -> Result<TaskPlan<'a>, Fault> {
        let model = self.model(work);
        let wish = body::NovelAiRequest::of(work, &model, &self.settings.quality)?;
        let mut body = wish.body(work, &model);
        let vibes = work.request.get("vibe_transfer").and_then(Value::as_array);
        let vibes = vibes.map_or(0, Vec::len);
        let based = work.brief.extra["base_image"] == true;
        let parameters = &mut body["parameters"];
        if based {
            let base = inputs::source(work, 0).await?;
            let (width, height) = wish.size;
            let base = inputs::png(base.on([255; 3]).covering(width, height)).await?;
            parameters["image"] = json!(STANDARD.encode(base));
            parameters["strength"] = json!(work.brief.strength);
            parameters["noise"] = work.brief.extra["noise"].clone();
            parameters["extra_noise_seed"] = parameters["seed"].clone();
            body["action"] = json!("img2img");
        } else {
            let mut tokens = Vec::new();
            for index in 0..vibes {
                tokens.push(self.vibe(work, index, &model).await?);
            }
            body::add_vibes(parameters, work, &tokens);
            let mut references = Vec::new();
            for index in vibes..work.sources.len() {
                let picture = inputs::source(work, index).await?;
                let picture = inputs::png(body::letterboxed(&picture)).await?;
                references.push(STANDARD.encode(picture));
            }
            body::add_references(parameters, work, &references);
        }
        let call = VendorRequest::post_json("ai/generate-image", &body);
        let finish = FinishOptions {
            size: Some((work.brief.width, work.brief.height)),
            seed: Some(wish.seed),
            ..FinishOptions::default()
        };
        Ok(TaskPlan::once(call, finish))
    }

    fn started(&self, _: &Work, reply: TaskReply) -> Result<TaskStatus, Fault> {
        let bytes = &reply.answer.bytes;
        let files: Vec<Bytes> = if looks_made(bytes) {
            vec![bytes.clone()]
        } else {
            archive::files(bytes).unwrap_or_default()
        };
        if files.is_empty() {
            return Err(reply.nonsense());
        }
        Ok(TaskStatus::Done(TaskResult {
            files: files.into_iter().map(FileSource::File).collect(),
            ..TaskResult::default()
        }))
    }

    /// There are no tasks; the question is never asked.
    fn poll_request(&self, _: &Value) -> VendorRequest {
        self.probe()
    }

    fn task_status(&self, _: &Work, _: &Value, reply: TaskReply) -> Result<TaskStatus, Fault> {
        Err(reply.nonsense())
    }

    /// Another host of the vendor knows the account.
    fn probe(&self) -> VendorRequest {
        let path = "user/subscription";
        match self.base.http.base().host_str() {
            Some(PICTURES) => VendorRequest::get(format!("{ACCOUNT}{path}")),
            _ => VendorRequest::get(path),
        }
    }
}
