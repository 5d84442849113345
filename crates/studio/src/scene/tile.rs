//! Pictures that meet themselves when they are laid edge to edge: what goes on beyond the right and the lower edge is
//! faded in along the left and the upper one.

use atelier_media::Picture;
use rayon::prelude::*;

use crate::paint::canvas::Frame;
use crate::paint::noise;

/// How much more than the picture is drawn, in shares of its sides.
const BEYOND: f32 = 0.16;

/// The frame with as much beyond its right and lower edge as a tile needs.
pub(crate) fn widened(frame: Frame) -> Frame {
    let more = |length: u32| length + (length as f32 * BEYOND).ceil() as u32;
    Frame {
        width: more(frame.width),
        height: more(frame.height),
        ..frame
    }
}

/// Folds what lies beyond a frame of this size back into it.
pub(crate) fn folded(wide: &Picture, width: u32, height: u32) -> Picture {
    let (over_x, over_y) = (wide.width - width, wide.height - height);
    let share = |at: u32, over: u32| noise::smooth(0.0, 1.0, (at as f32 + 0.5) / over as f32);
    let mut out = Picture::filled(width, height, [0, 0, 0, 255]);
    let across = |x: u32, y: u32| -> [f32; 3] {
        let own = colour(wide, x, y);
        if x >= over_x {
            return own;
        }
        mixed(colour(wide, x + width, y), own, share(x, over_x))
    };
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .enumerate()
        .for_each(|(y, row)| {
            let y = y as u32;
            for (pixel, x) in row.as_chunks_mut::<4>().0.iter_mut().zip(0_u32..) {
                let own = across(x, y);
                let value = if y < over_y {
                    mixed(across(x, y + height), own, share(y, over_y))
                } else {
                    own
                };
                for (channel, value) in pixel.iter_mut().zip(value) {
                    *channel = (value + 0.5) as u8;
                }
            }
        });
    out
}

fn colour(picture: &Picture, x: u32, y: u32) -> [f32; 3] {
    let [r, g, b, _] = picture.pixel(x, y);
    [r, g, b].map(f32::from)
}

fn mixed(one: [f32; 3], other: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|c| one[c] + (other[c] - one[c]) * share)
}
