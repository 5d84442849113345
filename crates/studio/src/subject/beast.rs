//! Four-legged animals from the side, from a few measures each.

use super::art::Art;
use super::build::{Builder, blob, limb, oval, shape};
use crate::paint::colour::{Rgb, hex, mix, scale};
use crate::paint::dice::Dice;

/// What the ears look like.
#[derive(Clone, Copy, PartialEq)]
enum Ear {
    Pointed,
    Round,
    Long,
}

/// What the tail looks like.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Bushy,
    Stub,
    Tuft,
}

/// The measures of an animal; the body is 100 units long.
#[derive(Clone, Copy)]
struct Beast {
    coat: Rgb,
    belly: Rgb,
    legs: Rgb,
    leg: f32,
    thick: f32,
    deep: f32,
    neck: f32,
    head: f32,
    snout: f32,
    ear: Ear,
    tail: Tail,
    mane: Option<Rgb>,
    antlers: bool,
    mask: Option<Rgb>,
}

#[rustfmt::skip]
fn measures(name: &str) -> Option<Beast> {
    let base = Beast { coat: hex(0xd9702e), belly: hex(0xf6ead9), legs: hex(0x3a2a26), leg: 34.0, thick: 4.6, deep: 17.0, neck: 20.0, head: 13.0, snout: 17.0, ear: Ear::Pointed, tail: Tail::Bushy, mane: None, antlers: false, mask: None };
    Some(match name {
        "fox" => base,
        "wolf" => Beast { coat: hex(0x7d8590), belly: hex(0xd3d6da), legs: hex(0x646b76), leg: 40.0, thick: 5.4, deep: 19.0, head: 14.0, snout: 19.0, ..base },
        "bear" => Beast { coat: hex(0x7a5234), belly: hex(0x8a6242), legs: hex(0x6a452b), leg: 30.0, thick: 9.5, deep: 27.0, neck: 14.0, head: 18.0, snout: 14.0, ear: Ear::Round, tail: Tail::Stub, ..base },
        "polar bear" => Beast { coat: hex(0xeef1f2), belly: hex(0xffffff), legs: hex(0xdde3e6), leg: 31.0, thick: 9.5, deep: 26.0, neck: 17.0, head: 16.5, snout: 16.0, ear: Ear::Round, tail: Tail::Stub, ..base },
        "panda" => Beast { coat: hex(0xf3f1ec), belly: hex(0xffffff), legs: hex(0x2a2a2e), leg: 25.0, thick: 10.0, deep: 27.0, neck: 12.0, head: 19.0, snout: 10.0, ear: Ear::Round, tail: Tail::Stub, mask: Some(hex(0x2a2a2e)), ..base },
        "lion" => Beast { coat: hex(0xd9a650), belly: hex(0xeacb8c), legs: hex(0xcf9a45), leg: 37.0, thick: 6.6, deep: 20.0, neck: 19.0, head: 15.0, snout: 13.0, ear: Ear::Round, tail: Tail::Tuft, mane: Some(hex(0x8a4b22)), ..base },
        "deer" => Beast { coat: hex(0xa8693d), belly: hex(0xe9d5b8), legs: hex(0x8a5531), leg: 54.0, thick: 3.6, deep: 17.0, neck: 40.0, head: 10.0, snout: 15.0, ear: Ear::Long, tail: Tail::Stub, antlers: true, ..base },
        _ => return None,
    })
}

/// The picture of an animal.
pub(crate) fn art(name: &str, dice: &Dice) -> Option<Art> {
    let beast = measures(name)?;
    let mut all = Builder::default();
    let stride = dice.between("stride", 0.35, 1.0);
    let back = -beast.leg - beast.deep;
    tail(&mut all, beast, back, dice);
    for (x, step, far) in [(-31.0, 9.0, true), (33.0, -8.0, true)] {
        leg(&mut all, beast, x + 5.0, step * stride, far);
    }
    body(&mut all, beast, back);
    for (x, step) in [(-36.0, -8.0), (29.0, 9.0)] {
        leg(&mut all, beast, x, step * stride, false);
    }
    let head = (47.0 + beast.neck * 0.42, back + 6.0 - beast.neck * 0.92);
    neck(&mut all, beast, back, head);
    face(&mut all, beast, head);
    all.art()
}

fn leg(all: &mut Builder, beast: Beast, x: f32, step: f32, far: bool) {
    let tone = if far { 0.72 } else { 1.0 };
    let top = -beast.leg - beast.deep * 0.5;
    let knee = (
        x + step * 0.2 + if x < 0.0 { -3.5 } else { 1.5 },
        -beast.leg * 0.48,
    );
    let t = beast.thick;
    let haunch = if x < 0.0 { t * 2.1 } else { t * 1.6 };
    all.main(
        limb(&[(x, top, haunch), (knee.0, knee.1, t)]),
        scale(beast.coat, tone),
    );
    let foot = (x + step, -t * 0.8);
    all.main(
        limb(&[
            (knee.0, knee.1, t),
            (foot.0, foot.1, t * 0.85),
            (foot.0 + t * 0.9, foot.1, t * 0.8),
        ]),
        scale(beast.legs, tone),
    );
}

fn body(all: &mut Builder, beast: Beast, back: f32) {
    let low = -beast.leg + beast.deep * 0.32;
    let d = beast.deep;
    let outline = [
        (-52.0, back + d * 0.5),
        (-46.0, back - 1.0),
        (-20.0, back + 2.5),
        (12.0, back + 1.5),
        (38.0, back - 4.0),
        (52.0, back + d * 0.3),
        (50.0, low - d * 0.3),
        (34.0, low + d * 0.1),
        (4.0, low),
        (-22.0, low - d * 0.3),
        (-44.0, low - d * 0.1),
        (-54.0, low - d * 0.6),
    ];
    all.main(blob(&outline), beast.coat);
    let belly = [
        (46.0, low - d * 0.25),
        (30.0, low + d * 0.06),
        (2.0, low - d * 0.04),
        (-26.0, low - d * 0.32),
        (-8.0, low - d * 0.42),
        (26.0, low - d * 0.36),
    ];
    all.main(blob(&belly), mix(beast.coat, beast.belly, 0.75));
    if beast.mask.is_some() {
        let band = [
            (16.0, back - 1.0),
            (44.0, back - 3.0),
            (50.0, low - d * 0.2),
            (36.0, low + 1.0),
            (18.0, low - 2.0),
        ];
        all.fixed(blob(&band), beast.legs);
    }
}

fn neck(all: &mut Builder, beast: Beast, back: f32, head: (f32, f32)) {
    let root = beast.deep * 0.72;
    if let Some(mane) = beast.mane {
        let (cx, cy, r) = (head.0 - 4.0, head.1 + 4.0, beast.head * 1.75);
        let rays: Vec<(f32, f32)> = (0..26)
            .map(|i| {
                let turn = i as f32 / 26.0 * std::f32::consts::TAU;
                let far = r * if i % 2 == 0 { 1.12 } else { 0.92 };
                (cx + turn.cos() * far, cy + turn.sin() * far * 1.1)
            })
            .collect();
        all.main(
            limb(&[(36.0, back + 10.0, root * 1.1), (cx, cy, r * 0.7)]),
            mane,
        );
        all.main(shape(&rays), mane);
        return;
    }
    all.main(
        limb(&[
            (38.0, back + root * 0.75, root),
            (head.0 - 3.0, head.1 + 3.0, beast.head * 0.66),
        ]),
        beast.coat,
    );
    let throat = [
        (46.0, back + root * 1.35),
        (52.0, back + root * 0.5),
        (head.0 + 5.0, head.1 + beast.head * 0.75),
        (head.0 - 1.0, head.1 + beast.head * 0.6),
        (42.0, back + root * 0.6),
    ];
    all.main(blob(&throat), mix(beast.coat, beast.belly, 0.8));
}

fn face(all: &mut Builder, beast: Beast, (x, y): (f32, f32)) {
    let (h, s) = (beast.head, beast.snout);
    ears(all, beast, (x, y), true);
    let skull = [
        (x - h * 0.95, y - h * 0.1),
        (x - h * 0.6, y - h * 0.85),
        (x + h * 0.35, y - h * 0.85),
        (x + h * 0.85, y - h * 0.2),
        (x + h * 0.6 + s, y + h * 0.12),
        (x + h * 0.62 + s, y + h * 0.5),
        (x + h * 0.4, y + h * 0.78),
        (x - h * 0.6, y + h * 0.8),
    ];
    all.main(blob(&skull), beast.coat);
    let cheek = [
        (x - h * 0.35, y + h * 0.72),
        (x + h * 0.2, y + h * 0.1),
        (x + h * 0.5 + s * 0.95, y + h * 0.32),
        (x + h * 0.55 + s * 0.8, y + h * 0.56),
        (x + h * 0.3, y + h * 0.82),
    ];
    all.main(blob(&cheek), mix(beast.coat, beast.belly, 0.9));
    if let Some(mask) = beast.mask {
        all.fixed(oval(x + h * 0.32, y - h * 0.12, h * 0.3, h * 0.36), mask);
    }
    let nose = hex(0x241d1d);
    all.fixed(
        oval(x + h * 0.55 + s * 0.98, y + h * 0.2, h * 0.17, h * 0.14),
        nose,
    );
    all.fixed(oval(x + h * 0.34, y - h * 0.14, h * 0.13, h * 0.15), nose);
    all.fixed(
        oval(x + h * 0.38, y - h * 0.19, h * 0.045, h * 0.045),
        hex(0xffffff),
    );
    let mouth = limb(&[
        (x + h * 0.5 + s * 0.85, y + h * 0.42, h * 0.03),
        (x + h * 0.55 + s * 0.3, y + h * 0.5, h * 0.03),
    ]);
    all.fixed(mouth, scale(beast.coat, 0.45));
    ears(all, beast, (x - h * 0.35, y + h * 0.05), false);
    if beast.antlers {
        for (lean, tone) in [(-4.0, 0.75), (1.0, 1.0)] {
            antler(
                all,
                (x - h * 0.1 + lean * 0.5, y - h * 0.75),
                lean,
                scale(hex(0xb48a5c), tone),
            );
        }
    }
}

fn ears(all: &mut Builder, beast: Beast, (x, y): (f32, f32), far: bool) {
    let h = beast.head;
    let coat = scale(
        if beast.mask.is_some() {
            beast.legs
        } else {
            beast.coat
        },
        if far { 0.78 } else { 1.0 },
    );
    let inner = mix(coat, hex(0xe9b9a0), 0.5);
    match beast.ear {
        Ear::Pointed => {
            let tip = (x - h * 0.15, y - h * 1.75);
            all.main(
                blob(&[
                    (x - h * 0.6, y - h * 0.5),
                    (x - h * 0.5, y - h * 1.0),
                    tip,
                    tip,
                    (x + h * 0.25, y - h * 0.95),
                    (x + h * 0.3, y - h * 0.55),
                ]),
                coat,
            );
            all.fixed(
                blob(&[(x - h * 0.35, y - h * 0.7), tip, (x + h * 0.1, y - h * 0.7)]),
                mix(inner, hex(0x2a1d1a), 0.35),
            );
        }
        Ear::Round => {
            all.main(oval(x - h * 0.35, y - h * 0.85, h * 0.36, h * 0.36), coat);
            all.fixed(
                oval(x - h * 0.33, y - h * 0.8, h * 0.2, h * 0.2),
                mix(inner, coat, 0.4),
            );
        }
        Ear::Long => {
            all.main(
                blob(&[
                    (x - h * 0.2, y - h * 0.55),
                    (x - h * 1.0, y - h * 1.25),
                    (x - h * 1.5, y - h * 1.1),
                    (x - h * 0.8, y - h * 0.45),
                ]),
                coat,
            );
        }
    }
}

fn antler(all: &mut Builder, (x, y): (f32, f32), lean: f32, colour: Rgb) {
    let main = [
        (x, y, 1.5),
        (x - 8.0 + lean, y - 12.0, 1.4),
        (x - 5.0 + lean, y - 26.0, 1.2),
        (x + 3.0 + lean, y - 36.0, 0.8),
    ];
    all.fixed(limb(&main), colour);
    for (from, to) in [
        ((-7.0, -11.0), (6.0, -18.0)),
        ((-6.5, -19.0), (-16.0, -30.0)),
        ((-5.0, -26.0), (7.0, -29.0)),
    ] {
        all.fixed(
            limb(&[
                (x + from.0 + lean, y + from.1, 1.2),
                (x + to.0 + lean, y + to.1, 0.7),
            ]),
            colour,
        );
    }
}

fn tail(all: &mut Builder, beast: Beast, back: f32, dice: &Dice) {
    let up = dice.between("tail", -12.0, 14.0);
    let root = (-50.0, back + beast.deep * 0.35);
    match beast.tail {
        Tail::Bushy => {
            let tip = (-96.0, root.1 + 10.0 - up);
            all.main(
                limb(&[
                    (root.0, root.1, 4.5),
                    (-68.0, root.1 + 7.0 - up * 0.4, 8.5),
                    (-84.0, root.1 + 9.0 - up * 0.8, 8.0),
                    (tip.0, tip.1, 3.0),
                ]),
                beast.coat,
            );
            all.main(
                limb(&[
                    (-87.0, root.1 + 9.2 - up * 0.85, 6.6),
                    (tip.0 - 3.0, tip.1, 1.6),
                ]),
                beast.belly,
            );
        }
        Tail::Stub => all.main(
            oval(root.0 - 3.0, root.1, 6.0, 5.0),
            mix(beast.coat, beast.belly, 0.5),
        ),
        Tail::Tuft => {
            all.main(
                limb(&[
                    (root.0, root.1, 3.0),
                    (-66.0, root.1 + 10.0, 2.2),
                    (-76.0, root.1 + 2.0 - up, 1.8),
                ]),
                beast.coat,
            );
            all.main(
                oval(-78.0, root.1 - 1.0 - up, 6.0, 5.0),
                beast.mane.unwrap_or(beast.coat),
            );
        }
    }
}
