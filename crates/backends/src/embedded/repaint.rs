//! A region made anew after words, in an earlier picture or in a given one. White is where the work happens.

use atelier_media::{Mask, Picture};
use atelier_studio::Scene;

use super::assignment::Assignment;
use super::image_files;
use super::notes::EmbeddedNotes;
use super::paint::{Backdrop, painted_into};
use super::reference::ReferenceTraits;
use super::world::World;
use super::{palette, render};
use crate::backend::{Fault, WorkOutput};

/// Repaints a region of the parent's picture, or of the first source.
pub(super) fn repaint(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let drawing = assignment.mask()?;
    let drawing = drawing.ok_or_else(|| Fault::unusable("mask: is missing"))?;
    if assignment.work.parent.is_none() {
        return pictures(
            assignment,
            &assignment.source(0)?,
            &drawing,
            Mask::from_white,
        );
    }
    let size = assignment.size(None);
    let member_mask = |index: usize| {
        let part = if assignment.parent_is_grid() {
            Mask::from_white(&drawing.quarter(index as u32))
        } else {
            Mask::from_white(&drawing)
        };
        part.resized(size.0, size.1)
    };
    let of_grid = assignment.parent_is_grid();
    if let Some(first) = assignment.notes.as_ref().and_then(|notes| notes.world(0)) {
        let world = |index: usize| {
            let own = assignment
                .notes
                .as_ref()
                .and_then(|notes| notes.world(index));
            let mut base = if of_grid { own.unwrap_or(first) } else { first }.clone();
            base.scene = base.scene.with_aspect(size);
            repainted(assignment, &base, &member_mask(index), index)
        };
        let worlds = (0..assignment.count()).map(world).collect();
        return render::render(assignment, worlds, size);
    }
    let parent = assignment.parent_picture()?;
    let files = image_files::render_files(assignment, assignment.count(), |index| {
        let base = if of_grid {
            parent.quarter(index as u32)
        } else {
            parent.clone()
        };
        let base = base.resized(size.0, size.1);
        let scene = render::scene(
            assignment,
            &ReferenceTraits::default(),
            assignment.seed_of(index),
        );
        let ground = Backdrop::Unknown(assignment.seed_of(index));
        Ok(painted_into(&base, &member_mask(index), &scene, &ground))
    })?;
    Ok(image_files::work_output(
        files,
        assignment.count(),
        &EmbeddedNotes::Picture {
            seed: assignment.seed,
        },
    ))
}

/// Repaints a region of a given picture as often as asked for; `read` says what of the drawing is selected.
pub(super) fn pictures(
    assignment: &Assignment,
    picture: &Picture,
    drawing: &Picture,
    read: fn(&Picture) -> Mask,
) -> Result<WorkOutput, Fault> {
    let (width, height) = assignment.size(Some(picture));
    // Both are cut to the asked shape in the same way, so that they still lie on each other.
    let mask = read(&drawing.covering(width, height));
    let picture = picture.covering(width, height);
    let colours = palette::shared(std::slice::from_ref(&picture));
    let files = image_files::render_files(assignment, assignment.count(), |index| {
        let seed = assignment.seed_of(index);
        let mut scene = render::scene(assignment, &ReferenceTraits::default(), seed);
        if scene.palette.is_empty() && scene.subjects.is_empty() {
            scene.palette.clone_from(&colours);
        }
        let painted = painted_into(&picture, &mask, &scene, &Backdrop::Unknown(seed));
        Ok(render::as_asked(assignment, painted))
    })?;
    let notes = EmbeddedNotes::Picture {
        seed: assignment.seed,
    };
    Ok(image_files::work_output(files, assignment.count(), &notes))
}

fn repainted(assignment: &Assignment, base: &World, mask: &Mask, index: usize) -> World {
    if mask.bounds().is_none() {
        return base.clone();
    }
    let seed = assignment.seed_of(index);
    let scene = render::scene(assignment, &ReferenceTraits::default(), seed);
    base.repainted(at_home_in(&base.scene, &scene, seed), mask)
}

/// A scene that plays where another does, as far as its own words leave that open.
pub(super) fn at_home_in(home: &Scene, scene: &Scene, seed: u64) -> Scene {
    // The first mention of a place, time or style wins, so what is added here only fills what was left open.
    let words = format!(
        "{}, {}, {}, {}, {}",
        scene.prompt,
        home.setting.name(),
        home.time.name(),
        home.weather.name(),
        home.style.name(),
    );
    let mut settled = Scene::from_words(&words, "", seed, scene.tongue);
    settled.flair = home.flair;
    settled.left_out.clone_from(&scene.left_out);
    if scene.palette.is_empty() {
        settled.palette.clone_from(&home.palette);
    }
    settled
}
