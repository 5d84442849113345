//! Which part of the world a scene shows.

use serde::{Deserialize, Serialize};

/// A rectangle of the world; the first window of a scene has an area of about one unit around the middle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
}

/// The shorter side never shows less of the world than this, or subjects would not fit.
const SHORTEST: f32 = 0.75;

impl Window {
    /// The first window of a scene with this aspect.
    pub(crate) fn of_aspect(aspect: (u32, u32)) -> Self {
        let ratio = ratio(aspect);
        let (mut width, mut height) = (ratio.sqrt(), 1.0 / ratio.sqrt());
        let short = width.min(height);
        if short < SHORTEST {
            (width, height) = (width * SHORTEST / short, height * SHORTEST / short);
        }
        Self {
            left: -width * 0.5,
            top: -height * 0.5,
            width,
            height,
        }
    }

    /// The window a picture of this aspect shows: itself when the shape is right, else the same middle in that shape.
    pub(crate) fn shaped(&self, aspect: (u32, u32)) -> Self {
        let wanted = ratio(aspect);
        let own = self.width / self.height;
        // A pixel of rounding in the asked size is not another shape.
        if (wanted / own - 1.0).abs() < 0.004 {
            return *self;
        }
        let base = Self::of_aspect(aspect);
        let usual = Self::of_aspect((((self.width / self.height) * 1000.0) as u32, 1000));
        let zoom = self.width / usual.width;
        let (width, height) = (base.width * zoom, base.height * zoom);
        let (cx, cy) = (self.left + self.width * 0.5, self.top + self.height * 0.5);
        Self {
            left: cx - width * 0.5,
            top: cy - height * 0.5,
            width,
            height,
        }
    }

    /// More of the world on all sides.
    pub(crate) fn zoomed_out(&self, factor: f32) -> Self {
        let factor = factor.clamp(1.0, 16.0);
        let (width, height) = (self.width * factor, self.height * factor);
        Self {
            left: self.left - (width - self.width) * 0.5,
            top: self.top - (height - self.height) * 0.5,
            width,
            height,
        }
    }

    /// More of the world towards one side.
    pub(crate) fn panned(&self, dx: f32, dy: f32) -> Self {
        let (dx, dy) = (
            dx.clamp(-8.0, 8.0) * self.width,
            dy.clamp(-8.0, 8.0) * self.height,
        );
        Self {
            left: self.left + dx.min(0.0),
            top: self.top + dy.min(0.0),
            width: self.width + dx.abs(),
            height: self.height + dy.abs(),
        }
    }

    /// The smallest square around it.
    pub(crate) fn squared(&self) -> Self {
        let side = self.width.max(self.height);
        Self {
            left: self.left - (side - self.width) * 0.5,
            top: self.top - (side - self.height) * 0.5,
            width: side,
            height: side,
        }
    }

    /// The picture size of this shape whose longer side has so many pixels.
    pub fn pixels(&self, longest: u32) -> (u32, u32) {
        let scale = longest as f32 / self.width.max(self.height);
        let side = |length: f32| ((length * scale).round() as u32).max(1);
        (side(self.width), side(self.height))
    }
}

fn ratio((width, height): (u32, u32)) -> f32 {
    (width.max(1) as f32 / height.max(1) as f32).clamp(0.05, 20.0)
}
