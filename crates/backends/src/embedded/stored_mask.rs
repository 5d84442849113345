//! A black-and-white mask small enough to be kept with a job: lengths of black and white runs, row after row.

use atelier_media::Mask;
use serde::{Deserialize, Serialize};

/// More runs than this are not kept; the mask is halved until it has fewer.
const MOST_RUNS: usize = 6000;
/// Shares from here on count as white.
const WHITE: u8 = 128;

/// A mask as runs of black and white, small enough for the notes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredMask {
    width: u32,
    height: u32,
    /// Pixels of black, then of white, then of black, and so on.
    runs: Vec<u32>,
}

impl StoredMask {
    /// Keeps a mask, smaller where it is too ragged to be kept whole.
    pub(super) fn of(mask: &Mask) -> Self {
        let (mut width, mut height) = (mask.width, mask.height);
        loop {
            let stencil = Self::exact(&mask.resized(width, height));
            if stencil.runs.len() <= MOST_RUNS || width.max(height) <= 64 {
                return stencil;
            }
            (width, height) = ((width / 2).max(1), (height / 2).max(1));
        }
    }

    fn exact(mask: &Mask) -> Self {
        let mut runs = Vec::new();
        let (mut white, mut length) = (false, 0);
        for &share in &mask.shares {
            if (share >= WHITE) != white {
                runs.push(length);
                (white, length) = (!white, 0);
            }
            length += 1;
        }
        runs.push(length);
        Self {
            width: mask.width,
            height: mask.height,
            runs,
        }
    }

    /// Unpacks the runs into a mask.
    pub(super) fn mask(&self) -> Mask {
        let mut mask = Mask::empty(self.width, self.height);
        let mut at = 0;
        for (index, &length) in self.runs.iter().enumerate() {
            let end = (at + length as usize).min(mask.shares.len());
            if index % 2 == 1 {
                mask.shares[at..end].fill(255);
            }
            at = end;
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_comes_back_as_it_was() {
        for part in [[0, 0, 3, 3], [5, 2, 40, 20], [0, 0, 64, 48], [1, 1, 0, 0]] {
            let mask = Mask::rectangle(64, 48, part);
            assert_eq!(StoredMask::of(&mask).mask(), mask);
        }
    }

    #[test]
    fn a_ragged_mask_stays_small() {
        let mut mask = Mask::empty(1024, 1024);
        for (index, share) in mask.shares.iter_mut().enumerate() {
            *share = if (index * 7919) % 13 < 6 { 255 } else { 0 };
        }
        assert!(StoredMask::of(&mask).runs.len() <= MOST_RUNS);
    }
}
