//! Work on given pictures: towards words, edited, cut out, on another ground, larger, traced, described, another face.

use atelier_contract::FileRole;
use atelier_media::{FaceError, Limits, Mask, Picture, cut_out, swap_face, upscale};
use atelier_studio::{blend, describe, restyle, vectorize};

use super::assignment::Assignment;
use super::notes::EmbeddedNotes;
use super::reference::ReferenceTraits;
use super::world::{World, shown_by};
use super::{image_files, render, repaint};
use crate::backend::{Fault, OutputFile, WorkOutput};

/// How far an edit without a mask goes from its picture.
const EDITED: f32 = 0.45;
/// How much larger the upscales make a picture.
const LARGER: u32 = 4;
/// How far a creative upscale of a picture that was drawn here goes from it.
const INVENTED: f32 = 0.08;
/// No upscale has more pixels or a longer side.
const MOST: Limits = Limits {
    max_pixels: 16 << 20,
    max_side: 8192,
};
/// How much local contrast a creative upscale adds.
const REFINED: f32 = 0.6;

/// The first source changed towards the words by the brief's strength.
pub(super) fn restyled(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let picture = assignment.source(0)?;
    towards_words(assignment, &picture, assignment.work.brief.strength as f32)
}

/// The first source edited after the words: where its mask is transparent, or as a whole.
pub(super) fn edited(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let mut sources = assignment.sources()?;
    let first = sources
        .first()
        .ok_or_else(|| Fault::unusable("image: is missing"))?;
    let drawing = match assignment.mask()? {
        Some(mask) => Some(mask),
        // A picture with holes of its own says by them where it is to be edited.
        None => first.has_alpha().then(|| first.clone()),
    };
    if let Some(drawing) = drawing {
        return repaint::pictures(assignment, first, &drawing, Mask::from_transparent);
    }
    let (width, height) = assignment.size(Some(first));
    let base = match sources.len() {
        1 => sources.swap_remove(0),
        _ => blend(&sources, width, height, assignment.seed),
    };
    towards_words(assignment, &base, EDITED)
}

fn towards_words(
    assignment: &Assignment,
    picture: &Picture,
    strength: f32,
) -> Result<WorkOutput, Fault> {
    let (width, height) = assignment.size(Some(picture));
    let base = picture.covering(width, height);
    pictures(assignment, |index| {
        let scene = render::scene(
            assignment,
            &ReferenceTraits::default(),
            assignment.seed_of(index),
        )
        .with_aspect((width, height));
        let toward = scene.render(width, height);
        Ok(render::as_asked(
            assignment,
            restyle(&base, &toward, strength),
        ))
    })
}

/// The subject of the first source on a ground painted from the words.
pub(super) fn on_another_ground(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let subject = alone(assignment, &assignment.source(0)?);
    pictures(assignment, |index| {
        let size = (subject.width, subject.height);
        let scene = render::scene(
            assignment,
            &ReferenceTraits::default(),
            assignment.seed_of(index),
        )
        .with_aspect(size);
        let mut ground = scene.render(size.0, size.1);
        ground.overlaid(&subject, 0, 0);
        Ok(ground)
    })
}

/// The subject of the first source on nothing.
pub(super) fn without_ground(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    pictures(assignment, |_| {
        Ok(alone(assignment, &assignment.source(0)?))
    })
}

/// The subject of a picture on nothing: known to the pixel where it was drawn here, else found.
fn alone(assignment: &Assignment, picture: &Picture) -> Picture {
    let world = own(assignment, picture).filter(World::is_plain);
    let shown = world.map(|world| world.scene.subjects_shown(picture.width, picture.height));
    let Some(shown) = shown.filter(|shown| shown.bounds().is_some()) else {
        return cut_out(picture);
    };
    let mut subject = picture.clone();
    for (pixel, share) in subject.pixels_mut().iter_mut().zip(&shown.shares) {
        pixel[3] = pixel[3].min(*share);
    }
    subject
}

/// The first source, larger; a creative one gets more detail than it had.
pub(super) fn larger(assignment: &Assignment, creative: bool) -> Result<WorkOutput, Fault> {
    let picture = assignment.source(0)?;
    if let Some(world) = own(assignment, &picture) {
        // What was drawn here is drawn again, with more pixels.
        let size = enlarged_size(&picture);
        let world = if creative {
            world.varied(INVENTED, assignment.seed)
        } else {
            world
        };
        return render::render(assignment, vec![world], size);
    }
    pictures(assignment, |_| {
        let large = upscale(&picture, LARGER, MOST);
        Ok(if creative { refined(&large) } else { large })
    })
}

/// The world the first source shows, when it was drawn here.
fn own(assignment: &Assignment, picture: &Picture) -> Option<World> {
    let file = assignment.work.sources.first()?;
    shown_by(file, picture)
}

/// The size of an upscale, within the limits.
fn enlarged_size(picture: &Picture) -> (u32, u32) {
    let (width, height) = (f64::from(picture.width), f64::from(picture.height));
    let factor = f64::from(LARGER)
        .min((MOST.max_pixels as f64 / (width * height)).sqrt())
        .min(f64::from(MOST.max_side) / width.max(height));
    let side = |length: f64| ((length * factor) as u32).max(1);
    (side(width), side(height))
}

/// The picture with more contrast between neighbours, where details are.
fn refined(picture: &Picture) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let blurred = picture
        .resized((width / 6).max(1), (height / 6).max(1))
        .resized(width, height);
    let mut out = picture.clone();
    for (pixel, soft) in out.pixels_mut().iter_mut().zip(blurred.pixels()) {
        for channel in 0..3 {
            let value = f32::from(pixel[channel]);
            let detail = value - f32::from(soft[channel]);
            pixel[channel] = (value + detail * REFINED).clamp(0.0, 255.0) as u8;
        }
    }
    out
}

/// The first source as a drawing of paths.
pub(super) fn traced(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let picture = assignment.source(0)?;
    let file = OutputFile {
        role: FileRole::Main,
        media_type: "image/svg+xml",
        width: picture.width,
        height: picture.height,
        bytes: vectorize(&picture).into_bytes().into(),
        ..OutputFile::default()
    };
    let notes = EmbeddedNotes::Picture {
        seed: assignment.seed,
    };
    Ok(image_files::work_output(vec![file], 1, &notes))
}

/// The face of the second source in the place of that of the first.
pub(super) fn with_other_face(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let (target, source) = (assignment.source(0)?, assignment.source(1)?);
    let swapped = swap_face(&target, &source).map_err(|error| {
        let field = match error {
            FaceError::NoFaceInTarget => "targetImage",
            FaceError::NoFaceInSource => "swapImage",
        };
        Fault {
            field: Some(field.to_owned()),
            ..Fault::unusable(error.to_string())
        }
    })?;
    pictures(assignment, |_| Ok(swapped.clone()))
}

/// Four prompts for the first source.
pub(super) fn described(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let picture = assignment.source(0)?;
    let prompts = match own(assignment, &picture) {
        Some(world) => world.scene.describe(),
        None => describe(&picture),
    };
    Ok(WorkOutput {
        made: prompts.len() as u32,
        prompts: prompts.into(),
        notes: EmbeddedNotes::Picture {
            seed: assignment.seed,
        }
        .write(),
        ..WorkOutput::default()
    })
}

fn pictures(
    assignment: &Assignment,
    paint: impl Fn(usize) -> Result<Picture, Fault>,
) -> Result<WorkOutput, Fault> {
    let files = image_files::render_files(assignment, assignment.count(), paint)?;
    let notes = EmbeddedNotes::Picture {
        seed: assignment.seed,
    };
    Ok(image_files::work_output(files, assignment.count(), &notes))
}
