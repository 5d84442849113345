//! vidgen-partner: videos from words and an optional reference image, through the partner channel.

use crate::brief::SourceRule;
use crate::fields::{ImageData, NumberChoice, Prompt, words};
use crate::ids::JobId;
use crate::job::FileRole;
use crate::prelude::*;

/// Videos in the format of a partner's API.
pub const FAMILY: Family = Family {
    name: "vidgen_partner",
    title: "Videos, partner channel",
    about: "Videos priced by the second.",
    prefix: "/vidgen-partner/",
    queue: "vidgen_partner",
    timeout_s: 1800,
    keep: ResultLifetime::ThreeDays,
    submits: &[submit_job::<VidgenPartnerGenerations>(
        "vidgen_partner.generations",
        "/vidgen-partner/generations",
        example!("vidgen_partner.generations"),
    )
    .priced(&[
        "vidgen_partner.generations.video-2",
        "vidgen_partner.generations.video-2-pro",
    ])
    .making(&[Task::Animate])
    .usually(|_| 150)],
    fetches: &[FetchEndpoint {
        path: "/vidgen-partner/fetch",
        param: "job_id",
    }],
    render: |family, job| family.framed_result(job, VidgenPartnerResult::of(job)),
    shape: envelope_schema::<VidgenPartnerResult>,
    ..Family::USUAL
};

words! {
    /// The model that makes the video.
    pub VidgenPartnerModel = Video2 { Video2 "video-2", Video2Pro "video-2-pro" }
}
words! {
    /// Width and height of the video.
    pub VidgenPartnerSize = Portrait {
        Portrait "720x1280", Landscape "1280x720", LargePortrait "1024x1792", LargeLandscape "1792x1024",
    }
}

impl VidgenPartnerSize {
    const fn pixels(self) -> (u32, u32) {
        match self {
            Self::Portrait => (720, 1280),
            Self::Landscape => (1280, 720),
            Self::LargePortrait => (1024, 1792),
            Self::LargeLandscape => (1792, 1024),
        }
    }
}

/// Makes a video from a prompt and an optional reference image.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VidgenPartnerGenerations")]
pub struct VidgenPartnerGenerations {
    /// What happens in the video.
    pub prompt: Prompt,
    /// A reference image; its dimensions must equal `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-hint" = "its dimensions must equal `size`"))]
    pub input_reference: Option<ImageData>,
    /// The model that makes the video.
    #[serde(default)]
    pub model: VidgenPartnerModel,
    /// Length of the video.
    #[serde(default)]
    pub seconds: NumberChoice<4, 8, 12, 4>,
    /// Width and height of the video.
    #[serde(default)]
    pub size: VidgenPartnerSize,
    /// A finished video on which this one is based: it has the same model, size and length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remixed_from_video_id: Option<JobId>,
    /// URL that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl VidgenPartnerGenerations {
    /// The field that names the video this one goes out from.
    pub const REMIX_OF: &'static str = "remixed_from_video_id";

    /// The model, size and length: its own, or those of the video it goes out from.
    fn frame(&self, parent: Option<&Job>) -> (VidgenPartnerModel, VidgenPartnerSize, u32) {
        let earlier = parent.and_then(Job::request::<Self>);
        let of = earlier.as_ref().unwrap_or(self);
        (of.model, of.size, of.seconds.count())
    }
}

impl Operation for VidgenPartnerGenerations {
    fn parent(&self) -> Option<JobId> {
        self.remixed_from_video_id.clone()
    }

    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let parent = match &self.remixed_from_video_id {
            Some(_) => Some(context.finished_parent(Self::REMIX_OF, FAMILY.name)?),
            None => None,
        };
        let (model, shape, seconds) = self.frame(parent);
        let size = shape.pixels();
        let mut brief = Brief::new(Task::Animate)
            .words(&self.prompt)
            .sized(size)
            .by_model(model.word());
        // The first frame is what others see of it before they play it.
        brief.covers = true;
        if let Some(reference) = &self.input_reference {
            let wanted = SourceRule {
                size: Some(size),
                ..SourceRule::ANY
            };
            brief = brief.from_with_rule("input_reference", reference.clone(), wanted);
        }
        // What the earlier video begins with, this one begins with too, unless it has a beginning of its own.
        let first = parent.and_then(|job| job.files(FileRole::FirstFrame).next());
        let first = first.and_then(|file| ImageUrl::new(&file.cdn_url));
        if let Some(first) = first.filter(|_| self.input_reference.is_none()) {
            brief = brief.from_url(Self::REMIX_OF, &first);
        }
        brief.seconds = seconds;
        let price = Price::of("vidgen_partner.generations")
            .by(model.word())
            .units(brief.seconds);
        let mut order = Order::new(price, brief).hook(self.hook_url.as_ref());
        if parent.is_some() {
            order = order
                .resolve("model", model.word())
                .resolve("size", shape.word())
                .resolve("seconds", seconds);
        }
        Ok(order)
    }
}

/// The `data` of a finished video.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VidgenPartnerResult")]
struct VidgenPartnerResult {
    /// Identifier of the produced video.
    video_id: String,
    /// The model that made the video.
    model: VidgenPartnerModel,
    /// The prompt as it was submitted.
    prompt: String,
    /// URL of the video; it works for 72 hours.
    video_url: String,
    /// Length in whole seconds, as text.
    seconds: String,
    /// Size of the video in pixels, width and height.
    size: VidgenPartnerSize,
    /// Quota consumed, as text.
    quota: QuotaText,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
}

impl VidgenPartnerResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let request: VidgenPartnerGenerations = job.request()?;
        Some(Self {
            video_id: job.id.to_string(),
            model: request.model,
            prompt: request.prompt.to_string(),
            video_url: file.cdn_url.clone(),
            seconds: request.seconds.count().to_string(),
            size: request.size,
            quota: QuotaText(job.quota),
            finish_time: job.finish_time(),
        })
    }
}
