//! The files of a ZIP archive, read by its directory: the vendor answers with one, and no more of the format is needed.

use bytes::Bytes;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The archive has no more files.
const MOST_FILES: usize = 16;
/// No file is larger once it is unpacked.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// The end of the directory lies within so many bytes of the end.
const MOST_TAIL: usize = 66_000;

/// The files of an archive, in the order of its directory; `None` for what is no archive.
pub(super) fn files(archive: &Bytes) -> Option<Vec<Bytes>> {
    let from = archive.len().saturating_sub(MOST_TAIL);
    let end = from
        + archive[from..]
            .windows(4)
            .rposition(|four| four == b"PK\x05\x06")?;
    let count = usize::from(short(archive, end + 10)?).min(MOST_FILES);
    let mut at = long(archive, end + 16)?;
    let mut all = Vec::new();
    for _ in 0..count {
        if archive.get(at..at + 4)? != b"PK\x01\x02" {
            return None;
        }
        all.push(file(archive, at)?);
        let beside = [28, 30, 32].map(|field| short(archive, at + field));
        let beside: usize = beside.into_iter().flatten().map(usize::from).sum();
        at += 46 + beside;
    }
    Some(all)
}

/// The file of a line of the directory.
fn file(archive: &Bytes, line: usize) -> Option<Bytes> {
    let (method, packed) = (short(archive, line + 10)?, long(archive, line + 20)?);
    let head = long(archive, line + 42)?;
    if archive.get(head..head.checked_add(4)?)? != b"PK\x03\x04" {
        return None;
    }
    let beside = usize::from(short(archive, head + 26)?) + usize::from(short(archive, head + 28)?);
    let begin = head + 30 + beside;
    let packed = begin..begin.checked_add(packed)?;
    archive.get(packed.clone())?;
    match method {
        0 => Some(archive.slice(packed)),
        8 => {
            let whole = decompress_to_vec_with_limit(&archive[packed], MOST_BYTES);
            whole.ok().map(Bytes::from)
        }
        _ => None,
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    let value = u32::from_le_bytes(four.try_into().ok()?);
    usize::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of one file, written by hand.
    fn archive(method: u16, packed: &[u8]) -> Vec<u8> {
        let name = b"image_0.png";
        let length = (packed.len() as u32).to_le_bytes();
        let mut all = b"PK\x03\x04".to_vec();
        all.extend([20, 0, 0, 0]);
        all.extend(method.to_le_bytes());
        all.extend([0; 8]);
        all.extend(length);
        all.extend(length);
        all.extend([name.len() as u8, 0, 0, 0]);
        all.extend(name);
        all.extend(packed);
        let directory = (all.len() as u32).to_le_bytes();
        all.extend(b"PK\x01\x02");
        all.extend([20, 0, 20, 0, 0, 0]);
        all.extend(method.to_le_bytes());
        all.extend([0; 8]);
        all.extend(length);
        all.extend(length);
        all.extend([name.len() as u8, 0]);
        all.extend([0; 16]);
        all.extend(name);
        let size = (all.len() as u32 - u32::from_le_bytes(directory)).to_le_bytes();
        all.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        all.extend(size);
        all.extend(directory);
        all.extend([0, 0]);
        all
    }

    #[test]
    fn stored_and_packed_files_are_read() {
        let stored = Bytes::from(archive(0, b"hello"));
        assert_eq!(files(&stored), Some(vec![Bytes::from_static(b"hello")]));
        let packed = miniz_oxide::deflate::compress_to_vec(&[7; 1000], 6);
        let packed = Bytes::from(archive(8, &packed));
        assert_eq!(files(&packed), Some(vec![Bytes::from(vec![7; 1000])]));
    }

    #[test]
    fn what_is_broken_is_no_archive_and_breaks_nothing() {
        let whole = archive(0, b"hello");
        for end in 0..whole.len() {
            let _ = files(&Bytes::copy_from_slice(&whole[..end]));
        }
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            let _ = files(&Bytes::from(broken));
        }
        assert_eq!(files(&Bytes::from_static(b"{\"message\":\"no\"}")), None);
    }
}
