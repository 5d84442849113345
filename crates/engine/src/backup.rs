//! Backups: a copy of the database as it is at one moment, and of the files that its rows name. It is audited before it is
//! called one. A folder with its list of contents is a whole backup, because the list is written last; one without it is none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use atelier_contract::hex;
use atelier_store::files::{Files, FilesError};
use atelier_store::{Options, Store};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::audit::{AuditError, CheckOptions, Violation, audit};

/// The database in a backup, and in a data folder.
pub const DATABASE: &str = "atelier.db";
/// Where the files are in a backup.
const FILES: &str = "files";
/// The list of contents.
const CONTENTS: &str = "backup.json";
/// What SQLite writes beside a database until it is closed.
const LOG: &str = "atelier.db-wal";
/// Rows read at once.
const PAGE: i64 = 200;
/// Bytes read at once.
const PIECE: usize = 64 * 1024;

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    /// An asset store did not answer.
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The folder is not what is needed.
    #[error("{0}")]
    Folder(String),
    /// What was written could not be looked at.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// What was written is not what a service could go on with.
    #[error(
        "the copy in {folder} is no backup: {faults} things are wrong with it, the first is {first}; \
         `atelier audit` tells whether the same is wrong with the service"
    )]
    Unsound {
        /// Where the copy is.
        folder: String,
        /// How many things are wrong.
        faults: u64,
        /// The first of them.
        first: String,
    },
}

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// The program that made it.
    pub version: String,
    pub time_ms: i64,
    /// The SHA-256 of the database.
    pub database: String,
    /// How many files are with it.
    pub files: u64,
    /// How many rows of the copy were looked at.
    #[serde(default)]
    pub rows: u64,
}

/// Writes a backup into a folder that is new or empty, and looks at what it wrote. Writers do not wait for it.
pub async fn back_up(
    store: &Store,
    files: Option<&Files>,
    folder: &Path,
    now_ms: i64,
) -> Result<Contents, BackupError> {
    private_folder(folder)?;
    if fs::read_dir(folder)?.next().is_some() {
        let folder = folder.display();
        return Err(BackupError::Folder(format!("{folder} is not empty")));
    }
    let database = folder.join(DATABASE);
    // Made first, so that nobody else can read it.
    private_file(&database)?;
    store.backup_to(&database).await?;
    // Everything else goes by what the copy says, however long copying takes and whatever becomes of the service meanwhile.
    let copy = Store::open(
        &format!("sqlite:{}", database.display()),
        Options::default(),
    )
    .await?;
    let filled = write_backup(store, &copy, files, folder, now_ms).await;
    copy.close().await;
    let (files, rows) = filled?;
    if fs::metadata(folder.join(LOG)).is_ok_and(|log| log.len() > 0) {
        let why = "the copy of the database did not come to rest; try again";
        return Err(BackupError::Folder(why.into()));
    }
    File::open(&database)?.sync_all()?;
    let contents = Contents {
        version: env!("CARGO_PKG_VERSION").into(),
        time_ms: now_ms,
        database: hash_of(&database)?,
        files,
        rows,
    };
    let mut list = private_file(&folder.join(CONTENTS))?;
    list.write_all(&serde_json::to_vec_pretty(&contents).map_err(io::Error::other)?)?;
    list.sync_all()?;
    File::open(folder)?.sync_all()?;
    Ok(contents)
}

/// Puts the files that a copy of the database names beside it, and looks at all of it: how many files and rows there are.
async fn write_backup(
    store: &Store,
    copy: &Store,
    files: Option<&Files>,
    folder: &Path,
    now_ms: i64,
) -> Result<(u64, u64), BackupError> {
    let (mut faults, mut first) = (0, None);
    let mut found = |fault: Violation| {
        faults += 1;
        let Violation {
            invariant,
            what,
            subject,
        } = fault;
        first.get_or_insert_with(|| format!("{invariant}: {what}: {subject}"));
    };
    // Nobody works on a copy, so nothing in it is due.
    let look = CheckOptions::new(now_ms, now_ms, false);
    let mut copied = 0;
    let rows = if let Some(files) = files {
        let kept = Files::folder(folder.join(FILES))?;
        copied = copy_named(store, copy, files, &kept, now_ms).await?;
        // The archive is kept by whoever keeps it; no copy of it is here.
        let archive = folder.join("archive");
        audit(copy, &kept, &archive, look, &mut found).await?.rows
    } else {
        copy.invariants().check(look, &mut found).await?
    };
    match first {
        None => Ok((copied, rows)),
        Some(first) => Err(BackupError::Unsound {
            folder: folder.display().to_string(),
            faults,
            first,
        }),
    }
}

/// Copies every file that a row of the copied database promises. One that was deleted since, as its row in the service says,
/// is expired in the copy.
async fn copy_named(
    store: &Store,
    copied: &Store,
    from: &Files,
    to: &Files,
    now_ms: i64,
) -> Result<u64, BackupError> {
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let page = copied.assets().list_after(&after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(count);
        };
        after.clone_from(&last.key);
        let mut gone = Vec::new();
        for row in page.into_iter().filter(|row| row.expires_ms > now_ms) {
            if copy(from, to, &row.key).await? {
                count += 1;
            } else {
                let now = store.assets().find(&row.key).await?;
                if now.is_none_or(|now| now.expires_ms < row.expires_ms) {
                    gone.push(row);
                }
            }
        }
        if !gone.is_empty() {
            copied.assets().drop_inputs(&gone).await?;
        }
    }
}

/// Copies a file, piece by piece; whether it was there.
async fn copy(from: &Files, to: &Files, key: &str) -> Result<bool, BackupError> {
    let Some(size) = from.size(key).await? else {
        return Ok(false);
    };
    match from.read_range(key, 0..size).await {
        Err(FilesError::NotFound) => return Ok(false),
        pieces => to.put_stream(key, pieces?).await?,
    };
    Ok(true)
}

/// Puts a backup where a service will find it. The database comes last: until then there is none, and restoring can be
/// begun anew.
pub async fn restore(
    folder: &Path,
    files: &Files,
    data_dir: &Path,
) -> Result<Contents, BackupError> {
    let wrong = |why: &str| BackupError::Folder(format!("{}: {why}", folder.display()));
    let list = fs::read(folder.join(CONTENTS))
        .map_err(|_| wrong("there is no backup.json; this is not a whole backup"))?;
    let contents: Contents =
        serde_json::from_slice(&list).map_err(|_| wrong("backup.json cannot be read"))?;
    let database = folder.join(DATABASE);
    if hash_of(&database)? != contents.database {
        return Err(wrong("the database is not the one that was backed up"));
    }
    private_folder(data_dir)?;
    let target = data_dir.join(DATABASE);
    if target.exists() {
        let target = target.display();
        return Err(BackupError::Folder(format!(
            "{target} is there already; restore into another folder, or move it away"
        )));
    }
    if contents.files > 0 {
        let kept = Files::folder(folder.join(FILES))?;
        let mut keys = kept.list("", i64::MAX).await?;
        while let Some(key) = keys.try_next().await? {
            copy(&kept, files, &key).await?;
        }
    }
    let draft = data_dir.join("atelier.db.restoring");
    fs::remove_file(&draft).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    let mut copy = private_file(&draft)?;
    io::copy(&mut File::open(&database)?, &mut copy)?;
    copy.sync_all()?;
    fs::rename(&draft, &target)?;
    File::open(data_dir)?.sync_all()?;
    Ok(contents)
}

/// Copies a small file of the data folder, for no other user to read, unless it is not there.
pub fn copy_secret(from: &Path, to: &Path, name: &str) -> io::Result<bool> {
    let bytes = match fs::read(from.join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        read => read?,
    };
    private_folder(to)?;
    let mut file = private_file(&to.join(name))?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    Ok(true)
}

fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// A new file that no other user of the machine can read.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

fn hash_of(path: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut piece) = (File::open(path)?, Sha256::new(), vec![0; PIECE]);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(&piece[..read]);
    }
}
