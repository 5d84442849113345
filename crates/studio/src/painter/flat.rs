//! The one colour that stands for a region in styles without shading.

use crate::paint::colour::Rgb;
use crate::paint::region::Region;

/// One colour for a whole region: the mean of its field over the part of it that the first window can show.
pub(super) fn flat(region: &Region) -> Rgb {
    let bounds = region.path.bounds();
    let (mut left, mut right) = (bounds.left().max(-0.5), bounds.right().min(0.5));
    let (mut top, mut bottom) = (bounds.top().max(-0.5), bounds.bottom().min(0.5));
    if left >= right || top >= bottom {
        (left, right, top, bottom) = (bounds.left(), bounds.right(), bounds.top(), bounds.bottom());
    } else if bounds.width() > 0.9 {
        // A long edge is judged by the part of it that every window shows.
        let near = region
            .path
            .points()
            .iter()
            .filter(|p| p.x.abs() <= 0.5)
            .map(|p| p.y);
        top = near.fold(bottom, f32::min).max(-0.5);
    }
    let mut sum = [0.0_f32; 4];
    for j in 0..4_u8 {
        for i in 0..5_u8 {
            let x = left + (right - left) * (f32::from(i) + 0.5) / 5.0;
            let y = top + (bottom - top) * (f32::from(j) + 0.4) / 5.0;
            let [r, g, b, a] = (region.field)(x, y);
            let weight = a + 0.001;
            sum = [
                sum[0] + r * weight,
                sum[1] + g * weight,
                sum[2] + b * weight,
                sum[3] + weight,
            ];
        }
    }
    [sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]]
}
