//! What the spool says of one key, as bytes: written in a row, and read up to the first that is not whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Larger files are cheaper to sync than to write twice.
pub(super) const SPOOLED_BYTES: usize = 64 * 1024;
/// Filling, sum of it and what follows, lengths of key and bytes.
pub(super) const HEAD: usize = 8 + 4 + 4 + 4;
/// The length of a file that is gone.
const GONE: u32 = u32::MAX;

/// What the spool says of one key.
pub(super) struct SpoolRecord {
    pub(super) filling: u64,
    pub(super) key: String,
    /// Where the bytes are, and how many; none of a file that is gone.
    at: u64,
    pub(super) length: Option<usize>,
}

impl SpoolRecord {
    pub(super) fn put(filling: u64, into: &mut Vec<u8>, key: &str, bytes: &[u8]) {
        Self::write(filling, into, key, bytes.len() as u32, bytes);
    }

    pub(super) fn gone(filling: u64, into: &mut Vec<u8>, key: &str) {
        Self::write(filling, into, key, GONE, &[]);
    }

    fn write(filling: u64, into: &mut Vec<u8>, key: &str, length: u32, bytes: &[u8]) {
        let lengths = [(key.len() as u32).to_le_bytes(), length.to_le_bytes()].concat();
        let sum = sum(&[&filling.to_le_bytes(), &lengths, key.as_bytes(), bytes]);
        into.extend(filling.to_le_bytes());
        into.extend(sum.to_le_bytes());
        into.extend(lengths);
        into.extend(key.as_bytes());
        into.extend(bytes);
    }

    /// The whole records of a half, in their order. What was being written when the power went is no record.
    pub(super) fn all(file: &File) -> io::Result<Vec<Self>> {
        let (mut records, mut at) = (Vec::new(), 0);
        let size = file.metadata()?.len();
        while let Some(record) = Self::read(file, at, size)? {
            if records
                .first()
                .is_some_and(|first: &Self| first.filling != record.filling)
            {
                break;
            }
            at = record.at + record.length.unwrap_or(0) as u64;
            records.push(record);
        }
        Ok(records)
    }

    fn read(file: &File, at: u64, size: u64) -> io::Result<Option<Self>> {
        if at + HEAD as u64 > size {
            return Ok(None);
        }
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, at)?;
        let number = |from: usize| {
            let bytes = head[from..from + 4].try_into().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        let filling = u64::from_le_bytes(head[..8].try_into().unwrap_or_default());
        let (key_length, length) = (number(12) as usize, number(16));
        let length = (length != GONE).then_some(length as usize);
        let rest = key_length + length.unwrap_or(0);
        let rest_at = at + HEAD as u64;
        if filling == 0 || rest > SPOOLED_BYTES * 2 || rest_at + rest as u64 > size {
            return Ok(None);
        }
        let mut bytes = vec![0; rest];
        file.read_exact_at(&mut bytes, rest_at)?;
        if sum(&[&head[..8], &head[12..], &bytes]) != number(8) {
            return Ok(None);
        }
        bytes.truncate(key_length);
        let key = String::from_utf8(bytes).map_err(io::Error::other)?;
        let at = rest_at + key_length as u64;
        Ok(Some(Self {
            filling,
            key,
            at,
            length,
        }))
    }

    pub(super) fn bytes(&self, file: &File) -> io::Result<Option<Vec<u8>>> {
        let Some(length) = self.length else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, self.at)?;
        Ok(Some(bytes))
    }
}

fn sum(parts: &[&[u8]]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    for part in parts {
        sum.update(part);
    }
    sum.finalize()
}
