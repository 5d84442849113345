//! Pixel art: few large pixels, few colours, ordered dithering.

use super::look::{Look, Style};
use crate::paint::canvas::{Canvas, Frame};
use crate::paint::colour::saturate;

pub(crate) struct Pixel;

const BAYER: [[f32; 4]; 4] = [
    [0.0, 8.0, 2.0, 10.0],
    [12.0, 4.0, 14.0, 6.0],
    [3.0, 11.0, 1.0, 9.0],
    [15.0, 7.0, 13.0, 5.0],
];

impl Style for Pixel {
    fn look(&self) -> Look {
        Look {
            coarse: Some(128),
            cut: true,
            ..Look::default()
        }
    }

    fn finish(&self, canvas: &mut Canvas, frame: &Frame) {
        // The dither pattern belongs to the world's pixels, not to the picture's corner.
        let (ox, oy) = (
            (frame.left * frame.scale).round() as i64,
            (frame.top * frame.scale).round() as i64,
        );
        canvas.each(|x, y, pixel| {
            let (bx, by) = ((x as i64 + ox).rem_euclid(4), (y as i64 + oy).rem_euclid(4));
            let dither = BAYER[by as usize][bx as usize] / 16.0 - 0.47;
            let lively = saturate([pixel[0], pixel[1], pixel[2]], 1.2);
            for (channel, value) in pixel.iter_mut().zip(lively) {
                let levels = 6.0;
                *channel = ((value * levels + dither * 0.75).round() / levels).clamp(0.0, 1.0);
            }
        });
    }
}
