//! Between RGB and the planes that H.264 wants: BT.709, limited range, chroma at half size.

use crate::Picture;

/// One frame as planes; both sides are even.
pub(super) struct Planes {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) luma: Vec<u8>,
    pub(super) blue: Vec<u8>,
    pub(super) red: Vec<u8>,
}

impl openh264::formats::YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }

    fn y(&self) -> &[u8] {
        &self.luma
    }

    fn u(&self) -> &[u8] {
        &self.blue
    }

    fn v(&self) -> &[u8] {
        &self.red
    }
}

/// The planes of a picture; an odd last column or row is left out.
pub(super) fn planes(picture: &Picture) -> Planes {
    let (width, height) = (picture.width as usize & !1, picture.height as usize & !1);
    let stride = picture.width as usize * 4;
    let mut luma = vec![0; width * height];
    let mut blue = vec![0; width * height / 4];
    let mut red = vec![0; width * height / 4];
    let rows = luma.chunks_exact_mut(width * 2);
    let chroma = blue
        .chunks_exact_mut(width / 2)
        .zip(red.chunks_exact_mut(width / 2));
    for ((pair, (blue, red)), source) in rows.zip(chroma).zip(picture.rgba.chunks(stride * 2)) {
        let (upper, lower) = source.split_at(stride);
        let (upper, lower) = (
            &upper.as_chunks::<4>().0[..width],
            &lower.as_chunks::<4>().0[..width],
        );
        let (out_upper, out_lower) = pair.split_at_mut(width);
        for (out, pixels) in [(out_upper, upper), (out_lower, lower)] {
            for (out, &[r, g, b, _]) in out.iter_mut().zip(pixels) {
                let sum = weighted([47, 157, 16], [r, g, b].map(u16::from));
                *out = (sum.wrapping_add(4096 + 128) >> 8) as u8;
            }
        }
        let squares = upper
            .as_chunks::<2>()
            .0
            .iter()
            .zip(lower.as_chunks::<2>().0);
        for ((blue, red), (above, below)) in blue.iter_mut().zip(red).zip(squares) {
            let four = [above[0], above[1], below[0], below[1]];
            let [r, g, b] = [0, 1, 2].map(|c| {
                let pixels = four.iter();
                pixels.fold(0_i32, |sum, pixel| sum.wrapping_add(i32::from(pixel[c])))
            });
            let chroma = |by: [i32; 3]| {
                let sum = r
                    .wrapping_mul(by[0])
                    .wrapping_add(g.wrapping_mul(by[1]))
                    .wrapping_add(b.wrapping_mul(by[2]));
                (sum.wrapping_add(512 + (128 << 10)) >> 10) as u8
            };
            *blue = chroma([-26, -86, 112]);
            *red = chroma([112, -102, -10]);
        }
    }
    Planes {
        width,
        height,
        luma,
        blue,
        red,
    }
}

/// A weighted sum; it fits, and saying so keeps the release build's checks out of the loop.
#[inline]
fn weighted(by: [u16; 3], of: [u16; 3]) -> u16 {
    of[0]
        .wrapping_mul(by[0])
        .wrapping_add(of[1].wrapping_mul(by[1]))
        .wrapping_add(of[2].wrapping_mul(by[2]))
}

/// A picture from decoded planes, each with its stride.
pub(super) fn picture(source: &impl openh264::formats::YUVSource) -> Picture {
    let (width, height) = source.dimensions();
    let (luma_stride, blue_stride, red_stride) = source.strides();
    Picture::drawn(width as u32, height as u32, |x, y| {
        let (x, y) = (x as usize, y as usize);
        let luma = (f32::from(source.y()[y * luma_stride + x]) - 16.0) * 1.164_384;
        let blue = f32::from(source.u()[y / 2 * blue_stride + x / 2]) - 128.0;
        let red = f32::from(source.v()[y / 2 * red_stride + x / 2]) - 128.0;
        let channel = |value: f32| (value + 0.5).clamp(0.0, 255.0) as u8;
        [
            channel(luma + 1.792_741 * red),
            channel(luma - 0.213_249 * blue - 0.532_909 * red),
            channel(luma + 2.112_402 * blue),
            255,
        ]
    })
}
