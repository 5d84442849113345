//! Files of the archive: lines of JSON, compressed, named after their content.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::key::hex;

/// Where a file lies until it is whole.
const UNFINISHED: &str = "unfinished.part";
/// Bytes read at once.
const PIECE: usize = 64 * 1024;

/// A file that is being written.
pub(super) struct Draft {
    folder: PathBuf,
    encoder: GzEncoder<Hashed>,
}

/// Writes and adds up a hash.
struct Hashed {
    file: File,
    hash: Sha256,
}

impl Write for Hashed {
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
    /// Begins a file in a folder; what an interrupted one left there is written over.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(folder.join(UNFINISHED))?;
        let hashed = Hashed {
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
pub(super) fn left_in(folder: &Path) -> io::Result<Option<String>> {
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
