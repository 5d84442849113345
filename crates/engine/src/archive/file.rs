//! Files of the archive: lines of JSON, compressed, named after their content.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use atelier_contract::hex;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// What whoever archives into a folder has locked; it stays there, because a lock on a file that is gone keeps nobody out.
const LOCK: &str = ".lock";
/// Where a file lies until it is whole.
const UNFINISHED: &str = "unfinished.part";
/// Bytes read at once.
const PIECE: usize = 64 * 1024;

/// Takes a folder for one archiving alone, until the file is dropped or the process is gone; `None` when another one has it.
pub(super) fn hold(folder: &Path) -> io::Result<Option<File>> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(folder.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A file that is being written.
pub(super) struct Draft {
    folder: PathBuf,
    encoder: GzEncoder<HashingWriter>,
}

/// Writes and adds up a hash.
struct HashingWriter {
    file: File,
    hash: Sha256,
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Draft {
    /// Begins a file in a folder that is held. What an interrupted archiving left was put right before: a file that is there
    /// all the same is somebody else's, where locks do not work, and is not written over.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        let file = options.open(folder.join(UNFINISHED))?;
        let hashed = HashingWriter {
            file,
            hash: Sha256::new(),
        };
        Ok(Self {
            folder: folder.to_owned(),
            encoder: GzEncoder::new(hashed, Compression::default()),
        })
    }

    pub(super) fn write(&mut self, line: &str) -> io::Result<()> {
        self.encoder.write_all(line.as_bytes())?;
        self.encoder.write_all(b"\n")
    }

    /// Makes the file durable where it lies; gives back the name that it will have, and the hash.
    pub(super) fn finish(self) -> io::Result<(String, String)> {
        let hashed = self.encoder.finish()?;
        hashed.file.sync_all()?;
        File::open(&self.folder)?.sync_all()?;
        let hash = hex(&hashed.hash.finalize());
        Ok((name_of(&hash), hash))
    }
}

fn name_of(hash: &str) -> String {
    format!("{}.jsonl.gz", &hash[..32])
}

/// The name that a whole file would have which was left without one.
pub(super) fn unfinished_name(folder: &Path) -> io::Result<Option<String>> {
    let path = folder.join(UNFINISHED);
    let hash = hash_of(&path)?;
    Ok(hash.map(|hash| name_of(&hash)))
}

/// Gives a file its name: its rows are in no other place any more.
pub(super) fn publish(folder: &Path, name: &str) -> io::Result<()> {
    fs::rename(folder.join(UNFINISHED), folder.join(name))?;
    File::open(folder)?.sync_all()
}

/// Removes a file whose rows are where they were.
pub(super) fn discard(folder: &Path) -> io::Result<()> {
    match fs::remove_file(folder.join(UNFINISHED)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The hash of a file, if it is there.
fn hash_of(path: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(Some(hex(&digest.finalize())));
        }
        digest.update(&piece[..read]);
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It is as it was written.
    Whole,
    /// It is not in the folder; somebody may have put it away.
    Away,
    /// It is not as it was written.
    Changed,
}

/// Compares a file of the archive with the hash of its bytes.
pub fn state_of(folder: &Path, name: &str, hash: &str) -> io::Result<FileState> {
    Ok(match hash_of(&folder.join(name))? {
        None => FileState::Away,
        Some(same) if same == hash => FileState::Whole,
        Some(_) => FileState::Changed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: nobody writes over a file whose rows another archiving is about to remove.
    #[test]
    fn a_file_that_is_being_written_is_nobody_elses_to_begin() {
        let folder = std::env::temp_dir().join(format!("atelier-draft-{}", std::process::id()));
        let held = hold(&folder).expect("a folder").expect("nobody else's");
        assert!(hold(&folder).expect("a folder").is_none(), "held");
        let mut draft = Draft::begin(&folder).expect("begun");
        draft.write("{}").expect("written");
        let second = Draft::begin(&folder).err().expect("refused");
        assert_eq!(second.kind(), io::ErrorKind::AlreadyExists);
        let (name, hash) = draft.finish().expect("durable");
        publish(&folder, &name).expect("named");
        let state = state_of(&folder, &name, &hash).expect("read");
        assert_eq!(state, FileState::Whole);
        drop(held);
        assert!(hold(&folder).expect("a folder").is_some(), "free again");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
