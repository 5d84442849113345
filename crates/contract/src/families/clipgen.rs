//! clipgen: videos of 10 to 30 seconds from words and reference images.

use crate::fields::{List, Prompt, SecondsText, words};
use crate::prelude::*;

/// Short clips from words and reference images.
pub const FAMILY: Family = Family {
    name: "clipgen",
    title: "Clips",
    about: "Short videos from words and reference images.",
    prefix: "/clipgen/",
    queue: "clipgen",
    timeout_s: 1800,
    keep: ResultLifetime::ThreeDays,
    submits: &[submit_job::<ClipgenGenerations>(
        "clipgen.generations",
        "/clipgen/generations",
        example!("clipgen.generations"),
    )
    .priced(&["clipgen.generations"])
    .making(&[Task::Animate])
    .usually(|_| 90)],
    fetches: &[FetchEndpoint {
        path: "/clipgen/fetch",
        param: "jobId",
    }],
    render: |family, job| family.framed_result(job, ClipgenResult::of(job)),
    shape: envelope_schema::<ClipgenResult>,
    ..Family::USUAL
};

words! {
    /// Aspect ratio, width to height.
    pub ClipgenAspectRatio = Wide {
        Tall23 "2:3", Wide32 "3:2", Square "1:1", Tall "9:16", Wide "16:9",
    }
}
words! {
    /// The resolution; there is only one.
    pub ResolutionName = P720 { P720 "720p" }
}

impl ClipgenAspectRatio {
    /// Width and height; the shorter side has 720 pixels.
    const fn size(self) -> (u32, u32) {
        match self {
            Self::Tall23 => (720, 1080),
            Self::Wide32 => (1080, 720),
            Self::Square => (720, 720),
            Self::Tall => (720, 1280),
            Self::Wide => (1280, 720),
        }
    }
}

/// Makes a video from a prompt and reference images.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ClipgenGenerations")]
pub struct ClipgenGenerations {
    /// What happens in the video.
    pub prompt: Prompt,
    /// Aspect ratio of the video, width to height.
    #[serde(default)]
    pub aspect_ratio: ClipgenAspectRatio,
    /// Length in seconds, as text.
    #[serde(default)]
    pub video_length: SecondsText<10, 30>,
    /// Resolution; only `720p` is offered.
    #[serde(default)]
    pub resolution_name: ResolutionName,
    /// URLs of reference images.
    #[serde(default)]
    pub refer_images: List<ImageUrl, 0, 10>,
    /// URL that receives the result.
    #[serde(default, alias = "hookUrl", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ClipgenGenerations {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Animate)
            .words(&self.prompt)
            .sized(self.aspect_ratio.size());
        for (index, image) in self.refer_images.iter().enumerate() {
            brief = brief.from_url(format!("refer_images[{index}]"), image);
        }
        brief.seconds = self.video_length.seconds();
        let price = Price::of("clipgen.generations").units(brief.seconds);
        Ok(Order::new(price, brief).hook_in("hook_url", self.hook_url.as_ref()))
    }
}

/// The `data` of a finished video.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ClipgenResult")]
struct ClipgenResult {
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// Identifier of the produced video.
    video_id: String,
    /// The prompt as it was submitted.
    prompt: String,
    /// Aspect ratio of the video, width to height.
    aspect_ratio: ClipgenAspectRatio,
    /// Length in seconds, as text.
    video_length: SecondsText<10, 30>,
    /// Resolution of the video.
    resolution_name: ResolutionName,
    /// URL of the first reference image.
    refer_image: Option<String>,
    /// URL of the video; it works for 72 hours.
    video_url: String,
    /// Quota consumed, as text.
    quota: QuotaText,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

impl ClipgenResult {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let request: ClipgenGenerations = job.request()?;
        Some(Self {
            job_id: job.id.to_string(),
            video_id: job.id.to_string(),
            prompt: request.prompt.to_string(),
            aspect_ratio: request.aspect_ratio,
            video_length: request.video_length,
            resolution_name: request.resolution_name,
            refer_image: request
                .refer_images
                .first()
                .map(|image| image.as_str().to_owned()),
            video_url: file.cdn_url.clone(),
            quota: QuotaText(job.quota),
            finish_time: job.finish_time(),
            hook_url: job.hook_url.clone(),
        })
    }
}
