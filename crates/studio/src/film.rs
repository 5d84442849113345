//! Motion: a scene that moves (drawn a few times, and between these drawings its parts travel along the flow), camera
//! moves over given pictures, and the change of one into another.

pub(crate) mod camera;
mod carve;
mod flow;
pub(crate) mod mark;
pub(crate) mod morph;
mod plate;

use atelier_media::Picture;

use crate::choices::kinds::Motion;
use crate::scene::Scene;
use carve::carved;
use morph::Morph;

/// A moving scene is drawn this often; between these drawings its parts travel.
const DRAWINGS: usize = 4;

/// A moving scene, to be asked for any moment of it; each drawing is made when it is first needed.
pub struct Film {
    scene: Scene,
    size: (u32, u32),
    motion: Motion,
    fine: bool,
    drawings: Vec<Option<Picture>>,
    way: Option<(usize, Morph)>,
}

impl Film {
    /// A film of a scene at a size.
    pub fn new(scene: &Scene, size: (u32, u32), motion: Motion) -> Self {
        Self {
            scene: scene.clone(),
            size,
            motion,
            fine: false,
            drawings: vec![None; DRAWINGS + 1],
            way: None,
        }
    }

    /// The same film drawn more finely, or not.
    #[must_use]
    pub fn finely(self, fine: bool) -> Self {
        Self { fine, ..self }
    }

    /// The picture at a moment, 0 to 1; at 0 it is the resting scene.
    pub fn at(&mut self, moment: f32) -> Picture {
        let place = moment.clamp(0.0, 1.0) * DRAWINGS as f32;
        let part = (place as usize).min(DRAWINGS - 1);
        if place <= 0.0 {
            return self.drawing(0).clone();
        }
        if self.way.as_ref().is_none_or(|(known, _)| *known != part) {
            let from = self.drawing(part).clone();
            let way = Morph::even(&from, self.drawing(part + 1));
            self.way = Some((part, way));
        }
        match &self.way {
            Some((_, way)) => way.at(place - part as f32),
            None => self.drawing(part).clone(),
        }
    }

    fn drawing(&mut self, index: usize) -> &Picture {
        let (width, height) = self.size;
        let moment = index as f32 / DRAWINGS as f32;
        let (scene, motion, fine) = (&self.scene, self.motion, self.fine);
        self.drawings[index].get_or_insert_with(|| {
            let drawing = scene.render_at(width, height, moment, motion);
            if fine { carved(&drawing) } else { drawing }
        })
    }
}
