//! Pictures from words: each word's scene, in the palette of the reference pictures, if there are any.

use super::assignment::Assignment;
use super::flags::Flags;
use super::follow_ups::reroll_picture;
use super::reference::ReferenceTraits;
use super::render::{render, scene};
use super::repaint::at_home_in;
use super::world::{Patch, World};
use crate::backend::{Fault, WorkOutput};

/// Draws as many pictures as asked for.
pub(super) fn draw(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let references = assignment.sources()?;
    let size = assignment.size(references.first());
    let lead = ReferenceTraits::of(assignment, &references).hinted(assignment)?;
    drop(references);
    let worlds: Vec<World> = (0..assignment.count())
        .map(|index| {
            World::of(&scene(assignment, &lead, assignment.seed_of(index)), size)
                .in_detail(Flags::of(assignment).detail)
        })
        .collect();
    let first = worlds.first().map(|world| world.scene.clone());
    let mut made = render(assignment, worlds, size)?;
    if !assignment.work.brief.grid {
        made.revised_prompt = first.into_iter().flat_map(|one| one.describe()).next();
    }
    Ok(made)
}

/// The words of the parent again, with other choices, through the window the parent had.
pub(super) fn reroll(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    let size = assignment.size(None);
    let Some(before) = assignment.notes.as_ref().and_then(|notes| notes.world(0)) else {
        return reroll_picture(assignment, size);
    };
    let lead = ReferenceTraits::of(assignment, &assignment.sources()?).hinted(assignment)?;
    let world = |index: usize| {
        let seed = assignment.seed_of(index);
        let parent = assignment
            .notes
            .as_ref()
            .and_then(|notes| notes.world(index));
        let mut world = parent.unwrap_or(before).clone();
        // What was made last is made again: a repainted region, or else the whole picture.
        if let Some(last) = world.patches.pop_if(|last| last.stencil.is_some()) {
            let scene = scene(assignment, &lead, seed);
            world.patches.push(Patch {
                scene: at_home_in(&world.scene, &scene, seed),
                ..last
            });
        } else {
            let window = world.scene.window;
            world = World::of(&scene(assignment, &lead, seed), size)
                .in_detail(Flags::of(assignment).detail);
            world.scene.window = window;
        }
        world
    };
    let worlds = (0..assignment.count()).map(world).collect();
    render(assignment, worlds, size)
}
