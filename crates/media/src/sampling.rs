//! Reading a picture between its pixels, fast enough for every pixel of every frame.

use rayon::prelude::*;

use crate::Picture;

const LANES: u32 = 0x00ff_00ff;

/// Two packed colours mixed, `share` of 256 parts from the second.
///
/// The sums cannot leave their lanes; saying so with wrapping sums keeps the release build's checks out of the
/// innermost loop of every frame.
#[inline]
fn mix(one: u32, other: u32, share: u32) -> u32 {
    let rest = 256_u32.wrapping_sub(share);
    let blend = |one: u32, other: u32| {
        (one & LANES)
            .wrapping_mul(rest)
            .wrapping_add((other & LANES).wrapping_mul(share))
    };
    (blend(one, other) >> 8) & LANES | blend(one >> 8, other >> 8) & !LANES
}

/// The colour at a place between pixels, packed; beyond the border the border goes on.
#[inline]
pub fn packed_at(picture: &Picture, x: f32, y: f32) -> u32 {
    let width = picture.width as usize;
    let (right, bottom) = (
        picture.width.wrapping_sub(1),
        picture.height.wrapping_sub(1),
    );
    let x = (x.max(0.0).min(right as f32) * 256.0) as u32;
    let y = (y.max(0.0).min(bottom as f32) * 256.0) as u32;
    let (left, top) = (x >> 8, y >> 8);
    let pixels = picture.pixels();
    let here = (top as usize)
        .wrapping_mul(width)
        .wrapping_add(left as usize);
    let beside = usize::from(left < right);
    let below = if top < bottom { width } else { 0 };
    let read = |index: usize| u32::from_le_bytes(pixels[index]);
    let under = here.wrapping_add(below);
    let upper = mix(read(here), read(here.wrapping_add(beside)), x & 255);
    let lower = mix(read(under), read(under.wrapping_add(beside)), x & 255);
    mix(upper, lower, y & 255)
}

/// A picture computed on all cores from a field laid over it; `paint` gets the place and the field's value there.
pub fn painted<const N: usize>(
    width: u32,
    height: u32,
    field: &Field<N>,
    paint: impl Fn(f32, f32, [f32; N]) -> u32 + Sync,
) -> Picture {
    let mut out = Picture::filled(width, height, [0; 4]);
    let across = field.width as f32 / width as f32;
    let down = field.height as f32 / height as f32;
    let places: Vec<(usize, f32)> = (0..width)
        .map(|x| {
            let place = ((x as f32 + 0.5) * across - 0.5).clamp(0.0, (field.width - 1) as f32);
            (place as usize, place - place.floor())
        })
        .collect();
    out.rgba
        .par_chunks_exact_mut(width as usize * 4)
        .enumerate()
        .for_each(|(y, row)| {
            let nodes = field.row((y as f32 + 0.5) * down - 0.5);
            let pixels = row.as_chunks_mut::<4>().0.iter_mut();
            for (x, (pixel, &(node, share))) in pixels.zip(&places).enumerate() {
                let (one, other) = (nodes[node], nodes[node.wrapping_add(1)]);
                let value = std::array::from_fn(|n| one[n] + (other[n] - one[n]) * share);
                *pixel = paint(x as f32, y as f32, value).to_le_bytes();
            }
        });
    out
}

/// A small map of numbers laid over a picture, read between its nodes.
#[derive(Clone)]
pub struct Field<const N: usize> {
    /// Nodes in a row.
    pub width: usize,
    pub height: usize,
    /// Row after row.
    pub nodes: Vec<[f32; N]>,
}

impl<const N: usize> Field<N> {
    /// The same value everywhere.
    pub fn new(width: usize, height: usize, value: [f32; N]) -> Self {
        Self {
            width,
            height,
            nodes: vec![value; width * height],
        }
    }

    /// The value at a place given in nodes.
    pub fn at(&self, x: f32, y: f32) -> [f32; N] {
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

    /// One line of values at a height between nodes, with its last value twice.
    pub fn row(&self, y: f32) -> Vec<[f32; N]> {
        (0..=self.width).map(|x| self.at(x as f32, y)).collect()
    }

    /// The field at another number of nodes.
    #[must_use]
    pub fn resized(&self, width: usize, height: usize) -> Self {
        let mut out = Self::new(width, height, [0.0; N]);
        let across = self.width as f32 / width as f32;
        let down = self.height as f32 / height as f32;
        out.nodes
            .par_chunks_exact_mut(width)
            .enumerate()
            .for_each(|(y, row)| {
                let line = self.row((y as f32 + 0.5) * down - 0.5);
                for (x, node) in row.iter_mut().enumerate() {
                    let place =
                        ((x as f32 + 0.5) * across - 0.5).clamp(0.0, (self.width - 1) as f32);
                    let (left, share) = (place as usize, place - place.floor());
                    let (one, other) = (line[left], line[left + 1]);
                    *node = std::array::from_fn(|n| one[n] + (other[n] - one[n]) * share);
                }
            });
        out
    }

    /// The field at half its size (rounded up), each node the mean of the four below it.
    #[must_use]
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2), self.height.div_ceil(2));
        let mut half = Self::new(width, height, [0.0; N]);
        half.nodes
            .par_chunks_exact_mut(width)
            .enumerate()
            .for_each(|(y, row)| {
                let above = &self.nodes[y * 2 * self.width..][..self.width];
                let below =
                    &self.nodes[(y * 2 + 1).min(self.height - 1) * self.width..][..self.width];
                for (x, node) in row.iter_mut().enumerate() {
                    let (left, right) = (x * 2, (x * 2 + 1).min(self.width - 1));
                    *node = std::array::from_fn(|n| {
                        (above[left][n] + above[right][n] + below[left][n] + below[right][n]) * 0.25
                    });
                }
            });
        half
    }

    /// Each node becomes the mean of the square around it.
    #[must_use]
    pub fn blurred(&self, radius: usize) -> Self {
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
