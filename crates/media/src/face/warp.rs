//! Bending one face to the shape of another, by the points of both.

use super::points::Points;
use crate::Picture;
use crate::sampling::{Field, packed_at, painted};

/// Nodes of the warp along each side.
const NODES: usize = 48;

/// The source as it looks when its points lie where those of the target are.
pub(super) fn bent(
    source: &Picture,
    from: &Points,
    to: &Points,
    width: u32,
    height: u32,
) -> Picture {
    let mut field = Field::new(NODES, NODES, [0.0; 2]);
    let size = (width.max(height) as f32 * 0.012).powi(2);
    for (at, node) in field.nodes.iter_mut().enumerate() {
        let x = ((at % NODES) as f32 + 0.5) / NODES as f32 * width as f32;
        let y = ((at / NODES) as f32 + 0.5) / NODES as f32 * height as f32;
        let place = fitted(from, to, (x, y), size);
        *node = [place.0 - x, place.1 - y];
    }
    painted(width, height, &field, |x, y, [across, down]| {
        packed_at(source, x + across, y + down)
    })
}

/// Where a place lies in the source: the affine map that fits the points best, near ones counting most.
fn fitted(from: &Points, to: &Points, (x, y): (f32, f32), size: f32) -> (f32, f32) {
    let weights: Vec<f32> = to
        .places
        .iter()
        .map(|&(px, py)| 1.0 / ((px - x).powi(2) + (py - y).powi(2) + size).powf(1.5))
        .collect();
    let total: f32 = weights.iter().sum();
    let mean = |points: &Points| {
        let sums = points
            .places
            .iter()
            .zip(&weights)
            .fold((0.0, 0.0), |sum, (&(px, py), weight)| {
                (sum.0 + px * weight, sum.1 + py * weight)
            });
        (sums.0 / total, sums.1 / total)
    };
    let (middle, goal) = (mean(to), mean(from));
    let mut own = [0.0; 3];
    let mut cross = [0.0; 4];
    for ((&(tx, ty), &(fx, fy)), weight) in to.places.iter().zip(&from.places).zip(&weights) {
        let (tx, ty, fx, fy) = (tx - middle.0, ty - middle.1, fx - goal.0, fy - goal.1);
        own = [
            own[0] + weight * tx * tx,
            own[1] + weight * tx * ty,
            own[2] + weight * ty * ty,
        ];
        let more = [tx * fx, ty * fx, tx * fy, ty * fy];
        cross = std::array::from_fn(|n| cross[n] + weight * more[n]);
    }
    let steady = (own[0] + own[2]) * 1e-3 + 1e-9;
    let (a, b, c) = (own[0] + steady, own[1], own[2] + steady);
    let area = a * c - b * b;
    let (dx, dy) = (x - middle.0, y - middle.1);
    let solve = |p: f32, q: f32| ((c * p - b * q) * dx + (a * q - b * p) * dy) / area;
    (
        goal.0 + solve(cross[0], cross[1]),
        goal.1 + solve(cross[2], cross[3]),
    )
}
