//! The 468 points of a face: a small network that looks at a square around it.

use std::sync::LazyLock;

use super::detect::Face;
use crate::Picture;
use crate::net::Weights;
use crate::sampling::packed_at;

/// Side of the square that the network sees.
const SIDE: usize = 192;
const COUNT: usize = 468;
/// Outer corners of the eyes.
const EYES: (usize, usize) = (33, 263);

/// The points of one face in pixels of its picture.
pub(super) struct Points {
    pub(super) places: Vec<(f32, f32)>,
}

/// One step of the network, with its weights.
enum Step {
    /// 3 by 3 over all channels, every second pixel.
    First { kernel: Vec<f32>, bias: Vec<f32> },
    /// 3 by 3 in each channel, then 1 by 1 over all, added to what came in; `half` takes every second pixel.
    Block {
        half: bool,
        depth: Vec<f32>,
        depth_bias: Vec<f32>,
        point: Vec<f32>,
        bias: Vec<f32>,
    },
    /// 1 by 1 over all channels.
    Point { kernel: Vec<f32>, bias: Vec<f32> },
    /// All nine remaining pixels into the result.
    Last { kernel: Vec<f32>, bias: Vec<f32> },
    /// A slope for negative values.
    Slope(Vec<f32>),
}

struct Network {
    trunk: Vec<Step>,
    points: Vec<Step>,
    flag: Vec<Step>,
}

static NETWORK: LazyLock<Network> = LazyLock::new(|| {
    let mut weights = Weights::new(include_bytes!("../../data/face_points.bin"));
    let mut trunk = vec![
        Step::First {
            kernel: weights.halves(27 * 16),
            bias: weights.halves(16),
        },
        Step::Slope(weights.halves(16)),
    ];
    let mut channels = 16;
    add_blocks(&mut trunk, &mut weights, channels, 2);
    for next in [32, 64, 128, 128] {
        add_block(&mut trunk, &mut weights, channels, next, true);
        channels = next;
        add_blocks(&mut trunk, &mut weights, channels, 2);
    }
    let points = branch(&mut weights, 2, COUNT * 3);
    let flag = branch(&mut weights, 0, 1);
    debug_assert!(
        weights.is_empty(),
        "the file holds this network and nothing else"
    );
    Network {
        trunk,
        points,
        flag,
    }
});

fn add_blocks(steps: &mut Vec<Step>, weights: &mut Weights, channels: usize, count: usize) {
    for _ in 0..count {
        add_block(steps, weights, channels, channels, false);
    }
}

fn add_block(steps: &mut Vec<Step>, weights: &mut Weights, from: usize, to: usize, half: bool) {
    steps.push(Step::Block {
        half,
        depth: weights.halves(9 * from),
        depth_bias: weights.halves(from),
        point: weights.halves(from * to),
        bias: weights.halves(to),
    });
    steps.push(Step::Slope(weights.halves(to)));
}

fn branch(weights: &mut Weights, more: usize, results: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    add_block(&mut steps, weights, 128, 128, true);
    add_blocks(&mut steps, weights, 128, more);
    steps.push(Step::Point {
        kernel: weights.halves(128 * 32),
        bias: weights.halves(32),
    });
    steps.push(Step::Slope(weights.halves(32)));
    add_blocks(&mut steps, weights, 32, 1);
    steps.push(Step::Last {
        kernel: weights.halves(9 * 32 * results),
        bias: weights.halves(results),
    });
    steps
}

/// A square map, channels together.
#[derive(Clone)]
struct Map {
    side: usize,
    channels: usize,
    values: Vec<f32>,
}

impl Map {
    fn run(mut self, steps: &[Step]) -> Self {
        for step in steps {
            self = match step {
                Step::First { kernel, bias } => self.first(kernel, bias),
                Step::Block {
                    half,
                    depth,
                    depth_bias,
                    point,
                    bias,
                } => {
                    let fine = self
                        .depthwise(depth, depth_bias, *half)
                        .pointwise(point, bias);
                    let base = if *half { self.pooled() } else { self };
                    base.plus(fine)
                }
                Step::Point { kernel, bias } => self.pointwise(kernel, bias),
                Step::Last { kernel, bias } => Self {
                    side: 1,
                    channels: self.values.len(),
                    values: self.values,
                }
                .pointwise(kernel, bias),
                Step::Slope(slope) => self.sloped(slope),
            };
        }
        self
    }

    fn first(&self, kernel: &[f32], bias: &[f32]) -> Self {
        let (side, outputs) = (self.side / 2, bias.len());
        let mut values = bias.repeat(side * side);
        for (at, out) in values.chunks_exact_mut(outputs).enumerate() {
            for tap in 0..9 {
                let (x, y) = (at % side * 2 + tap % 3, at / side * 2 + tap / 3);
                if x >= self.side || y >= self.side {
                    continue;
                }
                for c in 0..self.channels {
                    let value = self.values[(y * self.side + x) * self.channels + c];
                    let weights = &kernel[(tap * self.channels + c) * outputs..][..outputs];
                    out.iter_mut()
                        .zip(weights)
                        .for_each(|(out, weight)| *out += value * weight);
                }
            }
        }
        Self {
            side,
            channels: outputs,
            values,
        }
    }

    /// Every second pixel starts at the first one, as the network was trained.
    fn depthwise(&self, kernel: &[f32], bias: &[f32], half: bool) -> Self {
        let (side, step, shift) = if half {
            (self.side / 2, 2, 0)
        } else {
            (self.side, 1, 1)
        };
        let mut values = bias.repeat(side * side);
        for (at, out) in values.chunks_exact_mut(self.channels).enumerate() {
            for tap in 0..9 {
                let x = (at % side * step + tap % 3).wrapping_sub(shift);
                let y = (at / side * step + tap / 3).wrapping_sub(shift);
                if x >= self.side || y >= self.side {
                    continue;
                }
                let pixel = &self.values[(y * self.side + x) * self.channels..][..self.channels];
                let weights = &kernel[tap * self.channels..][..self.channels];
                for ((out, value), weight) in out.iter_mut().zip(pixel).zip(weights) {
                    *out += value * weight;
                }
            }
        }
        Self {
            side,
            channels: self.channels,
            values,
        }
    }

    fn pointwise(&self, kernel: &[f32], bias: &[f32]) -> Self {
        let outputs = bias.len();
        let mut values = bias.repeat(self.side * self.side);
        let pixels = self.values.chunks_exact(self.channels);
        for (out, pixel) in values.chunks_exact_mut(outputs).zip(pixels) {
            for (value, weights) in pixel.iter().zip(kernel.chunks_exact(outputs)) {
                out.iter_mut()
                    .zip(weights)
                    .for_each(|(out, weight)| *out += value * weight);
            }
        }
        Self {
            side: self.side,
            channels: outputs,
            values,
        }
    }

    fn pooled(&self) -> Self {
        let side = self.side / 2;
        let mut values = Vec::with_capacity(side * side * self.channels);
        for at in 0..side * side {
            let corner = (at / side * 2 * self.side + at % side * 2) * self.channels;
            for c in 0..self.channels {
                let read = |shift: usize| self.values[corner + shift * self.channels + c];
                values.push(
                    read(0)
                        .max(read(1))
                        .max(read(self.side))
                        .max(read(self.side + 1)),
                );
            }
        }
        Self {
            side,
            channels: self.channels,
            values,
        }
    }

    /// The sum of two maps; the second may have more channels.
    fn plus(&self, mut other: Self) -> Self {
        let pixels = self.values.chunks_exact(self.channels);
        for (sum, pixel) in other.values.chunks_exact_mut(other.channels).zip(pixels) {
            sum.iter_mut()
                .zip(pixel)
                .for_each(|(sum, value)| *sum += value);
        }
        other
    }

    fn sloped(mut self, slope: &[f32]) -> Self {
        for pixel in self.values.chunks_exact_mut(self.channels) {
            for (value, slope) in pixel.iter_mut().zip(slope) {
                if *value < 0.0 {
                    *value *= slope;
                }
            }
        }
        self
    }
}

/// A turned square in the picture.
#[derive(Clone, Copy)]
struct Square {
    middle: (f32, f32),
    size: f32,
    /// Sine and cosine of its turn.
    turn: (f32, f32),
}

impl Square {
    fn place(self, u: f32, v: f32) -> (f32, f32) {
        let (across, down) = ((u - 0.5) * self.size, (v - 0.5) * self.size);
        let (sine, cosine) = self.turn;
        (
            self.middle.0 + across * cosine - down * sine,
            self.middle.1 + across * sine + down * cosine,
        )
    }
}

/// Looks twice: at the upright square of the detector, then at one turned and sized by what the first look found.
pub(super) fn points(picture: &Picture, face: Face) -> Option<Points> {
    let half = face.size / 2.0;
    let first = Square {
        middle: (face.x + half, face.y + half),
        size: face.size * 1.7,
        turn: (0.0, 1.0),
    };
    let (rough, _) = look(picture, first);
    let (mut low, mut high) = (rough[0], rough[0]);
    for &(x, y) in &rough {
        low = (low.0.min(x), low.1.min(y));
        high = (high.0.max(x), high.1.max(y));
    }
    let (left, right) = (rough[EYES.0], rough[EYES.1]);
    let second = Square {
        middle: ((low.0 + high.0) / 2.0, (low.1 + high.1) / 2.0),
        size: (high.0 - low.0).max(high.1 - low.1) * 1.5,
        turn: (right.1 - left.1).atan2(right.0 - left.0).sin_cos(),
    };
    let (places, flag) = look(picture, second);
    (flag > 0.5).then_some(Points { places })
}

fn look(picture: &Picture, square: Square) -> (Vec<(f32, f32)>, f32) {
    // A copy around the square at about the network's own size, so that a large face is not sampled in gaps.
    let reach = (square.size * 0.75).ceil().max(8.0) as i64;
    let corner = (
        square.middle.0 as i64 - reach,
        square.middle.1 as i64 - reach,
    );
    let around = picture.cropped(corner.0, corner.1, reach as u32 * 2, reach as u32 * 2);
    let scale = (SIDE as f32 * 1.5 / around.width as f32).min(1.0);
    let side = (around.width as f32 * scale) as u32;
    let around = around.on([0; 3]).resized(side, side);
    let mut values = Vec::with_capacity(SIDE * SIDE * 3);
    for at in 0..SIDE * SIDE {
        let u = ((at % SIDE) as f32 + 0.5) / SIDE as f32;
        let v = ((at / SIDE) as f32 + 0.5) / SIDE as f32;
        let (x, y) = square.place(u, v);
        let (x, y) = (x - corner.0 as f32, y - corner.1 as f32);
        let pixel = packed_at(&around, x * scale - 0.5, y * scale - 0.5).to_le_bytes();
        values.extend(pixel[..3].iter().map(|&channel| f32::from(channel) / 255.0));
    }
    let map = Map {
        side: SIDE,
        channels: 3,
        values,
    }
    .run(&NETWORK.trunk);
    let flag = map.clone().run(&NETWORK.flag).values[0];
    let found = map.run(&NETWORK.points).values;
    let places = found
        .as_chunks::<3>()
        .0
        .iter()
        .map(|[x, y, _]| square.place(x / SIDE as f32, y / SIDE as f32))
        .collect();
    (places, 1.0 / (1.0 + (-flag).exp()))
}
