//! A picture at one scale, which of its pixels are missing and which patches of it are known.

use atelier_media::{Mask, Picture};

/// Half a patch: patches are 7 by 7.
pub(super) const HALF: i32 = 3;

/// A picture at one scale and which of its pixels are missing.
pub(super) struct Level {
    pub(super) picture: Picture,
    pub(super) open: Vec<bool>,
    /// Places whose whole patch is known.
    known: Vec<bool>,
    /// How much a patch around each place is worth in the vote: more the nearer it is to what is known.
    pub(super) trust: Vec<f32>,
    pub(super) anchors: Vec<(i32, i32)>,
}

impl Level {
    pub(super) fn new(picture: Picture, open: Vec<bool>) -> Self {
        let (width, height) = (picture.width as i32, picture.height as i32);
        let touched = touched(&open, width, height);
        let whole =
            |x: i32, y: i32| x >= HALF && y >= HALF && x + HALF < width && y + HALF < height;
        let mut known = vec![false; open.len()];
        let mut anchors = Vec::new();
        for y in 0..height {
            for x in 0..width {
                let at = (y * width + x) as usize;
                if whole(x, y) && !touched[at] {
                    known[at] = true;
                    anchors.push((x, y));
                }
            }
        }
        // So little is known that no whole patch is: single pixels must do.
        if anchors.is_empty() {
            for (at, _) in open.iter().enumerate().filter(|(_, open)| !**open) {
                known[at] = true;
                anchors.push((at as i32 % width, at as i32 / width));
            }
        }
        let trust = steps_inward(&open, width as usize)
            .iter()
            .map(|&steps| 0.78_f32.powi(i32::from(steps)).max(1e-4))
            .collect();
        Self {
            picture,
            open,
            known,
            trust,
            anchors,
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.picture.width
    }

    pub(super) fn height(&self) -> u32 {
        self.picture.height
    }

    pub(super) fn longest(&self) -> u32 {
        self.width().max(self.height())
    }

    /// A smaller copy; a pixel is missing when any part of it was.
    pub(super) fn fitted(&self, longest: u32) -> Self {
        if self.longest() <= longest {
            return Self::new(self.picture.clone(), self.open.clone());
        }
        // Missing pixels must not colour their neighbours while the picture shrinks.
        let mut seen = self.picture.clone();
        for (pixel, open) in seen.pixels_mut().iter_mut().zip(&self.open) {
            pixel[3] = if *open { 0 } else { 255 };
        }
        let small = seen.fitted(longest);
        let open: Vec<bool> = small.pixels().iter().map(|pixel| pixel[3] < 250).collect();
        if open.contains(&false) {
            return Self::new(small.on([0; 3]), open);
        }
        let open = small.pixels().iter().map(|pixel| pixel[3] == 0).collect();
        Self::new(small.on([0; 3]), open)
    }

    /// The known pixels, with the missing ones from another picture.
    pub(super) fn joined(&self, other: &Picture) -> Picture {
        let mut out = self.picture.clone();
        for ((pixel, other), open) in out
            .pixels_mut()
            .iter_mut()
            .zip(other.pixels())
            .zip(&self.open)
        {
            if *open {
                *pixel = [other[0], other[1], other[2], 255];
            }
        }
        out
    }

    pub(super) fn is_known(&self, (x, y): (i32, i32)) -> bool {
        let (width, height) = (self.width() as i32, self.height() as i32);
        x >= 0 && y >= 0 && x < width && y < height && self.known[(y * width + x) as usize]
    }

    pub(super) fn is_seen(&self, x: i32, y: i32) -> bool {
        let (width, height) = (self.width() as i32, self.height() as i32);
        x >= 0 && y >= 0 && x < width && y < height && !self.open[(y * width + x) as usize]
    }
}

/// Places whose patch holds a missing pixel.
pub(super) fn touched(open: &[bool], width: i32, height: i32) -> Vec<bool> {
    let mask = Mask {
        width: width as u32,
        height: height as u32,
        shares: open.iter().map(|open| u8::from(*open) * 255).collect(),
    };
    mask.dilated(HALF as u32)
        .shares
        .into_iter()
        .map(|share| share > 0)
        .collect()
}

/// How many steps every missing pixel lies inside the gap, at most 60.
fn steps_inward(open: &[bool], width: usize) -> Vec<u8> {
    const MOST: u8 = 60;
    let mut steps: Vec<u8> = open
        .iter()
        .map(|open| if *open { MOST } else { 0 })
        .collect();
    for at in 0..steps.len() {
        let left = if at % width > 0 { steps[at - 1] } else { MOST };
        let above = if at >= width { steps[at - width] } else { MOST };
        steps[at] = steps[at].min(left.min(above) + 1).min(MOST);
    }
    for at in (0..steps.len()).rev() {
        let right = if at % width + 1 < width {
            steps[at + 1]
        } else {
            MOST
        };
        let below = steps.get(at + width).copied().unwrap_or(MOST);
        steps[at] = steps[at].min(right.min(below) + 1).min(MOST);
    }
    steps
}
