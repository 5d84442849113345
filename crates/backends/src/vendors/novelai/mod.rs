//! NovelAI: anime pictures with characters, vibes and references, answered within the call as an archive.

mod archive;
mod body;

use std::collections::BTreeMap;
use std::time::Duration;

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers;
use crate::backend::{Fault, Later, Taken, Work};
use crate::files::looks_made;
use crate::http::{VendorAnswer, VendorCall, VendorHttp};
use crate::inputs;
use crate::pictures::Finish;
use crate::tasks::{
    ANIME, Brought, Desk, Found, Heard, Masks, Pictures, Plan, Skills, Speech, Told, patience,
};
use crate::vendor::{Setup, Vendor, read_settings, schema_of};
use crate::worker::Worker;
use crate::wrong::Wrong;

/// The vendor.
pub(super) const VENDOR: Vendor = Vendor {
    name: "novelai",
    about: "NovelAI: anime pictures with characters, vibes and references",
    needs_credential: true,
    address: "https://image.novelai.net",
    settings: schema_of::<Settings>,
    ready: "",
    build,
};

/// The host that makes pictures, and the one that knows the account.
const PICTURES: &str = "image.novelai.net";
const ACCOUNT: &str = "https://api.novelai.net/";

/// What an operator may set.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    /// Our models, or `*`, to theirs.
    models: BTreeMap<String, String>,
    /// Words that are added for quality, by the vendor's model.
    quality: BTreeMap<String, String>,
    timeout_seconds: Option<u64>,
}

/// What the models can do.
const CAN: Pictures = Pictures {
    masks: Masks::None,
    references: usize::MAX,
    negative: true,
    transparent: false,
    backgrounds: false,
};

/// A worker account.
struct NovelAi {
    http: VendorHttp,
    settings: Settings,
}

fn build(setup: Setup) -> Result<Worker, Wrong> {
    let settings: Settings = read_settings(setup.settings)?;
    let key = setup.credential.reveal();
    let http = setup
        .http
        .with_header(("authorization", "credential"), &format!("Bearer {key}"))?
        .with_domain("novelai.net");
    Ok(Desk::worker(NovelAi { http, settings }))
}

impl NovelAi {
    fn model(&self, work: &Work) -> String {
        let ours = &*work.brief.model;
        let named = self.settings.models.get(ours);
        let named = named.or_else(|| self.settings.models.get("*"));
        match (named, ours) {
            (Some(name), _) => name.clone(),
            (None, ours) => ours.replace("anime-diffusion", "nai-diffusion"),
        }
    }

    async fn order<'a>(&'a self, work: &'a Work) -> Result<Plan<'a>, Fault> {
        let model = self.model(work);
        let wish = body::Wish::of(work, &model, &self.settings.quality)?;
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
        let call = VendorCall::post_json("ai/generate-image", &body);
        Ok(Plan {
            passes: Vec::new(),
            starts: 1,
            call: Box::new(move |_| call.clone()),
            finish: Finish {
                size: Some((work.brief.width, work.brief.height)),
                seed: Some(wish.seed),
                ..Finish::default()
            },
        })
    }

    /// The vendor's own form of a picture whose mood is taken over.
    async fn vibe(&self, work: &Work, index: usize, model: &str) -> Result<String, Fault> {
        let image = inputs::png(inputs::source(work, index).await?).await?;
        let body = json!({
            "image": STANDARD.encode(image),
            "information_extracted": 1.0,
            "model": model,
        });
        let call = VendorCall::post_json("ai/encode-vibe", &body).within(self.patience());
        // Nothing is lost with it that could be looked for, so it may simply be done again.
        let again = |fault: Fault| Fault {
            taken: Taken::No,
            ..fault
        };
        let answer = self.http.submit(call).await.map_err(again)?;
        if !answer.is_good() {
            return Err(again(answers::of_start(&answer, self.fault(&answer))));
        }
        if answer.bytes.is_empty() || answer.json().is_ok() {
            return Err(again(answers::unexpected(&answer)));
        }
        Ok(STANDARD.encode(&answer.bytes))
    }
}

impl Speech for NovelAi {
    fn http(&self) -> &VendorHttp {
        &self.http
    }

    fn serves(&self, operation: &str) -> bool {
        let found = atelier_contract::operation(operation);
        found.is_some_and(|(_, submit)| submit.makes_only(&[Task::Anime]))
    }

    fn skills(&self, _: &str, _: &Brief) -> Result<Skills, Fault> {
        Ok(Skills {
            seeds: true,
            strength: true,
            anime: ANIME,
            ..Skills::pictures(CAN)
        })
    }

    fn makes_in_call(&self) -> bool {
        true
    }

    fn answers_with_bytes(&self) -> bool {
        true
    }

    fn patience(&self) -> Duration {
        patience(self.settings.timeout_seconds, 180)
    }

    fn pause(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn plan<'a>(&'a self, work: &'a Work) -> Later<'a, Result<Plan<'a>, Fault>> {
        Box::pin(self.order(work))
    }

    fn started(&self, _: &Work, heard: Heard) -> Result<Told, Fault> {
        let bytes = &heard.answer.bytes;
        let files: Vec<Bytes> = if looks_made(bytes) {
            vec![bytes.clone()]
        } else {
            archive::files(bytes).unwrap_or_default()
        };
        if files.is_empty() {
            return Err(heard.nonsense());
        }
        Ok(Told::Done(Brought {
            files: files.into_iter().map(Found::File).collect(),
            ..Brought::default()
        }))
    }

    /// There are no tasks; the question is never asked.
    fn question(&self, _: &Value) -> VendorCall {
        self.probe()
    }

    fn told(&self, _: &Work, _: &Value, heard: Heard) -> Result<Told, Fault> {
        Err(heard.nonsense())
    }

    fn fault(&self, answer: &VendorAnswer) -> Fault {
        answers::fault_of(answer)
    }

    /// Another host of the vendor knows the account.
    fn probe(&self) -> VendorCall {
        let path = "user/subscription";
        match self.http.base().host_str() {
            Some(PICTURES) => VendorCall::get(format!("{ACCOUNT}{path}")),
            _ => VendorCall::get(path),
        }
    }
}
