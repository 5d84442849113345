//! Pictures from words: each word's scene, in the palette of the reference pictures, if there are any.

use atelier_media::{Picture, cut_out};
use atelier_studio::{Scene, Setting};

use super::album::{self, Painted};
use super::desk::Desk;
use super::flags::{self, Flags};
use super::notes::Notes;
use super::reference::Lead;
use super::world::World;
use crate::backend::{Fault, Made};

/// Draws as many pictures as asked for.
pub(super) fn draw(desk: &Desk) -> Result<Made, Fault> {
    let references = desk.sources()?;
    let size = desk.size(references.first());
    let lead = Lead::of(desk, &references).hinted(desk)?;
    drop(references);
    let worlds: Vec<World> = (0..desk.count())
        .map(|index| World::of(&scene(desk, &lead, desk.seed_of(index)), size).in_detail(desk))
        .collect();
    let first = worlds.first().map(|world| world.scene.clone());
    let mut made = render(desk, worlds, size)?;
    if !desk.work.brief.grid {
        made.revised_prompt = first.into_iter().flat_map(|one| one.describe()).next();
    }
    Ok(made)
}

/// The words of the parent again, with other choices, through the window the parent had.
pub(super) fn reroll(desk: &Desk) -> Result<Made, Fault> {
    let size = desk.size(None);
    let Some(before) = desk.notes.as_ref().and_then(|notes| notes.world(0)) else {
        return super::follow::reroll_picture(desk, size);
    };
    let lead = Lead::of(desk, &desk.sources()?).hinted(desk)?;
    let world = |index: usize| {
        let seed = desk.seed_of(index);
        let parent = desk.notes.as_ref().and_then(|notes| notes.world(index));
        let mut world = parent.unwrap_or(before).clone();
        // What was made last is made again: a repainted region, or else the whole picture.
        if let Some(last) = world.patches.pop_if(|last| last.stencil.is_some()) {
            let scene = scene(desk, &lead, seed);
            world.patches.push(super::world::Patch {
                scene: super::repaint::at_home_in(&world.scene, &scene, seed),
                ..last
            });
        } else {
            let window = world.scene.window;
            world = World::of(&scene(desk, &lead, seed), size).in_detail(desk);
            world.scene.window = window;
        }
        world
    };
    let worlds = (0..desk.count()).map(world).collect();
    render(desk, worlds, size)
}

/// The scene of the brief's words and flags, led by its reference pictures.
pub(super) fn scene(desk: &Desk, lead: &Lead, seed: u64) -> Scene {
    let brief = &desk.work.brief;
    let words = (brief.prompt.as_str(), brief.negative.as_str());
    let scene = lead.led(&Scene::from_words(words, seed, flags::tongue(desk)));
    let mut scene = lead.cast(&Flags::of(desk).applied(&scene));
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
    let paint = |index: usize| {
        Ok(Painted {
            picture: as_asked(desk, worlds[index].render(width, height)),
            world: Some(&worlds[index]),
        })
    };
    let files = album::filed(desk, worlds.len(), paint)?;
    let count = worlds.len();
    let notes = Notes::scenes(desk.seed, worlds);
    Ok(album::made(files, count, &notes))
}
