//! How long a vendor asks to be left alone, in a head line or in words.

use std::time::{Duration, SystemTime};

use crate::http::VendorResponse;

/// No vendor is left alone for longer because it said so.
pub(crate) const LONGEST_REST: Duration = Duration::from_hours(24);
/// What stands before the time in words.
const BEFORE: &[&str] = &["resets in ~", "try again in ", "retry after ", "retry in "];

/// How long the vendor asks to be left alone, by the head of its answer.
pub(crate) fn pause_asked(answer: &VendorResponse) -> Option<Duration> {
    // A date is held against the vendor's own clock; without one it says nothing.
    let date = answer.headers.get(http::header::DATE);
    let now = date
        .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok())
        .unwrap_or(SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 300));
    answer.retry_after(now).map(|rest| rest.min(LONGEST_REST))
}

/// The same by its words, such as `Please try again in 1.5s`.
pub(crate) fn pause_in_words(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let rest = BEFORE.iter().find_map(|before| text.split_once(before))?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = rest.split_at(end.unwrap_or(rest.len()));
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let seconds = match () {
        () if unit.starts_with("ms") || unit.starts_with("milli") => number / 1000.0,
        () if unit.starts_with('m') => number * 60.0,
        () if unit.starts_with('h') => number * 3600.0,
        () if unit.starts_with('s') => number,
        () => return None,
    };
    let pause = Duration::try_from_secs_f64(seconds).ok()?;
    Some(pause.min(LONGEST_REST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_read_from_words() {
        for (text, ms) in [
            ("Your rate limit resets in ~30s.", Some(30_000)),
            ("Please try again in 1.5s. Contact us", Some(1_500)),
            ("Please try again in 250ms.", Some(250)),
            ("Please retry after 24 seconds.", Some(24_000)),
            ("Please retry in 26.4s.", Some(26_400)),
            ("Try again in 6m0s", Some(360_000)),
            ("Try again in a while", None),
            ("Slow down", None),
        ] {
            let read = pause_in_words(text).map(|pause| pause.as_millis());
            assert_eq!(read, ms, "{text}");
        }
    }
}
