//! A picture painted from the front to the back: what was laid so far, and how much still shows through it.

use rayon::prelude::*;

use crate::paint::canvas::Canvas;
use crate::paint::colour::Rgba;
use crate::paint::region::Blend;

/// Where less than this shows through, nothing behind is worked out any more.
const HIDDEN: f32 = 1.0 / 300.0;

/// One pixel: `through * below + light` is its colour, whatever turns out to be below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Veil {
    through: [f32; 3],
    light: [f32; 3],
}

impl Veil {
    /// What is there before anything was laid.
    pub(super) const CLEAR: Self = Self {
        through: [1.0; 3],
        light: [0.0; 3],
    };

    /// Whether nothing behind can be seen.
    pub(super) fn hides(&self) -> bool {
        self.through.iter().all(|share| *share < HIDDEN)
    }

    /// Lays a colour behind everything that was laid before.
    pub(super) fn lay(&mut self, behind: Rgba, blend: Blend) {
        let alpha = behind[3].clamp(0.0, 1.0);
        if alpha <= 0.0 {
            return;
        }
        let veils = self.through.iter_mut().zip(&mut self.light);
        for ((through, light), colour) in veils.zip(behind) {
            let colour = colour * alpha;
            let (keep, add) = match blend {
                Blend::Cover => (1.0 - alpha, colour),
                Blend::Darken => (1.0 - alpha + colour, 0.0),
                Blend::Glow => (1.0 - colour, colour),
            };
            *light += *through * add;
            *through *= keep;
        }
    }
}

/// Lays the veils over a canvas, from its row `first` on.
pub(super) fn drop_over(canvas: &mut Canvas, first: usize, veils: &[Veil]) {
    canvas.pixels[first * canvas.width..]
        .par_iter_mut()
        .with_min_len(4096)
        .zip(veils)
        .for_each(|(pixel, veil)| {
            let veils = veil.through.iter().zip(&veil.light);
            for (channel, (through, light)) in pixel.iter_mut().zip(veils) {
                *channel = *channel * through + light;
            }
        });
}
