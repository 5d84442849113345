//! Face, hair and what is worn on the head.

use super::role::{Hat, PersonLook};
use crate::paint::colour::{hex, mix, scale};
use crate::subject::build::{Builder, blob, limb, oval, shape};

/// Neck, face, hair and hat.
pub(super) fn head(all: &mut Builder, figure: &PersonLook) {
    let role = figure.role;
    all.fixed(
        limb(&[(0.0, -82.0, 2.7), (0.3, -86.0, 2.5)]),
        scale(figure.skin, 0.84),
    );
    if role.hat == Hat::Bubble {
        all.fixed(oval(0.2, -91.5, 9.2, 9.4), hex(0xe9ecf0));
        all.fixed(oval(1.4, -91.5, 7.2, 7.2), hex(0x27364f));
        all.fixed(
            blob(&[(-2.5, -97.0), (2.0, -97.5), (0.0, -93.5), (-4.0, -91.0)]),
            hex(0x8fc7ea),
        );
        return;
    }
    all.fixed(
        blob(&[
            (-6.0, -96.5),
            (-4.5, -100.5),
            (4.5, -100.5),
            (6.4, -96.0),
            (5.8, -88.0),
            (1.6, -83.4),
            (-1.6, -83.4),
            (-5.6, -88.0),
        ]),
        figure.skin,
    );
    for x in [-1.7_f32, 2.9] {
        all.fixed(oval(x, -91.8, 0.72, 0.95), hex(0x241c1c));
        all.fixed(
            limb(&[(x - 1.0, -94.1, 0.28), (x + 1.0, -94.2, 0.28)]),
            scale(figure.hair, 0.8),
        );
    }
    all.fixed(
        limb(&[(0.9, -91.0, 0.22), (1.5, -89.2, 0.3)]),
        scale(figure.skin, 0.78),
    );
    all.fixed(
        limb(&[(-0.8, -86.9, 0.38), (0.8, -86.4, 0.42), (2.2, -86.9, 0.38)]),
        mix(figure.skin, hex(0xa03c3c), 0.65),
    );
    hair(all, figure);
    hat(all, figure);
}

fn hair(all: &mut Builder, figure: &PersonLook) {
    let role = figure.role;
    if role.beard {
        all.fixed(
            blob(&[
                (-5.4, -89.5),
                (-2.0, -87.0),
                (2.0, -87.0),
                (5.8, -89.5),
                (5.0, -80.0),
                (1.0, -70.0),
                (-3.8, -80.0),
            ]),
            figure.hair,
        );
    }
    if matches!(role.hat, Hat::Helmet | Hat::Hood) {
        return;
    }
    let top = [
        (-6.8, -91.0),
        (-7.2, -98.0),
        (-3.5, -103.0),
        (4.0, -103.0),
        (7.6, -98.0),
        (6.9, -92.5),
        (5.4, -96.8),
        (1.0, -98.2),
        (-3.4, -96.5),
        (-5.2, -92.0),
    ];
    all.fixed(blob(&top), figure.hair);
    if role.long_hair {
        for side in [-1.0_f32, 1.0] {
            all.fixed(
                blob(&[
                    (side * 4.8, -97.0),
                    (side * 7.6, -96.0),
                    (side * 8.4, -82.0),
                    (side * 6.6, -76.0),
                    (side * 5.8, -86.0),
                ]),
                scale(figure.hair, 1.12),
            );
        }
    }
}

#[rustfmt::skip]
fn hat(all: &mut Builder, figure: &PersonLook) {
    let cloth = figure.cloth;
    match figure.role.hat {
        Hat::Pointed => {
            all.main(blob(&[(-7.5, -97.0), (-5.0, -108.0), (1.0, -124.0), (6.5, -128.0), (4.4, -117.0), (6.6, -106.0), (7.8, -97.0)]), cloth);
            all.main(oval(0.2, -97.5, 13.5, 2.7), scale(cloth, 0.8));
            all.fixed(blob(&[(-7.2, -99.4), (7.4, -99.4), (7.0, -102.6), (-6.8, -102.6)]), hex(0xd6ad4a));
        }
        Hat::Helmet => {
            all.main(blob(&[(-7.6, -86.0), (-8.0, -98.0), (-4.0, -104.5), (4.4, -104.5), (8.2, -98.0), (7.8, -86.0), (3.0, -83.0), (-3.0, -83.0)]), mix(cloth, hex(0xffffff), 0.25));
            all.fixed(shape(&[(-4.8, -93.6), (6.8, -93.6), (6.8, -91.2), (-4.8, -91.2)]), hex(0x1b1d24));
            all.fixed(blob(&[(-3.0, -104.0), (-9.0, -113.0), (-16.0, -111.0), (-12.0, -104.0), (-4.0, -101.0)]), hex(0xb2352f));
        }
        Hat::Brim => {
            all.fixed(blob(&[(-6.8, -97.0), (-5.4, -105.0), (5.6, -105.0), (7.0, -97.0)]), hex(0x8a6a42));
            all.fixed(oval(0.2, -97.6, 13.0, 2.6), hex(0x9c7a4e));
        }
        Hat::Crown => {
            all.fixed(shape(&[(-6.0, -99.5), (-7.2, -107.5), (-3.2, -103.5), (0.2, -109.0), (3.6, -103.5), (7.6, -107.5), (6.6, -99.5)]), hex(0xe3b93f));
            for x in [-3.6_f32, 0.2, 4.0] {
                all.fixed(oval(x, -101.6, 0.9, 0.9), hex(0xc2364a));
            }
        }
        Hat::Hood => {
            all.main(blob(&[(-7.8, -84.0), (-9.0, -96.0), (-4.0, -105.5), (4.5, -105.5), (9.4, -96.0), (8.2, -84.0), (5.0, -88.0), (5.6, -96.0), (0.4, -99.5), (-4.8, -96.0), (-4.4, -88.0)]), scale(cloth, 0.9));
        }
        Hat::None | Hat::Bubble => {}
    }
}
