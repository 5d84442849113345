//! imgmodel: images and edits in the vendor's own form, answered in the response; and the legacy endpoint.

use crate::prelude::*;

mod answers;
pub mod chat;
mod edits;
mod generations;
mod legacy;
mod rules;

pub use edits::{Edit, EditModel, EditQuality, EditSize};
pub use generations::Generate;
pub use legacy::{Legacy, LegacyModel, LegacyQuality, LegacySize};
pub use rules::{
    Background, Model, Moderation, OutputFormat, Quality, ResponseFormat, Size, Style,
};

/// imgmodel.
pub const FAMILY: Family = Family {
    name: "imgmodel",
    title: "Model images",
    prefix: "/v1/images/",
    queue: "imgmodel",
    timeout_s: 120,
    keep: Keep::Hour,
    submits: &[GENERATIONS, EDITS, LEGACY],
    render: |_, job| answers::render(job),
    shape: |generator| generator.subschema_for::<answers::Images>(),
    ..Family::USUAL
};

/// `image-1` is slow.
const SLOW_SECONDS: u32 = 300;
/// How long the older models usually take.
const QUICK_SECONDS: u32 = 8;

const fn vendor_form(submit: Submit) -> Submit {
    Submit {
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

const GENERATIONS: Submit = vendor_form(
    answer::<Generate, answers::Images>(
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
    .on_alternative_host(),
);

const EDITS: Submit = vendor_form(
    answer::<Edit, answers::Images>(
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
    .with_files(&["image", "mask"]),
);

const LEGACY: Submit = Submit {
    keep: Some(Keep::Day),
    ..answer::<Legacy, answers::Images>(
        "imgmodel.legacy",
        "/imgmodel/v1/images/generations",
        example!("imgmodel.legacy"),
        answers::images,
    )
    .priced(&["imgmodel.legacy.standard", "imgmodel.legacy.hd_or_large"])
    .making(&[Task::Draw])
    .usually(|_| QUICK_SECONDS)
};
