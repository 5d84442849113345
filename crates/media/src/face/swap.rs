//! One face in the place of another: bent to its shape, given its light, set in without a seam.

use super::detect::faces;
use super::light::with_light_of;
use super::points::{Points, points};
use super::warp::bent;
use crate::Picture;
use crate::mask::Mask;
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

/// Selects the inside of the face's outline, a little within it and with a soft edge.
fn outline(points: &Points, width: u32, height: u32) -> Mask {
    let [left, top, right, bottom] = bounds(points);
    let middle = (f32::midpoint(left, right), f32::midpoint(top, bottom));
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
