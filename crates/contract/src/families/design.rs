//! design: raster generation, image-to-image, inpaint, backgrounds, vectors and upscales, answered in the response.

use crate::job::FileRole;
use crate::prelude::*;

mod generate;
mod model;
mod repaint;
mod single;

pub use generate::{DesignGenerations, DesignSize};
pub use model::DesignModel;
pub use repaint::{DesignImageToImage, DesignInpaint, ReplaceBackground};
pub use single::{CreativeUpscale, CrispUpscale, RemoveBackground, Vectorize};

/// Design images: made, repainted, vectorised, enlarged.
pub const FAMILY: Family = Family {
    name: "design",
    title: "Design images",
    about: "Raster and vector images for design: generation, repainting, backgrounds, vectorization and enlargement. Responses carry the result.",
    prefix: "/design/",
    queue: "design",
    timeout_s: 120,
    submits: &[
        submit::<DesignGenerations>(
            "/design/images/generations",
            ["design.generations"].as_slice(),
            example!("design.generations"),
        )
        .making(&[Task::Draw]),
        submit::<DesignImageToImage>(
            "/design/images/imageToImage",
            &["design.image_to_image"],
            example!("design.image_to_image"),
        )
        .making(&[Task::Restyle]),
        submit::<DesignInpaint>(
            "/design/images/inpaint",
            &["design.inpaint"],
            example!("design.inpaint"),
        )
        .making(&[Task::Repaint]),
        submit::<ReplaceBackground>(
            "/design/images/replaceBackground",
            &["design.replace_background"],
            example!("design.replace_background"),
        )
        .making(&[Task::ReplaceBackground]),
        submit::<Vectorize>(
            "/design/images/vectorize",
            &["design.vectorize"],
            example!("design.vectorize"),
        )
        .making(&[Task::Vectorize])
        .usually(|_| 4),
        submit::<RemoveBackground>(
            "/design/images/removeBackground",
            &["design.remove_background"],
            example!("design.remove_background"),
        )
        .making(&[Task::RemoveBackground])
        .usually(|_| 4),
        submit::<CrispUpscale>(
            "/design/images/crispUpscale",
            &["design.crisp_upscale"],
            example!("design.crisp_upscale"),
        )
        .making(&[Task::CrispUpscale])
        .usually(|_| 4),
        submit::<CreativeUpscale>(
            "/design/images/creativeUpscale",
            &["design.creative_upscale"],
            example!("design.creative_upscale"),
        )
        .making(&[Task::CreativeUpscale]),
    ],
    render: |_, job| render(job),
    shape: |generator| generator.subschema_for::<DesignAnswer>(),
    ..Family::USUAL
};

/// A design operation: its name is its only price key.
const fn submit<T: Operation + Send + Sync + 'static>(
    path: &'static str,
    name: &'static [&'static str],
    example: &'static str,
) -> SubmitEndpoint {
    let render = |finished: &FinishedJob<'_>| render(finished.job);
    submit_and_wait::<T, DesignAnswer>(name[0], path, example, render)
        .priced(name)
        .usually(|_| 10)
}

/// The answer of every design endpoint.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DesignAnswer")]
struct DesignAnswer {
    /// `SUCCESS` for every answer with images.
    status: &'static str,
    /// `success`, or why it failed.
    message: String,
    /// The images and their price; null without a result.
    data: Option<DesignOutput>,
}

/// The images of one call and their price.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DesignMade")]
struct DesignOutput {
    /// Quota consumed, as text.
    quota: QuotaText,
    /// When it was made, in seconds since 1970.
    created: i64,
    /// The images, in order.
    images: Vec<DesignImage>,
}

/// One image of the answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DesignImage")]
struct DesignImage {
    /// Identifier of the image.
    image_id: String,
    /// Its URL; it works for 24 hours.
    url: String,
}

fn render(job: &Job) -> Value {
    let images = job
        .files(FileRole::Main)
        .enumerate()
        .map(|(index, file)| DesignImage {
            image_id: format!("{}-{index}", job.id),
            url: file.cdn_url.clone(),
        });
    let made = job.output().map(|_| DesignOutput {
        quota: QuotaText(job.quota),
        created: job.finished_ms.unwrap_or(job.updated_ms) / 1000,
        images: images.collect(),
    });
    to_json(&DesignAnswer {
        status: FAMILY.state_word(job.state),
        message: match job.state {
            JobState::Failed => job.message.clone().unwrap_or_default(),
            _ => "success".to_owned(),
        },
        data: made,
    })
}
