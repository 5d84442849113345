//! The words that both operations take, and what they mean for size and price.

use crate::fields::words;

/// The family whose videos are extended.
pub(super) const FAMILY_NAME: &str = "motion";
/// The key of the factor for the larger resolution.
pub(super) const LARGE: &str = "motion.factor.1080p";
/// The key of the factor for ten seconds.
pub(super) const LONG: &str = "motion.factor.10s";

words! {
    /// The model that makes the video.
    pub ModelName = V3 {
        V1 "motion-v1", V2 "motion-v2", V2Flash "motion-v2-flash", V3 "motion-v3",
        V3Reasoning "motion-v3-reasoning",
    }
}
words! {
    /// Aspect ratio, width to height.
    pub MotionAspectRatio = Tall {
        Tall "9:16", Tall34 "3:4", Square "1:1", Wide43 "4:3", Wide "16:9", Cinema "21:9",
    }
}
words! {
    /// How large the video is.
    pub MotionResolution = P720 { P720 "720p", P1080 "1080p" }
}
words! {
    /// How long the video is; `10s` only at 720p.
    pub Duration = Five { Five "5s", Ten "10s" }
}
words! {
    /// Speed mode; the price differs.
    pub UseMode = Relax { Fast "fast", Relax "relax" }
}

/// Width and height of a video.
pub(super) const fn size(ratio: MotionAspectRatio, resolution: MotionResolution) -> (u32, u32) {
    let (width, height) = match ratio {
        MotionAspectRatio::Wide => (1280, 720),
        MotionAspectRatio::Tall => (720, 1280),
        MotionAspectRatio::Square => (960, 960),
        MotionAspectRatio::Wide43 => (1104, 832),
        MotionAspectRatio::Tall34 => (832, 1104),
        MotionAspectRatio::Cinema => (1472, 640),
    };
    match resolution {
        MotionResolution::P720 => (width, height),
        MotionResolution::P1080 => (width * 3 / 2, height * 3 / 2),
    }
}
