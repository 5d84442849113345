//! People from head to foot: pose, skin, hair and dress by role, so that no two look alike.

mod dress;
mod head;
mod role;

use super::art::Art;
use super::build::{Builder, blob, limb, oval, shape};
use crate::paint::colour::{Rgb, hex, scale};
use crate::paint::dice::Dice;
use dress::{legs, torso};
use head::head;
use role::{Dress, Gear, Hat, PersonLook, PersonRole, role};

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
    let figure = PersonLook {
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

fn behind(all: &mut Builder, figure: &PersonLook) {
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

fn arm(all: &mut Builder, figure: &PersonLook, side: f32) {
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

fn gear(all: &mut Builder, role: PersonRole, (x, y): (f32, f32)) {
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
