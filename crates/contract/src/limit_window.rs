//! The windows in which the limits of keys count, by the calendar in UTC, and what is said of a limit that is reached.

use schemars::JsonSchema;
use serde::Serialize;

use crate::fields::words;
use crate::quota::Quota;
use crate::refusal::{Code, Refusal};
use crate::time::timestamp;

const DAY_MS: i64 = 86_400_000;
/// The first Monday after the beginning of 1970, in days.
const MONDAY: i64 = 4;

words! {
    /// How long what a key has spent counts against a limit.
    pub LimitWindow = Total {
        /// For ever.
        Total "total",
        /// Until midnight.
        Day "day",
        /// Until Monday.
        Week "week",
        /// Until the first of the month.
        Month "month",
    }
}

impl LimitWindow {
    /// All of them, the longest last but for the one without an end, which goes first.
    pub const ALL: [Self; 4] = [Self::Total, Self::Day, Self::Week, Self::Month];

    /// When the window that a moment is in begins, and when the next one does; in milliseconds since 1970. The first is far back
    /// and the second far ahead where it has no end.
    pub fn span(self, at_ms: i64) -> (i64, i64) {
        let day = at_ms.div_euclid(DAY_MS);
        let days = match self {
            Self::Total => return (0, i64::MAX),
            Self::Day => (day, day + 1),
            Self::Week => {
                let monday = day - (day - MONDAY).rem_euclid(7);
                (monday, monday + 7)
            }
            Self::Month => {
                let (first, length) = month(day);
                (first, first + length)
            }
        };
        (days.0 * DAY_MS, days.1 * DAY_MS)
    }
}

/// The first day of the month that a day is in, and how many days it has.
fn month(day: i64) -> (i64, i64) {
    // Years are counted from 1 March, so that a leap day is the last of its year; eras have 400 of them.
    let shifted = day + 719_468;
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let index = (5 * day_of_year + 2) / 153;
    let first_of_year = (153 * index + 2) / 5;
    // Of the year that ends with February, whose year after it says whether there is a leap day.
    let year = year_of_era + 1;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match index {
        11 if leap => 29,
        11 => 28,
        _ => (153 * (index + 1) + 2) / 5 - first_of_year,
    };
    (day - (day_of_year - first_of_year), length)
}

/// The limit of a key that a request would have gone beyond.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReachedLimit {
    /// The window it counts in.
    pub window: LimitWindow,
    /// How much may be spent in it.
    pub quota: Quota,
    /// How much is spent in it, with what unfinished jobs hold.
    pub spent: Quota,
    /// When the next window begins, `YYYY-MM-DD HH:MM:SS` in UTC; null where there is no next one.
    pub resets_at: Option<String>,
}

impl ReachedLimit {
    /// What is told of a request of a price that would have passed it.
    pub fn refusal(&self, price: Quota) -> Refusal {
        let Self {
            window,
            quota,
            spent,
            ..
        } = self;
        let window = match window {
            LimitWindow::Total => "in all".to_owned(),
            other => format!("in a {}", other.word()),
        };
        let message = format!(
            "this key, or one above it, may spend {quota} quota {window} and has spent or holds {spent}; the request costs {price}"
        );
        Refusal {
            limit: serde_json::to_value(self).ok().map(Box::new),
            ..Refusal::new(Code::KeyLimit, message)
        }
    }
}

/// When a window ends, as the interface writes times; `None` for one without an end.
pub fn resets_at(until_ms: i64) -> Option<String> {
    (until_ms < i64::MAX).then(|| timestamp(until_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Moment;

    fn at(text: &str) -> i64 {
        let read: Result<Moment, _> = serde_json::from_value(text.into());
        read.expect("a moment").ms()
    }

    #[test]
    fn days_weeks_and_months_begin_at_midnight_utc() {
        for (window, now, from, until) in [
            (
                LimitWindow::Day,
                "2026-11-18 20:05:50",
                "2026-11-18",
                "2026-11-19",
            ),
            (
                LimitWindow::Day,
                "2026-11-19 00:00:00",
                "2026-11-19",
                "2026-11-20",
            ),
            // A Sunday, the Monday after it, and a week that two years share.
            (
                LimitWindow::Week,
                "2026-11-22 23:59:59",
                "2026-11-16",
                "2026-11-23",
            ),
            (
                LimitWindow::Week,
                "2026-11-23 00:00:00",
                "2026-11-23",
                "2026-11-30",
            ),
            (LimitWindow::Week, "2027-01-01", "2026-12-28", "2027-01-04"),
            (
                LimitWindow::Month,
                "2026-11-30 23:59:59",
                "2026-11-01",
                "2026-12-01",
            ),
            (LimitWindow::Month, "2026-12-01", "2026-12-01", "2027-01-01"),
            (
                LimitWindow::Month,
                "2028-02-29 12:00:00",
                "2028-02-01",
                "2028-03-01",
            ),
            (LimitWindow::Month, "2027-02-28", "2027-02-01", "2027-03-01"),
            (LimitWindow::Month, "2100-02-14", "2100-02-01", "2100-03-01"),
            (LimitWindow::Month, "2000-02-29", "2000-02-01", "2000-03-01"),
        ] {
            assert_eq!(
                window.span(at(now)),
                (at(from), at(until)),
                "{window:?} {now}"
            );
        }
        assert_eq!(LimitWindow::Total.span(at("2026-11-18")), (0, i64::MAX));
    }

    /// The promise: every moment is in one window, and the next begins where it ends.
    #[test]
    fn windows_have_no_gaps() {
        for window in [LimitWindow::Day, LimitWindow::Week, LimitWindow::Month] {
            let mut from = window.span(0).0;
            for _ in 0..5_000 {
                let (begins, until) = window.span(from);
                assert_eq!(begins, from);
                assert_eq!(window.span(until - 1), (begins, until));
                from = until;
            }
        }
    }
}
