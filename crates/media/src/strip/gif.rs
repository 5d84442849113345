//! GIF: comments, notes and words of programs go; pictures and what makes a clip loop stay.

/// The kept blocks; `None` when the file cannot be taken apart.
pub(super) fn strip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut at = 13 + table(*bytes.get(10)?);
    let mut kept = bytes.get(..at)?.to_vec();
    loop {
        let begin = at;
        let mut wanted = true;
        // Some writers leave out the end; whatever stands behind it belongs to nobody.
        match bytes.get(at).unwrap_or(&0x3B) {
            0x21 => {
                let label = *bytes.get(at + 1)?;
                let name = bytes.get(at + 3..at + 14);
                let looping = [&b"NETSCAPE2.0"[..], b"ANIMEXTS1.0"];
                wanted = match label {
                    0xF9 => true,
                    0xFF => name.is_some_and(|name| looping.contains(&name)),
                    _ => false,
                };
                at = behind_blocks(bytes, at + 2)?;
            }
            0x2C => at = behind_blocks(bytes, at + 11 + table(*bytes.get(at + 9)?))?,
            0x3B => {
                kept.push(0x3B);
                return Some(kept);
            }
            _ => return None,
        }
        if wanted {
            kept.extend_from_slice(bytes.get(begin..at)?);
        }
    }
}

/// The size of the colour table that flags announce.
fn table(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        return 0;
    }
    3 << ((flags & 7) + 1)
}

/// The place behind a row of blocks that ends with an empty one.
fn behind_blocks(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}
