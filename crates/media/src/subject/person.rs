//! People from head to foot: pose, skin, hair and dress by role, so that no two look alike.

use super::Art;
use super::build::{Builder, blob, both, limb, oval, shape};
use crate::scene::{Dice, Rgb, hex, mix, scale};

/// What a person wears.
#[derive(Clone, Copy, PartialEq)]
enum Dress {
    Trousers,
    Skirt,
    Robe,
    Armour,
    Suit,
}

/// What is on the head.
#[derive(Clone, Copy, PartialEq)]
enum Hat {
    None,
    Pointed,
    Helmet,
    Bubble,
    Brim,
    Crown,
    Hood,
}

/// What is carried.
#[derive(Clone, Copy, PartialEq)]
enum Gear {
    None,
    Staff,
    Sword,
    Pack,
}

#[derive(Clone, Copy)]
struct Role {
    dress: Dress,
    hat: Hat,
    gear: Gear,
    long_hair: bool,
    beard: bool,
    cloth: Rgb,
    tall: f32,
    cape: Option<Rgb>,
}

#[rustfmt::skip]
fn role(name: &str) -> Option<Role> {
    let base = Role { dress: Dress::Trousers, hat: Hat::None, gear: Gear::None, long_hair: false, beard: false, cloth: hex(0x3f6fa8), tall: 1.0, cape: None };
    Some(match name {
        "man" | "person" => base,
        "woman" => Role { dress: Dress::Skirt, long_hair: true, cloth: hex(0xc14b5d), ..base },
        "child" => Role { tall: 0.62, cloth: hex(0xe0a132), ..base },
        "wanderer" => Role { hat: Hat::Brim, gear: Gear::Pack, cloth: hex(0x6d5a3c), cape: Some(hex(0x7a3b2c)), ..base },
        "knight" => Role { dress: Dress::Armour, hat: Hat::Helmet, gear: Gear::Sword, cloth: hex(0x9aa4b2), cape: Some(hex(0xa32f2f)), ..base },
        "wizard" => Role { dress: Dress::Robe, hat: Hat::Pointed, gear: Gear::Staff, beard: true, long_hair: true, cloth: hex(0x4a3f8f), ..base },
        "witch" => Role { dress: Dress::Robe, hat: Hat::Pointed, gear: Gear::Staff, long_hair: true, cloth: hex(0x3a2d4a), ..base },
        "monk" => Role { dress: Dress::Robe, hat: Hat::Hood, gear: Gear::Staff, cloth: hex(0xb5692c), ..base },
        "astronaut" => Role { dress: Dress::Suit, hat: Hat::Bubble, gear: Gear::Pack, cloth: hex(0xe9ecf0), ..base },
        "princess" => Role { dress: Dress::Robe, hat: Hat::Crown, long_hair: true, cloth: hex(0xd77fb0), ..base },
        "king" => Role { dress: Dress::Robe, hat: Hat::Crown, gear: Gear::Staff, beard: true, cloth: hex(0x8f2437), cape: Some(hex(0xd9b45a)), ..base },
        "samurai" => Role { dress: Dress::Robe, hat: Hat::Brim, gear: Gear::Sword, cloth: hex(0x2f3f5f), ..base },
        _ => return None,
    })
}

/// Everything chosen for one figure.
struct Figure {
    role: Role,
    skin: Rgb,
    hair: Rgb,
    cloth: Rgb,
    stride: f32,
}

/// The picture of a person; `cloth` is the colour the prompt asks for.
pub(crate) fn art(name: &str, cloth: Option<Rgb>, dice: &Dice) -> Option<Art> {
    let role = role(name)?;
    let skin = [
        hex(0xf1c8a4),
        hex(0xe0a878),
        hex(0xb97a4f),
        hex(0x8a5a3c),
        hex(0xf6d9bd),
    ][dice.pick("skin", 5)];
    let hair = [
        hex(0x2a1d18),
        hex(0x5a3a24),
        hex(0x9a6a35),
        hex(0xc98f46),
        hex(0x3d2b26),
    ][dice.pick("hair", 5)];
    let hair = if role.beard { hex(0xd9d7d2) } else { hair };
    let figure = Figure {
        role,
        skin,
        hair,
        cloth: cloth.unwrap_or(role.cloth),
        stride: dice.between("stride", 2.0, 9.0),
    };
    let mut all = Builder::default();
    behind(&mut all, &figure);
    arm(&mut all, &figure, -1.0);
    legs(&mut all, &figure);
    torso(&mut all, &figure);
    head(&mut all, &figure);
    arm(&mut all, &figure, 1.0);
    let art = all.art()?;
    Some(if role.tall < 1.0 {
        childlike(&art)
    } else {
        art
    })
}

/// A child has the same head on a shorter body.
fn childlike(art: &Art) -> Art {
    let squeeze = tiny_skia::Transform::from_row(0.86, 0.0, 0.0, 0.72, 0.0, 0.0);
    let parts = art.parts.iter().cloned().map(|mut part| {
        if part.path.bounds().bottom() > -76.0 {
            if let Some(path) = part.path.clone().transform(squeeze) {
                part.path = path;
            }
        } else if let Some(path) = part
            .path
            .clone()
            .transform(tiny_skia::Transform::from_translate(0.0, 22.5))
        {
            part.path = path;
        }
        part
    });
    Art::new(parts.collect()).unwrap_or_else(|| art.clone())
}

fn behind(all: &mut Builder, figure: &Figure) {
    let role = figure.role;
    if let Some(cape) = role.cape {
        all.main(
            blob(&[
                (-9.0, -80.0),
                (9.0, -80.0),
                (13.0, -50.0),
                (17.0, -14.0),
                (4.0, -10.0),
                (-14.0, -12.0),
                (-17.0, -20.0),
                (-13.0, -52.0),
            ]),
            cape,
        );
    }
    if role.gear == Gear::Pack {
        let pack = if role.dress == Dress::Suit {
            hex(0xc2c8d0)
        } else {
            hex(0x5c6b4a)
        };
        all.fixed(
            blob(&[
                (-15.0, -78.0),
                (-4.0, -80.0),
                (-3.0, -54.0),
                (-16.0, -53.0),
                (-17.0, -66.0),
            ]),
            pack,
        );
    }
    if role.long_hair && role.hat != Hat::Bubble {
        all.fixed(
            blob(&[
                (-7.5, -97.0),
                (7.0, -97.0),
                (8.5, -84.0),
                (8.0, -72.0),
                (2.0, -70.0),
                (-8.0, -70.0),
                (-9.5, -82.0),
            ]),
            figure.hair,
        );
    }
}

fn legs(all: &mut Builder, figure: &Figure) {
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

#[rustfmt::skip]
fn torso(all: &mut Builder, figure: &Figure) {
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

fn arm(all: &mut Builder, figure: &Figure, side: f32) {
    let role = figure.role;
    let t = if role.dress == Dress::Suit { 1.4 } else { 1.0 };
    let holds = side > 0.0 && matches!(role.gear, Gear::Staff | Gear::Sword);
    let swing = figure.stride * 0.5 * -side;
    let shoulder = (side * 8.6 * if t > 1.0 { 1.15 } else { 1.0 }, -78.5);
    let (elbow, hand) = if holds {
        ((side * 13.0, -66.0), (side * 17.5, -58.0))
    } else {
        (
            (side * 11.4 + swing * 0.3, -65.0),
            (side * 11.0 + swing, -51.0),
        )
    };
    if holds {
        gear(all, role, hand);
    }
    let sleeve = scale(figure.cloth, if side < 0.0 { 0.8 } else { 0.93 });
    all.main(
        limb(&[
            (shoulder.0, shoulder.1, 3.4 * t),
            (elbow.0, elbow.1, 2.9 * t),
            (hand.0, hand.1, 2.3 * t),
        ]),
        sleeve,
    );
    let glove = if role.dress == Dress::Suit || role.dress == Dress::Armour {
        scale(figure.cloth, 0.75)
    } else {
        figure.skin
    };
    all.fixed(oval(hand.0, hand.1 + 1.4, 2.4 * t, 2.6 * t), glove);
}

fn gear(all: &mut Builder, role: Role, (x, y): (f32, f32)) {
    if role.gear == Gear::Staff {
        all.fixed(
            limb(&[(x, y - 44.0, 1.1), (x + 0.6, 0.0, 1.3)]),
            hex(0x6b4a2e),
        );
        all.fixed(oval(x, y - 47.0, 4.0, 4.2), hex(0x6fd6e8));
        all.fixed(oval(x - 1.0, y - 48.2, 1.4, 1.4), hex(0xf0fdff));
    } else {
        all.fixed(
            shape(&[
                (x - 1.5, y),
                (x + 9.0, y - 45.0),
                (x + 11.5, y - 51.0),
                (x + 12.2, y - 44.5),
                (x + 2.0, y + 1.0),
            ]),
            hex(0xd3dae2),
        );
        all.fixed(
            limb(&[(x - 4.6, y - 2.6, 1.1), (x + 5.2, y + 0.2, 1.1)]),
            hex(0xb58a3a),
        );
    }
}

fn head(all: &mut Builder, figure: &Figure) {
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

fn hair(all: &mut Builder, figure: &Figure) {
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
fn hat(all: &mut Builder, figure: &Figure) {
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
