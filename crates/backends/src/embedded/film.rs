//! Videos: of scenes, from given frames, carried on from an earlier one, and without their mark.

mod character;
mod play;
mod reel;

use atelier_contract::Role;
use atelier_contract::brief::Task;
use atelier_media::{
    Encoding, Label, Picture, VideoError, encode, encode_video, first_frame, label_video,
    last_frame, video_info,
};
use atelier_studio::{Scene, watermark};

use super::desk::Desk;
use super::notes::Notes;
use crate::backend::{Fault, Made, MadeFile};
pub(super) use character::{Character, character};
use play::Player;
pub(super) use reel::Reel;
use reel::Shot;

/// Frames a second.
pub(super) const RATE: u32 = 24;
/// Quality of the frames that are kept beside a video.
const FRAME: Encoding = Encoding::Jpeg { quality: 92 };
/// A video made again whose first frame differs by more than this on average is another video.
const SAME_VIDEO: f64 = 14.0;

/// Makes as many videos as asked for.
pub(super) fn animate(desk: &Desk) -> Result<Made, Fault> {
    let mut stills = desk.sources()?;
    let size = reel::size(desk, stills.first());
    for still in &mut stills {
        *still = still.on([0; 3]).covering(size.0, size.1);
    }
    let mut kept = Vec::new();
    if is_marked(desk) {
        // The video is made from the frames as they are kept, so that it can be made again without its mark.
        let shown = reel::references_shown(desk, stills.len());
        stills.truncate(shown);
        kept = stills.iter().map(kept_frame).collect();
        for (still, file) in stills.iter_mut().zip(&kept) {
            *still = super::desk::decoded(&file.bytes, "referImages")?;
        }
    }
    let cast = character::cast(desk)?;
    let reels = (0..desk.count())
        .map(|index| reel::plan(desk, &cast, size, stills.len(), desk.seed_of(index)))
        .collect();
    let mut made = shoot(desk, reels, &stills, is_marked(desk))?;
    made.files.extend(kept);
    Ok(made)
}

/// Carries on from the last frame of the parent's video.
pub(super) fn extend(desk: &Desk) -> Result<Made, Fault> {
    let bytes = desk.file.as_ref();
    let bytes = bytes.ok_or_else(|| Fault::ours("the parent's video was not read"))?;
    let last = last_frame(bytes).map_err(|error| unreadable("jobId", &error))?;
    let size = (last.width, last.height);
    let reels = (0..desk.count())
        .map(|index| Reel {
            shots: vec![Shot::Still(0)],
            ..reel::empty(desk, size, desk.seed_of(index))
        })
        .collect();
    shoot(desk, reels, &[last], false)
}

/// The parent's video, or the given one, made again without its mark.
pub(super) fn unmark(desk: &Desk) -> Result<Made, Fault> {
    if desk.work.parent.is_none() {
        return unmark_given(desk);
    }
    let Some(Notes::Film { reels, .. }) = &desk.notes else {
        let other = "the video was made elsewhere and cannot be made again without its mark";
        return Err(Fault::unusable(other));
    };
    let mut stills = Vec::new();
    for bytes in &desk.kept {
        stills.push(super::desk::decoded(bytes, "referImages")?);
    }
    let mut made = shoot(desk, reels.clone(), &stills, false)?;
    made.files.extend(stills.iter().map(kept_frame));
    Ok(made)
}

/// A video at an address: made again from what its label says, if that really gives the same video.
fn unmark_given(desk: &Desk) -> Result<Made, Fault> {
    let bytes = desk.work.video.as_ref();
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
    let reel = reel::of_scene(&scene, size, seed, seconds);
    let again = Player::new(&reel, &[]).next().ok_or_else(other)?;
    if difference(&again, &shown) > SAME_VIDEO {
        return Err(other());
    }
    shoot(desk, vec![reel], &[], false)
}

fn difference(one: &Picture, other: &Picture) -> f64 {
    let (one, other) = (one.resized(64, 64), other.resized(64, 64));
    let pairs = one.rgba.iter().zip(&other.rgba);
    let sum: u32 = pairs.map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    f64::from(sum) / one.rgba.len() as f64
}

fn is_marked(desk: &Desk) -> bool {
    desk.work.brief.marked
}

fn shows_covers(desk: &Desk) -> bool {
    desk.work.brief.covers
}

/// Films every reel and files it, with its first and last frame where the family shows them.
fn shoot(desk: &Desk, reels: Vec<Reel>, stills: &[Picture], marked: bool) -> Result<Made, Fault> {
    let mut files = Vec::new();
    let mut covers = Vec::new();
    for (index, reel) in reels.iter().enumerate() {
        let (file, ends) = film(desk, reel, stills, (index, reels.len()), marked)?;
        files.push(file);
        covers.extend(ends);
    }
    files.append(&mut covers);
    let made = reels.len() as u32;
    // Only marked videos are ever made again.
    let keep = is_marked(desk) || desk.work.brief.task == Task::Unmark;
    let notes = Notes::Film {
        seed: desk.seed,
        reels: if keep { reels } else { Vec::new() },
    };
    Ok(Made {
        files,
        made,
        notes: notes.write(),
        ..Made::default()
    })
}

fn film(
    desk: &Desk,
    reel: &Reel,
    stills: &[Picture],
    (index, count): (usize, usize),
    marked: bool,
) -> Result<(MadeFile, Vec<MadeFile>), Fault> {
    let total = reel.frames();
    let mut ends = Vec::new();
    let mut shown = 0;
    let mut player = Player::new(reel, stills);
    let mut frames = std::iter::from_fn(|| {
        desk.step(index * total + shown, count * total).ok()?;
        let mut frame = player.next()?;
        if shows_covers(desk) && (shown == 0 || shown + 1 == total) {
            let role = if shown == 0 {
                Role::FirstFrame
            } else {
                Role::LastFrame
            };
            ends.push(frame_file(&frame, role));
        }
        if marked {
            watermark(&mut frame);
        }
        shown += 1;
        Some(frame)
    });
    let encoded = encode_video(&mut frames, RATE);
    desk.step(index * total + shown, count * total)?;
    let mut bytes = encoded.map_err(|error| Fault::ours(error.to_string()))?;
    let mut label = desk.label(reel.seed);
    if let Some(scene) = reel.scene() {
        label.prompt.clone_from(&scene.prompt);
        label.scene = serde_json::to_string(scene).unwrap_or_default();
    }
    label_video(&mut bytes, &label);
    let file = MadeFile {
        role: Role::Main,
        media_type: "video/mp4",
        width: reel.width,
        height: reel.height,
        bytes: bytes.into(),
    };
    Ok((file, ends))
}

fn frame_file(frame: &Picture, role: Role) -> MadeFile {
    MadeFile {
        role,
        media_type: FRAME.format().media_type(),
        width: frame.width,
        height: frame.height,
        bytes: encode(frame, FRAME, None).into(),
    }
}

fn kept_frame(still: &Picture) -> MadeFile {
    frame_file(still, Role::FirstFrame)
}

fn unreadable(field: &str, error: &VideoError) -> Fault {
    Fault {
        field: Some(field.to_owned()),
        detail: error.to_string(),
        ..Fault::unusable("the video could not be read")
    }
}
