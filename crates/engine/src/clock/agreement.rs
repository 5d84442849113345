//! How nodes keep one time between them: each goes by its own machine's count, and all agree on how far the clock of their
//! database is ahead of it. When that clock is set, all of them see it, and one writes down the new distance; a node that
//! alone sees it has itself stood still, and joins the others.

use atelier_store::ClockNote;

/// Differences up to this come of machines that count a little faster or slower; they are drawn in.
const LITTLE_MS: i64 = 2_000;
/// For every so many milliseconds that pass, one of the difference.
const SLEW_DIVISOR: i64 = 100;
/// By then every node at work has noted twice what it sees.
const HEARD_MS: i64 = 25_000;

/// What has been seen so far.
#[derive(Debug, Default)]
pub(super) struct Agreement {
    /// When the last look was, by the machine's count.
    looked_ms: Option<i64>,
    /// Since when the difference has been large: by the machine's count, and by the service's own time.
    apart: Option<(i64, i64)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Stay,
    /// Move a little towards the others.
    Follow(i64),
    /// Move to where the others are.
    Join(i64),
    /// Write down what is seen here.
    Publish,
}

impl Agreement {
    /// Looks at what this machine sees, what is agreed on and what the others noted.
    pub(super) fn step<'a>(
        &mut self,
        ours: &ClockNote,
        agreed: Option<&ClockNote>,
        mut others: impl Iterator<Item = &'a ClockNote>,
    ) -> Verdict {
        let passed_ms = self.looked_ms.map_or(0, |looked| ours.boot_ms - looked);
        self.looked_ms = Some(ours.boot_ms);
        let Some(agreed) = agreed else {
            return Verdict::Publish;
        };
        let off_ms = ours.ahead_ms() - agreed.ahead_ms();
        if off_ms.abs() <= LITTLE_MS {
            self.apart = None;
            let most_ms = passed_ms.max(0) / SLEW_DIVISOR;
            return match off_ms.clamp(-most_ms, most_ms) {
                0 => Verdict::Stay,
                by_ms => Verdict::Follow(by_ms),
            };
        }
        let (since_ms, steady_ms) = *self.apart.get_or_insert((ours.boot_ms, ours.steady_ms));
        if ours.boot_ms - since_ms < HEARD_MS {
            return Verdict::Stay;
        }
        self.apart = None;
        let sees_none = |note: &ClockNote| {
            note.steady_ms > steady_ms && (note.ahead_ms() - agreed.ahead_ms()).abs() <= LITTLE_MS
        };
        if others.any(sees_none) {
            Verdict::Join(off_ms)
        } else {
            Verdict::Publish
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(machine: &str, boot_ms: i64, ahead_ms: i64) -> ClockNote {
        ClockNote {
            machine: machine.into(),
            boot_ms,
            steady_ms: boot_ms,
            wall_ms: boot_ms + ahead_ms,
        }
    }

    #[test]
    fn a_clock_that_all_see_set_is_written_down_once_and_nobody_moves() {
        let (mut one, mut two) = (Agreement::default(), Agreement::default());
        let mut agreed = note("", 0, 0);
        for second in (0..60).step_by(10) {
            let (a, b) = (
                note("a", second * 1_000, 90_000),
                note("b", second * 1_000, 90_040),
            );
            let first = one.step(&a, Some(&agreed), [&b].into_iter());
            if first == Verdict::Publish {
                assert_eq!(second, 30);
                agreed = ClockNote {
                    machine: String::new(),
                    ..a.clone()
                };
            } else {
                assert_eq!(first, Verdict::Stay, "{second}");
            }
            let second = two.step(&b, Some(&agreed), [&a].into_iter());
            assert!(
                matches!(second, Verdict::Stay | Verdict::Follow(40)),
                "{second:?}"
            );
        }
        assert_eq!(agreed.ahead_ms(), 90_000);
    }

    #[test]
    fn a_node_that_stood_still_joins_the_others() {
        let (mut one, agreed) = (Agreement::default(), note("", 0, 0));
        let mut verdict = Verdict::Stay;
        for second in (0..=30).step_by(10) {
            let ours = note("a", second * 1_000, 90_000);
            let other = note("b", second * 1_000 + 90_000, 15);
            verdict = one.step(&ours, Some(&agreed), [&other].into_iter());
        }
        assert_eq!(verdict, Verdict::Join(90_000));
    }

    #[test]
    fn a_machine_that_counts_a_little_slower_is_drawn_in() {
        let (mut one, agreed) = (Agreement::default(), note("", 0, 0));
        let none = || std::iter::empty::<&ClockNote>();
        assert_eq!(
            one.step(&note("a", 0, 500), Some(&agreed), none()),
            Verdict::Stay
        );
        let later = note("a", 10_000, 500);
        assert_eq!(
            one.step(&later, Some(&agreed), none()),
            Verdict::Follow(100)
        );
        assert_eq!(
            Agreement::default().step(&later, None, none()),
            Verdict::Publish
        );
    }
}
