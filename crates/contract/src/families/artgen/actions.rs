//! The follow-up actions: their names, what each does, and which a finished job offers.

use super::version::Version;
use crate::brief::{Direction, Task};
use crate::fields::words;
use crate::job::Job;

words! {
    /// A follow-up on an earlier picture.
    pub Action {
        Upsample1 "upsample1", Upsample2 "upsample2", Upsample3 "upsample3", Upsample4 "upsample4",
        Variation1 "variation1", Variation2 "variation2", Variation3 "variation3", Variation4 "variation4",
        HighVariation "high_variation", LowVariation "low_variation",
        Upscale2 "upscale2", Upscale4 "upscale4",
        RedoUpscale2 "redo_upscale2", RedoUpscale4 "redo_upscale4",
        UpscaleCreative "upscale_creative", UpscaleSubtle "upscale_subtle",
        RedoUpscaleCreative "redo_upscale_creative", RedoUpscaleSubtle "redo_upscale_subtle",
        ZoomOut2 "zoom_out_2", ZoomOut15 "zoom_out_1_5",
        PanLeft "pan_left", PanRight "pan_right", PanUp "pan_up", PanDown "pan_down",
        Reroll "reroll", MakeSquare "make_square",
    }
}

/// What a job's picture is, which decides what may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Four pictures in one.
    Grid,
    /// One picture of a grid.
    Single,
    /// One picture that was enlarged.
    Enlarged,
}

use Action as A;

/// What a grid offers.
const GRID: [Action; 9] = [
    A::Upsample1,
    A::Upsample2,
    A::Upsample3,
    A::Upsample4,
    A::Variation1,
    A::Variation2,
    A::Variation3,
    A::Variation4,
    A::Reroll,
];

/// What a single picture offers in every version and shape.
const SINGLE: [Action; 8] = [
    A::LowVariation,
    A::HighVariation,
    A::ZoomOut2,
    A::ZoomOut15,
    A::PanLeft,
    A::PanRight,
    A::PanUp,
    A::PanDown,
];

impl Action {
    /// The task that a brief for this action has.
    pub const fn task(self) -> Task {
        match self {
            A::Upsample1 => Task::Upsample(0),
            A::Upsample2 => Task::Upsample(1),
            A::Upsample3 => Task::Upsample(2),
            A::Upsample4 => Task::Upsample(3),
            A::Variation1 => Task::Vary(Some(0), false),
            A::Variation2 => Task::Vary(Some(1), false),
            A::Variation3 => Task::Vary(Some(2), false),
            A::Variation4 => Task::Vary(Some(3), false),
            A::HighVariation => Task::Vary(None, true),
            A::LowVariation => Task::Vary(None, false),
            A::Upscale2 | A::RedoUpscale2 | A::UpscaleSubtle | A::RedoUpscaleSubtle => {
                Task::Enlarge(2, false)
            }
            A::Upscale4 | A::RedoUpscale4 => Task::Enlarge(4, false),
            A::UpscaleCreative | A::RedoUpscaleCreative => Task::Enlarge(2, true),
            A::ZoomOut2 => Task::ZoomOut(20),
            A::ZoomOut15 => Task::ZoomOut(15),
            A::PanLeft => Task::Pan(Direction::Left),
            A::PanRight => Task::Pan(Direction::Right),
            A::PanUp => Task::Pan(Direction::Up),
            A::PanDown => Task::Pan(Direction::Down),
            A::Reroll => Task::Reroll,
            A::MakeSquare => Task::Square,
        }
    }

    /// What the picture of such a job is.
    pub const fn makes(self) -> ResultKind {
        match self.task() {
            Task::Upsample(_) => ResultKind::Single,
            Task::Enlarge(..) => ResultKind::Enlarged,
            _ => ResultKind::Grid,
        }
    }

    /// The part of the price key that names it.
    pub const fn price_word(self) -> &'static str {
        match self.task() {
            Task::Upsample(_) => "upsample",
            Task::Enlarge(..) => "upscale",
            Task::Vary(..) => "variation",
            Task::ZoomOut(_) => "zoom",
            Task::Pan(_) => "pan",
            Task::Square => "make_square",
            _ => "reroll",
        }
    }
}

/// The action that created a job; `None` for the other operations.
pub fn action_of(job: &Job) -> Option<Action> {
    if job.operation != "artgen.action" {
        return None;
    }
    job.text("action").and_then(Action::from_word)
}

/// The kind of result a job has; `None` for describe and seed.
pub fn result_kind(job: &Job) -> Option<ResultKind> {
    match job.operation.as_str() {
        "artgen.imagine" | "artgen.blend" | "artgen.inpaint" => Some(ResultKind::Grid),
        _ => action_of(job).map(Action::makes),
    }
}

/// The follow-ups a finished job offers; none while it has no picture.
pub fn components(job: &Job) -> Vec<Action> {
    let Some(file) = job.file(0) else {
        return Vec::new();
    };
    let version = version_of(job).major();
    match result_kind(job) {
        Some(ResultKind::Grid) => GRID.to_vec(),
        Some(ResultKind::Single) => {
            let mut offered = SINGLE.to_vec();
            if file.width != file.height {
                offered.push(A::MakeSquare);
            }
            match version {
                5 => offered.extend([A::Upscale2, A::Upscale4]),
                6 => offered.extend([A::UpscaleSubtle, A::UpscaleCreative]),
                _ => {}
            }
            offered
        }
        Some(ResultKind::Enlarged) => match version {
            5 => vec![A::RedoUpscale2, A::RedoUpscale4],
            6 => vec![A::RedoUpscaleSubtle, A::RedoUpscaleCreative],
            _ => Vec::new(),
        },
        None => Vec::new(),
    }
}

/// The version a job was made with.
pub fn version_of(job: &Job) -> Version {
    job.text("version")
        .and_then(Version::parse)
        .unwrap_or(Version::NEWEST)
}
