//! vidgen-partner: videos from words and an optional reference image, through the partner channel.

use crate::brief::Wanted;
use crate::fields::{ImageData, Pick, Prompt, words};
use crate::prelude::*;

/// vidgen-partner.
pub const FAMILY: Family = Family {
    name: "vidgen_partner",
    title: "Videos, partner channel",
    prefix: "/vidgen-partner/",
    queue: "vidgen_partner",
    timeout_s: 1800,
    keep: Keep::ThreeDays,
    submits: &[job::<Generate>(
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
    fetches: &[Fetch {
        path: "/vidgen-partner/fetch",
        param: "job_id",
    }],
    render: |family, job| family.framed_result(job, Film::of(job)),
    shape: framed::<Film>,
    ..Family::USUAL
};

words! {
    /// The model.
    pub Model = Video2 { Video2 "video-2", Video2Pro "video-2-pro" }
}
words! {
    /// Width and height of the video.
    pub Size = Portrait {
        Portrait "720x1280", Landscape "1280x720", LargePortrait "1024x1792", LargeLandscape "1792x1024",
    }
}

impl Size {
    const fn pixels(self) -> (u32, u32) {
        match self {
            Self::Portrait => (720, 1280),
            Self::Landscape => (1280, 720),
            Self::LargePortrait => (1024, 1792),
            Self::LargeLandscape => (1792, 1024),
        }
    }
}

/// Makes a video from words and an optional reference image.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "VidgenPartnerGenerations")]
pub struct Generate {
    /// What happens.
    pub prompt: Prompt,
    /// Address of a reference image; its dimensions must equal `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_reference: Option<ImageUrl>,
    /// The model.
    #[serde(default)]
    pub model: Model,
    /// Length of the video.
    #[serde(default)]
    pub seconds: Pick<4, 8, 12, 4>,
    /// Width and height of the video.
    #[serde(default)]
    pub size: Size,
    /// Address that receives the result.
    #[serde(
        default,
        rename = "hookUrl",
        alias = "hook_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub hook_url: Option<HookUrl>,
}

impl Operation for Generate {
    fn prompts(&self) -> Vec<(String, &str)> {
        vec![("prompt".into(), &*self.prompt)]
    }

    fn order(&self, _: Context<'_>) -> Result<Order, Refusal> {
        let size = self.size.pixels();
        let mut brief = Brief::new(Task::Animate)
            .words(&self.prompt)
            .sized(size)
            .by_model(self.model.word());
        if let Some(reference) = &self.input_reference {
            let wanted = Wanted {
                size: Some(size),
                ..Wanted::ANY
            };
            let image = ImageData::Url(reference.clone());
            brief = brief.from_wanted("input_reference", image, wanted);
        }
        brief.seconds = self.seconds.count();
        let price = Price::of("vidgen_partner.generations")
            .by(self.model.word())
            .units(brief.seconds);
        Ok(Order::new(price, brief).hook(self.hook_url.as_ref()))
    }
}

/// The `data` of a finished video.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "VidgenPartnerResult")]
struct Film {
    /// Identifier of the produced video.
    video_id: String,
    /// The model.
    model: Model,
    /// Prompt text.
    prompt: String,
    /// Video address; it works for 72 hours.
    video_url: String,
    /// Length, as text.
    seconds: String,
    /// Width and height.
    size: Size,
    /// Quota consumed, as text.
    quota: QuotaText,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
}

impl Film {
    fn of(job: &Job) -> Option<Self> {
        let file = job.file(0)?;
        let request: Generate = job.request()?;
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
