//! Finding faces that look towards the camera.

use std::io::Cursor;
use std::sync::LazyLock;

use rustface::{ImageData, Model};

use crate::Picture;

/// Longest side at which faces are looked for.
const LONGEST: u32 = 800;
/// A score below this is more often a pattern than a face.
const SCORE: f64 = 2.8;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let bytes = include_bytes!("../../data/face_detect.bin");
    rustface::read_model(Cursor::new(bytes))
        .expect("the model that ships with the program is whole")
});

/// A square around a face, in pixels of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// Left edge of the box, in pixels.
    pub x: f32,
    /// Upper edge of the box, in pixels.
    pub y: f32,
    /// Length of a side.
    pub size: f32,
    /// How sure it is; about 3 is fair, above 10 is certain.
    pub score: f32,
}

/// All faces, the largest first.
pub fn faces(picture: &Picture) -> Vec<Face> {
    let small = picture.fitted(LONGEST);
    if small.width.min(small.height) < 40 {
        return Vec::new();
    }
    let scale = picture.width as f32 / small.width as f32;
    let grey: Vec<u8> = small
        .pixels()
        .iter()
        .map(|&[r, g, b, _]| {
            ((u32::from(r) * 77 + u32::from(g) * 150 + u32::from(b) * 29) >> 8) as u8
        })
        .collect();
    let mut detector = rustface::create_detector_with_model(MODEL.clone());
    detector.set_min_face_size(24);
    detector.set_score_thresh(SCORE);
    detector.set_pyramid_scale_factor(0.8);
    detector.set_slide_window_step(4, 4);
    let mut faces: Vec<Face> = detector
        .detect(&ImageData::new(&grey, small.width, small.height))
        .iter()
        .map(|face| {
            let square = face.bbox();
            Face {
                x: square.x() as f32 * scale,
                y: square.y() as f32 * scale,
                size: square.width() as f32 * scale,
                score: face.score() as f32,
            }
        })
        .collect();
    faces.sort_by(|a, b| b.size.total_cmp(&a.size));
    faces
}
