//! The few colours that carry a picture, for scenes that are to look like it.

use atelier_media::Picture;

/// Colours are counted on a picture of this side; finer detail does not carry it.
const COUNTED_SIDE: u32 = 64;
/// A scene bends to this many colours.
const MOST_COLOURS: usize = 2;
/// Colours closer than this count as one.
const APART: u32 = 90;

/// The colours of several pictures, the darker first; none without pictures.
pub(super) fn shared(pictures: &[Picture]) -> Vec<[u8; 3]> {
    let mut boxes: Vec<(u64, [u64; 3])> = vec![(0, [0; 3]); 512];
    for picture in pictures {
        for &[r, g, b, a] in picture.fitted(COUNTED_SIDE).pixels() {
            if a < 128 {
                continue;
            }
            let at = usize::from(r >> 5) << 6 | usize::from(g >> 5) << 3 | usize::from(b >> 5);
            // Strong colours are noticed before grey ones.
            let strong = u64::from(r.max(g).max(b) - r.min(g).min(b)) / 16 + 1;
            let (weight, sums) = &mut boxes[at];
            *weight += strong;
            for (sum, value) in sums.iter_mut().zip([r, g, b]) {
                *sum += u64::from(value) * strong;
            }
        }
    }
    boxes.retain(|(weight, _)| *weight > 0);
    boxes.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut chosen: Vec<[u8; 3]> = Vec::new();
    for (weight, sums) in boxes {
        let colour = sums.map(|sum| (sum / weight) as u8);
        if chosen.iter().all(|other| distance(*other, colour) >= APART) {
            chosen.push(colour);
        }
        if chosen.len() == MOST_COLOURS {
            break;
        }
    }
    chosen.sort_by_key(|colour| colour.iter().map(|&value| u32::from(value)).sum::<u32>());
    chosen
}

/// The colour that stands out most in a picture, when any is more than a shade of grey.
pub(super) fn strongest(picture: &Picture) -> Option<[u8; 3]> {
    let vivid = |colour: &[u8; 3]| {
        let [r, g, b] = *colour;
        r.max(g).max(b) - r.min(g).min(b)
    };
    let found = shared(std::slice::from_ref(picture));
    found
        .into_iter()
        .filter(|colour| vivid(colour) > 40)
        .max_by_key(vivid)
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter()
        .zip(other)
        .map(|(a, b)| u32::from(a.abs_diff(b)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_colours_of_a_picture_are_found_dark_before_light() {
        let picture = Picture::drawn(40, 40, |x, _| {
            if x < 24 {
                [220, 180, 40, 255]
            } else {
                [20, 30, 120, 255]
            }
        });
        assert_eq!(shared(&[picture]), [[20, 30, 120], [220, 180, 40]]);
        assert!(shared(&[]).is_empty());
    }
}
