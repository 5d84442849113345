//! The network that finds the points of a face: its shape, its weights and the arithmetic of its steps.

use std::sync::LazyLock;

use crate::net::Weights;

/// Side of the square that the network sees.
pub(super) const SIDE: usize = 192;
const COUNT: usize = 468;

/// One step of the network, with its weights.
pub(super) enum Step {
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

/// The common part, and the two that start from what it gives.
pub(super) struct Network {
    pub(super) trunk: Vec<Step>,
    pub(super) points: Vec<Step>,
    pub(super) flag: Vec<Step>,
}

pub(super) static NETWORK: LazyLock<Network> = LazyLock::new(|| {
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
pub(super) struct Map {
    pub(super) side: usize,
    pub(super) channels: usize,
    pub(super) values: Vec<f32>,
}

impl Map {
    /// What comes out after some steps.
    pub(super) fn run(mut self, steps: &[Step]) -> Self {
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
                    let base = if *half { self.halved() } else { self };
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

    fn halved(&self) -> Self {
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
