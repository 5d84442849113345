//! Large birds on the wing.

use super::art::Art;
use super::build::{Builder, blob, limb, oval, shape};
use crate::paint::colour::{Rgb, hex, scale};
use crate::paint::dice::Dice;

const COAT: Rgb = hex(0x5a3b26);
const DARK: Rgb = hex(0x3c2718);
const HEAD: Rgb = hex(0xf2ede2);
const BEAK: Rgb = hex(0xf0b429);

/// A bird of a name.
pub(crate) fn art(name: &str, dice: &Dice) -> Option<Art> {
    if name != "eagle" {
        return None;
    }
    let lift = dice.between("wings", 0.75, 1.15);
    let mut all = Builder::default();
    wing(&mut all, (-6.0, -6.0), -1.0, lift * 0.92, 0.8);
    // The tail, a fan of feathers.
    for i in 0..5 {
        let spread = (i as f32 - 2.0) * 4.5;
        let tip = (46.0 + spread.abs() * -0.6, 15.0 + spread);
        all.fixed(limb(&[(20.0, 5.0, 4.0), (tip.0, tip.1, 3.2)]), HEAD);
    }
    all.main(
        blob(&[
            (-30.0, -8.0),
            (-14.0, -15.0),
            (10.0, -12.0),
            (28.0, 0.0),
            (30.0, 9.0),
            (6.0, 13.0),
            (-18.0, 10.0),
            (-32.0, 2.0),
        ]),
        COAT,
    );
    talons(&mut all);
    wing(&mut all, (2.0, -8.0), 1.0, lift, 1.0);
    head(&mut all);
    all.art()
}

/// One raised wing: long feathers side by side, shorter ones over them.
fn wing(all: &mut Builder, (x, y): (f32, f32), side: f32, lift: f32, tone: f32) {
    for i in 0..8 {
        let t = i as f32 / 7.0;
        let turn = 0.25 + t * 0.95;
        let reach = 74.0 - 26.0 * t;
        let (sin, cos) = turn.sin_cos();
        let tip = (x + side * sin * reach * 0.92, y - cos * reach * lift);
        let elbow = (x + side * sin * reach * 0.45, y - cos * reach * lift * 0.62);
        let feather = limb(&[(x, y, 6.0), (elbow.0, elbow.1, 6.5), (tip.0, tip.1, 2.2)]);
        let shade = tone * if i % 2 == 0 { 0.86 } else { 1.0 };
        all.main(feather, scale(DARK, shade));
    }
    let arm = |share: f32| (x + side * 24.0 * share, y - 40.0 * lift * share);
    let (one, two) = (arm(0.55), arm(1.0));
    all.main(
        limb(&[(x, y, 11.0), (one.0, one.1, 10.0), (two.0, two.1, 5.0)]),
        scale(COAT, tone),
    );
}

fn talons(all: &mut Builder) {
    for x in [4.0, 11.0] {
        all.fixed(limb(&[(x, 10.0, 3.4), (x + 5.0, 17.0, 2.2)]), BEAK);
        all.fixed(
            shape(&[(x + 3.0, 17.0), (x + 8.0, 17.0), (x + 5.0, 23.0)]),
            DARK,
        );
    }
}

fn head(all: &mut Builder) {
    all.fixed(
        blob(&[
            (-24.0, -10.0),
            (-32.0, -18.0),
            (-43.0, -17.0),
            (-47.0, -9.0),
            (-42.0, -1.0),
            (-28.0, 4.0),
            (-22.0, 0.0),
        ]),
        HEAD,
    );
    all.fixed(
        blob(&[
            (-45.0, -11.0),
            (-53.0, -11.0),
            (-58.0, -5.0),
            (-56.0, 1.0),
            (-52.0, -3.0),
            (-44.0, -4.0),
        ]),
        BEAK,
    );
    all.fixed(oval(-40.0, -11.0, 1.9, 1.9), DARK);
    all.fixed(
        limb(&[(-44.5, -13.5, 0.9), (-37.0, -14.2, 0.9)]),
        scale(HEAD, 0.55),
    );
}
