//! The few colours that a picture is made of.

use crate::Picture;

/// One colour of a palette and the share of the picture it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swatch {
    /// The colour, each channel 0..255.
    pub colour: [f32; 3],
    /// Its share of the points.
    pub share: f32,
}

/// The colours of some points, found by moving centres to the middle of those they are nearest to.
pub fn swatches(points: &[[f32; 3]], count: usize) -> Vec<Swatch> {
    let mut centres = spread_out(points, count);
    let mut weights = vec![0.0; centres.len()];
    for _ in 0..8 {
        let mut sums = vec![[0.0; 3]; centres.len()];
        weights.fill(0.0);
        for point in points {
            let index = nearest(&centres, point);
            (0..3).for_each(|c| sums[index][c] += point[c]);
            weights[index] += 1.0;
        }
        for ((centre, sum), weight) in centres.iter_mut().zip(sums).zip(&weights) {
            if *weight > 0.0 {
                *centre = sum.map(|value| value / weight);
            }
        }
    }
    let total: f32 = weights.iter().sum::<f32>().max(1.0);
    let mut out: Vec<Swatch> = centres
        .into_iter()
        .zip(weights)
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(colour, weight)| Swatch {
            colour,
            share: weight / total,
        })
        .collect();
    out.sort_by(|a, b| b.share.total_cmp(&a.share));
    out
}

/// The visible pixels of a small copy, as points.
pub fn points(picture: &Picture, longest: u32) -> Vec<[f32; 3]> {
    let small = picture.fitted(longest);
    let seen = small.pixels().iter().filter(|pixel| pixel[3] > 127);
    seen.map(|&[r, g, b, _]| [r, g, b].map(f32::from)).collect()
}

/// Which centre is nearest.
#[inline]
pub fn nearest(centres: &[[f32; 3]], point: &[f32; 3]) -> usize {
    let mut best = (f32::MAX, 0);
    for (index, centre) in centres.iter().enumerate() {
        let far = distance(centre, point);
        if far < best.0 {
            best = (far, index);
        }
    }
    best.1
}

/// Squared distance of two colours.
#[inline]
pub fn distance(one: &[f32; 3], other: &[f32; 3]) -> f32 {
    (0..3)
        .map(|c| (one[c] - other[c]) * (one[c] - other[c]))
        .sum()
}

/// Starting centres: the mean, then always the point furthest from all before, so that rare colours are heard.
fn spread_out(points: &[[f32; 3]], count: usize) -> Vec<[f32; 3]> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let mut centres = vec![*first];
    let mut far: Vec<f32> = points.iter().map(|point| distance(point, first)).collect();
    while centres.len() < count {
        let Some((index, most)) = far
            .iter()
            .copied()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))
        else {
            break;
        };
        if most < 16.0 {
            break;
        }
        let centre = points[index];
        centres.push(centre);
        for (far, point) in far.iter_mut().zip(points) {
            *far = far.min(distance(point, &centre));
        }
    }
    centres
}
