//! A picture inside a canvas of another shape, and out of it again: vendors offer few sizes, and a picture that is
//! worked on must come back in its own.

use atelier_media::{Mask, Picture};

use crate::fit::Size;

/// Where a picture lies in a canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canvas {
    canvas: Size,
    /// Left, top, width, height.
    inner: [u32; 4],
}

impl Canvas {
    /// The picture as large as fits, in the middle of the canvas.
    pub(crate) fn around((width, height): Size, canvas: Size) -> Self {
        let across = f64::from(canvas.0) / f64::from(width.max(1));
        let down = f64::from(canvas.1) / f64::from(height.max(1));
        let scale = across.min(down);
        let side =
            |length: u32, most: u32| ((f64::from(length) * scale).round() as u32).clamp(1, most);
        let (inner_width, inner_height) = (side(width, canvas.0), side(height, canvas.1));
        let (left, top) = ((canvas.0 - inner_width) / 2, (canvas.1 - inner_height) / 2);
        Self {
            canvas,
            inner: [left, top, inner_width, inner_height],
        }
    }

    /// The canvas with the picture in it; what lies beside it has the picture's mean colour.
    pub(crate) fn filled_with(&self, picture: &Picture) -> Picture {
        let [left, top, width, height] = self.inner;
        let [r, g, b] = picture.mean_colour();
        let mut canvas = Picture::filled(self.canvas.0, self.canvas.1, [r, g, b, 255]);
        canvas.pasted(
            &picture.resized(width, height),
            i64::from(left),
            i64::from(top),
        );
        canvas
    }

    /// The mask of the canvas; nothing beside the picture is selected.
    pub(crate) fn mask(&self, mask: &Mask) -> Mask {
        let [left, top, width, height] = self.inner;
        let inner = mask.resized(width, height);
        let mut framed = Mask::empty(self.canvas.0, self.canvas.1);
        for y in 0..height {
            let from = (y * width) as usize;
            let to = ((top + y) * self.canvas.0 + left) as usize;
            let row = &inner.shares[from..from + width as usize];
            framed.shares[to..to + width as usize].copy_from_slice(row);
        }
        framed
    }

    /// The picture out of a canvas that came back, whatever size that has.
    pub(crate) fn taken_out(&self, canvas: &Picture) -> Picture {
        let [left, top, width, height] = self.inner;
        let canvas = canvas.covering(self.canvas.0, self.canvas.1);
        canvas.cropped(i64::from(left), i64::from(top), width, height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back_in_its_own_shape() {
        let picture = Picture::drawn(60, 20, |x, y| [x as u8 * 4, y as u8 * 10, 7, 255]);
        let frame = Canvas::around((60, 20), (120, 120));
        let canvas = frame.filled_with(&picture);
        assert_eq!((canvas.width, canvas.height), (120, 120));
        let back = frame.taken_out(&canvas).resized(60, 20);
        let off = back
            .rgba
            .iter()
            .zip(&picture.rgba)
            .map(|(a, b)| a.abs_diff(*b))
            .max();
        assert!(off.is_some_and(|off| off < 24), "{off:?}");
    }

    #[test]
    fn nothing_beside_the_picture_is_selected() {
        let frame = Canvas::around((60, 20), (120, 120));
        let mask = frame.mask(&Mask::full(60, 20));
        assert_eq!(mask.bounds(), Some([0, 40, 120, 40]));
    }
}
