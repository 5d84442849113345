//! Pictures from words: each word's scene, in the palette of the reference pictures, if there are any.

use atelier_media::{Picture, Scene, Setting, cut_out};

use super::album;
use super::desk::Desk;
use super::notes::Notes;
use super::palette;
use super::world::World;
use crate::backend::{Fault, Made};

/// Draws as many pictures as asked for.
pub(super) fn draw(desk: &Desk) -> Result<Made, Fault> {
    let references = desk.sources()?;
    let size = desk.size(references.first());
    let worlds: Vec<World> = (0..desk.count())
        .map(|index| World::of(&scene(desk, &references, desk.seed_of(index)), size))
        .collect();
    drop(references);
    let mut made = render(desk, worlds, size)?;
    if !desk.work.brief.grid {
        let words = Scene::from_prompt(&desk.work.brief.prompt, "", desk.seed);
        made.revised_prompt = words.describe().into_iter().next();
    }
    Ok(made)
}

/// The words of the parent again, with other choices, through the window the parent had.
pub(super) fn reroll(desk: &Desk) -> Result<Made, Fault> {
    let size = desk.size(None);
    let Some(before) = desk.notes.as_ref().and_then(|notes| notes.world(0)) else {
        return super::follow::reroll_picture(desk, size);
    };
    let references = desk.sources()?;
    let world = |index: usize| {
        let seed = desk.seed_of(index);
        let parent = desk.notes.as_ref().and_then(|notes| notes.world(index));
        let mut world = parent.unwrap_or(before).clone();
        // What was made last is made again: a repainted region, or else the whole picture.
        if let Some(last) = world.patches.pop_if(|last| last.stencil.is_some()) {
            let scene = scene(desk, &references, seed);
            world.patches.push(super::world::Patch {
                scene: super::repaint::at_home_in(&world.scene, &scene, seed),
                ..last
            });
        } else {
            let window = world.scene.window;
            world = World::of(&scene(desk, &references, seed), size);
            world.scene.window = window;
        }
        world
    };
    let worlds = (0..desk.count()).map(world).collect();
    render(desk, worlds, size)
}

/// The scene of the brief's words.
pub(super) fn scene(desk: &Desk, references: &[Picture], seed: u64) -> Scene {
    let brief = &desk.work.brief;
    let mut scene = Scene::from_prompt(&brief.prompt, &brief.negative, seed);
    if scene.palette.is_empty() {
        scene.palette = palette::shared(references);
    }
    // A subject before a plain backdrop is cut out cleanly.
    if brief.transparent && !scene.subjects.is_empty() {
        scene.setting = Setting::Studio;
    }
    scene
}

/// The picture with a transparent background where that was asked for.
pub(super) fn as_asked(desk: &Desk, picture: Picture) -> Picture {
    if desk.work.brief.transparent {
        cut_out(&picture)
    } else {
        picture
    }
}

/// Renders worlds into files and keeps them as notes.
pub(super) fn render(desk: &Desk, worlds: Vec<World>, size: (u32, u32)) -> Result<Made, Fault> {
    let (width, height) = size;
    let paint = |index: usize| Ok(as_asked(desk, worlds[index].render(width, height)));
    let files = album::filed(desk, worlds.len(), paint)?;
    let count = worlds.len();
    let notes = Notes::scenes(desk.seed, worlds);
    Ok(album::made(files, count, &notes))
}
