//! Inventing a missing part of a picture from the rest of it: patches from outside, agreed on from coarse to fine.

mod beyond;
mod patches;
mod search;
mod sources;
mod subject;

use crate::Picture;
use crate::mask::Mask;
use crate::sampling::Field;
use crate::seamless::spread;
use beyond::{Bend, beyond};
use patches::Level;
use sources::Sources;
use subject::Subject;

/// Longest side at which patches are looked for; finer pixels are copied along with them.
const WORKING: u32 = 512;
/// Longest side of the coarsest level.
const COARSEST: u32 = 32;

/// Fills the masked part; outside the picture stays to the byte.
///
/// Gaps inside the picture are filled with patches of the rest. What lies beyond the known part (an outpaint) goes on
/// as its mirror image without its subject, bent the more the further away, so that it is not seen to be one; a
/// subject that the border cuts off goes on there.
pub fn fill(picture: &Picture, mask: &Mask, seed: u64) -> Picture {
    let mask = mask.resized(picture.width, picture.height);
    let open: Vec<bool> = mask.shares.iter().map(|&share| share > 0).collect();
    if !open.contains(&true) {
        return picture.clone();
    }
    let Some([x, y, width, height]) = mask_of_known(&mask).bounds() else {
        return picture.on([128; 3]);
    };
    let (left, top) = (i64::from(x), i64::from(y));
    let part = picture.on([0; 3]).cropped(left, top, width, height);
    let part_open: Vec<bool> = (y..y + height)
        .flat_map(|row| (x..x + width).map(move |column| (column, row)))
        .map(|(column, row)| mask.share(column, row) > 0)
        .collect();
    let part = if part_open.contains(&true) {
        patched(part, part_open, seed)
    } else {
        part
    };
    let filled = if (width, height) == (picture.width, picture.height) {
        part
    } else {
        let subject = Subject::of(&part, seed);
        let size = (picture.width, picture.height);
        let bend = Bend::of(seed);
        beyond((&part, subject.as_ref()), size, (left, top), bend)
    };
    mask.mixed(picture, &filled)
}

/// Selects what needs no filling.
fn mask_of_known(mask: &Mask) -> Mask {
    let shares = mask
        .shares
        .iter()
        .map(|&share| if share > 0 { 0 } else { 255 })
        .collect();
    Mask {
        width: mask.width,
        height: mask.height,
        shares,
    }
}

/// Fills the open pixels with patches, from coarse to fine.
fn patched(picture: Picture, open: Vec<bool>, seed: u64) -> Picture {
    let finest = Level::new(picture, open);
    let mut levels = vec![finest.fitted(WORKING)];
    while let Some(last) = levels.last()
        && last.longest() > COARSEST
    {
        let next = last.fitted((last.longest() / 2).max(COARSEST));
        levels.push(next);
    }
    let mut guess: Option<(Picture, Sources)> = None;
    for (depth, level) in levels.iter().enumerate().rev() {
        let rounds = if depth == 0 { 2 } else { 3 + depth };
        guess = Some(match guess {
            None => {
                let sources = Sources::random(level, seed);
                level.agreed(bridged(level), sources, (12, rounds), seed)
            }
            Some((coarse, sources)) => {
                let sources = sources.finer(level);
                let start = level.joined(&coarse.resized(level.width(), level.height()));
                let start = level.voted(&start, &sources);
                level.agreed(start, sources, (3, rounds), seed)
            }
        });
    }
    match guess {
        Some((filled, sources)) if finest.longest() > WORKING => {
            let start = finest.joined(&filled.resized(finest.width(), finest.height()));
            finest.voted(&start, &sources.finer(&finest))
        }
        Some((filled, _)) => filled,
        None => finest.picture,
    }
}

/// The known parts with the gap between them bridged smoothly.
fn bridged(level: &Level) -> Picture {
    let nodes = level
        .picture
        .pixels()
        .iter()
        .map(|&[r, g, b, _]| [r, g, b].map(f32::from))
        .collect();
    let (width, height) = (level.width() as usize, level.height() as usize);
    let mut field = Field {
        width,
        height,
        nodes,
    };
    spread(&mut field, &level.open);
    let mut out = level.picture.clone();
    for (pixel, node) in out.pixels_mut().iter_mut().zip(&field.nodes) {
        (0..3).for_each(|c| pixel[c] = (node[c] + 0.5).clamp(0.0, 255.0) as u8);
    }
    out
}
