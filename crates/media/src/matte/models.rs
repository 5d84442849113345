//! What colours the subject and its surroundings have: a few clouds of colour for each.

use crate::palette::{nearest, swatches};

const CLOUDS: usize = 6;

/// One cloud: its middle, how wide it is in each channel, and its share.
struct Cloud {
    middle: [f32; 3],
    spread: [f32; 3],
    /// What a colour in its middle costs.
    base: f32,
}

/// The clouds of both sides.
pub(super) struct Models {
    inside: Vec<Cloud>,
    outside: Vec<Cloud>,
}

impl Models {
    /// Learns both sides from the present guess.
    pub(super) fn learn(colours: &[[f32; 3]], inside: &[bool]) -> Self {
        let side = |wanted: bool| -> Vec<[f32; 3]> {
            let pairs = colours.iter().zip(inside);
            pairs
                .filter(|(_, inside)| **inside == wanted)
                .map(|(colour, _)| opposed(colour))
                .collect()
        };
        Self {
            inside: clouds(&side(true)),
            outside: clouds(&side(false)),
        }
    }

    /// How little a colour looks like the subject.
    pub(super) fn inside_cost(&self, colour: &[f32; 3]) -> f32 {
        cost(&self.inside, &opposed(colour))
    }

    /// How little a colour looks like the surroundings.
    pub(super) fn outside_cost(&self, colour: &[f32; 3]) -> f32 {
        cost(&self.outside, &opposed(colour))
    }
}

/// Brightness and two colour differences, which vary more independently than red, green and blue.
fn opposed(colour: &[f32; 3]) -> [f32; 3] {
    let [r, g, b] = *colour;
    [(r + g + b) / 3.0, (r - b) * 0.8, (2.0 * g - r - b) * 0.7]
}

fn clouds(points: &[[f32; 3]]) -> Vec<Cloud> {
    let swatches = swatches(points, CLOUDS);
    let middles: Vec<[f32; 3]> = swatches.iter().map(|swatch| swatch.colour).collect();
    let mut sums = vec![([0.0; 3], 0.0); middles.len()];
    for point in points {
        let index = nearest(&middles, point);
        for c in 0..3 {
            sums[index].0[c] += (point[c] - middles[index][c]).powi(2);
        }
        sums[index].1 += 1.0;
    }
    swatches
        .iter()
        .zip(sums)
        .map(|(swatch, (sum, count))| {
            let spread = sum.map(|sum| sum / f32::max(count, 1.0) + 20.0);
            let volume: f32 = spread.iter().map(|spread| spread.ln() * 0.5).sum();
            Cloud {
                middle: swatch.colour,
                spread,
                base: volume - swatch.share.max(1e-4).ln(),
            }
        })
        .collect()
}

fn cost(clouds: &[Cloud], colour: &[f32; 3]) -> f32 {
    clouds
        .iter()
        .map(|cloud| {
            let far: f32 = (0..3)
                .map(|c| (colour[c] - cloud.middle[c]).powi(2) / cloud.spread[c])
                .sum();
            cloud.base + far * 0.5
        })
        .fold(60.0, f32::min)
}
