//! imgmodel: images and edits in the vendor's own form, answered in the response; and the legacy endpoint.

use crate::prelude::*;

mod answers;
pub mod chat;
mod edits;
mod generations;
mod legacy;
mod rules;

pub use edits::{EditModel, EditQuality, EditSize, ImgmodelEdits};
pub use generations::ImgmodelGenerations;
pub use legacy::{ImgmodelLegacy, LegacyModel, LegacyQuality, LegacySize};
pub use rules::{
    Background, ImgmodelModel, ImgmodelSize, Moderation, OutputFormat, Quality, ResponseFormat,
    Style,
};

/// The image endpoints of a well-known vendor, in its own format.
pub const FAMILY: Family = Family {
    name: "imgmodel",
    title: "Model images",
    about: "Images in OpenAI's format: generations and edits, by several models. Responses carry the result, at once or as events.",
    prefix: "/v1/images/",
    queue: "imgmodel",
    timeout_s: 120,
    keep: ResultLifetime::Hour,
    submits: &[GENERATIONS, EDITS, LEGACY],
    render: |_, job| answers::render(job),
    shape: |generator| generator.subschema_for::<answers::ImgmodelAnswer>(),
    ..Family::USUAL
};

/// Time limit of `image-1`, the slowest of these models.
const SLOW_SECONDS: u32 = 300;
/// How long the older models usually take.
const QUICK_SECONDS: u32 = 8;

const fn vendor_form(submit: SubmitEndpoint) -> SubmitEndpoint {
    SubmitEndpoint {
        usual_s: |fields| match fields.get("model").and_then(Value::as_str) {
            Some("image-1") => 40,
            _ => QUICK_SECONDS,
        },
        wants_bytes: |job| job.text("response_format") == Some("b64_json"),
        timeout_s: Some(|fields| match fields.get("model").and_then(Value::as_str) {
            Some("image-1") => SLOW_SECONDS,
            _ => FAMILY.timeout_s,
        }),
        ..submit
    }
}

const GENERATIONS: SubmitEndpoint = vendor_form(
    submit_and_wait::<ImgmodelGenerations, answers::ImgmodelAnswer>(
        "imgmodel.generations",
        "/v1/images/generations",
        example!("imgmodel.generations"),
        answers::images,
    )
    .priced(&[
        "imgmodel.generations.image-1.low",
        "imgmodel.generations.image-1.medium",
        "imgmodel.generations.image-1.high",
        "imgmodel.generations.art-2.256x256",
        "imgmodel.generations.art-2.512x512",
        "imgmodel.generations.art-2.1024x1024",
        "imgmodel.generations.art-3.standard",
        "imgmodel.generations.art-3.hd_or_large",
        rules::LARGE,
    ])
    .making(&[Task::Draw])
    .streaming(answers::generated)
    .on_alternative_host(),
);

const EDITS: SubmitEndpoint = vendor_form(
    submit_and_wait::<ImgmodelEdits, answers::ImgmodelAnswer>(
        "imgmodel.edits",
        "/v1/images/edits",
        example!("imgmodel.edits"),
        answers::images,
    )
    .priced(&[
        "imgmodel.edits.image-1.low",
        "imgmodel.edits.image-1.medium",
        "imgmodel.edits.image-1.high",
        "imgmodel.edits.art-2.256x256",
        "imgmodel.edits.art-2.512x512",
        "imgmodel.edits.art-2.1024x1024",
        rules::LARGE,
    ])
    .making(&[Task::Edit])
    .streaming(answers::edited)
    .with_files(&["image", "mask"]),
);

const LEGACY: SubmitEndpoint = SubmitEndpoint {
    keep: Some(ResultLifetime::Day),
    ..submit_and_wait::<ImgmodelLegacy, answers::ImgmodelAnswer>(
        "imgmodel.legacy",
        "/imgmodel/v1/images/generations",
        example!("imgmodel.legacy"),
        answers::images,
    )
    .priced(&["imgmodel.legacy.standard", "imgmodel.legacy.hd_or_large"])
    .making(&[Task::Draw])
    .usually(|_| QUICK_SECONDS)
};
