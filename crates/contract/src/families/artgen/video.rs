//! artgen video: short clips from a start frame, and the extension of one. Paths under `/artgen/video`.

use crate::family::envelope_schema_with_queue;
use crate::fields::{Count, NumberChoice, Prompt, words};
use crate::ids::JobId;
use crate::job::FileRole;
use crate::prelude::*;

const FAMILY_NAME: &str = "artgen_video";
/// What the names of its operations have before their last word.
const STEM: &str = "artgen.video";
/// Every clip and every extension is this long.
const SECONDS: u32 = 5;
/// How long making them usually takes.
const SECONDS_TO_MAKE: u32 = 120;

/// artgen video; its jobs are counted together with those of artgen image.
pub const FAMILY: Family = Family {
    name: FAMILY_NAME,
    title: "Art videos",
    about: "Videos of five seconds from a start frame, and their extensions.",
    prefix: "/artgen/video/",
    queue: "artgen",
    shows_waiting: true,
    banned_words: true,
    asked_for: super::flags::asked_for,
    timeout_s: 1200,
    keep: ResultLifetime::ThreeDays,
    submits: &[
        submit_job::<ArtgenVideoSubmit>(
            "artgen.video.submit",
            "/artgen/video/submit",
            example!("artgen.video.submit"),
        )
        .priced(&["artgen.video.submit.sd", "artgen.video.submit.hd"])
        .making(&[Task::Animate])
        .in_fours()
        .usually(|_| SECONDS_TO_MAKE),
        submit_job::<ArtgenVideoExtend>(
            "artgen.video.extend",
            "/artgen/video/extend",
            example!("artgen.video.extend"),
        )
        .priced(&["artgen.video.extend.sd", "artgen.video.extend.hd"])
        .making(&[Task::Extend(0)])
        .in_fours()
        .usually(|_| SECONDS_TO_MAKE),
    ],
    fetches: &[FetchEndpoint {
        path: "/artgen/video/fetch",
        param: "jobId",
    }],
    render: |family, job| family.frame(job, to_json(&ArtgenVideoResult::of(job))),
    shape: envelope_schema_with_queue::<ArtgenVideoResult>,
    ..Family::USUAL
};

words! {
    /// The only speed of videos.
    pub VideoMode = Fast { Fast "fast" }
}
words! {
    /// How much moves in the video.
    pub Motion = Low { Low "low", High "high" }
}
words! {
    /// How large the videos are.
    pub ArtgenVideoResolution = Sd { Hd "hd", Sd "sd" }
}
words! {
    /// Who decides how an extension moves.
    pub AnimateMode = Auto { Auto "auto", Manual "manual" }
}

impl ArtgenVideoResolution {
    /// Pixels of the shorter side.
    const fn short_side(self) -> u32 {
        match self {
            Self::Hd => 720,
            Self::Sd => 480,
        }
    }
}

/// Makes 1, 2 or 4 videos of 5 seconds from a start frame.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtgenVideoSubmit")]
pub struct ArtgenVideoSubmit {
    /// What happens in the video.
    pub prompt: Prompt,
    /// URL of the start frame.
    pub image_url: ImageUrl,
    /// URL of the end frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending_url: Option<ImageUrl>,
    /// Speed mode; only `fast`.
    #[serde(default)]
    pub mode: VideoMode,
    /// Low or high motion.
    #[serde(default)]
    pub manual: Motion,
    /// Resolution; the price differs.
    #[serde(default)]
    pub resolution: ArtgenVideoResolution,
    /// How many videos to make.
    #[serde(default)]
    pub bs: NumberChoice<1, 2, 4, 4>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenVideoSubmit {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let mut brief = Brief::new(Task::Animate)
            .words(&self.prompt)
            .times(self.bs.count())
            .from_url("imageUrl", &self.image_url);
        if let Some(end) = &self.ending_url {
            brief = brief.ending_on("endingUrl", end);
        }
        brief.seconds = SECONDS;
        brief.of_frames = true;
        brief.short_side = self.resolution.short_side();
        brief.high_motion = self.manual == Motion::High;
        let price = Price::of("artgen.video.submit")
            .by(self.resolution.word())
            .times(self.bs.count());
        Ok(Order::new(price, brief).hook(self.hook_url.as_ref()))
    }
}

/// Extends one video of an earlier job by 5 seconds, at the resolution of that job.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtgenVideoExtend")]
pub struct ArtgenVideoExtend {
    /// Earlier, completed video job.
    pub job_id: JobId,
    /// Which of its videos; 0 is the first.
    pub index: Count<0, 3, 0>,
    /// Low or high motion.
    #[serde(default)]
    pub manual: Motion,
    /// Whether motion follows the prompt.
    #[serde(default)]
    pub animate_mode: AnimateMode,
    /// How many videos to make.
    #[serde(default)]
    pub bs: NumberChoice<1, 2, 4, 4>,
    /// URL that receives the result.
    #[serde(default, alias = "hook_url", skip_serializing_if = "Option::is_none")]
    pub hook_url: Option<HookUrl>,
}

impl Operation for ArtgenVideoExtend {
    fn parent(&self) -> Option<JobId> {
        Some(self.job_id.clone())
    }

    fn order(&self, context: ReferencedJobs<'_>) -> Result<Order, Refusal> {
        let parent = context.finished_parent("jobId", STEM)?;
        let Some(video) = parent.file(self.index.count() as usize) else {
            let last = parent.files(FileRole::Main).count().saturating_sub(1);
            let message = format!("must be a video of the job, from 0 to {last}");
            return Err(Refusal::invalid("index", message));
        };
        let resolution = parent
            .text("resolution")
            .and_then(ArtgenVideoResolution::from_word)
            .unwrap_or_default();
        let prompt = parent.text("prompt").unwrap_or_default();
        let mut brief = Brief::new(Task::Extend(self.index.count() as u8))
            .words(prompt)
            .sized((video.width, video.height))
            .times(self.bs.count());
        brief.seconds = SECONDS;
        brief.short_side = resolution.short_side();
        brief.high_motion = self.manual == Motion::High;
        let price = Price::of("artgen.video.extend")
            .by(resolution.word())
            .times(self.bs.count());
        Ok(Order::new(price, brief)
            .hook(self.hook_url.as_ref())
            .resolve("prompt", prompt)
            .resolve("resolution", resolution.word()))
    }
}

/// The `data` of an artgen video job, in every state.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ArtgenVideoResult")]
struct ArtgenVideoResult {
    /// Whether the job made or extended a video: `generate` or `extend`.
    action: &'static str,
    /// Identifier of the job, as its submit returned it.
    job_id: String,
    /// `100` when it succeeded, null before.
    progress: Option<&'static str>,
    /// The prompt as it was submitted.
    prompt: String,
    /// Quota consumed, as text.
    quota: QuotaText,
    /// The videos; null until success. They work for 72 hours.
    videos: Option<Vec<String>>,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

impl ArtgenVideoResult {
    fn of(job: &Job) -> Self {
        let addresses = || {
            job.files(FileRole::Main)
                .map(|file| file.origin_url.clone())
        };
        Self {
            action: if job.operation == "artgen.video.extend" {
                "extend"
            } else {
                "generate"
            },
            job_id: job.id.to_string(),
            progress: job.output().map(|_| "100"),
            prompt: job.text("prompt").unwrap_or_default().to_owned(),
            quota: QuotaText(job.quota),
            videos: job.output().map(|_| addresses().collect()),
            hook_url: job.hook_url.clone(),
        }
    }
}
