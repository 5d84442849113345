//! `Range`: one part of a file. Several parts at once are not worth their dangers, so they get the whole file.

use hyper::header::{HeaderMap, IF_NONE_MATCH, IF_RANGE, RANGE};

/// A part of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// What of a file was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of it.
    Whole,
    /// A part.
    Part(Part),
    /// A part that is not there.
    Outside,
    /// Nothing: the caller has it already.
    Nothing,
}

/// Reads what is wanted from the headers.
pub(crate) fn wanted(headers: &HeaderMap, etag: &str, bytes: u64) -> Wanted {
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
        return Wanted::Nothing;
    }
    if text(IF_RANGE).is_some_and(|known| known != etag) {
        return Wanted::Whole;
    }
    text(RANGE).map_or(Wanted::Whole, |range| parse(range, bytes))
}

fn parse(range: &str, bytes: u64) -> Wanted {
    let Some(spec) = range.strip_prefix("bytes=") else {
        return Wanted::Whole;
    };
    let Some((first, last)) = spec.split_once('-') else {
        return Wanted::Whole;
    };
    if spec.contains(',') {
        return Wanted::Whole;
    }
    let number = |text: &str| {
        text.trim()
            .parse::<u64>()
            .ok()
            .filter(|_| text.trim().bytes().all(|byte| byte.is_ascii_digit()))
    };
    match (first.trim().is_empty(), last.trim().is_empty()) {
        (true, true) => Wanted::Whole,
        (true, false) => number(last).map_or(Wanted::Whole, |count| last_bytes(count, bytes)),
        (false, open) => {
            let last = if open { Some(u64::MAX) } else { number(last) };
            match (number(first), last) {
                (Some(first), Some(last)) if first <= last => span(first, last, bytes),
                _ => Wanted::Whole,
            }
        }
    }
}

fn span(first: u64, last: u64, bytes: u64) -> Wanted {
    if first >= bytes {
        return Wanted::Outside;
    }
    Wanted::Part(Part {
        first,
        last: last.min(bytes - 1),
    })
}

fn last_bytes(count: u64, bytes: u64) -> Wanted {
    if count == 0 || bytes == 0 {
        return Wanted::Outside;
    }
    Wanted::Part(Part {
        first: bytes.saturating_sub(count),
        last: bytes - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u64, last: u64) -> Wanted {
        Wanted::Part(Part { first, last })
    }

    #[test]
    fn a_single_range_is_cut_to_the_file() {
        for (range, expected) in [
            ("bytes=0-0", part(0, 0)),
            ("bytes=2-", part(2, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-30", part(0, 9)),
            ("bytes=5-99", part(5, 9)),
            ("bytes=10-", Wanted::Outside),
            ("bytes=-0", Wanted::Outside),
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
            assert_eq!(parse(range, 10), Wanted::Whole, "{range}");
        }
    }
}
