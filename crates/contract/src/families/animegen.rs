//! animegen: anime-style images from words or from an image.

use crate::job::FileRole;
use crate::prelude::*;

mod cast;
mod image;
mod options;
mod request;
mod text;

pub use cast::{Centre, CharacterPrompt, CharacterReference, ReferenceKind, Vibe};
pub use image::AnimegenImageToImage;
pub use options::{AnimegenModel, NoiseSchedule, Sampler};
pub use text::AnimegenTextToImage;

/// Anime characters, from text or from an image.
pub const FAMILY: Family = Family {
    name: "animegen",
    title: "Anime images",
    about: "Anime-style images from words or from another image.",
    prefix: "/animegen/",
    queue: "animegen",
    submits: &[
        submit_job::<AnimegenTextToImage>(
            "animegen.text_to_image",
            "/animegen/text-to-image",
            example!("animegen.text_to_image"),
        )
        .priced(&["animegen.text_to_image"])
        .making(&[Task::Anime])
        .with_images(),
        submit_job::<AnimegenImageToImage>(
            "animegen.image_to_image",
            "/animegen/image-to-image",
            example!("animegen.image_to_image"),
        )
        .priced(&["animegen.image_to_image"])
        .making(&[Task::Anime])
        .with_images(),
    ],
    fetches: &[FetchEndpoint {
        path: "/animegen/fetch",
        param: "jobId",
    }],
    render: |family, job| family.framed_result(job, AnimegenResult::of(job)),
    shape: envelope_schema::<AnimegenResult>,
    ..Family::USUAL
};

/// The `data` of a finished job.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AnimegenResult")]
struct AnimegenResult {
    /// The images; they work for 24 hours.
    image_url: Vec<String>,
    /// The prompt as it was submitted.
    prompt: String,
    /// The seed, as text; null when it is not known.
    seed: Option<String>,
    /// Quota that the job consumed.
    quota: Quota,
    /// When it finished, `YYYY-MM-DD HH:MM:SS` in UTC.
    finish_time: String,
    /// URL that receives the callback, if one was given.
    hook_url: Option<String>,
}

impl AnimegenResult {
    fn of(job: &Job) -> Option<Self> {
        let output = job.output()?;
        let given = job.text("seed").map(str::to_owned);
        Some(Self {
            image_url: job
                .files(FileRole::Main)
                .map(|file| file.cdn_url.clone())
                .collect(),
            prompt: job.text("prompt")?.to_owned(),
            seed: given.or_else(|| output.seed.clone()),
            quota: job.quota,
            finish_time: job.finish_time(),
            hook_url: job.hook_url.clone(),
        })
    }
}
