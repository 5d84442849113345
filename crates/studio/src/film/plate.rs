//! Pictures read between their pixels along smooth ways, in whole numbers: the innermost work of every frame.

use atelier_media::Picture;
use atelier_media::sampling::Field;
use rayon::prelude::*;

/// Bits behind the point of a place.
const POINT: u32 = 16;
/// Every second byte of a lane-wise colour.
const LANES: u64 = 0x00ff_00ff_00ff_00ff;
/// One half in every lane, to round with.
const HALF: u64 = 0x0080_0080_0080_0080;

/// A number with its digits behind the point kept in the lower bits.
pub(super) fn fixed(value: f32) -> i32 {
    (value * (1 << POINT) as f32) as i32
}

/// The whole part of such a number.
pub(super) fn whole(value: i32) -> u32 {
    (value >> POINT).max(0) as u32
}

/// A picture with room between its channels, so that all four are mixed at once, and with its last column and row
/// twice, so that no reading has to look for the border.
pub(super) struct Plate {
    right: i32,
    bottom: i32,
    stride: usize,
    colours: Vec<u64>,
}

impl Plate {
    pub(super) fn of(picture: &Picture) -> Self {
        let width = picture.width as usize;
        let stride = width + 1;
        let mut colours = Vec::with_capacity(stride * (picture.height as usize + 1));
        for row in picture.pixels().chunks_exact(width) {
            colours.extend(row.iter().map(|pixel| spread(*pixel)));
            colours.extend(row.last().map(|pixel| spread(*pixel)));
        }
        colours.extend_from_within(colours.len() - stride..);
        Self {
            right: fixed((picture.width - 1) as f32),
            bottom: fixed((picture.height - 1) as f32),
            stride,
            colours,
        }
    }

    /// The colour at a place given in fixed numbers; beyond the border the border goes on.
    ///
    /// The sums cannot leave their lanes; saying so with wrapping sums keeps the release build's checks out of here.
    #[inline]
    pub(super) fn at(&self, x: i32, y: i32) -> u64 {
        let x = (x.clamp(0, self.right) >> 8) as u32;
        let y = (y.clamp(0, self.bottom) >> 8) as u32;
        let here = ((y >> 8) as usize)
            .wrapping_mul(self.stride)
            .wrapping_add((x >> 8) as usize);
        let upper = &self.colours[here..here.wrapping_add(2)];
        let under = here.wrapping_add(self.stride);
        let lower = &self.colours[under..under.wrapping_add(2)];
        let (across, down) = (u64::from(x & 255), u64::from(y & 255));
        let both = across.wrapping_mul(down) >> 8;
        let (beside, below) = (across.wrapping_sub(both), down.wrapping_sub(both));
        let rest = 256_u64.wrapping_sub(across).wrapping_sub(below);
        let sum = upper[0]
            .wrapping_mul(rest)
            .wrapping_add(upper[1].wrapping_mul(beside))
            .wrapping_add(lower[0].wrapping_mul(below))
            .wrapping_add(lower[1].wrapping_mul(both));
        (sum.wrapping_add(HALF) >> 8) & LANES
    }
}

/// A colour with room between its channels: red, blue, green, alpha.
fn spread(pixel: [u8; 4]) -> u64 {
    let packed = u32::from_le_bytes(pixel);
    u64::from(packed & 0x00ff_00ff) | u64::from((packed >> 8) & 0x00ff_00ff) << 32
}

/// Two colours mixed, `share` of 256 parts from the second.
#[inline]
pub(super) fn mixed(one: u64, other: u64, share: u32) -> u64 {
    let share = u64::from(share);
    let sum = one
        .wrapping_mul(256_u64.wrapping_sub(share))
        .wrapping_add(other.wrapping_mul(share));
    (sum.wrapping_add(HALF) >> 8) & LANES
}

/// A picture computed on all cores. At the nodes of a field laid over it `knot` says some numbers for a place and the
/// field's value there; between them the numbers change evenly, and `paint` makes a colour of them.
pub(super) fn woven<const N: usize, const K: usize>(
    (width, height): (u32, u32),
    field: &Field<N>,
    knot: impl Fn(f32, f32, [f32; N]) -> [f32; K] + Sync,
    paint: impl Fn([i32; K]) -> u64 + Sync,
) -> Picture {
    let mut out = Picture::filled(width, height, [0; 4]);
    let knots = places(width, field.width);
    let down = field.height as f32 / height as f32;
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .with_min_len(8)
        .enumerate()
        .for_each(|(y, row)| {
            let nodes = field.row((y as f32 + 0.5) * down - 0.5);
            let numbers = |&(x, node, share): &(usize, usize, f32)| {
                let (one, other) = (nodes[node], nodes[node + 1]);
                let value = std::array::from_fn(|n| one[n] + (other[n] - one[n]) * share);
                knot(x as f32, y as f32, value).map(fixed)
            };
            let pixels = row.as_chunks_mut::<4>().0;
            let mut from = numbers(&knots[0]);
            for pair in knots.windows(2) {
                let to = numbers(&pair[1]);
                let span = &mut pixels[pair[0].0..pair[1].0];
                let length = span.len() as i32;
                let step: [i32; K] = std::array::from_fn(|k| (to[k] - from[k]) / length);
                let mut now = from;
                for pixel in span {
                    let colour = paint(now);
                    *pixel = (colour as u32 | ((colour >> 32) as u32) << 8).to_le_bytes();
                    now = std::array::from_fn(|k| now[k].wrapping_add(step[k]));
                }
                from = to;
            }
        });
    out
}

/// The columns at which numbers are worked out: the first, those of the nodes, and the one after the last; with the
/// node to the left of each and how far it lies towards the next.
fn places(width: u32, nodes: usize) -> Vec<(usize, usize, f32)> {
    let across = nodes as f32 / width as f32;
    let inner = (0..nodes).map(|node| ((node as f32 + 0.5) / across - 0.5).round() as usize);
    let mut columns = vec![0];
    columns.extend(inner.filter(|&x| x > 0 && x < width as usize));
    columns.push(width as usize);
    columns.dedup();
    let place = |x: usize| {
        let place = ((x as f32 + 0.5) * across - 0.5).clamp(0.0, (nodes - 1) as f32);
        (x, place as usize, place - place.floor())
    };
    columns.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(colour: u64) -> [u8; 4] {
        (colour as u32 | ((colour >> 32) as u32) << 8).to_le_bytes()
    }

    #[test]
    fn pixels_are_read_as_they_are_and_the_border_goes_on() {
        let picture = Picture::drawn(5, 4, |x, y| [x as u8 * 50, y as u8 * 60, 7, 255]);
        let plate = Plate::of(&picture);
        for y in 0..4 {
            for x in 0..5 {
                let read = plate.at(fixed(x as f32), fixed(y as f32));
                assert_eq!(shown(read), picture.pixel(x, y));
            }
        }
        assert_eq!(
            shown(plate.at(fixed(-9.0), fixed(1.0))),
            picture.pixel(0, 1)
        );
        assert_eq!(
            shown(plate.at(fixed(99.0), fixed(99.0))),
            picture.pixel(4, 3)
        );
        let between = shown(plate.at(fixed(1.5), fixed(2.0)));
        assert_eq!(between, [75, 120, 7, 255]);
    }

    #[test]
    fn a_still_weave_is_the_picture_itself() {
        let picture = Picture::drawn(61, 17, |x, y| [x as u8 * 4, y as u8 * 9, 30, 255]);
        let plate = Plate::of(&picture);
        let field = Field::new(7, 3, [0.0]);
        let same = woven((61, 17), &field, |x, y, _| [x, y], |[x, y]| plate.at(x, y));
        assert!(same == picture);
    }
}
