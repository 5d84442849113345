//! The last strokes of a fine drawing: edges cut clean and textures brought out. Only the few drawings of a film get them; what
//! is between these has them from there.

use atelier_media::Picture;

/// How far a pixel goes away from the mean of those around it.
const DEPTH: i32 = 3;
/// In parts of this.
const WHOLE: i32 = 4;

/// The picture with more of its own detail.
pub(super) fn carved(picture: &Picture) -> Picture {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let pixels = picture.pixels();
    let mut out = picture.clone();
    for (y, row) in out.pixels_mut().chunks_exact_mut(width).enumerate() {
        let above = y.saturating_sub(1) * width;
        let below = (y + 1).min(height - 1) * width;
        for (x, pixel) in row.iter_mut().enumerate() {
            let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
            let around = [above + x, below + x, y * width + left, y * width + right];
            for channel in 0..3 {
                let own = i32::from(pixel[channel]);
                let sum: i32 = around
                    .iter()
                    .map(|at| i32::from(pixels[*at][channel]))
                    .sum();
                let away = (4 * own - sum) * DEPTH / (4 * WHOLE);
                pixel[channel] = (own + away).clamp(0, 255) as u8;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_cut_cleaner_and_what_is_even_stays() {
        let mut picture = Picture::filled(8, 4, [100, 100, 100, 255]);
        for y in 0..4 {
            for x in 4..8 {
                picture.set(x, y, [140, 140, 140, 255]);
            }
        }
        let carved = carved(&picture);
        assert_eq!(carved.pixel(0, 0), [100, 100, 100, 255]);
        assert!(carved.pixel(3, 1)[0] < 100 && carved.pixel(4, 1)[0] > 140);
    }
}
