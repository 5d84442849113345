//! Reading a picture between its pixels, fast enough for every pixel of every frame.

use rayon::prelude::*;

use crate::Picture;

const LANES: u32 = 0x00ff_00ff;

/// Two packed colours mixed, `share` of 256 parts from the second.
pub(crate) fn mix(one: u32, other: u32, share: u32) -> u32 {
    let rest = 256 - share;
    let even = (((one & LANES) * rest + (other & LANES) * share) >> 8) & LANES;
    let odd = ((one >> 8 & LANES) * rest + (other >> 8 & LANES) * share) & !LANES;
    even | odd
}

/// The colour at a place between pixels, packed; beyond the border the border goes on.
pub(crate) fn packed_at(picture: &Picture, x: f32, y: f32) -> u32 {
    let (right, bottom) = (picture.width as usize - 1, picture.height as usize - 1);
    let x = x.clamp(0.0, right as f32);
    let y = y.clamp(0.0, bottom as f32);
    let (left, top) = (x as usize, y as usize);
    let across = ((x - left as f32) * 256.0) as u32;
    let down = ((y - top as f32) * 256.0) as u32;
    let pixels = picture.pixels();
    let row = top * (right + 1);
    let next = (top + 1).min(bottom) * (right + 1);
    let beside = (left + 1).min(right);
    let read = |index: usize| u32::from_le_bytes(pixels[index]);
    let upper = mix(read(row + left), read(row + beside), across);
    let lower = mix(read(next + left), read(next + beside), across);
    mix(upper, lower, down)
}

/// A picture computed pixel by pixel on all cores; `paint` gets the place and gives a packed colour.
pub(crate) fn painted(width: u32, height: u32, paint: impl Fn(u32, u32) -> u32 + Sync) -> Picture {
    let mut out = Picture::filled(width, height, [0; 4]);
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .enumerate()
        .for_each(|(y, row)| {
            for (x, pixel) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *pixel = paint(x as u32, y as u32).to_le_bytes();
            }
        });
    out
}

/// A small map of numbers laid over a picture, read between its nodes.
#[derive(Clone)]
pub(crate) struct Field<const N: usize> {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) nodes: Vec<[f32; N]>,
}

impl<const N: usize> Field<N> {
    /// The same value everywhere.
    pub(crate) fn new(width: usize, height: usize, value: [f32; N]) -> Self {
        Self {
            width,
            height,
            nodes: vec![value; width * height],
        }
    }

    /// The value at a place given in nodes.
    pub(crate) fn at(&self, x: f32, y: f32) -> [f32; N] {
        let x = x.clamp(0.0, (self.width - 1) as f32);
        let y = y.clamp(0.0, (self.height - 1) as f32);
        let (left, top) = (x as usize, y as usize);
        let (across, down) = (x - left as f32, y - top as f32);
        let beside = (left + 1).min(self.width - 1);
        let below = (top + 1).min(self.height - 1) * self.width;
        let top = top * self.width;
        let corners = [
            self.nodes[top + left],
            self.nodes[top + beside],
            self.nodes[below + left],
            self.nodes[below + beside],
        ];
        std::array::from_fn(|n| {
            let upper = corners[0][n] + (corners[1][n] - corners[0][n]) * across;
            let lower = corners[2][n] + (corners[3][n] - corners[2][n]) * across;
            upper + (lower - upper) * down
        })
    }

    /// The field at another number of nodes.
    pub(crate) fn resized(&self, width: usize, height: usize) -> Self {
        let mut out = Self::new(width, height, [0.0; N]);
        let across = self.width as f32 / width as f32;
        let down = self.height as f32 / height as f32;
        for (index, node) in out.nodes.iter_mut().enumerate() {
            let x = ((index % width) as f32 + 0.5) * across - 0.5;
            let y = ((index / width) as f32 + 0.5) * down - 0.5;
            *node = self.at(x, y);
        }
        out
    }

    /// Each node becomes the mean of the square around it.
    pub(crate) fn blurred(&self, radius: usize) -> Self {
        let rows = blurred_lines(&self.nodes, self.width, self.height, radius);
        let columns = blurred_lines(&rows, self.height, self.width, radius);
        Self {
            width: self.width,
            height: self.height,
            nodes: columns,
        }
    }
}

/// Box blur along each line; the result is transposed, so that a second call blurs the other way and turns it back.
fn blurred_lines<const N: usize>(
    nodes: &[[f32; N]],
    width: usize,
    height: usize,
    radius: usize,
) -> Vec<[f32; N]> {
    let mut out = vec![[0.0; N]; nodes.len()];
    let scale = 1.0 / (2 * radius + 1) as f32;
    for (y, line) in nodes.chunks_exact(width).enumerate() {
        let node = |x: isize| line[x.clamp(0, width as isize - 1) as usize];
        let reach = radius as isize;
        let mut sum = [0.0; N];
        for x in -reach..=reach {
            let value = node(x);
            (0..N).for_each(|n| sum[n] += value[n]);
        }
        for x in 0..width {
            out[x * height + y] = sum.map(|value| value * scale);
            let (enters, leaves) = (node(x as isize + reach + 1), node(x as isize - reach));
            (0..N).for_each(|n| sum[n] += enters[n] - leaves[n]);
        }
    }
    out
}
