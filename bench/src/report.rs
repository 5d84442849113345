//! Printing figures: medians of rounds, and the ratio between two things measured in the same rounds.

/// The middle of some figures.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// The middle of the ratios, round by round.
pub(crate) fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    let ratios: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours / theirs)
        .collect();
    median(&ratios)
}

/// Writes a line for people.
#[expect(clippy::print_stdout, reason = "a report is what this program is for")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
