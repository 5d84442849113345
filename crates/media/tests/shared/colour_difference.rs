//! How far two pictures of one size differ.

use atelier_media::Picture;

/// Mean difference of the colour channels.
pub(crate) fn difference(one: &Picture, other: &Picture) -> f64 {
    assert_eq!((one.width, one.height), (other.width, other.height));
    let sum: u64 = one
        .pixels()
        .iter()
        .zip(other.pixels())
        .flat_map(|(a, b)| (0..3).map(move |c| u64::from(a[c].abs_diff(b[c]))))
        .sum();
    sum as f64 / (one.pixels().len() * 3) as f64
}
