//! artgen image: grids of four, follow-ups on them, blends, descriptions, seeds. Paths under `/artgen/v1`.

use crate::body::Fields;
use crate::brief::Direction;
use crate::prelude::*;

pub mod account;
mod act;
pub mod actions;
mod blend;
mod describe;
pub mod flags;
pub mod history;
mod imagine;
mod inpaint;
mod requests;
mod result;
mod seed;
mod sizes;
pub mod version;
pub mod video;

pub use act::ArtgenAction;
pub use blend::{ArtgenBlend, Dimensions};
pub use describe::ArtgenDescribe;
pub use imagine::ArtgenImagine;
pub use inpaint::ArtgenInpaint;
use requests::FAMILY_NAME;
pub use requests::Mode;
pub use seed::ArtgenSeed;

/// Images in grids of four, with follow-ups on each of them.
pub const FAMILY: Family = Family {
    name: FAMILY_NAME,
    title: "Art images",
    about: "Grids of four images from a prompt, and everything that follows from one: variations, enlargements, zooms, repainting, descriptions.",
    prefix: "/artgen/v1/",
    queue: "artgen",
    shows_waiting: true,
    custody: true,
    banned_words: true,
    asked_for: flags::asked_for,
    timeout_s: 300,
    submits: &[IMAGINE, ACTION, SEED, BLEND, DESCRIBE, INPAINT],
    fetches: &[FetchEndpoint {
        path: "/artgen/v1/fetch",
        param: "jobId",
    }],
    render: result::render,
    shape: result::shape,
    ..Family::USUAL
};

const IMAGINE: SubmitEndpoint = submit_job::<ArtgenImagine>(
    "artgen.imagine",
    "/artgen/v1/imagine",
    example!("artgen.imagine"),
)
.priced(&[
    "artgen.imagine.relax",
    "artgen.imagine.fast",
    "artgen.imagine.turbo",
    requests::VERSION_6,
])
.making(&[Task::Draw])
.in_fours()
.usually(by_mode);

const ACTION: SubmitEndpoint = submit_job::<ArtgenAction>(
    "artgen.action",
    "/artgen/v1/action",
    example!("artgen.action"),
)
.priced(&[
    "artgen.action.upsample",
    "artgen.action.upscale",
    "artgen.action.variation.relax",
    "artgen.action.variation.fast",
    "artgen.action.variation.turbo",
    "artgen.action.zoom.relax",
    "artgen.action.zoom.fast",
    "artgen.action.zoom.turbo",
    "artgen.action.pan.relax",
    "artgen.action.pan.fast",
    "artgen.action.pan.turbo",
    "artgen.action.reroll.relax",
    "artgen.action.reroll.fast",
    "artgen.action.reroll.turbo",
    "artgen.action.make_square.relax",
    "artgen.action.make_square.fast",
    "artgen.action.make_square.turbo",
    requests::VERSION_6,
])
.making(&[
    Task::Upsample(0),
    Task::Vary(None, false),
    Task::Enlarge(2, false),
    Task::ZoomOut(20),
    Task::Pan(Direction::Left),
    Task::Square,
    Task::Reroll,
])
.in_fours()
.usually(by_mode);

const SEED: SubmitEndpoint =
    submit_job::<ArtgenSeed>("artgen.seed", "/artgen/v1/seed", example!("artgen.seed"))
        .priced(&["artgen.seed"])
        .making(&[Task::Seed])
        .in_fours()
        .usually(|_| 2);

const BLEND: SubmitEndpoint =
    submit_job::<ArtgenBlend>("artgen.blend", "/artgen/v1/blend", example!("artgen.blend"))
        .priced(&[
            "artgen.blend.relax",
            "artgen.blend.fast",
            "artgen.blend.turbo",
        ])
        .making(&[Task::Blend])
        .in_fours()
        .usually(by_mode)
        .with_images();

const DESCRIBE: SubmitEndpoint = submit_job::<ArtgenDescribe>(
    "artgen.describe",
    "/artgen/v1/describe",
    example!("artgen.describe"),
)
.priced(&["artgen.describe"])
.making(&[Task::Describe])
.in_fours()
.usually(|_| 10)
.with_images();

const INPAINT: SubmitEndpoint = submit_job::<ArtgenInpaint>(
    "artgen.inpaint",
    "/artgen/v1/inpaint",
    example!("artgen.inpaint"),
)
.priced(&[
    "artgen.inpaint.relax",
    "artgen.inpaint.fast",
    "artgen.inpaint.turbo",
    requests::VERSION_6,
])
.making(&[Task::Repaint])
.in_fours()
.usually(by_mode)
.with_images();

/// How long pictures take in each speed mode.
fn by_mode(fields: &Fields) -> u32 {
    match fields.get("mode").and_then(Value::as_str) {
        Some("turbo") => 20,
        Some("relax") => 90,
        _ => 40,
    }
}
