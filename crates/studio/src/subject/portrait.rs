//! Portraits: head and shoulders, with features placed by the choices of the seed.

use super::art::Art;
use super::build::{Builder, blob, both, limb, oval, shape};
use crate::paint::colour::{Rgb, hex, mix, scale};
use crate::paint::dice::Dice;

struct Sitter {
    skin: Rgb,
    hair: Rgb,
    iris: Rgb,
    cloth: Rgb,
    woman: bool,
    jaw: f32,
    wide: f32,
    cut: usize,
}

/// The picture of a portrait; `cloth` is the colour the prompt asks for.
pub(crate) fn art(name: &str, cloth: Option<Rgb>, dice: &Dice) -> Option<Art> {
    let woman = match name {
        "portrait of a woman" => true,
        "portrait of a man" => false,
        _ => return None,
    };
    let skin = [
        hex(0xf2caa8),
        hex(0xdfa878),
        hex(0xb9794f),
        hex(0x84543a),
        hex(0xf7dcc2),
    ][dice.pick("skin", 5)];
    let hair = [
        hex(0x2a1c17),
        hex(0x57351f),
        hex(0xa06a34),
        hex(0xd0a052),
        hex(0x7a2f1d),
    ][dice.pick("hair", 5)];
    let iris = [hex(0x5a7fae), hex(0x6a4a2c), hex(0x5f8a5a), hex(0x4a3a30)][dice.pick("iris", 4)];
    let dress = [
        hex(0x3f5f8a),
        hex(0x8a3f4a),
        hex(0x4a6a52),
        hex(0x3a3a44),
        hex(0xb08a4a),
    ][dice.pick("cloth", 5)];
    let sitter = Sitter {
        skin,
        hair,
        iris,
        cloth: cloth.unwrap_or(dress),
        woman,
        jaw: dice.between("jaw", 0.0, 1.0),
        wide: dice.between("wide", -1.5, 1.8),
        cut: dice.pick("cut", 3),
    };
    let mut all = Builder::default();
    back_hair(&mut all, &sitter);
    shoulders(&mut all, &sitter);
    face(&mut all, &sitter);
    features(&mut all, &sitter);
    front_hair(&mut all, &sitter);
    all.art()
}

fn back_hair(all: &mut Builder, s: &Sitter) {
    if !s.woman {
        return;
    }
    let low = [-6.0, 26.0, 44.0][s.cut];
    all.fixed(
        blob(&both(&[
            (0.0, -58.0),
            (26.0, -54.0),
            (34.0, -30.0),
            (33.0, -4.0),
            (37.0, low),
            (20.0, low + 6.0),
        ])),
        scale(s.hair, 0.72),
    );
}

fn shoulders(all: &mut Builder, s: &Sitter) {
    let wide = if s.woman { 54.0 } else { 64.0 };
    all.main(
        blob(&both(&[
            (6.0, 26.0),
            (22.0, 33.0),
            (wide * 0.85, 44.0),
            (wide, 66.0),
            (wide + 3.0, 92.0),
        ])),
        s.cloth,
    );
    all.fixed(
        blob(&both(&[
            (11.0, -2.0),
            (12.0, 22.0),
            (22.0, 34.0),
            (6.0, 50.0),
        ])),
        scale(s.skin, 0.84),
    );
    if s.woman {
        all.main(
            blob(&[
                (-40.0, 44.0),
                (-16.0, 36.0),
                (0.0, 54.0),
                (16.0, 36.0),
                (40.0, 44.0),
                (28.0, 62.0),
                (0.0, 66.0),
                (-28.0, 62.0),
            ]),
            mix(s.cloth, hex(0xffffff), 0.25),
        );
    } else {
        all.fixed(
            shape(&[
                (-17.0, 30.0),
                (0.0, 54.0),
                (17.0, 30.0),
                (10.0, 66.0),
                (-10.0, 66.0),
            ]),
            hex(0xf2efe8),
        );
        all.main(
            shape(&[(-17.0, 29.0), (-25.0, 38.0), (-8.0, 74.0), (0.0, 58.0)]),
            scale(s.cloth, 1.2),
        );
        all.main(
            shape(&[(17.0, 29.0), (25.0, 38.0), (8.0, 74.0), (0.0, 58.0)]),
            scale(s.cloth, 1.1),
        );
    }
}

fn face(all: &mut Builder, s: &Sitter) {
    let w = 24.5 + s.wide + if s.woman { -1.0 } else { 1.0 };
    for side in [-1.0_f32, 1.0] {
        all.fixed(oval(side * (w + 0.5), -20.0, 4.6, 7.6), scale(s.skin, 0.88));
    }
    let chin = if s.woman { 7.0 } else { 11.0 } + s.jaw * 3.0;
    let half = [
        (0.0, -54.0),
        (w * 0.85, -50.0),
        (w + 1.0, -26.0),
        (w * 0.93, -4.0),
        (chin + 4.0, 11.0),
        (chin * 0.4, 14.0),
    ];
    all.fixed(blob(&both(&half)), s.skin);
    all.fixed(
        blob(&[
            (w, -34.0),
            (w + 0.6, -14.0),
            (w * 0.7, 6.0),
            (w * 0.45, 11.0),
            (w * 0.68, -8.0),
            (w * 0.8, -28.0),
        ]),
        scale(s.skin, 0.91),
    );
    for side in [-1.0_f32, 1.0] {
        all.fixed(
            oval(side * 14.0, -6.0, 6.0, 3.8),
            mix(s.skin, hex(0xe07a6a), 0.22),
        );
    }
}

#[rustfmt::skip]
fn features(all: &mut Builder, s: &Sitter) {
    for side in [-1.0_f32, 1.0] {
        let x = side * 10.2;
        all.fixed(blob(&[(x - 6.4, -20.0), (x, -25.0), (x + 6.4, -20.0), (x, -16.4)]), hex(0xfbf8f4));
        all.fixed(oval(x + 0.4, -20.6, 3.1, 3.5), s.iris);
        all.fixed(oval(x + 0.4, -20.6, 1.5, 1.8), hex(0x17130f));
        all.fixed(oval(x + 1.4, -22.0, 0.85, 0.85), hex(0xffffff));
        let lash = if s.woman { 1.15 } else { 0.7 };
        all.fixed(limb(&[(x - 6.6, -20.2, lash * 0.6), (x - 2.8, -23.6, lash), (x + 2.8, -23.6, lash), (x + 6.6, -20.2, lash * 0.7)]), scale(s.hair, 0.5));
        let brow = if s.woman { 0.9 } else { 1.5 };
        all.fixed(limb(&[(x - side * 5.8, -28.4, brow), (x + side * 1.0, -31.0, brow), (x + side * 7.4, -28.8, brow * 0.5)]), scale(s.hair, 0.8));
    }
    all.fixed(blob(&[(0.6, -22.0), (3.2, -10.0), (5.2, -5.2), (0.5, -3.2), (1.2, -10.0)]), scale(s.skin, 0.88));
    for side in [-1.0_f32, 1.0] {
        all.fixed(oval(side * 2.4, -4.0, 1.2, 0.7), scale(s.skin, 0.62));
    }
    let lip = if s.woman {
        hex(0xb8434c)
    } else {
        mix(s.skin, hex(0xa8524a), 0.55)
    };
    all.fixed(blob(&[(-7.6, 2.6), (-2.6, 0.4), (0.0, 1.4), (2.6, 0.4), (7.6, 2.6), (0.0, 3.8)]), scale(lip, 0.86));
    all.fixed(blob(&[(-7.4, 2.7), (0.0, 3.3), (7.4, 2.7), (3.0, 6.6), (-3.0, 6.6)]), lip);
    if !s.woman && s.cut == 2 {
        all.fixed(blob(&both(&[(0.0, 8.4), (7.0, 6.0), (11.0, -1.0), (20.0, -8.0), (19.0, 6.0), (9.0, 17.0), (2.0, 18.0)])), mix(s.hair, s.skin, 0.15));
    }
}

#[rustfmt::skip]
fn front_hair(all: &mut Builder, s: &Sitter) {
    let light = scale(s.hair, 1.18).map(|v| v.min(1.0));
    if s.woman {
        all.fixed(blob(&[(0.0, -60.0), (-24.0, -56.0), (-33.0, -34.0), (-31.0, 2.0), (-25.0, -12.0), (-23.0, -34.0), (-8.0, -46.0), (4.0, -50.0)]), s.hair);
        all.fixed(blob(&[(-3.0, -60.0), (22.0, -57.0), (33.0, -34.0), (32.0, 4.0), (25.5, -10.0), (24.0, -33.0), (14.0, -44.0), (-2.0, -51.0)]), s.hair);
        all.fixed(blob(&[(2.0, -57.0), (20.0, -53.0), (29.0, -32.0), (28.0, -12.0), (25.5, -33.0), (14.0, -47.0)]), light);
        all.fixed(blob(&[(-6.0, -57.0), (-22.0, -51.0), (-29.0, -30.0), (-26.0, -32.0), (-18.0, -46.0)]), light);
    } else {
        let side = if s.cut == 0 { -1.0 } else { 1.0 };
        let top: Vec<(f32, f32)> = [(-27.0, -18.0), (-28.0, -40.0), (-18.0, -60.0), (8.0, -64.0), (25.0, -54.0), (28.5, -36.0), (27.0, -18.0), (24.0, -36.0), (12.0, -42.0), (-8.0, -46.0), (-22.0, -38.0)]
        .into_iter()
        .map(|(x, y)| (x * side, y))
        .collect();
        all.fixed(blob(&top), s.hair);
        let shine: Vec<(f32, f32)> = [(-14.0, -57.0), (6.0, -61.0), (20.0, -53.0), (8.0, -54.0)]
            .into_iter()
            .map(|(x, y)| (x * side, y))
            .collect();
        all.fixed(blob(&shine), light);
    }
}
