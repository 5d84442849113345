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

    /// Makes the file durable under its name; gives back the name and the hash.
    pub(super) fn finish(self) -> io::Result<(String, String)> {
        let hashed = self.encoder.finish()?;
        hashed.file.sync_all()?;
        let hash = hex(&hashed.hash.finalize());
        let name = format!("{}.jsonl.gz", &hash[..32]);
        fs::rename(self.folder.join(UNFINISHED), self.folder.join(&name))?;
        File::open(&self.folder)?.sync_all()?;
        Ok((name, hash))
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
    let mut file = match File::open(folder.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileState::Away),
        opened => opened?,
    };
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            break;
        }
        digest.update(&piece[..read]);
    }
    let same = hex(&digest.finalize()) == hash;
    Ok(if same {
        FileState::Whole
    } else {
        FileState::Changed
    })
}
