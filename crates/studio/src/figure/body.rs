//! Head, mouth and what is worn on the head.

use super::drawing::Drawing;
use super::traits::{Expression, Extra, Traits};
use crate::paint::colour::{hex, mix, scale};
use crate::subject::build::{blob, both, limb, oval, shape};

/// Neck, ears, face and cheeks.
pub(crate) fn head(all: &mut Drawing, t: &Traits) {
    let shade = mix(scale(t.skin, 0.86), hex(0xc0607a), 0.12);
    for side in [-1.0_f32, 1.0] {
        all.part(
            blob(&[
                (side * 46.0, -6.0),
                (side * 56.0, -12.0),
                (side * 58.0, 6.0),
                (side * 50.0, 20.0),
                (side * 45.0, 12.0),
            ]),
            t.skin,
        );
    }
    let jaw = if t.boyish { 20.0 } else { 15.0 };
    let half = [
        (0.0, -68.0),
        (44.0, -64.0),
        (53.0, -24.0),
        (51.0, 8.0),
        (38.0, 38.0),
        (jaw, 56.0),
        (5.0, 62.0),
    ];
    all.part(blob(&both(&half)), t.skin);
    // The fringe throws a shadow on the forehead.
    all.soft(
        blob(&[
            (-47.0, -40.0),
            (-30.0, -52.0),
            (30.0, -52.0),
            (47.0, -40.0),
            (45.0, -22.0),
            (24.0, -29.0),
            (0.0, -25.0),
            (-24.0, -29.0),
            (-45.0, -22.0),
        ]),
        shade,
    );
    if t.has(Extra::Blush) {
        let red = mix(t.skin, hex(0xf0586a), 0.42);
        for side in [-1.0_f32, 1.0] {
            all.soft(oval(side * 30.0, 27.0, 10.0, 5.4), red);
            for k in 0..3 {
                let x = side * 30.0 - 5.0 + 5.0 * k as f32;
                all.soft(
                    limb(&[(x - 1.2, 29.6, 0.7), (x + 1.2, 24.8, 0.7)]),
                    mix(t.skin, hex(0xe03050), 0.7),
                );
            }
        }
    }
    all.soft(
        blob(&[(0.5, 24.0), (4.2, 29.4), (0.2, 30.4)]),
        mix(t.skin, hex(0xb05a5a), 0.55),
    );
}

/// The mouth of an expression.
pub(crate) fn mouth(all: &mut Drawing, t: &Traits) {
    let dark = hex(0x6a1f2a);
    match t.expression {
        Expression::Smile => all.soft(
            limb(&[
                (-9.0, 41.0, 0.9),
                (-4.0, 44.4, 1.2),
                (4.0, 44.4, 1.2),
                (9.0, 41.0, 0.9),
            ]),
            dark,
        ),
        Expression::Laugh => {
            all.part(
                blob(&[
                    (-13.0, 38.0),
                    (-13.0, 38.0),
                    (0.0, 40.5),
                    (13.0, 38.0),
                    (13.0, 38.0),
                    (8.0, 50.0),
                    (0.0, 54.0),
                    (-8.0, 50.0),
                ]),
                dark,
            );
            all.soft(
                blob(&[(-7.0, 48.5), (0.0, 45.5), (7.0, 48.5), (0.0, 53.0)]),
                hex(0xe8707a),
            );
            all.soft(
                shape(&[(-10.5, 39.4), (10.5, 39.4), (9.0, 42.6), (-9.0, 42.6)]),
                hex(0xffffff),
            );
        }
        Expression::Serious => all.soft(limb(&[(-7.0, 43.0, 1.0), (7.0, 43.0, 1.0)]), dark),
        Expression::Sad => {
            all.soft(
                limb(&[(-7.0, 46.0, 0.9), (0.0, 42.6, 1.1), (7.0, 46.0, 0.9)]),
                dark,
            );
            all.soft(
                blob(&[(29.0, 22.0), (33.5, 31.0), (29.0, 36.0), (25.5, 31.0)]),
                hex(0xbfe6ff),
            );
        }
        Expression::Angry => {
            all.part(
                blob(&[
                    (-9.0, 45.0),
                    (0.0, 40.0),
                    (9.0, 45.0),
                    (7.0, 50.0),
                    (-7.0, 50.0),
                ]),
                dark,
            );
            all.soft(
                shape(&[(-6.0, 43.6), (6.0, 43.6), (6.4, 46.0), (-6.4, 46.0)]),
                hex(0xffffff),
            );
        }
        Expression::Surprised => all.part(oval(0.0, 45.0, 5.0, 6.6), dark),
    }
}

/// Glasses, ears, bows, hats and headphones.
#[rustfmt::skip]
pub(crate) fn extras(all: &mut Drawing, t: &Traits) {
    if t.has(Extra::Glasses) {
        let frame = hex(0x2c2a33);
        for side in [-1.0_f32, 1.0] {
            let x = side * 24.0;
            for k in 0..28 {
                let turn = |i: i32| i as f32 / 28.0 * std::f32::consts::TAU;
                let at = |i: i32| (x + turn(i).cos() * 20.0, 4.0 + turn(i).sin() * 18.0, 1.2);
                all.soft(limb(&[at(k), at(k + 1)]), frame);
            }
            all.soft(limb(&[(side * 44.0, 0.0, 1.1), (side * 54.0, -4.0, 1.1)]), frame);
        }
        all.soft(limb(&[(-4.0, 2.0, 1.1), (4.0, 2.0, 1.1)]), frame);
    }
    if t.has(Extra::CatEars) {
        for side in [-1.0_f32, 1.0] {
            all.part(blob(&[(side * 20.0, -84.0), (side * 34.0, -118.0), (side * 47.0, -134.0), (side * 47.0, -134.0), (side * 57.0, -106.0), (side * 56.0, -70.0)]), t.hair);
            all.soft(blob(&[(side * 33.0, -88.0), (side * 42.0, -112.0), (side * 47.0, -122.0), (side * 51.0, -102.0), (side * 51.0, -82.0)]), mix(hex(0xf5b8bc), t.skin, 0.3));
        }
    }
    if t.has(Extra::Headphones) {
        let metal = hex(0x3a3d48);
        let arc: Vec<(f32, f32, f32)> = (0..=16)
            .map(|k| {
                let turn = std::f32::consts::PI * (1.0 + k as f32 / 16.0);
                (turn.cos() * 63.0, -12.0 + turn.sin() * 82.0, 3.6)
            })
            .collect();
        all.part(limb(&arc), metal);
        for side in [-1.0_f32, 1.0] {
            all.part(oval(side * 61.0, 0.0, 11.0, 19.0), metal);
            all.soft(oval(side * 63.0, 0.0, 6.0, 12.0), t.cloth);
        }
    }
    if t.has(Extra::Bow) && !t.has(Extra::Hat) {
        bow(all, (40.0, -78.0), 1.0, t);
    }
    if t.has(Extra::Hat) {
        let felt = mix(t.cloth, hex(0x241d33), 0.55);
        all.part(blob(&[(-50.0, -72.0), (-34.0, -112.0), (-8.0, -150.0), (30.0, -176.0), (30.0, -176.0), (22.0, -140.0), (40.0, -108.0), (52.0, -72.0)]), felt);
        all.part(oval(0.0, -72.0, 88.0, 15.0), scale(felt, 0.9));
        all.part(blob(&[(-48.0, -84.0), (-42.0, -98.0), (42.0, -98.0), (49.0, -84.0), (0.0, -78.0)]), hex(0xd6a840));
    }
}

pub(crate) fn bow(all: &mut Drawing, (x, y): (f32, f32), size: f32, t: &Traits) {
    let red = mix(t.cloth, hex(0xe0405a), 0.65);
    for side in [-1.0_f32, 1.0] {
        let at = |dx: f32, dy: f32| (x + side * dx * size, y + dy * size);
        all.part(
            blob(&[
                at(2.0, 0.0),
                at(14.0, -12.0),
                at(25.0, -11.0),
                at(25.0, 11.0),
                at(14.0, 11.0),
            ]),
            red,
        );
        all.soft(
            blob(&[at(5.0, 0.0), at(15.0, -4.0), at(15.0, 4.0)]),
            scale(red, 0.75),
        );
    }
    all.part(oval(x, y, 5.0 * size, 6.0 * size), scale(red, 0.9));
}
