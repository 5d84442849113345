//! Which pixels of a picture a change may touch: 0 never, 255 fully, between them by that share.

use crate::Picture;
use crate::sampling::Field;

/// A share for every pixel of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Mask {
    pub width: u32,
    pub height: u32,
    /// `width * height` shares, rows from the top.
    pub shares: Vec<u8>,
}

impl Mask {
    /// A mask that selects nothing.
    pub fn empty(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            shares: vec![0; width as usize * height as usize],
        }
    }

    /// A mask that selects everything.
    pub fn full(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            shares: vec![255; width as usize * height as usize],
        }
    }

    /// Selects one rectangle (x, y, width, height), cut to the size of the mask.
    pub fn rectangle(width: u32, height: u32, [x, y, across, down]: [u32; 4]) -> Self {
        let mut mask = Self::empty(width, height);
        let (right, bottom) = (
            x.saturating_add(across).min(width),
            y.saturating_add(down).min(height),
        );
        for row in y..bottom {
            let start = row as usize * width as usize;
            mask.shares[start + x.min(right) as usize..start + right as usize].fill(255);
        }
        mask
    }

    /// Selects what is white in a white-on-black drawing; transparent counts as black.
    pub fn from_white(drawing: &Picture) -> Self {
        let share = |&[r, g, b, a]: &[u8; 4]| {
            let light = (u32::from(r) * 77 + u32::from(g) * 150 + u32::from(b) * 29) >> 8;
            (light * u32::from(a) / 255) as u8
        };
        Self {
            width: drawing.width,
            height: drawing.height,
            shares: drawing.pixels().iter().map(share).collect(),
        }
    }

    /// Selects what is transparent.
    pub fn from_transparent(picture: &Picture) -> Self {
        Self {
            width: picture.width,
            height: picture.height,
            shares: picture
                .pixels()
                .iter()
                .map(|pixel| 255 - pixel[3])
                .collect(),
        }
    }

    /// Selects what was not, and the other way round.
    pub fn inverted(&self) -> Self {
        let shares = self.shares.iter().map(|share| 255 - share).collect();
        Self {
            width: self.width,
            height: self.height,
            shares,
        }
    }

    /// The same mask for a picture of another size.
    pub fn resized(&self, width: u32, height: u32) -> Self {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        Self::from_field(&self.field().resized(width as usize, height as usize))
    }

    /// Grows the selection by a number of pixels in every direction.
    pub fn dilated(&self, radius: u32) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let rows = widest(&self.shares, width, height, radius as usize);
        let shares = widest(&rows, height, width, radius as usize);
        Self {
            width: self.width,
            height: self.height,
            shares,
        }
    }

    /// Softens the edge over about this many pixels, outwards and inwards.
    pub fn feathered(&self, radius: u32) -> Self {
        if radius == 0 {
            return self.clone();
        }
        let half = (radius as usize).div_ceil(2);
        Self::from_field(&self.field().blurred(half).blurred(half))
    }

    /// The share at a place inside the mask.
    #[inline]
    pub fn share(&self, x: u32, y: u32) -> u8 {
        self.shares[y as usize * self.width as usize + x as usize]
    }

    /// How much is selected, 0 to 1.
    pub fn coverage(&self) -> f64 {
        let sum: u64 = self.shares.iter().map(|&share| u64::from(share)).sum();
        sum as f64 / (self.shares.len().max(1) as f64 * 255.0)
    }

    /// The smallest rectangle (x, y, width, height) around everything selected, or none.
    pub fn bounds(&self) -> Option<[u32; 4]> {
        let mut bounds = [u32::MAX, u32::MAX, 0, 0];
        for (index, _) in self
            .shares
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0)
        {
            let (x, y) = (index as u32 % self.width, index as u32 / self.width);
            bounds = [
                bounds[0].min(x),
                bounds[1].min(y),
                bounds[2].max(x),
                bounds[3].max(y),
            ];
        }
        let [left, top, right, bottom] = bounds;
        (left != u32::MAX).then(|| [left, top, right - left + 1, bottom - top + 1])
    }

    /// Mixes a changed picture into the original by the shares; where the share is 0 the original stays to the byte.
    pub fn mixed(&self, original: &Picture, changed: &Picture) -> Picture {
        let mut out = original.clone();
        let pairs = out.pixels_mut().iter_mut().zip(changed.pixels());
        for ((pixel, new), &share) in pairs.zip(&self.shares) {
            if share == 255 {
                *pixel = *new;
            } else if share > 0 {
                let share = u32::from(share);
                for (old, new) in pixel.iter_mut().zip(new) {
                    let sum = u32::from(*old) * (255 - share) + u32::from(*new) * share;
                    *old = ((sum + 127) / 255) as u8;
                }
            }
        }
        out
    }

    fn field(&self) -> Field<1> {
        let nodes = self
            .shares
            .iter()
            .map(|&share| [f32::from(share)])
            .collect();
        Field {
            width: self.width as usize,
            height: self.height as usize,
            nodes,
        }
    }

    pub(crate) fn from_field(field: &Field<1>) -> Self {
        let shares = field
            .nodes
            .iter()
            .map(|node| (node[0] + 0.5).clamp(0.0, 255.0) as u8)
            .collect();
        Self {
            width: field.width as u32,
            height: field.height as u32,
            shares,
        }
    }
}

/// The greatest share within a distance along each line; the result is transposed.
fn widest(shares: &[u8], width: usize, height: usize, radius: usize) -> Vec<u8> {
    let mut out = vec![0; shares.len()];
    for (y, line) in shares.chunks_exact(width).enumerate() {
        for x in 0..width {
            let part = &line[x.saturating_sub(radius)..(x + radius + 1).min(width)];
            out[x * height + y] = part.iter().copied().max().unwrap_or(0);
        }
    }
    out
}
