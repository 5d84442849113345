//! Where the parts of one picture went in another: coarse-to-fine block matching, halfway between the two.

use atelier_media::Picture;
use atelier_media::sampling::Field;

/// Longest side of the finest level.
const FINEST: u32 = 160;
const LEVELS: u32 = 4;
/// How far a block is looked for around the best guess so far.
const REACH: isize = 3;
/// Cost of a step away from the guess, so that flat parts stay where they are.
const STIFFNESS: f32 = 2.5;
/// No part moves further than this share of the longer side.
const FURTHEST: f32 = 0.12;

/// Displacements in shares of the width and height: what is at `p - d/2` in the first picture is at `p + d/2` in
/// the second.
pub(super) fn flow(start: &Picture, end: &Picture) -> Field<2> {
    let (start, end) = (start.fitted(FINEST), end.fitted(FINEST));
    let mut field: Option<Field<2>> = None;
    for level in (0..LEVELS).rev() {
        let one = features(&start, FINEST >> level);
        let other = features(&end, FINEST >> level);
        let mut guess = match field {
            None => Field::new(one.width, one.height, [0.0; 2]),
            Some(coarse) => {
                let scale = one.width as f32 / coarse.width as f32;
                let mut finer = coarse.resized(one.width, one.height);
                finer
                    .nodes
                    .iter_mut()
                    .for_each(|d| *d = d.map(|value| value * scale));
                finer
            }
        };
        for _ in 0..2 {
            refine(&mut guess, &one, &other);
        }
        field = Some(guess);
    }
    let mut field = field.unwrap_or_else(|| Field::new(1, 1, [0.0; 2]));
    let (width, height) = (field.width as f32, field.height as f32);
    let most = FURTHEST * width.max(height);
    for d in &mut field.nodes {
        let length = d[0].hypot(d[1]).max(1e-6);
        let scale = (most / length).min(1.0);
        *d = [d[0] * scale / width, d[1] * scale / height];
    }
    field
}

/// Brightness and two colour differences of a small copy.
fn features(picture: &Picture, longest: u32) -> Field<3> {
    let small = picture.fitted(longest);
    let nodes = small
        .pixels()
        .iter()
        .map(|&[r, g, b, _]| {
            let [r, g, b] = [r, g, b].map(f32::from);
            [0.3 * r + 0.59 * g + 0.11 * b, 0.5 * (r - g), 0.5 * (b - g)]
        })
        .collect();
    Field {
        width: small.width as usize,
        height: small.height as usize,
        nodes,
    }
}

/// One round: both pictures are moved by the guess, then every node looks around for a better match.
fn refine(guess: &mut Field<2>, one: &Field<3>, other: &Field<3>) {
    let (width, height) = (guess.width, guess.height);
    let moved = |source: &Field<3>, share: f32| {
        let mut out = source.clone();
        for (index, node) in out.nodes.iter_mut().enumerate() {
            let d = guess.nodes[index];
            *node = source.at(
                (index % width) as f32 + d[0] * share,
                (index / width) as f32 + d[1] * share,
            );
        }
        out
    };
    let (here, there) = (moved(one, -0.5), moved(other, 0.5));
    let mut best = vec![(f32::MAX, [0.0; 2]); width * height];
    for step_y in -REACH..=REACH {
        for step_x in -REACH..=REACH {
            let mut cost = Field::new(width, height, [0.0]);
            for (index, node) in cost.nodes.iter_mut().enumerate() {
                let x = (index % width) as isize + step_x;
                let y = (index / width) as isize + step_y;
                let x = x.clamp(0, width as isize - 1) as usize;
                let y = y.clamp(0, height as isize - 1) as usize;
                let (a, b) = (here.nodes[index], there.nodes[y * width + x]);
                node[0] = (a[0] - b[0]).abs() + (a[1] - b[1]).abs() + (a[2] - b[2]).abs();
            }
            let step = [step_x as f32, step_y as f32];
            let price = STIFFNESS * step[0].hypot(step[1]);
            for (best, cost) in best.iter_mut().zip(&cost.blurred(2).nodes) {
                if cost[0] + price < best.0 {
                    *best = (cost[0] + price, step);
                }
            }
        }
    }
    for (d, (_, step)) in guess.nodes.iter_mut().zip(best) {
        *d = [d[0] + step[0], d[1] + step[1]];
    }
    *guess = guess.blurred(2).blurred(2);
}
