//! Filling a gap inside a picture with patches of the rest, from coarse to fine.

use atelier_media::sampling::Field;
use atelier_media::{Picture, spread};

use super::level::Level;
use super::sources::Sources;

/// Longest side at which patches are looked for; finer pixels are copied along with them.
const WORKING: u32 = 512;
/// Longest side of the coarsest level.
const COARSEST: u32 = 32;

/// Fills the open pixels with patches, from coarse to fine.
pub(super) fn patched(picture: Picture, open: Vec<bool>, seed: u64) -> Picture {
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
                level.agreed(bridged(level), sources, 12, rounds, seed)
            }
            Some((coarse, sources)) => {
                let sources = sources.finer(level);
                let start = level.joined(&coarse.resized(level.width(), level.height()));
                let start = level.voted(&start, &sources);
                level.agreed(start, sources, 3, rounds, seed)
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
