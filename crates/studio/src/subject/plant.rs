//! Trees as subjects: trunk and leaves in three tones.

use super::art::Art;
use super::build::{Builder, blob, limb};
use crate::paint::colour::{Rgb, hex, scale};
use crate::paint::dice::Dice;
use crate::paint::foliage::{TreeSite as TreeSpot, pine as pine_outline, tuft};
use crate::paint::noise;

/// The picture of a tree.
pub(crate) fn art(name: &str, dice: &Dice) -> Option<Art> {
    let (leaf, bark) = match name {
        "tree" => (hex(0x4f8a3c), hex(0x6b4a30)),
        "cherry tree" => (hex(0xf2a4c0), hex(0x5a3a34)),
        "autumn tree" => (hex(0xd9702a), hex(0x5f4230)),
        "pine tree" => return pine(dice),
        "palm tree" => return palm(dice),
        _ => return None,
    };
    let seed = dice.noise("tree");
    let mut all = Builder::default();
    all.fixed(
        blob(&[
            (-9.0, 2.0),
            (-4.5, -8.0),
            (-5.0, -40.0),
            (-3.0, -55.0),
            (4.0, -55.0),
            (5.0, -38.0),
            (5.0, -8.0),
            (10.0, 2.0),
        ]),
        bark,
    );
    for (x, y) in [(-22.0, -64.0), (20.0, -68.0), (4.0, -80.0)] {
        all.fixed(
            limb(&[
                (0.0, -38.0, 3.0),
                (x * 0.5, (y - 40.0) * 0.5, 2.2),
                (x, y, 1.2),
            ]),
            scale(bark, 0.9),
        );
    }
    for (layer, tone, count) in [(0, 0.62, 9), (1, 0.86, 9), (2, 1.14, 8)] {
        for i in 0..count {
            let turn =
                (i as f32 + noise::cell(i, layer, seed)) / count as f32 * std::f32::consts::TAU;
            let reach = [26.0, 23.0, 17.0][layer as usize]
                * (0.55 + 0.45 * noise::cell(i, layer + 5, seed));
            let (x, y) = (
                turn.cos() * reach * 1.25,
                -74.0 + turn.sin() * reach - 4.0 * layer as f32,
            );
            let r = [17.0, 12.0, 7.5][layer as usize];
            all.main(
                tuft(x, y, r, seed ^ (i as u32 * 13 + layer as u32)),
                bright(leaf, tone),
            );
        }
    }
    all.art()
}

fn bright(colour: Rgb, tone: f32) -> Rgb {
    scale(colour, tone).map(|v| v.min(1.0))
}

fn pine(dice: &Dice) -> Option<Art> {
    let mut all = Builder::default();
    for (tall, tone) in [(100.0, 0.75), (96.0, 1.0)] {
        let spot = TreeSpot {
            x: if tone < 1.0 { 0.0 } else { 2.0 },
            y: 0.0,
            tall,
            depth: 0.0,
            seed: dice.noise("pine"),
        };
        all.main(pine_outline(spot), scale(hex(0x3c6b4a), tone));
    }
    all.fixed(limb(&[(0.0, -8.0, 2.6), (0.0, 0.0, 3.0)]), hex(0x5f4230));
    all.art()
}

fn palm(dice: &Dice) -> Option<Art> {
    let seed = dice.noise("palm");
    let mut all = Builder::default();
    let (tx, ty) = (10.0, -82.0);
    all.fixed(
        limb(&[
            (0.0, 0.0, 4.4),
            (0.0, -30.0, 3.4),
            (4.0, -60.0, 2.8),
            (tx, ty, 2.4),
        ]),
        hex(0x9a7348),
    );
    for i in 0..10 {
        let turn = 0.15
            + (i as f32 + 0.5 * noise::cell(i, 1, seed)) / 10.0 * 3.3
            + std::f32::consts::PI * 0.95;
        let reach = 36.0 + 10.0 * noise::cell(i, 2, seed);
        let (ex, ey) = (
            tx + turn.cos() * reach,
            ty + turn.sin() * reach * 0.55 + reach * 0.4,
        );
        let (mx, my) = ((tx + ex) * 0.5, (ty + ey) * 0.5 - reach * 0.36);
        let tone = 0.7 + 0.5 * noise::cell(i, 3, seed);
        all.main(
            blob(&[
                (tx, ty - 1.0),
                (mx, my - 5.0),
                (ex, ey),
                (ex, ey),
                (mx, my + 6.0),
                (tx, ty + 2.0),
            ]),
            scale(hex(0x4d8a45), tone),
        );
    }
    for (x, y) in [(-3.0, 3.0), (3.5, 4.0), (0.0, 6.0)] {
        all.fixed(super::build::oval(tx + x, ty + y, 3.2, 3.4), hex(0x6b4a2e));
    }
    all.art()
}
