//! Grain over a picture, the same for the same seed.

use atelier_media::Picture;

use crate::paint::noise;

/// The picture under grain: 0 leaves it as it is, 1 hides it.
pub fn grained(picture: &Picture, amount: f32, seed: u64) -> Picture {
    let reach = amount.clamp(0.0, 1.0) * 255.0;
    let salt = (seed ^ seed >> 32) as u32;
    let width = picture.width as usize;
    let mut out = picture.clone();
    for (at, pixel) in out.pixels_mut().iter_mut().enumerate() {
        // Grains are as large as two pixels, or a smaller copy of the picture would lose them.
        let (x, y) = ((at % width / 2) as i32, (at / width / 2) as i32);
        for (channel, value) in pixel.iter_mut().take(3).enumerate() {
            let grain = noise::cell(x, y, salt ^ channel as u32) - 0.5;
            *value = (f32::from(*value) + grain * reach).clamp(0.0, 255.0) as u8;
        }
    }
    out
}
