//! Judges one complete head by the letter of RFC 9112.

/// How long heads may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Bytes of the target.
    pub(crate) target: usize,
    /// Bytes of a head.
    pub(crate) head: usize,
    /// Lines of a head.
    pub(crate) lines: usize,
}

/// Why a head is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadError {
    /// A line that is none: a bare line feed, a control character, a folded line, no colon.
    Line,
    /// The request line is not a method, a target and a version.
    Request,
    /// No Host, several, or one that names none.
    Host,
    /// Length and encoding of the body contradict each other or say nothing clear.
    Length,
    /// The target is too long.
    LongTarget,
    /// The head is too long.
    LongHead,
    /// The head did not arrive in time.
    Late,
}

/// What follows a head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyFraming {
    None,
    Length(u64),
    Chunked,
}

/// Judges the head with which some bytes begin, up to its empty line: how long it is, and what follows it. Every byte of
/// every request passes here, so each is looked at once.
pub(super) fn parse_head(bytes: &[u8], bounds: Bounds) -> Result<(usize, BodyFraming), HeadError> {
    let mut lines = Lines { bytes, at: 0 };
    let minor = request_line(lines.next()?, bounds.target)?;
    let (mut hosts, mut length, mut chunked) = (0, None, false);
    let mut number = 0;
    loop {
        let line = lines.next()?;
        if line.is_empty() {
            break;
        }
        number += 1;
        if number > bounds.lines {
            return Err(HeadError::LongHead);
        }
        let (name, value) = name_and_value(line)?;
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"host") => {
                hosts += 1;
                if !is_host(value) {
                    return Err(HeadError::Host);
                }
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                if length.is_some() {
                    return Err(HeadError::Length);
                }
                length = Some(number_of(value).ok_or(HeadError::Length)?);
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(HeadError::Length);
                }
                chunked = true;
            }
            _ => {}
        }
    }
    if hosts > 1 || (hosts == 0 && minor == 1) {
        return Err(HeadError::Host);
    }
    let body = match (length, chunked) {
        (Some(_), true) => return Err(HeadError::Length),
        // Chunks came with 1.1; before it, they mean that somebody in between did not understand them.
        (None, true) if minor == 0 => return Err(HeadError::Length),
        (None, true) => BodyFraming::Chunked,
        (Some(bytes), false) => BodyFraming::Length(bytes),
        (None, false) => BodyFraming::None,
    };
    Ok((lines.at, body))
}

/// The two sides of a line's colon.
fn name_and_value(line: &[u8]) -> Result<(&[u8], &[u8]), HeadError> {
    let end = line.iter().position(|byte| !is_token(*byte));
    let (name, rest) = line.split_at(end.ok_or(HeadError::Line)?);
    let Some((b':', value)) = rest.split_first() else {
        return Err(HeadError::Line);
    };
    // Without a way out in the middle this is a few instructions for many bytes.
    let wrong = value.iter().fold(false, |wrong, byte| {
        wrong | matches!(*byte, 0..=8 | 10..=31 | 127)
    });
    if name.is_empty() || wrong {
        return Err(HeadError::Line);
    }
    Ok((name, value.trim_ascii()))
}

/// The minor version of a request line.
fn request_line(line: &[u8], longest_target: usize) -> Result<u8, HeadError> {
    let end = line.iter().position(|byte| !is_token(*byte));
    let (method, rest) = line.split_at(end.ok_or(HeadError::Request)?);
    let (Some((b' ', rest)), false) = (rest.split_first(), method.is_empty()) else {
        return Err(HeadError::Request);
    };
    // A second space makes the last word no version or the target no target.
    let end = memchr::memchr(b' ', rest).ok_or(HeadError::Request)?;
    let (target, version) = (&rest[..end], &rest[end + 1..]);
    let visible = target
        .iter()
        .fold(true, |visible, byte| visible & byte.is_ascii_graphic());
    if target.is_empty() || !visible {
        return Err(HeadError::Request);
    }
    if target.len() > longest_target {
        return Err(HeadError::LongTarget);
    }
    match version {
        b"HTTP/1.1" => Ok(1),
        b"HTTP/1.0" => Ok(0),
        _ => Err(HeadError::Request),
    }
}

/// Lines that end with CR LF. A lone CR stays inside its line, where no rule allows it.
struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the next line begins.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a [u8], HeadError> {
        let rest = &self.bytes[self.at..];
        let end = memchr::memchr(b'\n', rest).ok_or(HeadError::Line)?;
        self.at += end + 1;
        rest[..end].strip_suffix(b"\r").ok_or(HeadError::Line)
    }
}

fn is_token(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// What a name may consist of. Every byte of every head is looked up.
const TOKEN: [bool; 256] = bytes_of(b"!#$%&'*+-.^_`|~");

/// Letters, digits and these.
const fn bytes_of(others: &[u8]) -> [bool; 256] {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut place = 0;
    while place < others.len() {
        all[others[place] as usize] = true;
        place += 1;
    }
    all
}

/// A name or an address with an optional port; not a list, not an address with a user or a path.
fn is_host(value: &[u8]) -> bool {
    const ALLOWED: [bool; 256] = bytes_of(b"-._~!$&'()*+;=:[]%");
    !value.is_empty() && value.iter().all(|byte| ALLOWED[usize::from(*byte)])
}

/// Digits alone, and few enough to be a number that nobody takes for a negative one.
fn number_of(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: i64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    u64::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(head: &str) -> Result<BodyFraming, HeadError> {
        let bounds = Bounds {
            target: 20,
            head: 1000,
            lines: 5,
        };
        let head = format!("{head}\r\n\r\n");
        let (length, body) = parse_head(head.as_bytes(), bounds)?;
        assert_eq!(length, head.len(), "{head:?}");
        Ok(body)
    }

    #[test]
    fn ordinary_heads_are_right() {
        for (head, body) in [
            ("GET / HTTP/1.1\r\nHost: a.example:8080", BodyFraming::None),
            ("GET / HTTP/1.1\r\nhost:[::1]:80", BodyFraming::None),
            ("OPTIONS * HTTP/1.0", BodyFraming::None),
            (
                "POST /a?b HTTP/1.1\r\nHost: a\r\nContent-Length: 012",
                BodyFraming::Length(12),
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tCHUNKED ",
                BodyFraming::Chunked,
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nX: \u{e9}\t\"y\"\r\nEmpty:",
                BodyFraming::None,
            ),
        ] {
            assert_eq!(judged(head), Ok(body), "{head:?}");
        }
    }

    const REFUSED: &[(&str, HeadError)] = &[
        ("GET / HTTP/1.1", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a", HeadError::Host),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost:", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost: a, b", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost: a b", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost: u@a", HeadError::Host),
        ("GET / HTTP/1.1\r\nHost: a/b", HeadError::Host),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.0\r\nTransfer-Encoding: chunked",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:",
            HeadError::Length,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999",
            HeadError::Length,
        ),
        ("GET / HTTP/1.1\r\nHost : a", HeadError::Line),
        ("GET / HTTP/1.1\r\n Host: a", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\nno colon", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\n: x", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r", HeadError::Line),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\nY: b", HeadError::Line),
        ("GET  / HTTP/1.1\r\nHost: a", HeadError::Request),
        ("GET / HTTP/1.1 \r\nHost: a", HeadError::Request),
        ("GET /\r\nHost: a", HeadError::Request),
        ("GET / HTTP/1.2\r\nHost: a", HeadError::Request),
        ("GET / http/1.1\r\nHost: a", HeadError::Request),
        ("G(T / HTTP/1.1\r\nHost: a", HeadError::Request),
        ("GET /\u{e9} HTTP/1.1\r\nHost: a", HeadError::Request),
        ("GET\t/ HTTP/1.1\r\nHost: a", HeadError::Request),
        (
            "GET /aaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: a",
            HeadError::LongTarget,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b",
            HeadError::LongHead,
        ),
    ];

    #[test]
    fn everything_that_two_readers_could_read_differently_is_refused() {
        for (head, why) in REFUSED {
            assert_eq!(judged(head), Err(*why), "{head:?}");
        }
    }
}
