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

/// The middle of some figures with the least and the most of them.
pub(crate) struct Spread {
    middle: f64,
    least: f64,
    most: f64,
}

impl Spread {
    /// Of these.
    pub(crate) fn of(figures: &[f64]) -> Self {
        Self {
            middle: median(figures),
            least: figures.iter().copied().fold(f64::INFINITY, f64::min),
            most: figures.iter().copied().fold(0.0, f64::max),
        }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (middle, least, most) = (self.middle, self.least, self.most);
        if most < 100.0 {
            return write!(f, "{middle:.2} ({least:.2} to {most:.2})");
        }
        write!(f, "{middle:.0} ({least:.0} to {most:.0})")
    }
}

/// Writes a line for people.
#[expect(clippy::print_stdout, reason = "a report is what this program is for")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}
