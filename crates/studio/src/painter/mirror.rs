//! Still water: the picture above it again, upside down and broken by waves.

use rayon::prelude::*;

use crate::paint::canvas::{Canvas, Frame};
use crate::paint::cover::{Area, Cover};
use crate::paint::noise;
use crate::paint::region::Mirror;

/// Mirrors the rows above the water line into the water, broken by waves that grow towards the viewer.
pub(super) fn reflect(mirror: &Mirror, frame: &Frame, canvas: &mut Canvas) {
    let area = Area {
        width: frame.width,
        height: frame.height,
        margin: 1.0,
    };
    let Some(cover) = Cover::of(&mirror.path, frame.transform(1.0), area) else {
        return;
    };
    let (wide, line) = (canvas.width, (mirror.line - frame.top) * frame.scale);
    // The water may begin below what is seen.
    let first = cover.y.max(line.ceil().max(0.0) as usize);
    if first * wide > canvas.pixels.len() {
        return;
    }
    let (above, below) = canvas.pixels.split_at_mut(first * wide);
    if above.is_empty() {
        return;
    }
    let last = above.len() / wide - 1;
    let phase = mirror.phase * std::f32::consts::TAU;
    let bottom = cover.y + cover.height;
    let rows = bottom.saturating_sub(first) * wide;
    below[..rows]
        .par_chunks_mut(wide)
        .enumerate()
        .for_each(|(row, pixels)| {
            let y = first + row;
            let source = (2.0 * line - y as f32 - 1.0)
                .round()
                .clamp(0.0, last as f32) as usize;
            for (x, pixel) in pixels[cover.x..cover.x + cover.width]
                .iter_mut()
                .enumerate()
            {
                let inside = cover.inside[(y - cover.y) * cover.width + x];
                if inside == 0 {
                    continue;
                }
                let (wx, wy) = frame.world((cover.x + x) as f32, y as f32);
                let near = (wy - mirror.line).max(0.0);
                let pitch = 70.0 / (0.25 + near * 3.0);
                let wave = (noise::gradient(wx * 9.0, wy * pitch + phase, 44)
                    + (wy * pitch * 2.1 + wx * 5.0 + phase).sin() * 0.35)
                    * (0.006 + near * 0.06);
                let from = (cover.x + x) as f32 + wave * frame.scale;
                let from = from.round().clamp(0.0, wide as f32 - 1.0) as usize;
                let seen = above[source * wide + from];
                let share =
                    mirror.strength * f32::from(inside) / 255.0 * (1.0 - near * 0.7).max(0.35);
                for channel in 0..3 {
                    pixel[channel] += (seen[channel] * 0.92 - pixel[channel]) * share;
                }
            }
        });
}
