//! What is seen of a character beside head and shoulders when it stands there whole: arms, hips, legs, shoes.

use std::sync::Arc;

use tiny_skia::Path;

use super::drawing::{Drawing, Shade};
use super::traits::{Outfit, Traits};
use crate::paint::colour::{Rgb, hex, luma, mix, scale, with_alpha};
use crate::subject::build::{blob, both, limb, oval, shape};

/// Where the soles are, in the units of a figure; its hair begins about a hundred above zero.
pub(crate) const SOLES: f32 = 730.0;
/// The middle of a whole figure.
pub(crate) const MIDDLE: f32 = 315.0;
/// The height of a whole figure with some air.
pub(crate) const TALL: f32 = 860.0;

/// A limb with one smooth outline around all of its joints, each given with its thickness.
fn tube(joints: &[(f32, f32, f32)]) -> Option<Path> {
    let side = |hand: f32| {
        (0..joints.len()).map(move |at| {
            let (before, after) = (
                joints[at.saturating_sub(1)],
                joints[(at + 1).min(joints.len() - 1)],
            );
            let (dx, dy) = (after.0 - before.0, after.1 - before.1);
            let length = dx.hypot(dy).max(1e-3);
            let (x, y, r) = joints[at];
            (x - hand * dy / length * r, y + hand * dx / length * r)
        })
    };
    let mut points: Vec<(f32, f32)> = side(1.0).collect();
    points.extend(side(-1.0).rev());
    blob(&points)
}

/// The outline of a body that is seen whole, one half of it.
pub(crate) fn torso(t: &Traits) -> Vec<(f32, f32)> {
    let (shoulder, waist, hip) = if t.boyish {
        (84.0, 62.0, 64.0)
    } else {
        (70.0, 48.0, 62.0)
    };
    vec![
        (14.0, 76.0),
        (44.0, 90.0),
        (shoulder, 106.0),
        (shoulder + 4.0, 140.0),
        (waist + 10.0, 220.0),
        (waist, 270.0),
        (hip, 320.0),
        (hip, 352.0),
    ]
}

/// Everything that lies behind the clothes of the upper body.
pub(crate) fn behind(all: &mut Drawing, t: &Traits) {
    let ground: crate::paint::region::Field = Arc::new(|x, y| {
        let far = (x / 120.0).hypot((y - SOLES) / 15.0);
        with_alpha([0.08, 0.06, 0.14], 0.4 * (1.0 - far).clamp(0.0, 1.0))
    });
    all.add(oval(0.0, SOLES, 120.0, 15.0), ground, false);
    legs(all, t);
    arms(all, t);
}

/// What hides the hem of the upper body.
pub(crate) fn before(all: &mut Drawing, t: &Traits) {
    match t.outfit {
        Outfit::Uniform if !t.boyish => skirt(all, t),
        Outfit::Dress => gown(all, t),
        Outfit::Hoodie => {
            let hem = [(10.0, 330.0), (64.0, 326.0), (66.0, 352.0), (10.0, 358.0)];
            all.part(blob(&both(&hem)), scale(t.cloth, 0.8));
        }
        Outfit::Suit | Outfit::Uniform => {
            all.part(
                shape(&[(-62.0, 336.0), (62.0, 336.0), (63.0, 350.0), (-63.0, 350.0)]),
                hex(0x33282a),
            );
        }
        Outfit::Armour => tassets(all, t),
        Outfit::Kimono => robe(all, t),
    }
}

/// The colour of trousers that go with the rest.
fn trousers(t: &Traits) -> Rgb {
    match t.outfit {
        Outfit::Hoodie => hex(0x3c4a6b),
        Outfit::Armour => mix(hex(0x4a4e58), t.cloth, 0.2),
        Outfit::Uniform => hex(0x2b3145),
        _ => scale(t.cloth, 0.7),
    }
}

fn legs(all: &mut Drawing, t: &Traits) {
    if t.outfit == Outfit::Kimono {
        return;
    }
    let bare = matches!(t.outfit, Outfit::Uniform | Outfit::Dress) && !t.boyish;
    let wide = if bare { 0.0 } else { 5.0 };
    for side in [-1.0_f32, 1.0] {
        let leg = [
            (side * 29.0, 310.0, 33.0 + wide),
            (side * 29.0, 350.0, 33.0 + wide),
            (side * 32.0, 430.0, 27.0 + wide),
            (side * 33.0, 530.0, 19.0 + wide),
            (side * 34.0, 590.0, 19.0 + wide),
            (side * 34.0, 690.0, 11.0 + wide * 1.6),
            (side * 34.0, 716.0, 11.0 + wide * 1.6),
        ];
        let tone = if bare { t.skin } else { trousers(t) };
        all.part(tube(&leg), tone);
        let shade = if bare { 0.86 } else { 0.75 };
        all.soft(
            limb(&[(side * 14.0, 400.0, 5.0), (side * 20.0, 560.0, 3.0)]),
            scale(tone, shade),
        );
        if t.outfit == Outfit::Uniform && bare {
            let sock = [
                (side * 33.5, 562.0, 20.5),
                (side * 33.5, 572.0, 20.5),
                (side * 34.0, 610.0, 20.0),
                (side * 34.0, 692.0, 12.0),
                (side * 34.0, 712.0, 12.0),
            ];
            all.part(tube(&sock), hex(0x2a2c3a));
        }
        if t.outfit == Outfit::Armour {
            greave(all, side, t);
        }
        shoe(all, side, t);
    }
}

fn shoe(all: &mut Drawing, side: f32, t: &Traits) {
    let leather = match t.outfit {
        Outfit::Hoodie => hex(0xf2efe8),
        Outfit::Dress => mix(t.cloth, hex(0x3a2030), 0.4),
        Outfit::Armour => mix(hex(0x8a919c), t.cloth, 0.2),
        _ => hex(0x3a2622),
    };
    let foot = [
        (side * 20.0, 690.0),
        (side * 48.0, 688.0),
        (side * 60.0, 718.0),
        (side * 58.0, SOLES),
        (side * 16.0, SOLES),
    ];
    all.part(blob(&foot), leather);
    all.soft(
        limb(&[(side * 20.0, 726.0, 1.6), (side * 54.0, 726.0, 1.6)]),
        if luma(leather) > 0.6 {
            t.cloth
        } else {
            scale(leather, 0.6)
        },
    );
}

fn greave(all: &mut Drawing, side: f32, t: &Traits) {
    let steel = mix(hex(0xb4bcc8), t.cloth, 0.25);
    let shin = [
        (side * 33.0, 556.0, 25.0),
        (side * 33.0, 580.0, 25.0),
        (side * 34.0, 640.0, 22.0),
        (side * 34.0, 692.0, 18.0),
        (side * 34.0, 714.0, 18.0),
    ];
    all.part(tube(&shin), steel);
    all.part(
        oval(side * 33.0, 548.0, 25.0, 21.0),
        mix(steel, [1.0, 1.0, 1.0], 0.3),
    );
}

fn arms(all: &mut Drawing, t: &Traits) {
    let out = if t.boyish { 10.0 } else { 0.0 };
    let sleeve = match t.outfit {
        Outfit::Dress => t.skin,
        Outfit::Uniform => mix(hex(0xf7f5f2), t.cloth, 0.06),
        Outfit::Armour => mix(hex(0x9aa2ae), t.cloth, 0.25),
        _ => scale(t.cloth, 0.93),
    };
    let thick = if t.outfit == Outfit::Dress { 0.0 } else { 4.0 };
    for side in [-1.0_f32, 1.0] {
        let at = |x: f32, y: f32, r: f32| (side * (x + out), y, r);
        all.part(oval(side * (106.0 + out), 358.0, 12.0, 19.0), t.skin);
        all.part(limb(&[at(101.0, 346.0, 6.0), at(97.0, 366.0, 4.4)]), t.skin);
        if t.outfit == Outfit::Kimono {
            let wide = [
                (side * (60.0 + out), 102.0),
                (side * (92.0 + out), 120.0),
                (side * (124.0 + out), 300.0),
                (side * (134.0 + out), 372.0),
                (side * (88.0 + out), 376.0),
                (side * (78.0 + out), 250.0),
            ];
            all.shaded(
                blob(&wide),
                Shade {
                    from: scale(t.cloth, 0.95),
                    to: scale(t.cloth, 0.7),
                    top: 110.0,
                    bottom: 370.0,
                },
            );
            continue;
        }
        let arm = [
            at(58.0, 100.0, 15.0 + thick),
            at(68.0, 124.0, 17.0 + thick),
            at(84.0, 200.0, 14.0 + thick),
            at(94.0, 248.0, 12.5 + thick),
            at(103.0, 326.0, 9.0 + thick),
            at(105.0, 350.0, 8.0 + thick),
        ];
        all.part(tube(&arm), sleeve);
        all.soft(
            limb(&[at(80.0, 150.0, 1.2), at(92.0, 240.0, 2.2)]),
            scale(sleeve, 0.8),
        );
        let cuff = match t.outfit {
            Outfit::Uniform => t.cloth,
            Outfit::Suit => hex(0xf6f4f0),
            Outfit::Dress => continue,
            _ => scale(sleeve, 0.75),
        };
        let band = [
            at(102.0, 318.0, 14.0),
            at(103.0, 326.0, 14.0),
            at(104.0, 334.0, 13.5),
            at(105.0, 342.0, 13.5),
        ];
        all.part(tube(&band), cuff);
    }
}

fn skirt(all: &mut Drawing, t: &Traits) {
    all.shaded(
        shape(&both(&[
            (50.0, 266.0),
            (60.0, 300.0),
            (96.0, 418.0),
            (48.0, 428.0),
        ])),
        Shade {
            from: t.cloth,
            to: scale(t.cloth, 0.74),
            top: 270.0,
            bottom: 430.0,
        },
    );
    for k in -4..=4 {
        let x = k as f32;
        all.soft(
            limb(&[(x * 12.0, 290.0, 0.7), (x * 21.0, 422.0, 1.5)]),
            scale(t.cloth, 0.62),
        );
    }
    all.part(
        shape(&[(-51.0, 262.0), (51.0, 262.0), (54.0, 282.0), (-54.0, 282.0)]),
        scale(t.cloth, 0.85),
    );
}

fn gown(all: &mut Drawing, t: &Traits) {
    let half = [
        (48.0, 258.0),
        (70.0, 320.0),
        (112.0, 440.0),
        (132.0, 560.0),
        (60.0, 580.0),
    ];
    all.shaded(
        blob(&both(&half)),
        Shade {
            from: t.cloth,
            to: scale(t.cloth, 0.68),
            top: 260.0,
            bottom: 580.0,
        },
    );
    for k in -3..=3 {
        let x = k as f32;
        all.soft(
            limb(&[(x * 13.0, 310.0, 0.8), (x * 33.0, 560.0, 2.6)]),
            scale(t.cloth, 0.6),
        );
    }
    let frill = mix(t.cloth, [1.0, 1.0, 1.0], 0.7);
    for k in -7..=7 {
        let x = k as f32 * 16.5;
        all.part(oval(x, 566.0 - (x * x) * 0.0011, 11.0, 9.0), frill);
    }
    all.part(
        shape(&[(-52.0, 256.0), (52.0, 256.0), (54.0, 276.0), (-54.0, 276.0)]),
        frill,
    );
}

fn robe(all: &mut Drawing, t: &Traits) {
    for side in [-1.0_f32, 1.0] {
        all.part(oval(side * 32.0, 716.0, 24.0, 12.0), hex(0xf3efe6));
        all.soft(
            limb(&[(side * 12.0, 727.0, 3.0), (side * 54.0, 727.0, 3.0)]),
            hex(0x4a2f22),
        );
    }
    all.shaded(
        shape(&both(&[(74.0, 296.0), (80.0, 420.0), (84.0, 706.0)])),
        Shade {
            from: t.cloth,
            to: scale(t.cloth, 0.68),
            top: 260.0,
            bottom: 700.0,
        },
    );
    all.soft(
        limb(&[(14.0, 300.0, 1.0), (26.0, 698.0, 2.4)]),
        scale(t.cloth, 0.5),
    );
    let light = mix(t.cloth, [1.0, 1.0, 1.0], 0.75);
    for (x, y) in [(-48.0, 480.0), (52.0, 560.0), (-30.0, 620.0), (58.0, 430.0)] {
        for k in 0..5 {
            let (sin, cos) = (k as f32 * 1.2566).sin_cos();
            all.soft(
                oval(x + cos * 7.0, y + sin * 7.0, 5.0, 5.0),
                mix(light, hex(0xf28aa8), 0.4),
            );
        }
        all.soft(oval(x, y, 3.0, 3.0), hex(0xf2d060));
    }
}

fn tassets(all: &mut Drawing, t: &Traits) {
    let steel = mix(hex(0xb4bcc8), t.cloth, 0.25);
    for side in [-1.0_f32, 1.0] {
        let plate = [
            (side * 6.0, 316.0),
            (side * 66.0, 312.0),
            (side * 78.0, 420.0),
            (side * 14.0, 432.0),
        ];
        all.shaded(
            blob(&plate),
            Shade {
                from: steel,
                to: scale(steel, 0.65),
                top: 310.0,
                bottom: 440.0,
            },
        );
    }
    all.part(
        shape(&[(-64.0, 300.0), (64.0, 300.0), (66.0, 322.0), (-66.0, 322.0)]),
        hex(0x5a4030),
    );
}
