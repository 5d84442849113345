//! What an outline shuts off from the border of a picture: even where its colour is that of the ground, it is not.

use std::collections::BinaryHeap;

/// A step must be this much higher than those along the border to be an outline.
const HIGHER: f32 = 2.6;
/// And at least this high, of 255.
const LEAST: f32 = 7.0;

/// Which places an outline shuts off from the upper three borders; nothing when that is next to nothing, or so much
/// that it says nothing.
pub(super) fn shut_off(colours: &[[f32; 3]], width: usize, height: usize) -> Option<Vec<bool>> {
    let highest = highest_steps(colours, width, height);
    let margin = (width.min(height) / 10).max(2);
    let mut outer: Vec<u16> = (0..colours.len())
        .filter(|at| {
            let (x, y) = (at % width, at / width);
            y < margin || x < margin || x + margin >= width
        })
        .map(|at| highest[at])
        .collect();
    outer.sort_unstable();
    // Most of what lies along the border is reached over steps no higher than this.
    let usual = f32::from(outer[outer.len() * 8 / 10]) * UNIT;
    let outline = (usual * HIGHER).max(LEAST);
    let shut: Vec<bool> = highest
        .iter()
        .map(|step| f32::from(*step) * UNIT > outline)
        .collect();
    let count = shut.iter().filter(|shut| **shut).count();
    (shut.len() / 50..shut.len() / 2)
        .contains(&count)
        .then_some(shut)
}

/// Steps are counted in quarters.
const UNIT: f32 = 0.25;

/// The highest step on the easiest way from the upper three borders to every place.
fn highest_steps(colours: &[[f32; 3]], width: usize, height: usize) -> Vec<u16> {
    let mut best = vec![u16::MAX; colours.len()];
    let mut next = BinaryHeap::new();
    for (at, best) in best.iter_mut().enumerate() {
        let (x, y) = (at % width, at / width);
        if y == 0 || ((x == 0 || x + 1 == width) && y < height * 3 / 4) {
            *best = 0;
            next.push((std::cmp::Reverse(0_u16), at));
        }
    }
    while let Some((std::cmp::Reverse(so_far), at)) = next.pop() {
        if so_far > best[at] {
            continue;
        }
        let (x, y) = (at % width, at / width);
        let around = [
            (x > 0).then(|| at - 1),
            (x + 1 < width).then_some(at + 1),
            (y > 0).then(|| at - width),
            (y + 1 < height).then_some(at + width),
        ];
        for near in around.into_iter().flatten() {
            let (a, b) = (colours[at], colours[near]);
            let step = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
            let way = so_far.max((step / UNIT) as u16);
            if way < best[near] {
                best[near] = way;
                next.push((std::cmp::Reverse(way), near));
            }
        }
    }
    best
}
