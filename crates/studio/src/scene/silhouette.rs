//! Where the subjects of a scene are seen, behind whatever stands before them.

use atelier_media::Mask;

use super::{Scene, render};
use crate::paint::canvas::Canvas;
use crate::paint::colour::Rgba;
use crate::paint::region::{Region, Role};
use crate::style;
use crate::style::look::{Look, Spot, Style};

/// Subjects white, what hides them black; light, shadow and weather hide nothing.
struct Silhouette {
    look: Look,
}

impl Style for Silhouette {
    fn look(&self) -> Look {
        Look {
            line: 0.0,
            drop: 0.0,
            coarse: None,
            dull: true,
            ..self.look
        }
    }

    fn sheet(&self, _x: f32, _y: f32) -> [f32; 3] {
        [0.0; 3]
    }

    fn pixel(&self, spot: &Spot, region: &Region) -> Rgba {
        match region.role {
            Role::Subject => [1.0, 1.0, 1.0, spot.own(&region.field)[3]],
            Role::Light | Role::Shadow | Role::Weather | Role::Cloud => [0.0; 4],
            _ => [0.0, 0.0, 0.0, spot.own(&region.field)[3]],
        }
    }
}

impl Scene {
    /// Selects the pixels in which a picture of this size shows the scene's subjects.
    pub fn subjects_shown(&self, width: u32, height: u32) -> Mask {
        let look = style::named(self.style).look();
        let canvas: Canvas = render::in_style(self, (width, height), &Silhouette { look });
        let share = |pixel: &[f32; 4]| (pixel[0].clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        Mask {
            width: width.max(1),
            height: height.max(1),
            shares: canvas.pixels.iter().map(share).collect(),
        }
    }
}
