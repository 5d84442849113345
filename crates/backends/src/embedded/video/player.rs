//! Plays a reel: one frame after the other, the next shot dissolving in where one ends.

use atelier_media::{Mask, Picture};
use atelier_studio::{CameraMove, Film, Morph, Motion, loop_time};

use super::storyboard::{Shot, Storyboard};

/// Frames over which one shot dissolves into the next.
const DISSOLVE: usize = 12;

/// The frames of a reel.
pub(super) struct Player<'a> {
    reel: &'a Storyboard,
    stills: &'a [Picture],
    at: usize,
    shot: usize,
    now: Option<ShotMotion>,
    next_first: Option<Picture>,
}

/// A shot that moves.
enum ShotMotion {
    Camera(CameraMove),
    Change(Morph),
    Scene(Box<Film>),
}

impl<'a> Player<'a> {
    /// Starts at the first frame.
    pub(super) fn new(reel: &'a Storyboard, stills: &'a [Picture]) -> Self {
        Self {
            reel,
            stills,
            at: 0,
            shot: usize::MAX,
            now: None,
            next_first: None,
        }
    }

    fn moving(&self, shot: usize) -> Option<ShotMotion> {
        let reel = self.reel;
        Some(match reel.shots.get(shot)? {
            Shot::Scene(scene) => {
                let motion = if reel.high { Motion::High } else { Motion::Low };
                let size = (reel.width, reel.height);
                ShotMotion::Scene(Box::new(Film::new(scene, size, motion).finely(reel.fine)))
            }
            Shot::Still(index) => {
                let still = self.stills.get(*index)?;
                ShotMotion::Camera(CameraMove::new(still, reel.high, reel.seed))
            }
            Shot::Change(from, to) => {
                ShotMotion::Change(Morph::new(self.stills.get(*from)?, self.stills.get(*to)?))
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

impl ShotMotion {
    fn at(&mut self, moment: f32) -> Picture {
        match self {
            Self::Camera(camera) => camera.at(moment),
            Self::Change(morph) => morph.at(moment),
            Self::Scene(film) => film.at(moment),
        }
    }
}
