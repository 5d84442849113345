//! Giving a patch the brightness and colour of the place it goes to.

use crate::Picture;
use crate::mask::Mask;

/// The patch with the mean and spread of brightness and colour that the target has inside the mask.
pub(super) fn with_light_of(patch: &Picture, target: &Picture, mask: &Mask) -> Picture {
    let (own, goal) = (light(patch, mask), light(target, mask));
    let gains: [f32; 3] = std::array::from_fn(|c| {
        let gain = goal[c].1 / own[c].1;
        // Colour may fade to nothing, as in an old photo, but neither is ever driven up far.
        if c == 0 {
            gain.clamp(0.6, 1.8)
        } else {
            gain.clamp(0.0, 1.3)
        }
    });
    let mut out = patch.clone();
    for pixel in out.pixels_mut() {
        let old = opposed(*pixel);
        let [light, warm, green] =
            std::array::from_fn(|c| (old[c] - own[c].0) * gains[c] + goal[c].0);
        // The way back from `opposed`.
        let g = light + green * 2.0 / 3.0;
        let rest = 3.0 * light - g;
        let (r, b) = (f32::midpoint(rest, warm), f32::midpoint(rest, -warm));
        let [r, g, b] = [r, g, b].map(|value| (value + 0.5).clamp(0.0, 255.0) as u8);
        *pixel = [r, g, b, 255];
    }
    out
}

/// Brightness, red against blue, and green against both.
fn opposed([r, g, b, _]: [u8; 4]) -> [f32; 3] {
    let [r, g, b] = [r, g, b].map(f32::from);
    [(r + g + b) / 3.0, r - b, g - f32::midpoint(r, b)]
}

/// Mean and spread of brightness and colour inside the mask.
fn light(picture: &Picture, mask: &Mask) -> [(f32, f32); 3] {
    let chosen: Vec<[f32; 3]> = picture
        .pixels()
        .iter()
        .zip(&mask.shares)
        .filter(|(_, share)| **share > 200)
        .map(|(pixel, _)| opposed(*pixel))
        .collect();
    let count = chosen.len().max(1) as f32;
    std::array::from_fn(|c| {
        let mean = chosen.iter().map(|pixel| pixel[c]).sum::<f32>() / count;
        let spread = chosen
            .iter()
            .map(|pixel| (pixel[c] - mean).powi(2))
            .sum::<f32>()
            / count;
        (mean, spread.sqrt().max(1.0))
    })
}
