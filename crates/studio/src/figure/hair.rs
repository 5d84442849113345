//! Hair: masses behind the head, locks before the face, a band of light around the crown.

use std::sync::Arc;

use super::drawing::{Drawing, Shade};
use super::traits::{HairCut, Traits};
use crate::paint::colour::{mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::Field;
use crate::subject::build::{blob, both, limb};

fn dark(t: &Traits) -> [f32; 3] {
    mix(scale(t.hair, 0.66), [0.25, 0.1, 0.35], 0.18)
}

/// Hair colour with the ring of light that the style paints on every head.
fn shiny(t: &Traits) -> Field {
    let (hair, low) = (t.hair, dark(t));
    Arc::new(move |x, y| {
        let ring = y + 50.0 + x * x * 0.006 + 3.5 * noise::line(x * 0.16, 5, 2);
        let band = noise::smooth(9.0, 5.0, ring.abs());
        let shade = noise::smooth(-30.0, 40.0, y) * 0.45;
        let base = mix(hair, low, shade);
        with_alpha(mix(base, [1.0, 0.98, 0.95], band * 0.5), 1.0)
    })
}

/// Everything behind the head and shoulders.
#[rustfmt::skip]
pub(crate) fn behind(all: &mut Drawing, t: &Traits) {
    let low = dark(t);
    match t.cut {
        HairCut::Long => all.shaded(blob(&both(&[(0.0, -96.0), (52.0, -88.0), (72.0, -40.0), (74.0, 40.0), (82.0, 120.0), (70.0, 170.0), (40.0, 150.0), (20.0, 176.0)])), Shade { from: low, to: scale(low, 0.85), top: -40.0, bottom: 170.0 }),
        HairCut::Wavy => {
            let mut half = vec![(0.0, -98.0), (56.0, -90.0)];
            half.extend((0..9).map(|k| {
                (80.0 + if k % 2 == 0 { 12.0 } else { -6.0 }, -44.0 + 24.0 * k as f32)
            }));
            half.extend([(56.0, 166.0), (20.0, 150.0)]);
            all.shaded(blob(&both(&half)), Shade { from: low, to: scale(low, 0.85), top: -40.0, bottom: 160.0 });
        }
        HairCut::Bob => all.part(blob(&both(&[(0.0, -96.0), (52.0, -88.0), (70.0, -36.0), (72.0, 30.0), (64.0, 58.0), (30.0, 48.0)])), low),
        HairCut::Spiky => {
            let half = [(0.0, -100.0), (20.0, -110.0), (30.0, -96.0), (58.0, -100.0), (58.0, -76.0), (82.0, -66.0), (68.0, -44.0), (84.0, -18.0), (66.0, -6.0), (70.0, 22.0), (48.0, 30.0)];
            all.part(crate::subject::build::shape(&both(&half)), low);
        }
        HairCut::TwinTails => {
            all.part(blob(&both(&[(0.0, -96.0), (52.0, -88.0), (68.0, -40.0), (60.0, 20.0), (30.0, 30.0)])), low);
            for side in [-1.0_f32, 1.0] {
                let tail = [(54.0, -70.0), (84.0, -86.0), (116.0, -50.0), (122.0, 20.0), (108.0, 100.0), (96.0, 150.0), (92.0, 96.0), (82.0, 30.0), (70.0, -24.0)];
                let points: Vec<(f32, f32)> = tail.iter().map(|(x, y)| (x * side, *y)).collect();
                all.shaded(blob(&points), Shade { from: t.hair, to: low, top: -60.0, bottom: 140.0 });
                let inner: Vec<(f32, f32)> = [(78.0, -52.0), (98.0, -20.0), (104.0, 40.0), (98.0, 110.0), (96.0, 30.0), (86.0, -20.0)]
                .iter()
                .map(|(x, y)| (x * side, *y))
                .collect();
                all.soft(blob(&inner), mix(t.hair, [1.0, 1.0, 1.0], 0.18));
            }
        }
        HairCut::Ponytail => {
            all.part(blob(&both(&[(0.0, -96.0), (52.0, -88.0), (68.0, -40.0), (58.0, 16.0), (30.0, 26.0)])), low);
            all.shaded(blob(&[(20.0, -96.0), (70.0, -112.0), (112.0, -70.0), (118.0, 10.0), (100.0, 90.0), (88.0, 120.0), (92.0, 40.0), (80.0, -30.0), (44.0, -70.0)]), Shade { from: t.hair, to: low, top: -90.0, bottom: 120.0 });
        }
    }
}

/// Where a lock of hair begins and ends.
#[derive(Clone, Copy)]
struct Lock {
    /// The middle of its root, across.
    root: f32,
    wide: f32,
    tip: (f32, f32),
    /// How far it sways to one side on the way.
    bend: f32,
}

/// One lock from the crown to a tip.
fn lock(all: &mut Drawing, t: &Traits, lock: Lock) {
    let Lock {
        root: rx,
        wide,
        tip: (tx, ty),
        bend,
    } = lock;
    let points = [
        (rx - wide, -78.0),
        (rx - wide * 1.05, -50.0),
        ((rx + tx) * 0.5 - wide * 0.8 + bend, (ty - 50.0) * 0.5),
        (tx, ty),
        (tx, ty),
        ((rx + tx) * 0.5 + wide * 0.8 + bend, (ty - 60.0) * 0.5),
        (rx + wide * 1.05, -52.0),
        (rx + wide, -78.0),
    ];
    all.add(blob(&points), shiny(t), true);
}

/// Fringe, side locks and the cap of hair over the skull.
#[rustfmt::skip]
pub(crate) fn front(all: &mut Drawing, t: &Traits) {
    let side = if t.chance.pick("fringe", 2) == 0 {
        1.0
    } else {
        -1.0
    };
    let long = matches!(t.cut, HairCut::Long | HairCut::Wavy | HairCut::TwinTails);
    for edge in [-1.0_f32, 1.0] {
        let low = if long {
            92.0
        } else if t.cut == HairCut::Spiky {
            14.0
        } else {
            46.0
        };
        all.add(blob(&[(edge * 36.0, -72.0), (edge * 54.0, -60.0), (edge * 62.0, -10.0), (edge * 60.0, low * 0.6), (edge * 50.0, low), (edge * 50.0, low), (edge * 47.0, low * 0.4), (edge * 44.0, -30.0)]), shiny(t), true);
    }
    let tips: &[(f32, f32, f32)] = match t.chance.pick("bangs", 3) {
        0 => &[(-38.0, -8.0, -4.0), (-20.0, -16.0, -3.0), (-4.0, -12.0, 2.0), (14.0, -18.0, 3.0), (34.0, -6.0, 5.0)],
        1 => &[(-42.0, 4.0, -8.0), (-30.0, -6.0, -6.0), (-14.0, -20.0, -8.0), (10.0, -26.0, 6.0), (36.0, -4.0, 9.0)],
        _ => &[(-36.0, -18.0, 0.0), (-18.0, -18.0, 0.0), (0.0, -17.0, 0.0), (18.0, -18.0, 0.0), (36.0, -18.0, 0.0)],
    };
    for (index, (x, y, bend)) in tips.iter().enumerate() {
        let root = (index as f32 - 2.0) * 17.0;
        lock(all, t, Lock { root: root * side, wide: 13.0, tip: (x * side, *y), bend: bend * side });
    }
    let cap = [(0.0, -106.0), (36.0, -102.0), (60.0, -76.0), (63.0, -40.0), (52.0, -56.0), (30.0, -66.0), (10.0, -64.0)];
    all.add(blob(&both(&cap)), shiny(t), true);
    if t.cut == HairCut::Spiky {
        for (x, y) in [(-34.0, -120.0), (-6.0, -128.0), (24.0, -124.0), (50.0, -108.0)] {
            all.add(crate::subject::build::shape(&[(x * 0.7 - 14.0, -88.0), (x * 1.1, y), (x * 0.7 + 14.0, -88.0)]), shiny(t), true);
        }
    }
    for (from, to) in [((-14.0, -98.0), (-30.0, -66.0)), ((6.0, -100.0), (8.0, -68.0)), ((24.0, -96.0), (38.0, -64.0))] {
        all.soft(limb(&[(from.0, from.1, 0.4), (to.0, to.1, 0.9)]), dark(t));
    }
    if t.cut == HairCut::TwinTails {
        for edge in [-1.0_f32, 1.0] {
            super::body::bow(all, (edge * 60.0, -74.0), 0.62, t);
        }
    }
}
