//! Inventing a missing part of a picture from the rest of it: patches from outside, agreed on from coarse to fine.

mod gap;
mod level;
mod outpaint;
mod patches;
mod search;
mod sources;
mod subject;

use atelier_media::{Mask, Picture};

use gap::patched;
use outpaint::{Bend, outpaint};
use subject::Subject;

/// Fills the masked part; outside the picture stays to the byte.
///
/// Gaps inside the picture are filled with patches of the rest. What lies beyond the known part (an outpaint) goes on
/// as its mirror image without its subject, bent the more the further away, so that it is not seen to be one; a
/// subject that the border cuts off goes on there.
pub fn fill(picture: &Picture, mask: &Mask, seed: u64) -> Picture {
    let mask = mask.resized(picture.width, picture.height);
    let open: Vec<bool> = mask.shares.iter().map(|&share| share > 0).collect();
    if !open.contains(&true) {
        return picture.clone();
    }
    let Some([x, y, width, height]) = mask_of_known(&mask).bounds() else {
        return picture.on([128; 3]);
    };
    let (left, top) = (i64::from(x), i64::from(y));
    let part = picture.on([0; 3]).cropped(left, top, width, height);
    let part_open: Vec<bool> = (y..y + height)
        .flat_map(|row| (x..x + width).map(move |column| (column, row)))
        .map(|(column, row)| mask.share(column, row) > 0)
        .collect();
    let part = if part_open.contains(&true) {
        patched(part, part_open, seed)
    } else {
        part
    };
    let filled = if (width, height) == (picture.width, picture.height) {
        part
    } else {
        let subject = Subject::of(&part, seed);
        let size = (picture.width, picture.height);
        let bend = Bend::of(seed);
        outpaint(&part, subject.as_ref(), size, (left, top), bend)
    };
    mask.mixed(picture, &filled)
}

/// Selects what needs no filling.
fn mask_of_known(mask: &Mask) -> Mask {
    let shares = mask
        .shares
        .iter()
        .map(|&share| if share > 0 { 0 } else { 255 })
        .collect();
    Mask {
        width: mask.width,
        height: mask.height,
        shares,
    }
}
