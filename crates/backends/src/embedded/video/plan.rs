//! Plans videos: how large, how long, and what is seen one after the other.

use atelier_contract::brief::{Task, VideoDefinition};
use atelier_media::Picture;
use atelier_studio::Scene;

use super::cast::Cast;
use super::storyboard::{Shot, Storyboard};
use crate::embedded::assignment::Assignment;
use crate::fit::Size;

/// About how long a shot is, in seconds.
const SHOT_SECONDS: u32 = 5;
/// No video is longer.
const MOST_SECONDS: u32 = 30;
/// References beyond these are not shown.
const MOST_REFERENCES: usize = 4;
/// Sides of a video are within these.
const LEAST_SIDE: u32 = 64;
const LONGEST_SIDE: u32 = 1920;
/// How far the camera stands back in every second shot, and how far the third differs.
const STEP_BACK: f32 = 1.3;
const OTHER_VIEW: f32 = 0.35;

/// Width and height of a video: as asked for, or in the shape of its first frame.
pub(super) fn size(assignment: &Assignment, first: Option<&Picture>) -> (u32, u32) {
    let brief = &assignment.work.brief;
    let (mut width, mut height) = assignment.size(first);
    if brief.short_side > 0 && brief.width == 0 {
        let scale = f64::from(brief.short_side) / f64::from(width.min(height));
        let side = |length: u32| (f64::from(length) * scale).round() as u32;
        (width, height) = (side(width), side(height));
    }
    let even = |length: u32| length.clamp(LEAST_SIDE, LONGEST_SIDE) & !1;
    (even(width), even(height))
}

/// How many of the given references a video shows.
pub(super) fn references_shown(assignment: &Assignment, given: usize) -> usize {
    let shots = shots(assignment.work.brief.seconds).max(2);
    given.min(shots - 1).min(MOST_REFERENCES)
}

/// The plan for a brief with so many given frames.
pub(super) fn plan(
    assignment: &Assignment,
    cast: &Cast,
    size: Size,
    stills: usize,
    seed: u64,
) -> Storyboard {
    let reel = empty(assignment, size, seed);
    let brief = &assignment.work.brief;
    let shots = match (brief.of_frames, brief.last_frame) {
        (true, Some(0)) => vec![Shot::Still(0)],
        (true, Some(last)) => vec![Shot::Change(0, last)],
        (true, None) if stills > 0 => vec![Shot::Still(0)],
        _ => {
            let shown = references_shown(assignment, stills);
            let count = shots(reel.seconds).max(shown + 1);
            let mut list: Vec<Shot> = (0..shown).map(Shot::Still).collect();
            let scene = cast.scene(&brief.prompt, &brief.negative, seed);
            let count = if reel.looped { 1 } else { count - shown };
            list.extend(views(&scene, size, count));
            list
        }
    };
    Storyboard { shots, ..reel }
}

/// The plan for a scene alone.
pub(super) fn of_scene(scene: &Scene, size: Size, seed: u64, seconds: u32) -> Storyboard {
    let seconds = seconds.clamp(1, MOST_SECONDS);
    Storyboard {
        width: size.0,
        height: size.1,
        seconds,
        looped: false,
        high: true,
        fine: false,
        seed,
        shots: views(scene, size, shots(seconds)).collect(),
    }
}

/// A plan without shots.
pub(super) fn empty(assignment: &Assignment, (width, height): Size, seed: u64) -> Storyboard {
    let brief = &assignment.work.brief;
    let given = matches!(brief.task, Task::Extend(_)) || !brief.sources.is_empty();
    Storyboard {
        width,
        height,
        seconds: brief.seconds.clamp(1, MOST_SECONDS),
        looped: brief.looped,
        // A scene always moves well; only given frames leave a choice.
        high: brief.high_motion || !given,
        fine: brief.definition == VideoDefinition::High,
        seed,
        shots: Vec::new(),
    }
}

fn shots(seconds: u32) -> usize {
    (seconds / SHOT_SECONDS).max(1) as usize
}

/// Several views of one scene: as it is, from further back, and again a little different.
fn views(scene: &Scene, size: Size, count: usize) -> impl Iterator<Item = Shot> {
    let scene = scene.with_aspect(size);
    (0..count).map(move |index| {
        let view = match index % 3 {
            0 if index == 0 => scene.clone(),
            1 => scene.zoomed_out(STEP_BACK),
            _ => scene.varied(OTHER_VIEW, scene.seed() + index as u64),
        };
        Shot::Scene(Box::new(view))
    })
}
