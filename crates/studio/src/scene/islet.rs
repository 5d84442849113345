//! A small island under what stands in the middle of the sea and cannot swim.

use super::stage::{Stage, field};
use crate::layout::PlacedSubject;
use crate::paint::colour::{hex, mix, scale, with_alpha};
use crate::paint::noise;
use crate::paint::region::{Role, polygon};

/// Points along its shore.
const POINTS: usize = 64;

/// Adds an island with foam around it under the feet of a subject.
pub(crate) fn islet(stage: &mut Stage, one: &PlacedSubject) {
    let (fx, fy) = one.foot;
    let half = one.width() * 0.56 + 0.07;
    let (top, rise) = (fy - 0.022, 0.05 + half * 0.11);
    let seed = stage.dice.noise("islet");
    let light = stage.light.clone();
    let along = |i: usize| i as f32 / POINTS as f32 * 2.0 - 1.0;
    let upper = move |t: f32| {
        let rough = 0.006 * noise::line(t * 6.0 + fx * 9.0, seed, 3);
        top + rise * t.abs().powf(3.2) + rough
    };
    let lower = move |t: f32| top + rise + 0.02 * (1.0 - t * t).max(0.0);
    let mut points: Vec<(f32, f32)> = (0..=POINTS)
        .map(|i| (fx + along(i) * half, upper(along(i))))
        .collect();
    points.extend(
        (0..=POINTS)
            .rev()
            .map(|i| (fx + along(i) * half, lower(along(i)))),
    );
    let (green, rock) = (hex(0x86a85c), hex(0x938676));
    let (depth, clock) = (one.depth, stage.clock * 5.0);
    let lit = light.clone();
    let colours = field(move |x, y| {
        let t = (x - fx) / half;
        let down = ((y - upper(t)) / (lower(t) - upper(t)).max(0.004)).clamp(0.0, 1.0);
        let edge = 0.32 + 0.2 * noise::line(x * 14.0, seed ^ 3, 2);
        let grain = noise::fractal(x * 60.0, y * 90.0, seed ^ 5, 2) * 0.14;
        let surface = mix(green, rock, noise::smooth(edge - 0.12, edge + 0.12, down));
        let facing = 0.72 + 0.3 * t * lit.side(fx) - 0.35 * down;
        with_alpha(lit.on(scale(surface, 1.0 + grain), facing), 1.0)
    });
    stage.add(polygon(&points), colours, Role::Ground, depth);
    let mut foam: Vec<(f32, f32)> = (0..=POINTS)
        .map(|i| {
            let t = along(i) * 1.02;
            let wave = 0.004 * noise::line(t * 12.0 + clock, seed ^ 8, 2);
            (fx + t * half, lower(t.clamp(-1.0, 1.0)) - 0.007 + wave)
        })
        .collect();
    foam.extend((0..=POINTS).rev().map(|i| {
        let t = along(i) * 1.02;
        (fx + t * half, lower(t.clamp(-1.0, 1.0)) + 0.007)
    }));
    let white = field(move |x, y| {
        let t = ((x - fx) / half).clamp(-1.0, 1.0);
        let near = noise::smooth(0.008, 0.0, (y - lower(t)).abs());
        let ends = noise::smooth(1.0, 0.9, t.abs());
        with_alpha(light.on([0.97, 0.99, 1.0], 0.9), 0.8 * near * ends)
    });
    stage.add(polygon(&foam), white, Role::Water, depth);
}
