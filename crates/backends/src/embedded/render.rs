//! From words and worlds to files: what drawing, follow-ups and repainting share.

use atelier_media::{Picture, cut_out};
use atelier_studio::{Scene, Setting};

use super::assignment::Assignment;
use super::flags::{self, Flags};
use super::image_files::{self, RenderedPicture};
use super::notes::EmbeddedNotes;
use super::reference::ReferenceTraits;
use super::world::World;
use crate::backend::{Fault, WorkOutput};
use crate::fit::Size;

/// The scene of the brief's words and flags, led by its reference pictures.
pub(super) fn scene(assignment: &Assignment, lead: &ReferenceTraits, seed: u64) -> Scene {
    let brief = &assignment.work.brief;
    let scene = lead.led(&Scene::from_words(
        &brief.prompt,
        &brief.negative,
        seed,
        flags::prompt_language(assignment),
    ));
    let mut scene = lead.cast(&Flags::of(assignment).applied(&scene));
    // A subject before a plain backdrop is cut out cleanly.
    if brief.transparent && !scene.subjects.is_empty() {
        scene.setting = Setting::Studio;
    }
    scene
}

/// The picture with a transparent background where that was asked for.
pub(super) fn as_asked(assignment: &Assignment, picture: Picture) -> Picture {
    if assignment.work.brief.transparent {
        cut_out(&picture)
    } else {
        picture
    }
}

/// Renders worlds into files and keeps them as notes.
pub(super) fn render(
    assignment: &Assignment,
    worlds: Vec<World>,
    size: Size,
) -> Result<WorkOutput, Fault> {
    let (width, height) = size;
    let paint = |index: usize| {
        Ok(RenderedPicture {
            picture: as_asked(assignment, worlds[index].render(width, height)),
            world: Some(&worlds[index]),
        })
    };
    let files = image_files::render_files(assignment, worlds.len(), paint)?;
    let count = worlds.len();
    let notes = EmbeddedNotes::scenes(assignment.seed, worlds);
    Ok(image_files::work_output(files, count, &notes))
}
