//! Follow-ups: other choices, another window over the same world, a region painted anew.

use super::{Patch, Scene, patch};
use crate::paint::dice::Dice;
use crate::words;

impl Scene {
    /// The same words with other choices.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            ..self.clone()
        }
    }

    /// The same scene with its choices moved a little (0.2) or a lot (0.8) towards those of another seed.
    #[must_use]
    pub fn varied(&self, strength: f32, seed: u64) -> Self {
        Self {
            dice: self.dice.drifted(strength, seed),
            ..self.clone()
        }
    }

    /// The same scene whose subjects look as somebody else does: the first takes the colour unless words gave it one,
    /// and all that live take their other looks from the seed.
    #[must_use]
    pub fn cast(&self, colour: Option<[u8; 3]>, look: u64) -> Self {
        let mut scene = self.clone();
        if let Some(first) = scene.subjects.first_mut() {
            first.colour = first.colour.or(colour);
        }
        for one in &mut scene.subjects {
            one.look.get_or_insert(look);
        }
        for (figure, index) in scene.figures.iter_mut().zip(0..) {
            figure.seed = look.wrapping_add(index * 7919);
        }
        scene
    }

    /// Shows more of the same world on all sides.
    #[must_use]
    pub fn zoomed_out(&self, factor: f32) -> Self {
        Self {
            window: self.window.zoomed_out(factor),
            ..self.clone()
        }
    }

    /// Widens the window towards one side, in units of the current window.
    #[must_use]
    pub fn panned(&self, dx: f32, dy: f32) -> Self {
        Self {
            window: self.window.panned(dx, dy),
            ..self.clone()
        }
    }

    /// A square window that contains the one a picture of this aspect showed.
    #[must_use]
    pub fn squared(&self, aspect: (u32, u32)) -> Self {
        Self {
            window: self.window.shaped(aspect).squared(),
            ..self.clone()
        }
    }

    /// The same scene in a window of this aspect.
    #[must_use]
    pub fn with_aspect(&self, aspect: (u32, u32)) -> Self {
        Self {
            window: self.window.shaped(aspect),
            ..self.clone()
        }
    }

    /// The same scene with a region painted anew from other words; `mask` covers the picture this scene renders to.
    ///
    /// What is outside the mask stays as it is to the last bit, the edge is soft inside it. The world, its light
    /// and its style stay; the things that stood in the region make room for those the new words name.
    #[must_use]
    pub fn repainted(&self, mask: &atelier_media::Mask, prompt: &str, seed: u64) -> Self {
        let cells = patch::cells(mask);
        let window = self.window.shaped((mask.width, mask.height));
        let Some([left, top, right, bottom]) = patch::bounds(window, &cells) else {
            return self.clone();
        };
        let read = words::read(prompt, "", self.tongue);
        let mut inner = Self {
            patches: Vec::new(),
            prompt: prompt.to_owned(),
            ..self.clone()
        };
        inner.subjects = read.subjects;
        inner.subjects.truncate(3);
        let count = inner.subjects.len().max(1) as f32;
        for (index, one) in inner.subjects.iter_mut().enumerate() {
            let wide = (right - left) / count;
            let x = left + wide * (index as f32 + 0.5);
            let tall = ((bottom - top) * 0.86).min(wide * 1.1 / one.kind.size.clamp(0.5, 1.0));
            one.at = Some([x, bottom - (bottom - top) * 0.06, tall]);
            one.count = 1;
        }
        // The world around must go on unbroken, so the seed only chooses how those in the region look.
        for one in &mut inner.subjects {
            one.look.get_or_insert(seed);
        }
        inner.setting = read.setting.unwrap_or(inner.setting);
        inner.time = read.time.unwrap_or(inner.time);
        inner.weather = read.weather.unwrap_or(inner.weather);
        let mut whole = self.clone();
        whole.patches.push(Patch {
            window,
            runs: patch::packed(&cells),
            scene: Box::new(inner),
        });
        whole
    }
}
