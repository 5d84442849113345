//! The arithmetic of small convolution networks: weights as half floats, sums on all cores.

use rayon::prelude::*;

/// Reads weights one after the other.
pub(crate) struct Weights<'a> {
    bytes: &'a [u8],
}

impl<'a> Weights<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next half floats.
    pub(crate) fn halves(&mut self, count: usize) -> Vec<f32> {
        let (now, rest) = self.bytes.split_at(count * 2);
        self.bytes = rest;
        now.as_chunks::<2>()
            .0
            .iter()
            .map(|pair| half(u16::from_le_bytes(*pair)))
            .collect()
    }

    /// The next whole floats.
    pub(crate) fn floats(&mut self, count: usize) -> Vec<f32> {
        let (now, rest) = self.bytes.split_at(count * 4);
        self.bytes = rest;
        now.as_chunks::<4>()
            .0
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect()
    }

    pub(crate) fn skip(&mut self, bytes: usize) {
        self.bytes = &self.bytes[bytes..];
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// A half float in full.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 31);
    let fraction = u32::from(bits & 1023);
    match exponent {
        0 => {
            let small = fraction as f32 / 16_777_216.0;
            if sign == 0 { small } else { -small }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// Output channels that are computed together.
const LANES: usize = 16;
/// Output pixels that are computed together.
const RUN: usize = 6;

/// A 3 by 3 convolution with a slope for negative results.
pub(crate) struct Layer {
    inputs: usize,
    outputs: usize,
    /// For each group of outputs, for each tap and input: the weights of the group.
    groups: Vec<Vec<[f32; LANES]>>,
    bias: Vec<[f32; LANES]>,
    slope: Option<Vec<[f32; LANES]>>,
}

impl Layer {
    /// Sorts weights given as output, input, tap; the outputs must fill their groups.
    pub(crate) fn new(inputs: usize, weights: &[f32], bias: &[f32], slope: Option<&[f32]>) -> Self {
        let outputs = bias.len();
        let lanes = |values: &[f32]| values.as_chunks::<LANES>().0.to_vec();
        let groups = (0..outputs / LANES)
            .map(|group| {
                let mut sorted = vec![[0.0; LANES]; 9 * inputs];
                for (place, lane) in sorted.iter_mut().enumerate() {
                    let (tap, input) = (place / inputs, place % inputs);
                    *lane = std::array::from_fn(|k| {
                        weights[((group * LANES + k) * inputs + input) * 9 + tap]
                    });
                }
                sorted
            })
            .collect();
        Self {
            inputs,
            outputs,
            groups,
            bias: lanes(bias),
            slope: slope.map(lanes),
        }
    }

    /// Runs over a map of `width` by `height` pixels, channels together; beyond the border is nothing.
    pub(crate) fn run(&self, map: &[f32], width: usize, height: usize) -> Vec<f32> {
        let padded = padded(map, width, height, self.inputs);
        let mut out = vec![0.0; width * height * self.outputs];
        out.par_chunks_exact_mut(width * self.outputs)
            .enumerate()
            .for_each(|(y, row)| self.row(&padded, width, y, row));
        out
    }

    fn row(&self, padded: &[f32], width: usize, y: usize, out: &mut [f32]) {
        let stride = (width + 2 + RUN) * self.inputs;
        let rows: [&[f32]; 3] = std::array::from_fn(|dy| &padded[(y + dy) * stride..][..stride]);
        for start in (0..width).step_by(RUN) {
            for (group, weights) in self.groups.iter().enumerate() {
                let mut sums = [self.bias[group]; RUN];
                for (dy, row) in rows.iter().enumerate() {
                    for dx in 0..3 {
                        let tap = &weights[(dy * 3 + dx) * self.inputs..][..self.inputs];
                        let pixels = &row[(start + dx) * self.inputs..][..RUN * self.inputs];
                        add_tap(&mut sums, pixels, tap);
                    }
                }
                for (step, mut sum) in sums.into_iter().enumerate().take(width - start) {
                    if let Some(slope) = &self.slope {
                        for (value, slope) in sum.iter_mut().zip(&slope[group]) {
                            *value = if *value < 0.0 { *value * slope } else { *value };
                        }
                    }
                    let at = (start + step) * self.outputs + group * LANES;
                    out[at..at + LANES].copy_from_slice(&sum);
                }
            }
        }
    }
}

/// Adds what one tap gives to a run of pixels, with the widest arithmetic that the processor has.
#[inline]
fn add_tap(sums: &mut [[f32; LANES]; RUN], pixels: &[f32], tap: &[[f32; LANES]]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        #[expect(
            unsafe_code,
            reason = "calling a function for a processor feature that was just found"
        )]
        unsafe {
            add_tap_wide(sums, pixels, tap);
        }
        return;
    }
    add_tap_plain(sums, pixels, tap);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_tap_wide(sums: &mut [[f32; LANES]; RUN], pixels: &[f32], tap: &[[f32; LANES]]) {
    let inputs = tap.len();
    let runs: [&[f32]; RUN] = std::array::from_fn(|step| &pixels[step * inputs..][..inputs]);
    let mut local = *sums;
    for (input, weights) in tap.iter().enumerate() {
        for step in 0..RUN {
            let value = runs[step][input];
            for lane in 0..LANES {
                local[step][lane] = value.mul_add(weights[lane], local[step][lane]);
            }
        }
    }
    *sums = local;
}

fn add_tap_plain(sums: &mut [[f32; LANES]; RUN], pixels: &[f32], tap: &[[f32; LANES]]) {
    let inputs = tap.len();
    for (input, weights) in tap.iter().enumerate() {
        for (step, sum) in sums.iter_mut().enumerate() {
            let value = pixels[step * inputs + input];
            for (sum, weight) in sum.iter_mut().zip(weights) {
                *sum += value * weight;
            }
        }
    }
}

/// The map with an empty pixel around it, and room at the end of each row for a last run.
fn padded(map: &[f32], width: usize, height: usize, channels: usize) -> Vec<f32> {
    let stride = (width + 2 + RUN) * channels;
    let mut out = vec![0.0; stride * (height + 2)];
    for (y, row) in map.chunks_exact(width * channels).enumerate() {
        let start = (y + 1) * stride + channels;
        out[start..start + row.len()].copy_from_slice(row);
    }
    out
}
