//! Plays a reel: one frame after the other, the next shot dissolving in where one ends.

use atelier_media::{CameraMove, Mask, Morph, Motion, Picture, Scene, loop_time};

use super::reel::{Reel, Shot};

/// A moving scene is drawn this often in a shot; between these drawings its parts travel.
const DRAWINGS: usize = 4;
/// Frames over which one shot dissolves into the next.
const DISSOLVE: usize = 12;

/// The frames of a reel.
pub(super) struct Player<'a> {
    reel: &'a Reel,
    stills: &'a [Picture],
    at: usize,
    shot: usize,
    now: Option<Moving>,
    next_first: Option<Picture>,
}

/// A shot that moves.
enum Moving {
    Camera(CameraMove),
    Change(Morph),
    Scene(Drawn),
}

/// A scene drawn a few times, with the way from one drawing to the next.
struct Drawn {
    scene: Box<Scene>,
    size: (u32, u32),
    motion: Motion,
    drawings: Vec<Option<Picture>>,
    way: Option<(usize, Morph)>,
}

impl<'a> Player<'a> {
    /// Starts at the first frame.
    pub(super) fn new(reel: &'a Reel, stills: &'a [Picture]) -> Self {
        Self {
            reel,
            stills,
            at: 0,
            shot: usize::MAX,
            now: None,
            next_first: None,
        }
    }

    fn moving(&self, shot: usize) -> Option<Moving> {
        let reel = self.reel;
        Some(match reel.shots.get(shot)? {
            Shot::Scene(scene) => Moving::Scene(Drawn {
                scene: scene.clone(),
                size: (reel.width, reel.height),
                motion: if reel.high { Motion::High } else { Motion::Low },
                drawings: vec![None; DRAWINGS + 1],
                way: None,
            }),
            Shot::Still(index) => {
                let still = self.stills.get(*index)?;
                Moving::Camera(CameraMove::new(still, reel.high, reel.seed))
            }
            Shot::Change(from, to) => {
                Moving::Change(Morph::new(self.stills.get(*from)?, self.stills.get(*to)?))
            }
        })
    }
}

impl Iterator for Player<'_> {
    type Item = Picture;

    fn next(&mut self) -> Option<Picture> {
        let (total, shots) = (self.reel.frames(), self.reel.shots.len());
        if self.at >= total || shots == 0 {
            return None;
        }
        let shot = (self.at * shots / total).min(shots - 1);
        if shot != self.shot {
            self.shot = shot;
            self.now = self.moving(shot);
            self.next_first = None;
        }
        let start = (shot * total).div_ceil(shots);
        let end = ((shot + 1) * total).div_ceil(shots);
        let way = (self.at - start) as f32 / (end - start - 1).max(1) as f32;
        let moment = if self.reel.looped {
            loop_time(way)
        } else {
            way
        };
        let mut frame = self.now.as_mut()?.at(moment);
        let left = end - self.at;
        if left <= DISSOLVE && shot + 1 < shots {
            if self.next_first.is_none() {
                self.next_first = self.moving(shot + 1).map(|mut next| next.at(0.0));
            }
            if let Some(next) = &self.next_first {
                let share = (DISSOLVE - left + 1) as f32 / (DISSOLVE + 1) as f32;
                frame = dissolved(&frame, next, share);
            }
        }
        self.at += 1;
        Some(frame)
    }
}

fn dissolved(from: &Picture, to: &Picture, share: f32) -> Picture {
    let mut mask = Mask::full(from.width, from.height);
    mask.shares.fill((share * 255.0) as u8);
    mask.mixed(from, to)
}

impl Moving {
    fn at(&mut self, moment: f32) -> Picture {
        match self {
            Self::Camera(camera) => camera.at(moment),
            Self::Change(morph) => morph.at(moment),
            Self::Scene(drawn) => drawn.at(moment),
        }
    }
}

impl Drawn {
    fn at(&mut self, moment: f32) -> Picture {
        let place = moment.clamp(0.0, 1.0) * DRAWINGS as f32;
        let part = (place as usize).min(DRAWINGS - 1);
        if place <= 0.0 {
            return self.drawing(0).clone();
        }
        if self.way.as_ref().is_none_or(|(known, _)| *known != part) {
            let from = self.drawing(part).clone();
            let way = Morph::new(&from, self.drawing(part + 1));
            self.way = Some((part, way));
        }
        let local = place - part as f32;
        match &self.way {
            Some((_, way)) => way.at(local),
            None => self.drawing(part).clone(),
        }
    }

    fn drawing(&mut self, index: usize) -> &Picture {
        let (width, height) = self.size;
        let moment = index as f32 / DRAWINGS as f32;
        let (scene, motion) = (&self.scene, self.motion);
        self.drawings[index].get_or_insert_with(|| scene.render_at(width, height, moment, motion))
    }
}
