//! The picture while it is painted: floating colours with opacity, and the frame that maps it to the world.

use atelier_media::Picture;
use rayon::prelude::*;
use tiny_skia::Transform;

use super::colour::Rgb;

/// Which part of the world a picture shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub width: u32,
    pub height: u32,
    /// Pixels in one world unit.
    pub scale: f32,
    /// World place of the left edge.
    pub left: f32,
    /// World place of the top edge.
    pub top: f32,
    /// How far the camera has moved, in world units.
    pub camera: (f32, f32),
}

impl Frame {
    /// World place of the middle of a pixel.
    pub(crate) fn world(&self, x: f32, y: f32) -> (f32, f32) {
        (
            self.left + (x + 0.5) / self.scale,
            self.top + (y + 0.5) / self.scale,
        )
    }

    /// How far a region of this depth is shifted by the camera.
    pub(crate) fn shift(&self, depth: f32) -> (f32, f32) {
        let near = 1.0 - depth;
        (-self.camera.0 * near, -self.camera.1 * near)
    }

    /// From world units to pixels for a region of this depth.
    pub(crate) fn transform(&self, depth: f32) -> Transform {
        let (dx, dy) = self.shift(depth);
        let (left, top) = (self.left - dx, self.top - dy);
        Transform::from_row(
            self.scale,
            0.0,
            0.0,
            self.scale,
            -left * self.scale,
            -top * self.scale,
        )
    }
}

/// Premultiplied floating pixels.
pub(crate) struct Canvas {
    pub width: usize,
    pub height: usize,
    /// Rows from the top.
    pub pixels: Vec<[f32; 4]>,
}

impl Canvas {
    /// An opaque canvas of one colour.
    pub(crate) fn filled(width: u32, height: u32, colour: Rgb) -> Self {
        let count = width as usize * height as usize;
        let pixels = vec![[colour[0], colour[1], colour[2], 1.0]; count];
        Self {
            width: width as usize,
            height: height as usize,
            pixels,
        }
    }

    /// Changes every pixel, given its place.
    pub(crate) fn each(&mut self, change: impl Fn(usize, usize, &mut [f32; 4]) + Sync) {
        self.rows(&|y, row| {
            for (x, pixel) in row.iter_mut().enumerate() {
                change(x, y, pixel);
            }
        });
    }

    /// Changes row after row, several at once. The threads are shared out here once, and not anew for every change.
    fn rows(&mut self, change: &(dyn Fn(usize, &mut [[f32; 4]]) + Sync)) {
        self.pixels
            .par_chunks_mut(self.width)
            .enumerate()
            .for_each(|(y, row)| change(y, row));
    }

    /// The finished eight-bit picture.
    pub(crate) fn into_picture(self) -> Picture {
        let (width, height) = (self.width as u32, self.height as u32);
        let mut rgba = vec![0_u8; self.pixels.len() * 4];
        rgba.par_chunks_mut(self.width * 4)
            .zip(self.pixels.par_chunks(self.width))
            .for_each(|(bytes, row)| {
                for (byte, pixel) in bytes.chunks_exact_mut(4).zip(row) {
                    let alpha = pixel[3].clamp(0.0, 1.0);
                    let undo = if alpha > 0.0 { 1.0 / alpha } else { 0.0 };
                    for channel in 0..3 {
                        byte[channel] =
                            (pixel[channel] * undo * 255.0 + 0.5).clamp(0.0, 255.0) as u8;
                    }
                    byte[3] = (alpha * 255.0 + 0.5) as u8;
                }
            });
        Picture {
            width,
            height,
            rgba,
        }
    }
}
