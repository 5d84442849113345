//! Videos: of scenes, from given frames, carried on from an earlier one, and without their mark.

mod cast;
pub(super) mod character;
mod frames;
mod plan;
mod player;
pub(super) mod storyboard;

use atelier_contract::FileRole;
use atelier_contract::brief::Task;
use atelier_media::{
    Fineness, Label, Picture, encode_video_as, first_frame, label_video, last_frame, video_info,
};
use atelier_studio::{Scene, watermark};

use super::assignment::{Assignment, decoded};
use super::notes::EmbeddedNotes;
use crate::backend::{Fault, OutputFile, WorkOutput};
use frames::{frame_file, kept_frame, unreadable};
use player::Player;
use storyboard::{RATE, Shot, Storyboard};

pub(super) use cast::character;

/// What the label of a fine video says of its definition.
const FINE: &str = "high";
/// A video made again whose first frame differs by more than this on average is another video.
const SAME_VIDEO: f64 = 14.0;

/// Makes as many videos as asked for.
pub(super) fn animate(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let mut stills = assignment.sources()?;
    let size = plan::size(assignment, stills.first());
    for still in &mut stills {
        *still = still.on([0; 3]).covering(size.0, size.1);
    }
    let mut kept = Vec::new();
    if is_marked(assignment) {
        // The video is made from the frames as they are kept, so that it can be made again without its mark.
        let shown = plan::references_shown(assignment, stills.len());
        stills.truncate(shown);
        kept = stills.iter().map(kept_frame).collect();
        for (still, file) in stills.iter_mut().zip(&kept) {
            *still = decoded(&file.bytes, "referImages")?;
        }
    }
    let cast = cast::cast(assignment)?;
    let reels = (0..assignment.count())
        .map(|index| {
            plan::plan(
                assignment,
                &cast,
                size,
                stills.len(),
                assignment.seed_of(index),
            )
        })
        .collect();
    let mut made = shoot(assignment, reels, &stills, is_marked(assignment))?;
    made.files.extend(kept);
    Ok(made)
}

/// Carries on from the last frame of the parent's video.
pub(super) fn extend(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let bytes = assignment.file.as_ref();
    let bytes = bytes.ok_or_else(|| Fault::ours("the parent's video was not read"))?;
    let last = last_frame(bytes).map_err(|error| unreadable("jobId", &error))?;
    let size = (last.width, last.height);
    let reels = (0..assignment.count())
        .map(|index| Storyboard {
            shots: vec![Shot::Still(0)],
            ..plan::empty(assignment, size, assignment.seed_of(index))
        })
        .collect();
    shoot(assignment, reels, &[last], false)
}

/// The parent's video, or the given one, made again without its mark.
pub(super) fn unmark(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    if assignment.work.parent.is_none() {
        return unmark_given(assignment);
    }
    let Some(EmbeddedNotes::Film { reels, .. }) = &assignment.notes else {
        let other = "the video was made elsewhere and cannot be made again without its mark";
        return Err(Fault::unusable(other));
    };
    let mut stills = Vec::new();
    for bytes in &assignment.kept {
        stills.push(decoded(bytes, "referImages")?);
    }
    let mut made = shoot(assignment, reels.clone(), &stills, false)?;
    made.files.extend(stills.iter().map(kept_frame));
    Ok(made)
}

/// A video at an address: made again from what its label says, if that really gives the same video.
fn unmark_given(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let bytes = assignment.work.video.as_ref();
    let bytes = bytes.ok_or_else(|| Fault::unusable("url: is missing"))?;
    let info = video_info(bytes).map_err(|error| unreadable("url", &error))?;
    let shown = first_frame(bytes).map_err(|error| unreadable("url", &error))?;
    let other = || {
        let message = "the video was not made here from words alone, so its mark cannot be removed";
        Fault {
            field: Some("url".to_owned()),
            ..Fault::unusable(message)
        }
    };
    let label = Label::read(bytes).ok_or_else(other)?;
    let seed = label.seed.ok_or_else(other)?;
    let seconds = info.duration.round().max(1.0) as u32;
    let size = (info.width, info.height);
    // Where the scene itself was too long to be kept, its words must do.
    let scene = serde_json::from_str::<Scene>(&label.scene);
    let scene = scene.unwrap_or_else(|_| Scene::from_prompt(&label.prompt, "", seed));
    let reel = Storyboard {
        fine: label.definition == FINE,
        ..plan::of_scene(&scene, size, seed, seconds)
    };
    let again = Player::new(&reel, &[]).next().ok_or_else(other)?;
    if difference(&again, &shown) > SAME_VIDEO {
        return Err(other());
    }
    shoot(assignment, vec![reel], &[], false)
}

fn difference(one: &Picture, other: &Picture) -> f64 {
    let (one, other) = (one.resized(64, 64), other.resized(64, 64));
    let pairs = one.rgba.iter().zip(&other.rgba);
    let sum: u32 = pairs.map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    f64::from(sum) / one.rgba.len() as f64
}

fn is_marked(assignment: &Assignment) -> bool {
    assignment.work.brief.marked
}

fn shows_covers(assignment: &Assignment) -> bool {
    assignment.work.brief.covers
}

/// Films every reel and files it, with its first and last frame where the family shows them.
fn shoot(
    assignment: &Assignment,
    reels: Vec<Storyboard>,
    stills: &[Picture],
    marked: bool,
) -> Result<WorkOutput, Fault> {
    let mut files = Vec::new();
    let mut covers = Vec::new();
    for (index, reel) in reels.iter().enumerate() {
        let number = ReelNumber {
            index,
            count: reels.len(),
        };
        let (file, ends) = film(assignment, reel, stills, number, marked)?;
        files.push(file);
        covers.extend(ends);
    }
    files.append(&mut covers);
    let made = reels.len() as u32;
    // Only marked videos are ever made again.
    let keep = is_marked(assignment) || assignment.work.brief.task == Task::Unmark;
    let notes = EmbeddedNotes::Film {
        seed: assignment.seed,
        reels: if keep { reels } else { Vec::new() },
    };
    Ok(WorkOutput {
        files,
        made,
        notes: notes.write(),
        ..WorkOutput::default()
    })
}

/// Which video of a job it is, and of how many.
#[derive(Clone, Copy)]
struct ReelNumber {
    index: usize,
    count: usize,
}

impl ReelNumber {
    /// Reports so many frames of this video as done.
    fn step(self, assignment: &Assignment, shown: usize, total: usize) -> Result<(), Fault> {
        assignment.step(self.index * total + shown, self.count * total)
    }
}

fn film(
    assignment: &Assignment,
    reel: &Storyboard,
    stills: &[Picture],
    number: ReelNumber,
    marked: bool,
) -> Result<(OutputFile, Vec<OutputFile>), Fault> {
    let total = reel.frames();
    let mut ends = Vec::new();
    let mut shown = 0;
    let mut player = Player::new(reel, stills);
    let mut frames = std::iter::from_fn(|| {
        number.step(assignment, shown, total).ok()?;
        let mut frame = player.next()?;
        if shows_covers(assignment) && (shown == 0 || shown + 1 == total) {
            let role = if shown == 0 {
                FileRole::FirstFrame
            } else {
                FileRole::LastFrame
            };
            ends.push(frame_file(&frame, role));
        }
        if marked {
            watermark(&mut frame);
        }
        shown += 1;
        Some(frame)
    });
    let fineness = if reel.fine {
        Fineness::High
    } else {
        Fineness::Usual
    };
    let encoded = encode_video_as(&mut frames, RATE, fineness);
    number.step(assignment, shown, total)?;
    let mut bytes = encoded.map_err(|error| Fault::ours(error.to_string()))?;
    let mut label = assignment.label(reel.seed);
    if reel.fine {
        FINE.clone_into(&mut label.definition);
    }
    if let Some(scene) = reel.scene() {
        label.prompt.clone_from(&scene.prompt);
        label.scene = serde_json::to_string(scene).unwrap_or_default();
    }
    label_video(&mut bytes, &label);
    let file = OutputFile {
        role: FileRole::Main,
        media_type: "video/mp4",
        width: reel.width,
        height: reel.height,
        bytes: bytes.into(),
        ..OutputFile::default()
    };
    Ok((file, ends))
}
