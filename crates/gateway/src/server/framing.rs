//! Where one HTTP/1 message ends and the next begins, judged before hyper sees a byte. hyper forgives what proxies read
//! differently (bare line feeds, a length beside chunks, several hosts); whoever forgives can be made to see a request
//! that nobody else saw. A head that is refused is replaced by one that carries the reason to the service, so that the
//! answer is an envelope in its right order, and nothing after it is read.

mod chunks;
mod head;

pub(crate) use chunks::BrokenBody;
pub(crate) use head::{Bounds, HeadError};

use chunks::Chunks;
use head::{BodyFraming, parse_head};

/// What stands for a head that was refused.
const SUBSTITUTE: &[u8] = b"GET / HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n";
/// The head with which HTTP/2 begins.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// The bytes of one connection, in order.
pub(super) struct Framing {
    bounds: Bounds,
    state: State,
    /// The head that is not complete.
    head: Vec<u8>,
    /// How many heads were let through.
    heads: u32,
}

/// What the next bytes of a connection belong to.
enum State {
    Head,
    Body(u64),
    Chunks(Chunks),
    /// HTTP/2 has frames of its own.
    Frames,
    /// A head was refused; the rest is nobody's business.
    Over,
}

impl Framing {
    /// A connection that has said nothing.
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            state: State::Head,
            head: Vec::new(),
            heads: 0,
        }
    }

    /// How many of the next bytes need not be looked at.
    pub(super) fn free_bytes(&self) -> u64 {
        match self.state {
            State::Body(left) => left,
            State::Frames => u64::MAX,
            _ => 0,
        }
    }

    /// So many bytes went by without being looked at.
    pub(super) fn passed(&mut self, bytes: u64) {
        if let State::Body(left) = &mut self.state {
            *left -= bytes;
            if *left == 0 {
                self.state = State::Head;
            }
        }
    }

    /// Whether a head has begun and is not complete.
    pub(super) fn in_head(&self) -> bool {
        !self.head.is_empty()
    }

    /// Whether the caller has more of a body to send.
    pub(super) fn in_body(&self) -> bool {
        matches!(self.state, State::Body(_) | State::Chunks(_))
    }

    /// Whether what comes are the frames of HTTP/2.
    pub(super) fn has_frames(&self) -> bool {
        matches!(self.state, State::Frames)
    }

    /// Whether nothing that comes matters any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Whether the bytes are one whole head, right, with nothing before it and nothing after it but its body or a part of
    /// that; then they may go on where they lie. Nearly every call arrives like this. Anything else has to be fed.
    pub(super) fn is_one_right_head(&mut self, bytes: &[u8]) -> bool {
        let between = matches!(self.state, State::Head) && self.head.is_empty();
        if !between {
            return false;
        }
        let Ok((length, body)) = parse_head(bytes, self.bounds) else {
            return false;
        };
        let announced = match body {
            BodyFraming::None => 0,
            BodyFraming::Length(announced) => announced,
            BodyFraming::Chunked => return false,
        };
        let after = (bytes.len() - length) as u64;
        if length > self.bounds.head || after > announced {
            return false;
        }
        if after < announced {
            self.state = State::Body(announced - after);
        }
        self.heads += 1;
        true
    }

    /// Looks at bytes and puts what may go on into `ready`. The number is the one of the head that was refused.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        ready: &mut Vec<u8>,
    ) -> Result<Option<(u32, HeadError)>, BrokenBody> {
        while !bytes.is_empty() {
            match &mut self.state {
                State::Head => match self.feed_head(bytes, ready) {
                    Ok(used) => bytes = &bytes[used..],
                    Err(why) => return Ok(Some(self.refuse(why, ready))),
                },
                State::Body(left) => {
                    let used = (bytes.len() as u64).min(*left) as usize;
                    ready.extend_from_slice(&bytes[..used]);
                    bytes = &bytes[used..];
                    self.passed(used as u64);
                }
                State::Chunks(chunks) => {
                    let (used, over) = chunks.feed(bytes)?;
                    ready.extend_from_slice(&bytes[..used]);
                    bytes = &bytes[used..];
                    if over {
                        self.state = State::Head;
                    }
                }
                State::Frames => {
                    ready.extend_from_slice(bytes);
                    break;
                }
                State::Over => break,
            }
        }
        Ok(None)
    }

    /// Refuses the head that is being read; its number.
    pub(super) fn refuse(&mut self, why: HeadError, ready: &mut Vec<u8>) -> (u32, HeadError) {
        self.state = State::Over;
        self.head = Vec::new();
        self.heads += 1;
        ready.extend_from_slice(SUBSTITUTE);
        (self.heads, why)
    }

    /// Takes bytes up to the end of the head, or all of them; how many it took.
    fn feed_head(&mut self, bytes: &[u8], ready: &mut Vec<u8>) -> Result<usize, HeadError> {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            let line = memchr::memchr(b'\n', rest);
            let taken = line.map_or(rest.len(), |at| at + 1);
            self.head.extend_from_slice(&rest[..taken]);
            used += taken;
            if line.is_none() {
                break;
            }
            if !self.head.ends_with(b"\r\n") {
                return Err(HeadError::Line);
            }
            if self.head == b"\r\n" {
                // Some clients end a body with an empty line too many.
                self.head.clear();
            } else if self.head.ends_with(b"\r\n\r\n") {
                self.finish_head(ready)?;
                return Ok(used);
            } else {
                self.check_length()?;
            }
        }
        self.check_length()?;
        Ok(used)
    }

    /// Refuses a head that is too long already; what is too long in it is its first line or the rest.
    fn check_length(&self) -> Result<(), HeadError> {
        if self.head.len() <= self.bounds.head {
            return Ok(());
        }
        let first = self.head.iter().position(|byte| *byte == b'\n');
        let first = first.unwrap_or(self.head.len());
        Err(if first > self.bounds.target {
            HeadError::LongTarget
        } else {
            HeadError::LongHead
        })
    }

    fn finish_head(&mut self, ready: &mut Vec<u8>) -> Result<(), HeadError> {
        self.state = if self.heads == 0 && self.head == HTTP2 {
            State::Frames
        } else {
            match parse_head(&self.head, self.bounds)?.1 {
                BodyFraming::None | BodyFraming::Length(0) => State::Head,
                BodyFraming::Length(bytes) => State::Body(bytes),
                BodyFraming::Chunked => State::Chunks(Chunks::new(self.bounds.head)),
            }
        };
        self.heads += 1;
        ready.extend_from_slice(&self.head);
        self.head = Vec::new();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds {
        target: 100,
        head: 1000,
        lines: 20,
    };

    /// What goes on when the bytes arrive in pieces of a size, and what was refused.
    fn fed(bytes: &[u8], size: usize) -> (Vec<u8>, Option<(u32, HeadError)>) {
        let (mut framing, mut ready) = (Framing::new(BOUNDS), Vec::new());
        for piece in bytes.chunks(size) {
            if framing.is_one_right_head(piece) {
                ready.extend_from_slice(piece);
                continue;
            }
            match framing.feed(piece, &mut ready) {
                Ok(None) => {}
                Ok(refused) => return (ready, refused),
                Err(BrokenBody) => return (Vec::new(), Some((0, HeadError::Line))),
            }
        }
        (ready, None)
    }

    #[test]
    fn what_is_right_goes_on_unchanged_however_it_arrives() {
        let all = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\n\r\n\
            POST /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: Chunked\r\n\r\n4;a=b\r\n\r\n\r\n\r\n0\r\nx: y\r\n\r\n\
            GET /d HTTP/1.0\r\n\r\n";
        for size in 1..all.len() {
            assert_eq!(fed(all, size), (all.to_vec(), None), "pieces of {size}");
        }
    }

    #[test]
    fn a_refused_head_is_replaced_and_nothing_after_it_goes_on() {
        let first = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        let second =
            b"GET /b HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n";
        let all = [first.as_slice(), second].concat();
        for size in 1..all.len() {
            let expected = [first.as_slice(), SUBSTITUTE].concat();
            assert_eq!(fed(&all, size), (expected, Some((2, HeadError::Host))));
        }
    }

    #[test]
    fn http2_is_left_alone() {
        let all = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\n\x04\n\n";
        for size in 1..all.len() {
            assert_eq!(fed(all, size), (all.to_vec(), None));
        }
        let late = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        assert!(fed(late, 7).1.is_some());
    }

    #[test]
    fn heads_have_an_end() {
        let target = [b"GET /".as_slice(), &[b'a'; 2000]].concat();
        assert_eq!(fed(&target, 64).1, Some((1, HeadError::LongTarget)));
        let target = [target.as_slice(), b" HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
        assert_eq!(fed(&target, 4096).1, Some((1, HeadError::LongTarget)));
        let line = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'a'; 2000]].concat();
        assert_eq!(fed(&line, 64).1, Some((1, HeadError::LongHead)));
        let lines = [b"GET / HTTP/1.1\r\n".to_vec(), b"X: y\r\n".repeat(500)].concat();
        assert_eq!(fed(&lines, 64).1, Some((1, HeadError::LongHead)));
        assert_eq!(
            fed(b"GET / HTTP/1.1\nHost: x\n\n", 5).1,
            Some((1, HeadError::Line))
        );
    }

    /// Whatever bytes come, in whatever pieces: it neither fails nor depends on the pieces.
    #[test]
    fn random_bytes_are_judged_alike_in_any_pieces() {
        let words: [&[u8]; 14] = [
            b"GET / HTTP/1.1\r\n",
            b"POST /a HTTP/1.0\r\n",
            b"Host: x\r\n",
            b"Content-Length: 3\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"\r\n",
            b"\n",
            b"\r",
            b"3\r\nabc\r\n",
            b"0\r\n\r\n",
            b"abc",
            b": ",
            b"\0",
            b"PRI * HTTP/2.0\r\n\r\n",
        ];
        for seed in 0..3_000 {
            let mut dice = fastrand::Rng::with_seed(seed);
            let count = dice.usize(1..12);
            let all: Vec<u8> = (0..count)
                .flat_map(|_| words[dice.usize(0..words.len())].to_vec())
                .collect();
            let whole = fed(&all, all.len());
            let size = dice.usize(1..8);
            assert_eq!(fed(&all, size), whole, "seed {seed}, pieces of {size}");
        }
    }
}
