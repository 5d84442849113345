//! Legs and what covers the body.

use super::role::{Dress, PersonLook};
use crate::paint::colour::{hex, mix, scale};
use crate::subject::build::{Builder, blob, both, limb, oval, shape};

pub(super) fn legs(all: &mut Builder, figure: &PersonLook) {
    let (role, s) = (figure.role, figure.stride);
    let cloth = match role.dress {
        Dress::Trousers => mix(figure.cloth, hex(0x2b3350), 0.75),
        Dress::Skirt => figure.skin,
        _ => scale(figure.cloth, 0.82),
    };
    let shoe = if role.dress == Dress::Suit || role.dress == Dress::Armour {
        scale(figure.cloth, 0.7)
    } else {
        hex(0x3a2a22)
    };
    let t = if role.dress == Dress::Suit { 1.45 } else { 1.0 };
    for (side, tone) in [(-1.0_f32, 0.8), (1.0, 1.0)] {
        let (hip, foot) = (side * 3.4, side * 3.2 + side * s * 0.55);
        let leg = limb(&[
            (hip, -48.0, 4.6 * t),
            (hip + side * s * 0.32 + 0.8, -25.0, 3.5 * t),
            (foot, -4.0, 2.6 * t),
        ]);
        let shade = scale(cloth, tone);
        if role.dress == Dress::Skirt {
            all.fixed(leg, shade);
        } else {
            all.main(leg, shade);
        }
        all.fixed(
            limb(&[(foot - 0.5, -2.2, 2.4 * t), (foot + 4.2, -1.9, 1.9 * t)]),
            scale(shoe, tone),
        );
    }
}

/// The body in its clothes.
#[rustfmt::skip]
pub(super) fn torso(all: &mut Builder, figure: &PersonLook) {
    let role = figure.role;
    let cloth = figure.cloth;
    match role.dress {
        Dress::Robe => {
            all.main(blob(&[(-8.0, -82.0), (8.0, -82.0), (10.5, -64.0), (12.0, -36.0), (16.0, -3.0), (6.0, -1.0), (-8.0, -1.0), (-17.0, -3.0), (-12.0, -36.0), (-10.0, -64.0)]), cloth);
            all.main(shape(&[(-1.0, -78.0), (2.5, -78.0), (6.0, -2.0), (-5.0, -2.0)]), mix(cloth, hex(0xf4e2b0), 0.3));
            all.fixed(blob(&[(-10.6, -57.0), (10.8, -57.0), (10.8, -53.0), (-10.8, -53.0)]), mix(hex(0xc9a24a), cloth, 0.25));
        }
        Dress::Skirt => {
            all.main(blob(&[(-7.2, -81.0), (7.2, -81.0), (7.0, -66.0), (5.8, -57.0), (13.0, -27.0), (5.0, -24.0), (-6.0, -24.0), (-13.5, -27.0), (-5.8, -57.0), (-7.0, -66.0)]), cloth);
            all.fixed(blob(&[(-6.2, -58.5), (6.2, -58.5), (6.4, -55.5), (-6.4, -55.5)]), scale(cloth, 0.6));
        }
        _ => {
            let w = if role.dress == Dress::Suit { 1.25 } else { 1.0 };
            let half = [(8.6 * w, -82.0), (9.6 * w, -72.0), (7.6 * w, -56.0), (7.8 * w, -45.0)];
            let mut outline = both(&half);
            outline.rotate_left(0);
            all.main(blob(&outline), cloth);
            all.fixed(blob(&[(-7.8 * w, -50.0), (7.8 * w, -50.0), (7.8 * w, -46.5), (-7.8 * w, -46.5)]), scale(cloth, 0.55));
        }
    }
    match role.dress {
        Dress::Armour => {
            all.fixed(blob(&[(-7.0, -80.0), (0.0, -78.0), (7.0, -80.0), (7.5, -66.0), (0.0, -57.0), (-7.5, -66.0)]), mix(cloth, hex(0xffffff), 0.45));
            for side in [-1.0_f32, 1.0] {
                all.fixed(oval(side * 10.0, -79.0, 4.6, 4.2), mix(cloth, hex(0xffffff), 0.3));
            }
        }
        Dress::Suit => {
            all.fixed(shape(&[(-5.0, -73.0), (5.0, -73.0), (5.0, -63.0), (-5.0, -63.0)]), hex(0x9aa6b6));
            for (i, colour) in [hex(0xd9483b), hex(0x3f8fd6), hex(0xe8b23c)]
                .into_iter()
                .enumerate()
            {
                all.fixed(oval(-3.0 + 3.0 * i as f32, -66.5, 1.0, 1.0), colour);
            }
        }
        Dress::Trousers => all.fixed(shape(&[(-2.4, -82.5), (2.4, -82.5), (0.0, -75.0)]), figure.skin),
        _ => {}
    }
}
