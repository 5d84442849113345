//! A picture in which something can be seen to move, and how far two pictures differ.

use atelier_media::Picture;

/// A disc at a place on a shaded ground.
pub(crate) fn disc(width: u32, height: u32, at: f32) -> Picture {
    Picture::drawn(width, height, |x, y| {
        let far = (x as f32 - at * width as f32).hypot(y as f32 - height as f32 * 0.5);
        if far < height as f32 * 0.2 {
            [220, 60, 40, 255]
        } else {
            [
                40,
                (60 + y * 120 / height) as u8,
                (90 + x * 120 / width) as u8,
                255,
            ]
        }
    })
}

/// Mean difference of all channels, for three of them.
pub(crate) fn difference(one: &Picture, other: &Picture) -> f64 {
    assert_eq!((one.width, one.height), (other.width, other.height));
    let sum: u64 = one
        .rgba
        .iter()
        .zip(&other.rgba)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / (one.pixels().len() * 3) as f64
}
