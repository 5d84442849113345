//! The spool: small files are made durable together. The bytes of a group go behind each other into one file, which is synced
//! once; then each file is written to its place, and the system brings it to the disk when it likes. When a half of the spool
//! is full, the other one takes over, everything is synced, and the full one is empty again. Whoever opens the folder after
//! a power cut puts back what the spool has.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use super::draft::{Draft, Known, private_folder, sync_folder};
use super::error::Result;

/// Where the halves are. Keys cannot begin with a dot, so none can name it.
const FOLDER: &str = ".spool";
/// Larger files are cheaper to sync than to write twice.
pub(super) const SPOOLED_BYTES: usize = 64 * 1024;
/// Bytes of a half, a group more or less.
const HALF_BYTES: u64 = 32 * 1024 * 1024;
/// Files in a half, likewise.
const HALF_FILES: usize = 8_192;

/// Open halves, one of which is written to.
#[derive(Debug)]
pub(super) struct Spool {
    halves: [Half; 2],
    current: usize,
    /// The round in which each key was last written; what is done to such a file otherwise has to be told.
    keys: HashMap<String, u64>,
    /// The number of the next filling. It is never used again, so that what is left of an old one is not taken for a new one.
    next: u64,
    /// Whether somebody syncs what a full half has.
    syncing: bool,
    /// A sync that failed leaves nothing to rely on.
    failed: bool,
}

#[derive(Debug)]
struct Half {
    file: File,
    /// Which filling this is, counted over both halves; none while it is empty.
    round: Option<u64>,
    end: u64,
    files: usize,
}

impl Half {
    fn is_full(&self) -> bool {
        self.end >= HALF_BYTES || self.files >= HALF_FILES
    }

    /// Nothing in it counts any more.
    fn empty(&mut self) -> io::Result<()> {
        self.file.write_all_at(&[0; HEAD], 0)?;
        self.file.sync_data()?;
        (self.round, self.end, self.files) = (None, 0, 0);
        Ok(())
    }
}

impl Spool {
    /// Opens the spool of a folder and puts back what is in it; `None` when another process has it.
    pub(super) fn open(root: &Path) -> Result<Option<Self>> {
        let folder = root.join(FOLDER);
        private_folder().recursive(true).create(&folder)?;
        let mut halves = Vec::new();
        for name in ["a", "b"] {
            let mut file = fs::OpenOptions::new();
            let file = file.read(true).write(true).create(true).truncate(false);
            let file = file.mode(0o600).open(folder.join(name))?;
            // Whoever has the first half has both.
            match file.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => return Ok(None),
                Err(fs::TryLockError::Error(error)) => return Err(error.into()),
            }
            halves.push(Half {
                file,
                round: None,
                end: 0,
                files: 0,
            });
        }
        let Ok(mut halves) = <[Half; 2]>::try_from(halves) else {
            return Ok(None);
        };
        if restore(root, &halves)? {
            sync_all(root)?;
            for half in &mut halves {
                half.empty()?;
            }
        }
        sync_folder(&folder)?;
        sync_folder(root)?;
        let mut next = [0; 7];
        getrandom::fill(&mut next).map_err(io::Error::other)?;
        let next = next.iter().fold(1, |all, byte| all << 8 | u64::from(*byte));
        Ok(Some(Self {
            halves,
            current: 0,
            keys: HashMap::new(),
            next,
            syncing: false,
            failed: false,
        }))
    }

    /// Makes a group of files durable; whether there was room for it.
    pub(super) fn add<'a>(
        &mut self,
        files: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<bool> {
        if self.halves[self.current].is_full() && self.halves[1 - self.current].round.is_none() {
            self.current = 1 - self.current;
        }
        if self.failed || self.halves[self.current].is_full() {
            return Ok(false);
        }
        let mut records = Vec::new();
        let (round, mut keys) = (self.round(), Vec::new());
        for (key, bytes) in files {
            Record::put(round, &mut records, key, bytes);
            keys.push((key.to_owned(), round));
        }
        self.write(&records, keys.len(), true)?;
        self.keys.extend(keys);
        Ok(true)
    }

    /// The file of a key is no longer the one in the spool, if it was in it. What must be so after a power cut is synced.
    pub(super) fn forget(&mut self, key: &str, synced: bool) -> io::Result<()> {
        if self.keys.remove(key).is_none() {
            return Ok(());
        }
        let (mut record, round) = (Vec::new(), self.round());
        Record::gone(round, &mut record, key);
        self.write(&record, 1, synced)
    }

    /// The filling that waits for everything to be synced, for the first who asks.
    pub(super) fn filled(&mut self) -> Option<u64> {
        let filled = self.halves[1 - self.current].round?;
        let first = !self.syncing && !self.failed;
        self.syncing = true;
        first.then_some(filled)
    }

    /// Everything of a filling is on disk by itself.
    pub(super) fn emptied(&mut self, round: u64) -> io::Result<()> {
        let mut halves = self.halves.iter_mut();
        if let Some(half) = halves.find(|half| half.round == Some(round)) {
            half.empty()?;
        }
        self.keys.retain(|_, at| *at != round);
        self.syncing = false;
        Ok(())
    }

    /// The filling that is being written.
    fn round(&mut self) -> u64 {
        let next = &mut self.next;
        *self.halves[self.current].round.get_or_insert_with(|| {
            *next += 1;
            *next
        })
    }

    fn write(&mut self, records: &[u8], files: usize, synced: bool) -> io::Result<()> {
        let half = &mut self.halves[self.current];
        half.file.write_all_at(records, half.end)?;
        if synced {
            let done = half.file.sync_data();
            self.failed |= done.is_err();
            done?;
        }
        half.end += records.len() as u64;
        half.files += files;
        Ok(())
    }
}

/// Syncs the whole file system that a folder is on.
pub(super) fn sync_all(root: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(root)?)?)
}

/// Puts every file back whose last record is not what lies in its place; whether there were any records.
fn restore(root: &Path, halves: &[Half]) -> Result<bool> {
    let mut found: Vec<(u64, &File, Vec<Record>)> = Vec::new();
    for half in halves {
        let records = Record::all(&half.file)?;
        if let Some(first) = records.first() {
            found.push((first.round, &half.file, records));
        }
    }
    found.sort_by_key(|(round, ..)| *round);
    let mut last: HashMap<&str, (&File, &Record)> = HashMap::new();
    for (_, file, records) in &found {
        last.extend(records.iter().map(|one| (one.key.as_str(), (*file, one))));
    }
    let known = Known::default();
    for (key, (file, record)) in last {
        let Some(bytes) = record.bytes(file)? else {
            continue;
        };
        let target = root.join(key);
        if super::key::check(key).is_ok() && fs::read(&target).ok().as_deref() != Some(&bytes) {
            let draft = Draft::written(root, &bytes)?.sync()?;
            draft.finish(root, &target, &known)?;
        }
    }
    Ok(!found.is_empty())
}

/// Round, sum of what follows it, lengths of key and bytes.
const HEAD: usize = 8 + 4 + 4 + 4;
/// The length of a file that is gone.
const GONE: u32 = u32::MAX;

/// What the spool says of one key.
struct Record {
    round: u64,
    key: String,
    /// Where the bytes are, and how many; none of a file that is gone.
    at: u64,
    length: Option<usize>,
}

impl Record {
    fn put(round: u64, into: &mut Vec<u8>, key: &str, bytes: &[u8]) {
        Self::write(round, into, key, (bytes.len() as u32, bytes));
    }

    fn gone(round: u64, into: &mut Vec<u8>, key: &str) {
        Self::write(round, into, key, (GONE, &[]));
    }

    fn write(round: u64, into: &mut Vec<u8>, key: &str, (length, bytes): (u32, &[u8])) {
        let lengths = [(key.len() as u32).to_le_bytes(), length.to_le_bytes()].concat();
        let sum = sum(&[&round.to_le_bytes(), &lengths, key.as_bytes(), bytes]);
        into.extend(round.to_le_bytes());
        into.extend(sum.to_le_bytes());
        into.extend(lengths);
        into.extend(key.as_bytes());
        into.extend(bytes);
    }

    /// The whole records of a half, in their order. What was being written when the power went is no record.
    fn all(file: &File) -> io::Result<Vec<Self>> {
        let (mut records, mut at) = (Vec::new(), 0);
        let size = file.metadata()?.len();
        while let Some(record) = Self::read(file, at, size)? {
            if records
                .first()
                .is_some_and(|first: &Self| first.round != record.round)
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
        let round = u64::from_le_bytes(head[..8].try_into().unwrap_or_default());
        let (key_length, length) = (number(12) as usize, number(16));
        let length = (length != GONE).then_some(length as usize);
        let rest = key_length + length.unwrap_or(0);
        let rest_at = at + HEAD as u64;
        if round == 0 || rest > SPOOLED_BYTES * 2 || rest_at + rest as u64 > size {
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
            round,
            key,
            at,
            length,
        }))
    }

    fn bytes(&self, file: &File) -> io::Result<Option<Vec<u8>>> {
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
