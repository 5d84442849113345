//! Which pixels an outline covers, cropped to where it is, and the soft version of that.

use tiny_skia::{FillRule, Mask, Path, Transform};

/// Coverage of a rectangle of pixels.
pub(crate) struct Cover {
    /// Left edge in the picture.
    pub x: usize,
    /// Top edge in the picture.
    pub y: usize,
    pub width: usize,
    pub height: usize,
    /// 0 outside, 255 inside.
    pub inside: Vec<u8>,
}

/// Where to look for coverage: the picture's size and the margin around the outline.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub width: u32,
    pub height: u32,
    /// Pixels kept free around the outline.
    pub margin: f32,
}

impl Cover {
    /// The pixels an outline covers, if any.
    pub(crate) fn of(path: &Path, transform: Transform, area: Area) -> Option<Self> {
        let bounds = path.bounds().transform(transform)?;
        let left = (bounds.left() - area.margin).floor().max(0.0);
        let top = (bounds.top() - area.margin).floor().max(0.0);
        let right = (bounds.right() + area.margin).ceil().min(area.width as f32);
        let bottom = (bounds.bottom() + area.margin)
            .ceil()
            .min(area.height as f32);
        if right <= left || bottom <= top {
            return None;
        }
        let (width, height) = ((right - left) as u32, (bottom - top) as u32);
        let mut mask = Mask::new(width, height)?;
        let local = transform.post_translate(-left, -top);
        mask.fill_path(path, FillRule::Winding, true, local);
        Some(Self {
            x: left as usize,
            y: top as usize,
            width: width as usize,
            height: height as usize,
            inside: mask.take(),
        })
    }

    /// The same coverage, smeared over about `radius` pixels.
    pub(crate) fn softened(&self, radius: f32) -> Vec<u8> {
        let reach = (radius.round() as usize).clamp(1, 127);
        let mut pass = self.inside.clone();
        for _ in 0..2 {
            pass = smear_rows(&pass, self.width, reach);
            pass = smear_columns(&pass, self.width, self.height, reach);
        }
        pass
    }
}

/// Divides by the same number again and again: exact for sums of at most 255 times it, while it is below 256.
#[derive(Clone, Copy)]
struct Share(u32);

impl Share {
    fn of(span: u32) -> Self {
        Self((1 << 24) / span + 1)
    }

    #[inline]
    fn part(self, sum: u32) -> u8 {
        (sum.wrapping_mul(self.0) >> 24) as u8
    }
}

fn smear_rows(from: &[u8], width: usize, reach: usize) -> Vec<u8> {
    let mut to = vec![0; from.len()];
    let share = Share::of((2 * reach + 1) as u32);
    // The row with its ends drawn out, so that no place has to look whether it is near one.
    let mut long = vec![0; width + 2 * reach + 1];
    for (row, out) in from.chunks_exact(width).zip(to.chunks_exact_mut(width)) {
        long[..reach].fill(row[0]);
        long[reach..reach + width].copy_from_slice(row);
        long[reach + width..].fill(row[width - 1]);
        let mut sum: u32 = long[..=2 * reach].iter().map(|v| u32::from(*v)).sum();
        let ends = long[2 * reach + 1..].iter().zip(&long);
        for (cell, (enter, leave)) in out.iter_mut().zip(ends) {
            *cell = share.part(sum);
            sum = sum
                .wrapping_add(u32::from(*enter))
                .wrapping_sub(u32::from(*leave));
        }
    }
    to
}

fn smear_columns(from: &[u8], width: usize, height: usize, reach: usize) -> Vec<u8> {
    let mut to = vec![0; from.len()];
    let share = Share::of((2 * reach + 1) as u32);
    let row = |y: isize| {
        let y = y.clamp(0, height as isize - 1) as usize;
        &from[y * width..(y + 1) * width]
    };
    let mut sums = vec![0_u32; width];
    for y in -(reach as isize)..=reach as isize {
        for (sum, v) in sums.iter_mut().zip(row(y)) {
            *sum += u32::from(*v);
        }
    }
    for y in 0..height as isize {
        let (enter, leave) = (row(y + reach as isize + 1), row(y - reach as isize));
        let out = &mut to[y as usize * width..(y as usize + 1) * width];
        for (((cell, sum), enter), leave) in out.iter_mut().zip(&mut sums).zip(enter).zip(leave) {
            *cell = share.part(*sum);
            *sum = sum
                .wrapping_add(u32::from(*enter))
                .wrapping_sub(u32::from(*leave));
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_a_division() {
        for span in 1..256_u32 {
            let share = Share::of(span);
            let sums = (0..=255 * span).step_by(1 + span as usize / 9);
            assert!(
                sums.into_iter()
                    .all(|sum| u32::from(share.part(sum)) == sum / span)
            );
            assert_eq!(share.part(255 * span), 255);
        }
    }
}
