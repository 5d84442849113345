//! How the time that is shown follows the wall clock: a small difference is drawn in slowly, a large one that lasts is taken
//! over at once.

/// Differences up to this are drawn in.
const SLEW_MOST_MS: i64 = 60_000;
/// For every so many milliseconds that pass, one of the difference.
const SLEW_DIVISOR: i64 = 100;
/// Who sets a clock moves it by more than this.
const SET_MS: i64 = 2_000;
/// A larger difference is taken over when it has lasted for this long.
const LASTS_MS: i64 = 60_000;

/// What has been seen of the difference so far.
#[derive(Debug, Default)]
pub(super) struct ClockSlew {
    /// Up to when time has been used for drawing in.
    used_ms: Option<i64>,
    /// Since when the difference has been large, and how large it was then.
    large: Option<(i64, i64)>,
    /// How far the wall clock was ahead of the machine's count at the last look.
    ahead_ms: Option<i64>,
}

/// What becomes of the difference.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Adjustment {
    Nothing,
    /// So much of it is drawn in.
    Little(i64),
    /// All of it is taken over.
    TakeOver(i64),
}

impl ClockSlew {
    /// Looks at the difference at a moment of the machine's count.
    pub(super) fn step(&mut self, boot_ms: i64, off_ms: i64) -> Adjustment {
        let used_ms = *self.used_ms.get_or_insert(boot_ms);
        if off_ms.abs() > SLEW_MOST_MS {
            self.used_ms = Some(boot_ms);
            let same = |(_, first_ms): &(i64, i64)| (off_ms - first_ms).abs() <= SLEW_MOST_MS;
            let (since_ms, first_ms) = self.large.filter(same).unwrap_or((boot_ms, off_ms));
            self.large = Some((since_ms, first_ms));
            if boot_ms - since_ms < LASTS_MS {
                return Adjustment::Nothing;
            }
            self.large = None;
            return Adjustment::TakeOver(off_ms);
        }
        self.large = None;
        let most_ms = (boot_ms - used_ms).max(0) / SLEW_DIVISOR;
        if most_ms == 0 {
            return Adjustment::Nothing;
        }
        // What is left of a hundred milliseconds is used the next time.
        self.used_ms = Some(used_ms + most_ms * SLEW_DIVISOR);
        match off_ms.clamp(-most_ms, most_ms) {
            0 => Adjustment::Nothing,
            by_ms => Adjustment::Little(by_ms),
        }
    }

    /// Whether the wall clock was set since the last look, by how far it is ahead of the machine's count.
    pub(super) fn was_set(&mut self, ahead_ms: i64) -> bool {
        let before_ms = self.ahead_ms.replace(ahead_ms).unwrap_or(ahead_ms);
        (ahead_ms - before_ms).abs() > SET_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps once a second for so long; how far the clock has moved, and when the last take-over was.
    fn run(
        drawing: &mut ClockSlew,
        from_s: i64,
        seconds: i64,
        mut off_ms: i64,
    ) -> (i64, Option<i64>) {
        let (first_ms, mut taken) = (off_ms, None);
        for second in from_s..from_s + seconds {
            match drawing.step(second * 1_000, off_ms) {
                Adjustment::Nothing => {}
                Adjustment::Little(by_ms) => off_ms -= by_ms,
                Adjustment::TakeOver(by_ms) => {
                    off_ms -= by_ms;
                    taken = Some(second - from_s);
                }
            }
        }
        (first_ms - off_ms, taken)
    }

    #[test]
    fn a_small_difference_is_drawn_in_at_one_in_a_hundred() {
        for sign in [1, -1] {
            let mut drawing = ClockSlew::default();
            assert_eq!(
                run(&mut drawing, 0, 101, sign * 60_000),
                (sign * 1_000, None)
            );
            let mut drawing = ClockSlew::default();
            assert_eq!(run(&mut drawing, 0, 10_000, sign * 60_000).0, sign * 60_000);
        }
    }

    #[test]
    fn a_large_difference_is_taken_over_when_it_has_lasted_a_minute() {
        for off_ms in [3_600_000, -120_000] {
            let mut drawing = ClockSlew::default();
            assert_eq!(run(&mut drawing, 0, 60, off_ms), (0, None));
            assert_eq!(run(&mut drawing, 60, 2, off_ms), (off_ms, Some(0)));
        }
    }

    #[test]
    fn a_difference_that_passes_or_changes_is_not_taken_over() {
        let mut drawing = ClockSlew::default();
        assert_eq!(run(&mut drawing, 0, 50, 3_600_000), (0, None));
        assert_eq!(run(&mut drawing, 50, 5, 0), (0, None));
        assert_eq!(run(&mut drawing, 55, 59, 3_600_000), (0, None));
        assert_eq!(run(&mut drawing, 114, 59, -3_600_000), (0, None));
    }
}
