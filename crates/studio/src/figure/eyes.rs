//! Large eyes: lashes, a graded iris, two lights; brows that carry the expression.

use std::sync::Arc;

use super::drawing::Drawing;
use super::traits::{Expression, Traits};
use crate::paint::colour::{hex, mix, scale, with_alpha};
use crate::paint::region::Field;
use crate::subject::build::{blob, limb, oval};

/// Both eyes and brows.
pub(crate) fn eyes(all: &mut Drawing, t: &Traits) {
    for side in [-1.0_f32, 1.0] {
        eye(all, t, side);
        brow(all, t, side);
    }
}

#[rustfmt::skip]
fn eye(all: &mut Drawing, t: &Traits, side: f32) {
    let x = side * 24.0;
    let open = match t.expression {
        Expression::Surprised => 1.16,
        Expression::Serious | Expression::Angry => 0.84,
        Expression::Sad => 0.92,
        _ => 1.0,
    } * if t.boyish { 0.8 } else { 1.0 };
    let at = |dx: f32, dy: f32| (x + side * dx, 4.0 + dy * open);
    let lash = mix(hex(0x1c1218), t.hair, 0.15);
    all.soft(blob(&[at(-14.0, 2.0), at(-11.0, -12.0), at(0.0, -18.0), at(12.0, -13.0), at(16.0, 0.0), at(10.0, 16.0), at(0.0, 19.0), at(-10.0, 15.0)]), hex(0xffffff));
    // The lid's shadow on the white.
    all.soft(blob(&[at(-13.0, -2.0), at(-10.0, -13.0), at(0.0, -18.0), at(12.0, -13.0), at(15.0, -2.0), at(0.0, -9.0)]), hex(0xcfd4e4));
    let (top, bottom) = (4.0 - 17.0 * open, 4.0 + 18.0 * open);
    let colour = t.eyes;
    let iris: Field = Arc::new(move |px, py| {
        let down = (py - top) / (bottom - top);
        let base = mix(scale(colour, 0.34), mix(colour, [1.0, 1.0, 1.0], 0.34), down);
        let ring = ((px - x) / 11.0).hypot((py - 4.0) / 16.5);
        with_alpha(mix(base, scale(colour, 0.25), ((ring - 0.78) * 5.0).clamp(0.0, 1.0)), 1.0)
    });
    all.add(oval(x + side * 0.6, 4.0 + 0.5 * open, 11.0, 16.0 * open), iris, false);
    all.soft(oval(x + side * 0.6, 4.0 + 0.5 * open, 4.6, 7.4 * open), scale(colour, 0.16));
    all.soft(blob(&[at(-6.0, 11.0), at(1.0, 8.0), at(7.0, 11.0), at(1.0, 15.0)].map(|p| p)), mix(colour, [1.0, 1.0, 1.0], 0.6));
    all.soft(oval(x - 4.2, 4.0 - 7.0 * open, 3.9, 4.8 * open), hex(0xffffff));
    all.soft(oval(x + 4.6, 4.0 + 6.4 * open, 1.9, 2.2 * open), hex(0xffffff));
    let w = if t.boyish { 0.75 } else { 1.0 };
    let upper = [at(-15.0, 1.0), at(-11.5, -12.0), at(0.0, -18.5), at(12.0, -14.0), at(18.0, -2.0)];
    let thick = [0.9, 1.9, 2.5, 2.7, 1.1];
    let joints: Vec<(f32, f32, f32)> = upper
        .iter()
        .zip(thick)
        .map(|(p, r)| (p.0, p.1, r * w))
        .collect();
    all.soft(limb(&joints), lash);
    if !t.boyish {
        for (from, to) in [((15.0, -8.0), (22.0, -11.0)), ((16.5, -4.0), (23.5, -4.5))] {
            let (a, b) = (at(from.0, from.1), at(to.0, to.1));
            all.soft(limb(&[(a.0, a.1, 1.6), (b.0, b.1, 0.3)]), lash);
        }
    }
    let lower = [at(-6.0, 18.6), at(4.0, 19.4), at(12.0, 14.0)];
    let joints: Vec<(f32, f32, f32)> = lower.iter().map(|p| (p.0, p.1, 0.7)).collect();
    all.soft(limb(&joints), mix(lash, t.skin, 0.35));
    let fold = [at(-9.0, -19.0), at(2.0, -24.0), at(13.0, -19.0)];
    let joints: Vec<(f32, f32, f32)> = fold.iter().map(|p| (p.0, p.1, 0.55)).collect();
    all.soft(limb(&joints), mix(lash, t.skin, 0.45));
}

fn brow(all: &mut Drawing, t: &Traits, side: f32) {
    let (inner, outer) = match t.expression {
        Expression::Sad => (-33.0, -24.0),
        Expression::Angry => (-20.0, -33.0),
        Expression::Surprised => (-38.0, -37.0),
        Expression::Serious => (-25.0, -29.0),
        _ => (-29.0, -29.0),
    };
    let w = if t.boyish { 1.9 } else { 1.25 };
    let joints = [
        (side * 11.0, inner, w),
        (side * 24.0, (inner + outer) * 0.5 - 3.4, w),
        (side * 38.0, outer, w * 0.4),
    ];
    all.soft(limb(&joints), scale(t.hair, 0.62));
}
