//! One face in the place of another: bent to its shape, given its light, set in without a seam.

use super::detect::faces;
use super::points::{Points, points};
use crate::Picture;
use crate::mask::Mask;
use crate::sampling::{Field, packed_at, painted};
use crate::seamless::seamless;

/// Why no face could be swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaceError {
    /// The picture that is to be changed shows no face.
    #[error("no face was found in the target image")]
    NoFaceInTarget,
    /// The picture that the face should come from shows no face.
    #[error("no face was found in the source image")]
    NoFaceInSource,
}

/// The points around a face, in order.
const OUTLINE: [usize; 36] = [
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152,
    148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
];
/// Nodes of the warp along each side.
const NODES: usize = 48;

/// Puts the largest face of `source` in the place of the largest face of `target`; away from it nothing changes.
pub fn swap_face(target: &Picture, source: &Picture) -> Result<Picture, FaceError> {
    let to = found(target).ok_or(FaceError::NoFaceInTarget)?;
    let from = found(source).ok_or(FaceError::NoFaceInSource)?;
    let [x, y, width, height] = around(&to, target);
    let part = target.cropped(i64::from(x), i64::from(y), width, height);
    let to = moved(&to, -(x as f32), -(y as f32), 1.0);
    let (source, from) = alike_in_size(source, &from, &to);
    let mask = outline(&to, width, height);
    let patch = with_light_of(&bent(&source, &from, &to, width, height), &part, &mask);
    let joined = seamless(&part, &patch, &mask);
    // A seam is mended at the edge; towards the middle the patch's own, matched light counts more.
    let middle = deep_inside(&mask, &to);
    let mut out = target.clone();
    out.pasted(&middle.mixed(&joined, &patch), i64::from(x), i64::from(y));
    Ok(out)
}

fn found(picture: &Picture) -> Option<Points> {
    let opaque = picture.on([128; 3]);
    faces(&opaque)
        .into_iter()
        .find_map(|face| points(&opaque, face))
}

fn bounds(points: &Points) -> [f32; 4] {
    let start = [f32::MAX, f32::MAX, f32::MIN, f32::MIN];
    points
        .places
        .iter()
        .fold(start, |[left, top, right, bottom], &(x, y)| {
            [left.min(x), top.min(y), right.max(x), bottom.max(y)]
        })
}

/// The part of the picture that holds the face with some room: x, y, width, height.
fn around(points: &Points, picture: &Picture) -> [u32; 4] {
    let [left, top, right, bottom] = bounds(points);
    let room = (right - left).max(bottom - top) * 0.15 + 4.0;
    let clamp = |value: f32, most: u32| value.clamp(0.0, most as f32) as u32;
    let x = clamp(left - room, picture.width - 1);
    let y = clamp(top - room, picture.height - 1);
    let width = clamp(right + room, picture.width).max(x + 1) - x;
    let height = clamp(bottom + room, picture.height).max(y + 1) - y;
    [x, y, width, height]
}

fn moved(points: &Points, across: f32, down: f32, scale: f32) -> Points {
    let place = |&(x, y): &(f32, f32)| ((x + across) * scale, (y + down) * scale);
    Points {
        places: points.places.iter().map(place).collect(),
    }
}

/// A much larger face is made smaller first, so that no detail falls between the samples.
fn alike_in_size(source: &Picture, from: &Points, to: &Points) -> (Picture, Points) {
    let [x, y, width, height] = around(from, source);
    let part = source
        .on([128; 3])
        .cropped(i64::from(x), i64::from(y), width, height);
    let span = |points: &Points| {
        let [left, top, right, bottom] = bounds(points);
        (right - left).max(bottom - top).max(1.0)
    };
    let scale = (span(to) / span(from) * 1.3).min(1.0);
    let (wide, high) = (
        (width as f32 * scale) as u32,
        (height as f32 * scale) as u32,
    );
    let scale = wide.max(1) as f32 / width as f32;
    (
        part.resized(wide, high),
        moved(from, -(x as f32), -(y as f32), scale),
    )
}

/// The source as it looks when its points lie where those of the target are.
fn bent(source: &Picture, from: &Points, to: &Points, width: u32, height: u32) -> Picture {
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

/// Selects the inside of the face's outline, a little within it and with a soft edge.
fn outline(points: &Points, width: u32, height: u32) -> Mask {
    let [left, top, right, bottom] = bounds(points);
    let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
    let corners: Vec<(f32, f32)> = OUTLINE
        .iter()
        .map(|&index| {
            let (x, y) = points.places[index];
            (
                middle.0 + (x - middle.0) * 0.94,
                middle.1 + (y - middle.1) * 0.95,
            )
        })
        .collect();
    let mut mask = Mask::empty(width, height);
    for (at, share) in mask.shares.iter_mut().enumerate() {
        let x = (at % width as usize) as f32 + 0.5;
        let y = (at / width as usize) as f32 + 0.5;
        if within(&corners, x, y) {
            *share = 255;
        }
    }
    mask.feathered(((right - left) * 0.05) as u32 + 1)
}

/// The middle of a mask, rising slowly from its edge.
fn deep_inside(mask: &Mask, points: &Points) -> Mask {
    let [left, _, right, _] = bounds(points);
    let depth = ((right - left) * 0.12) as u32 + 1;
    let mut middle = mask.inverted().dilated(depth).inverted().feathered(depth);
    for share in &mut middle.shares {
        *share = (u16::from(*share) * 7 / 10) as u8;
    }
    middle
}

/// Whether a line to the right crosses the outline an odd number of times.
fn within(corners: &[(f32, f32)], x: f32, y: f32) -> bool {
    let mut inside = false;
    let mut last = corners[corners.len() - 1];
    for &corner in corners {
        if (corner.1 > y) != (last.1 > y)
            && x < (last.0 - corner.0) * (y - corner.1) / (last.1 - corner.1) + corner.0
        {
            inside = !inside;
        }
        last = corner;
    }
    inside
}

/// The patch with the mean and spread of brightness and colour that the target has inside the mask.
fn with_light_of(patch: &Picture, target: &Picture, mask: &Mask) -> Picture {
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
        let (r, b) = ((rest + warm) / 2.0, (rest - warm) / 2.0);
        let [r, g, b] = [r, g, b].map(|value| (value + 0.5).clamp(0.0, 255.0) as u8);
        *pixel = [r, g, b, 255];
    }
    out
}

/// Brightness, red against blue, and green against both.
fn opposed([r, g, b, _]: [u8; 4]) -> [f32; 3] {
    let [r, g, b] = [r, g, b].map(f32::from);
    [(r + g + b) / 3.0, r - b, g - (r + b) / 2.0]
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
