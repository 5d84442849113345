//! A chunked body, walked through without being decoded: sizes are hexadecimal digits, lines end with CR LF.

/// A body that does not keep to its own framing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrokenBody;

/// The longest extension of a chunk's size, in bytes.
const LONGEST_EXTENSION: usize = 256;
/// The most digits of a size; more would be a chunk that no body may be.
const MOST_DIGITS: u8 = 8;

/// Where in the body one is.
pub(super) struct Chunks {
    place: ChunkState,
    /// Bytes that extensions and trailers may still have.
    spare: usize,
}

enum ChunkState {
    Size {
        size: u64,
        digits: u8,
    },
    Extension {
        size: u64,
        length: usize,
    },
    SizeEnd {
        size: u64,
    },
    Data {
        left: u64,
    },
    DataReturn,
    DataEnd,
    /// The begin of a line after the last chunk.
    TrailerBegin,
    Trailer,
    TrailerReturn,
    LastReturn,
}

impl Chunks {
    /// A body whose trailers may have so many bytes.
    pub(super) fn new(trailers: usize) -> Self {
        Self {
            place: SIZE,
            spare: trailers,
        }
    }

    /// How many of the bytes belong to the body, and whether it is over.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(usize, bool), BrokenBody> {
        let mut used = 0;
        while used < bytes.len() {
            if let ChunkState::Data { left } = &mut self.place {
                let taken = (bytes.len() - used).min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                used += taken;
                if *left == 0 {
                    self.place = ChunkState::DataReturn;
                }
                continue;
            }
            let over = self.step(bytes[used])?;
            used += 1;
            if over {
                return Ok((used, true));
            }
        }
        Ok((used, false))
    }

    /// Takes one byte that is not data; whether the body is over.
    fn step(&mut self, byte: u8) -> Result<bool, BrokenBody> {
        self.place = match (&self.place, byte) {
            (ChunkState::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                if *digits >= MOST_DIGITS {
                    return Err(BrokenBody);
                }
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                ChunkState::Size {
                    size: size * 16 + u64::from(digit),
                    digits: digits + 1,
                }
            }
            (
                ChunkState::Size { size, digits: 1.. } | ChunkState::Extension { size, .. },
                b'\r',
            ) => ChunkState::SizeEnd { size: *size },
            (ChunkState::Size { size, digits: 1.. }, b';') => ChunkState::Extension {
                size: *size,
                length: 0,
            },
            (ChunkState::Extension { size, length }, _)
                if *length < LONGEST_EXTENSION && is_text(byte) =>
            {
                ChunkState::Extension {
                    size: *size,
                    length: length + 1,
                }
            }
            (ChunkState::SizeEnd { size: 0 } | ChunkState::TrailerReturn, b'\n') => {
                ChunkState::TrailerBegin
            }
            (ChunkState::SizeEnd { size }, b'\n') => ChunkState::Data { left: *size },
            (ChunkState::DataReturn, b'\r') => ChunkState::DataEnd,
            (ChunkState::DataEnd, b'\n') => SIZE,
            (ChunkState::TrailerBegin, b'\r') => ChunkState::LastReturn,
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerReturn,
            (ChunkState::TrailerBegin | ChunkState::Trailer, _)
                if self.spare > 0 && is_text(byte) =>
            {
                self.spare -= 1;
                ChunkState::Trailer
            }
            (ChunkState::LastReturn, b'\n') => return Ok(true),
            _ => return Err(BrokenBody),
        };
        Ok(false)
    }
}

const SIZE: ChunkState = ChunkState::Size { size: 0, digits: 0 };

fn is_text(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(body: &[u8]) -> Result<(usize, bool), BrokenBody> {
        Chunks::new(100).feed(body)
    }

    #[test]
    fn a_body_ends_where_it_says() {
        for body in [
            "0\r\n\r\n",
            "3\r\nabc\r\n0\r\n\r\n",
            "A;x=\"y\"\r\n0123456789\r\n00\r\na: b\r\n\r\n",
        ] {
            let more = format!("{body}GET");
            assert_eq!(walked(more.as_bytes()), Ok((body.len(), true)), "{body:?}");
        }
        assert_eq!(walked(b"3\r\nab"), Ok((5, false)));
    }

    #[test]
    fn what_is_unclear_is_broken() {
        for body in [
            "\r\n",
            "g\r\n",
            "3\nabc\r\n",
            "3\r\nabc\n0\r\n\r\n",
            "3\r\nabcd\r\n",
            "-1\r\n",
            "0x3\r\n",
            " 3\r\n",
            "3 \r\n",
            "000000003\r\n",
            "0\r\n\n",
            "0\r\na: b\n\r\n",
            "3\r\r\nabc",
            "1;\0\r\n",
        ] {
            assert!(walked(body.as_bytes()).is_err(), "{body:?}");
        }
        let trailers = format!("0\r\na: {}\r\n\r\n", "b".repeat(200));
        assert!(walked(trailers.as_bytes()).is_err());
    }
}
