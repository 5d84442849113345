//! Outlines of trees, for woods and for single ones.

use tiny_skia::Path;

use super::noise;
use super::region::{polygon, rounded};

/// A place for a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeSite {
    /// Where the middle of its foot is.
    pub x: f32,
    pub y: f32,
    /// How tall it is.
    pub tall: f32,
    /// 0 right before the camera, 1 at the horizon.
    pub depth: f32,
    /// Makes each tree a little different.
    pub seed: u32,
}

/// The outline of a pine.
pub(crate) fn pine(spot: TreeSite) -> Option<Path> {
    let TreeSite {
        x, y, tall, seed, ..
    } = spot;
    let tiers = 7;
    let wide = tall * (0.2 + 0.07 * noise::cell(1, 1, seed));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for tier in 0..tiers {
        let t = (tier as f32 + 1.0) / tiers as f32;
        let base = y - tall * (1.0 - t * 0.88);
        let r = wide * t.powf(0.85) * (0.85 + 0.3 * noise::cell(tier, 2, seed));
        let l = wide * t.powf(0.85) * (0.85 + 0.3 * noise::cell(tier, 3, seed));
        let sag = tall * 0.022;
        right.extend([
            (x + r * 0.62, base - sag * 2.2),
            (x + r, base + sag),
            (x + r * 0.45, base - sag * 0.4),
        ]);
        left.extend([
            (x - l * 0.62, base - sag * 2.2),
            (x - l, base + sag),
            (x - l * 0.45, base - sag * 0.4),
        ]);
    }
    let mut points = vec![(x, y - tall)];
    points.extend(right);
    let trunk = tall * 0.025;
    points.extend([
        (x + trunk, y - tall * 0.1),
        (x + trunk, y),
        (x - trunk, y),
        (x - trunk, y - tall * 0.1),
    ]);
    points.extend(
        left.chunks(3)
            .rev()
            .flat_map(|tier| tier.iter().rev().copied()),
    );
    polygon(&points)
}

/// A ragged round shape.
pub(crate) fn tuft(x: f32, y: f32, r: f32, seed: u32) -> Option<Path> {
    let points: Vec<(f32, f32)> = (0..22)
        .map(|i| {
            let turn = i as f32 / 22.0 * std::f32::consts::TAU;
            let far =
                r * (0.82 + 0.32 * noise::cell(i, 5, seed) + if i % 2 == 0 { 0.08 } else { 0.0 });
            (x + turn.cos() * far, y + turn.sin() * far * 0.86)
        })
        .collect();
    rounded(&points)
}
