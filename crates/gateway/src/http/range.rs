//! `Range`: one part of a file. Several parts at once are not worth their dangers, so they get the whole file.

use hyper::header::{HeaderMap, IF_NONE_MATCH, IF_RANGE, RANGE};

/// A part of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// What of a file was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    Whole,
    Part(ByteRange),
    /// A part that is not there.
    Outside,
    /// Nothing: the caller has it already.
    Nothing,
}

/// Reads what is wanted from the headers.
pub(crate) fn requested_range(headers: &HeaderMap, etag: &str, bytes: u64) -> RequestedRange {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &hyper::header::HeaderValue| value.to_str().ok())
    };
    let matches = |list: &str| {
        list.split(',')
            .map(str::trim)
            .any(|one| one == "*" || one.trim_start_matches("W/") == etag)
    };
    if text(IF_NONE_MATCH).is_some_and(matches) {
        return RequestedRange::Nothing;
    }
    if text(IF_RANGE).is_some_and(|known| known != etag) {
        return RequestedRange::Whole;
    }
    text(RANGE).map_or(RequestedRange::Whole, |range| parse(range, bytes))
}

fn parse(range: &str, bytes: u64) -> RequestedRange {
    let Some(spec) = range.strip_prefix("bytes=") else {
        return RequestedRange::Whole;
    };
    let Some((first, last)) = spec.split_once('-') else {
        return RequestedRange::Whole;
    };
    if spec.contains(',') {
        return RequestedRange::Whole;
    }
    let number = |text: &str| {
        text.trim()
            .parse::<u64>()
            .ok()
            .filter(|_| text.trim().bytes().all(|byte| byte.is_ascii_digit()))
    };
    match (first.trim().is_empty(), last.trim().is_empty()) {
        (true, true) => RequestedRange::Whole,
        (true, false) => {
            number(last).map_or(RequestedRange::Whole, |count| last_bytes(count, bytes))
        }
        (false, open) => {
            let last = if open { Some(u64::MAX) } else { number(last) };
            match (number(first), last) {
                (Some(first), Some(last)) if first <= last => span(first, last, bytes),
                _ => RequestedRange::Whole,
            }
        }
    }
}

fn span(first: u64, last: u64, bytes: u64) -> RequestedRange {
    if first >= bytes {
        return RequestedRange::Outside;
    }
    RequestedRange::Part(ByteRange {
        first,
        last: last.min(bytes - 1),
    })
}

fn last_bytes(count: u64, bytes: u64) -> RequestedRange {
    if count == 0 || bytes == 0 {
        return RequestedRange::Outside;
    }
    RequestedRange::Part(ByteRange {
        first: bytes.saturating_sub(count),
        last: bytes - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u64, last: u64) -> RequestedRange {
        RequestedRange::Part(ByteRange { first, last })
    }

    #[test]
    fn a_single_range_is_cut_to_the_file() {
        for (range, expected) in [
            ("bytes=0-0", part(0, 0)),
            ("bytes=2-", part(2, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-30", part(0, 9)),
            ("bytes=5-99", part(5, 9)),
            ("bytes=10-", RequestedRange::Outside),
            ("bytes=-0", RequestedRange::Outside),
        ] {
            assert_eq!(parse(range, 10), expected, "{range}");
        }
    }

    #[test]
    fn what_is_no_single_range_gets_the_whole_file() {
        for range in [
            "bytes=0-0,0-0",
            "items=0-1",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=-",
            "bytes=+1-2",
        ] {
            assert_eq!(parse(range, 10), RequestedRange::Whole, "{range}");
        }
    }

    /// The library is stricter (no zero in front, no more from the end than there is) and does not tell what is no range
    /// from what is outside; what it gives is what we give.
    #[test]
    fn where_a_library_sees_one_range_we_see_the_same() {
        let mut dice = fastrand::Rng::with_seed(7);
        let mut agreed = 0;
        for _ in 0..20_000 {
            let number = |dice: &mut fastrand::Rng| match dice.u8(0..8) {
                0 => String::new(),
                1 => format!("0{}", dice.u8(..)),
                2 => u64::MAX.to_string(),
                3 => "x".into(),
                _ => dice.u8(0..20).to_string(),
            };
            let (first, last) = (number(&mut dice), number(&mut dice));
            let unit = ["bytes=", "bytes=", "bytes=", "bytes", "items=", "bytes= "];
            let dash = ["-", "-", "-", "--", ",", ""];
            let end = ["", "", "", ",", ",3-4"];
            let range = format!(
                "{}{first}{}{last}{}",
                unit[dice.usize(..unit.len())],
                dash[dice.usize(..dash.len())],
                end[dice.usize(..end.len())]
            );
            let bytes = dice.u64(1..20);
            let theirs = http_range_header::parse_range_header(&range);
            let theirs = theirs.and_then(|ranges| ranges.validate(bytes));
            if let Ok([theirs]) = theirs.as_deref() {
                let theirs = part(*theirs.start(), *theirs.end());
                assert_eq!(parse(&range, bytes), theirs, "{range} of {bytes}");
                agreed += 1;
            }
        }
        assert!(agreed > 300, "only {agreed} ranges were ranges");
    }
}
