//! vidgen: videos from words and images, characters for them, and removal of the watermark.

use crate::prelude::*;

mod character;
mod generate;
mod no_watermark;
mod options;
mod result;

pub use character::MakeCharacter;
pub use generate::VidgenGenerations;
pub use no_watermark::VidgenNoWatermark;
use options::FAMILY_NAME;
pub use options::{Orientation, VidgenModel, VidgenSize};

/// Videos from words, frames or characters.
pub const FAMILY: Family = Family {
    name: FAMILY_NAME,
    title: "Videos",
    about: "Videos from words, frames or references; characters that return in later videos.",
    prefix: "/vidgen/",
    queue: "vidgen",
    timeout_s: 1800,
    keep: ResultLifetime::ThreeDays,
    submits: &[
        submit_job::<VidgenGenerations>(
            "vidgen.generations",
            "/vidgen/generations",
            example!("vidgen.generations"),
        )
        .priced(&[
            "vidgen.generations.video-2.10s",
            "vidgen.generations.video-2.15s",
            "vidgen.generations.video-2-pro.small.10s",
            "vidgen.generations.video-2-pro.small.15s",
            "vidgen.generations.video-2-pro.small.25s",
            "vidgen.generations.video-2-pro.large.10s",
            "vidgen.generations.video-2-pro.large.15s",
        ])
        .making(&[Task::Animate])
        .usually(|_| 150)
        .with_images(),
        submit_job::<MakeCharacter>(
            "vidgen.characters",
            "/vidgen/characters",
            example!("vidgen.characters"),
        )
        .priced(&["vidgen.characters"])
        .making(&[Task::Character])
        .usually(|_| 30)
        .with_query(),
        submit_job::<VidgenNoWatermark>(
            "vidgen.no_watermark",
            "/vidgen/no-watermark",
            example!("vidgen.no_watermark"),
        )
        .priced(&["vidgen.no_watermark"])
        .making(&[Task::Unmark])
        .usually(|_| 30)
        .with_query(),
    ],
    fetches: &[FetchEndpoint {
        path: "/vidgen/fetch",
        param: "jobId",
    }],
    render: result::render,
    shape: result::shape,
    ..Family::USUAL
};
