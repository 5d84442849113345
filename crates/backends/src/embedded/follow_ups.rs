//! Follow-ups on an earlier picture: larger, varied, from further away, wider, square.
//!
//! A picture of a scene is rendered again from its world. Any other picture is worked on as it was stored: cut,
//! enlarged, blended, or continued beyond its borders.

use atelier_contract::brief::Direction;
use atelier_media::{Limits, Mask, Picture, upscale};
use atelier_studio::{Scene, blend, fill, restyle};

use super::assignment::Assignment;
use super::notes::EmbeddedNotes;
use super::reference::ReferenceTraits;
use super::world::World;
use super::{image_files, render};
use crate::backend::{Fault, WorkOutput};
use crate::fit::Size;
use crate::inputs::outpaint_area;

/// How far subtle and strong variations go.
const SUBTLE: f32 = 0.4;
const STRONG: f32 = 0.8;
/// How far an upscale that may invent details goes.
const INVENTED: f32 = 0.08;
/// How far the surroundings of the second to fourth widened picture differ from those of the first.
const OTHER_SURROUNDINGS: f32 = 0.5;
/// How far what was invented beyond a foreign picture goes towards an idea of the words, for each further one.
const OTHER_IDEA: f32 = 0.12;

/// What a follow-up works from.
enum ParentImage {
    World(Box<World>),
    Picture(Picture),
}

/// The parent's picture: the one at a place of its grid, or the only one.
fn base(assignment: &Assignment, index: Option<u8>) -> Result<ParentImage, Fault> {
    let at = usize::from(index.unwrap_or(0));
    if let Some(world) = assignment.notes.as_ref().and_then(|notes| notes.world(at)) {
        return Ok(ParentImage::World(Box::new(world.clone())));
    }
    let picture = assignment.parent_picture()?;
    Ok(ParentImage::Picture(match index {
        Some(index) => picture.quarter(u32::from(index)),
        None => picture,
    }))
}

/// One picture of the parent, alone and larger; `creative` may invent details.
pub(super) fn enlarge(
    assignment: &Assignment,
    index: Option<u8>,
    creative: bool,
) -> Result<WorkOutput, Fault> {
    let size = assignment.size(None);
    match base(assignment, index)? {
        ParentImage::World(world) => {
            let world = if creative {
                world.varied(INVENTED, assignment.seed)
            } else {
                *world
            };
            render::render(assignment, vec![world], size)
        }
        ParentImage::Picture(picture) => from_picture(assignment, |_| Ok(enlarged(&picture, size))),
    }
}

/// A foreign picture at a larger size, its edges drawn anew.
fn enlarged(picture: &Picture, (width, height): Size) -> Picture {
    let factor = width.div_ceil(picture.width.max(1));
    upscale(picture, factor, Limits::default()).resized(width, height)
}

/// Four variations of one picture.
pub(super) fn vary(
    assignment: &Assignment,
    index: Option<u8>,
    strong: bool,
) -> Result<WorkOutput, Fault> {
    let size = assignment.size(None);
    let strength = if strong { STRONG } else { SUBTLE };
    match base(assignment, index)? {
        ParentImage::World(world) => {
            let worlds = (0..assignment.count())
                .map(|index| world.varied(strength, assignment.seed_of(index + 1)))
                .collect();
            render::render(assignment, worlds, size)
        }
        ParentImage::Picture(picture) => {
            let picture = picture.covering(size.0, size.1);
            from_picture(assignment, |index| {
                let toward =
                    idea(assignment, &picture, assignment.seed_of(index)).render(size.0, size.1);
                Ok(restyle(&picture, &toward, 0.25 + strength * 0.6))
            })
        }
    }
}

/// More of the world on all sides, in tenths.
pub(super) fn zoom_out(assignment: &Assignment, tenths: u32) -> Result<WorkOutput, Fault> {
    match base(assignment, None)? {
        ParentImage::World(world) => {
            let factor = tenths as f32 / 10.0;
            widened(assignment, &world, &world.scene.zoomed_out(factor))
        }
        ParentImage::Picture(picture) => continued(assignment, &picture),
    }
}

/// More of the world towards one side.
pub(super) fn pan(assignment: &Assignment, direction: Direction) -> Result<WorkOutput, Fault> {
    let (width, height) = assignment.size(None);
    let sideways = matches!(direction, Direction::Left | Direction::Right);
    match base(assignment, None)? {
        ParentImage::World(world) => {
            // The asked size is rounded, so the window grows exactly as far as that size shows.
            let window = world.scene.window;
            let ratio = width as f32 / height as f32;
            let more = if sideways {
                window.height * ratio / window.width - 1.0
            } else {
                window.width / ratio / window.height - 1.0
            };
            let more = if more > 0.05 { more } else { 0.5 };
            let scene = match direction {
                Direction::Left => world.scene.panned(-more, 0.0),
                Direction::Right => world.scene.panned(more, 0.0),
                Direction::Up => world.scene.panned(0.0, -more),
                Direction::Down => world.scene.panned(0.0, more),
            };
            widened(assignment, &world, &scene)
        }
        ParentImage::Picture(picture) => continued(assignment, &picture),
    }
}

/// The picture continued to a square.
pub(super) fn square(assignment: &Assignment) -> Result<WorkOutput, Fault> {
    match base(assignment, None)? {
        ParentImage::World(world) => {
            let window = world.scene.window;
            let aspect = (
                (window.width * 1000.0).round() as u32,
                (window.height * 1000.0).round() as u32,
            );
            widened(assignment, &world, &world.scene.squared(aspect))
        }
        ParentImage::Picture(picture) => continued(assignment, &picture),
    }
}

/// Another grid after one that was made from pictures: its four are blended anew.
pub(super) fn reroll_picture(
    assignment: &Assignment,
    (width, height): Size,
) -> Result<WorkOutput, Fault> {
    let parent = assignment.parent_picture()?;
    let four: Vec<Picture> = (0..4).map(|index| parent.quarter(index)).collect();
    from_picture(assignment, |index| {
        let mut order = four.clone();
        order.rotate_left(index % 4);
        Ok(blend(&order[..3], width, height, assignment.seed_of(index)))
    })
}

/// Four pictures from further away: all keep what was seen, each after the first has surroundings of its own.
fn widened(assignment: &Assignment, world: &World, scene: &Scene) -> Result<WorkOutput, Fault> {
    let worlds = (0..assignment.count())
        .map(|index| {
            let drift = if index == 0 { 0.0 } else { OTHER_SURROUNDINGS };
            world.widened(scene.clone(), drift, assignment.seed_of(index))
        })
        .collect();
    render::render(assignment, worlds, assignment.size(None))
}

/// Four pictures that continue a given one beyond its borders.
fn continued(assignment: &Assignment, picture: &Picture) -> Result<WorkOutput, Fault> {
    let (width, height) = assignment.size(None);
    let place = outpaint_area(
        assignment.work.brief.task,
        (picture.width, picture.height),
        (width, height),
    );
    let [left, top, across, down] = place.unwrap_or([0, 0, width, height]);
    let mut canvas = Picture::filled(width, height, [0, 0, 0, 255]);
    let inner = picture.resized(across, down);
    canvas.pasted(&inner, i64::from(left), i64::from(top));
    let beyond = Mask::rectangle(width, height, [left, top, across, down]).inverted();
    from_picture(assignment, |index| {
        let filled = fill(&canvas, &beyond, assignment.seed_of(index));
        if index == 0 {
            return Ok(filled);
        }
        let toward = idea(assignment, picture, assignment.seed_of(index)).render(width, height);
        let other = restyle(&filled, &toward, OTHER_IDEA * index as f32);
        Ok(beyond.mixed(&filled, &other))
    })
}

/// A scene for a picture of which only the words are known.
fn idea(assignment: &Assignment, picture: &Picture, seed: u64) -> Scene {
    render::scene(
        assignment,
        &ReferenceTraits::of(assignment, std::slice::from_ref(picture)),
        seed,
    )
}

fn from_picture(
    assignment: &Assignment,
    paint: impl Fn(usize) -> Result<Picture, Fault>,
) -> Result<WorkOutput, Fault> {
    let count = if assignment.work.brief.grid {
        assignment.count()
    } else {
        1
    };
    let files = image_files::render_files(assignment, count, paint)?;
    Ok(image_files::work_output(
        files,
        count,
        &EmbeddedNotes::Picture {
            seed: assignment.seed,
        },
    ))
}
