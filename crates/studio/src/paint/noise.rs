//! Smooth noise over the world, from integer hashes only, so that every machine draws the same picture.

/// Mixes three integers into one well-spread integer.
pub(crate) fn hash(x: i32, y: i32, seed: u32) -> u32 {
    let mut h = (x as u32).wrapping_mul(0x9E37_79B1)
        ^ (y as u32).wrapping_mul(0x85EB_CA77)
        ^ seed.wrapping_mul(0xC2B2_AE3D);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 13;
    h = h.wrapping_mul(0x297A_2D39);
    h ^ (h >> 15)
}

/// A number in 0..1 for a cell of the world.
pub(crate) fn cell(x: i32, y: i32, seed: u32) -> f32 {
    (hash(x, y, seed) >> 8) as f32 / 16_777_216.0
}

/// The whole number below, as a number and as an integer; without the call that `f32::floor` is on plain x86-64.
fn below(x: f32) -> (f32, i32) {
    let cut = x as i32;
    let whole = cut.wrapping_sub(i32::from(cut as f32 > x));
    (whole as f32, whole)
}

fn ease(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// Value noise in 0..1.
pub(crate) fn value(x: f32, y: f32, seed: u32) -> f32 {
    let ((fx, ix), (fy, iy)) = (below(x), below(y));
    let (u, v) = (ease(x - fx), ease(y - fy));
    let (jx, jy) = (ix.wrapping_add(1), iy.wrapping_add(1));
    let top = cell(ix, iy, seed) * (1.0 - u) + cell(jx, iy, seed) * u;
    let low = cell(ix, jy, seed) * (1.0 - u) + cell(jx, jy, seed) * u;
    top * (1.0 - v) + low * v
}

fn slope(ix: i32, iy: i32, seed: u32, dx: f32, dy: f32) -> f32 {
    const WAYS: [(f32, f32); 8] = [
        (1.0, 0.0),
        (0.707, 0.707),
        (0.0, 1.0),
        (-0.707, 0.707),
        (-1.0, 0.0),
        (-0.707, -0.707),
        (0.0, -1.0),
        (0.707, -0.707),
    ];
    let (gx, gy) = WAYS[(hash(ix, iy, seed) & 7) as usize];
    gx * dx + gy * dy
}

/// Gradient noise, about -0.7..0.7.
pub(crate) fn gradient(x: f32, y: f32, seed: u32) -> f32 {
    let ((fx, ix), (fy, iy)) = (below(x), below(y));
    let (dx, dy) = (x - fx, y - fy);
    let (u, v) = (ease(dx), ease(dy));
    let (jx, jy) = (ix.wrapping_add(1), iy.wrapping_add(1));
    let top = slope(ix, iy, seed, dx, dy) * (1.0 - u) + slope(jx, iy, seed, dx - 1.0, dy) * u;
    let low =
        slope(ix, jy, seed, dx, dy - 1.0) * (1.0 - u) + slope(jx, jy, seed, dx - 1.0, dy - 1.0) * u;
    top * (1.0 - v) + low * v
}

/// Several octaves of gradient noise, about -1..1.
pub(crate) fn fractal(x: f32, y: f32, seed: u32, octaves: u32) -> f32 {
    let (mut sum, mut gain, mut scale) = (0.0, 0.9, 1.0);
    for octave in 0..octaves {
        sum += gain * gradient(x * scale + 17.0 * octave as f32, y * scale, seed ^ octave);
        gain *= 0.5;
        scale *= 2.03;
    }
    sum
}

/// A line that wanders with x, about -1..1.
pub(crate) fn line(x: f32, seed: u32, octaves: u32) -> f32 {
    fractal(x, 0.37, seed, octaves) * 1.3
}

/// Eases from 0 to 1 while `v` goes from `low` to `high`.
pub(crate) fn smooth(low: f32, high: f32, v: f32) -> f32 {
    let t = ((v - low) / (high - low)).clamp(0.0, 1.0);
    ease(t)
}
