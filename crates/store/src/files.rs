//! The bytes of the asset store, under short keys: in a folder, or in any S3-compatible bucket. What was put is durable when
//! the call returns, and a key always has either its whole content or nothing.

mod error;
mod folder;
mod group_writer;
mod key;
mod record;
mod s3;
mod settings;
mod spool;
mod temp_file;

use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

pub use error::{FileStream, FilesError, FilesResult};
pub use s3::S3Timeouts;
pub use settings::AssetSettings;

use folder::Folder;
use s3::Bucket;

/// Where the bytes are kept; cheap to clone.
#[derive(Clone, Debug)]
pub enum Files {
    /// In a folder of this machine, or one that several machines mount.
    Folder(Folder),
    /// In an S3-compatible bucket.
    S3(Bucket),
}

impl Files {
    /// Opens what the settings name; a folder of this machine's own is the given one. Nothing is asked of a bucket yet.
    pub fn open(settings: &AssetSettings, own_folder: PathBuf) -> FilesResult<Self> {
        Self::open_within(settings, own_folder, S3Timeouts::default())
    }

    /// The same with other times for a bucket.
    pub fn open_within(
        settings: &AssetSettings,
        own_folder: PathBuf,
        timeouts: S3Timeouts,
    ) -> FilesResult<Self> {
        if settings.url.is_empty() {
            return Self::own_folder(own_folder);
        }
        match settings.bucket() {
            Some(path) => Bucket::open(settings, path, timeouts).map(Self::S3),
            None => Self::folder(&settings.url),
        }
    }

    /// Opens a folder, creating it if need be.
    pub fn folder(path: impl Into<PathBuf>) -> FilesResult<Self> {
        Folder::open(path.into(), false).map(Self::Folder)
    }

    /// Opens a folder that is on a disk of this machine and nobody else's, so that it may have a spool.
    pub fn own_folder(path: impl Into<PathBuf>) -> FilesResult<Self> {
        let folder = Folder::open(path.into(), false)?;
        Ok(Self::Folder(folder.own()))
    }

    /// Opens a folder whose files are read and written in place, with nothing else happening meanwhile: for simulations.
    /// Files that flow in or out piece by piece are not for them.
    pub fn folder_in_place(path: impl Into<PathBuf>) -> FilesResult<Self> {
        Folder::open(path.into(), true).map(Self::Folder)
    }

    /// Makes small files of an own folder durable together from now on, in a spool, and puts back what a power cut took of those
    /// that were in it. For whoever knows that no other process works on these files; whether there is a spool now.
    pub async fn open_spool(&self) -> FilesResult<bool> {
        match self {
            Self::Folder(folder) => folder.open_spool().await,
            Self::S3(_) => Ok(false),
        }
    }

    /// Has every file on disk by itself and gives the spool up.
    pub async fn close_spool(&self) -> FilesResult<()> {
        match self {
            Self::Folder(folder) => folder.close_spool().await,
            Self::S3(_) => Ok(()),
        }
    }

    /// Stores bytes, replacing what was there; durable when it returns.
    pub async fn put(&self, key: &str, bytes: Bytes) -> FilesResult<()> {
        key::check(key)?;
        match self {
            Self::Folder(folder) => folder.put(key, bytes).await,
            Self::S3(bucket) => bucket.put(key, bytes).await,
        }
    }

    /// The same, under a key that nobody reads before this has returned: it need not appear there as a whole.
    pub async fn put_unseen(&self, key: &str, bytes: Bytes) -> FilesResult<()> {
        key::check(key)?;
        match self {
            Self::Folder(folder) => folder.put_unseen(key, bytes).await,
            Self::S3(bucket) => bucket.put(key, bytes).await,
        }
    }

    /// Stores a flow of pieces without holding it in memory; gives back its size. A flow that breaks off leaves
    /// nothing under the key.
    pub async fn put_stream<S, E>(&self, key: &str, pieces: S) -> FilesResult<u64>
    where
        S: Stream<Item = std::result::Result<Bytes, E>> + Send,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        key::check(key)?;
        let pieces = Box::pin(pieces.map(|piece| piece.map_err(|e| FilesError::Source(e.into()))));
        match self {
            Self::Folder(folder) => folder.put_stream(key, pieces).await,
            Self::S3(bucket) => bucket.put_stream(key, pieces).await,
        }
    }

    /// The size of a file, or `None` when there is none.
    pub async fn size(&self, key: &str) -> FilesResult<Option<u64>> {
        key::check(key)?;
        match self {
            Self::Folder(folder) => folder.size(key).await,
            Self::S3(bucket) => bucket.size(key).await,
        }
    }

    /// The whole file, for small ones.
    pub async fn read(&self, key: &str) -> FilesResult<Bytes> {
        key::check(key)?;
        match self {
            Self::Folder(folder) => folder.read(key).await,
            Self::S3(bucket) => bucket.read(key).await,
        }
    }

    /// A part of a file, piece by piece. An empty range gives no pieces.
    pub async fn read_range(&self, key: &str, range: Range<u64>) -> FilesResult<FileStream<Bytes>> {
        key::check(key)?;
        if range.start > range.end {
            return Err(FilesError::BadRange);
        }
        match self {
            Self::Folder(folder) => folder.read_range(key, range).await,
            Self::S3(bucket) => bucket.read_range(key, range).await,
        }
    }

    /// Deletes a file; one that is already gone is fine.
    pub async fn delete(&self, key: &str) -> FilesResult<()> {
        key::check(key)?;
        match self {
            Self::Folder(folder) => folder.delete(key).await,
            Self::S3(bucket) => bucket.delete(key).await,
        }
    }

    /// The keys below `prefix` (a whole path segment, or empty for all) that were last written before a time, in no
    /// particular order: what a sweep for files without a row walks over.
    #[expect(
        clippy::unused_async,
        reason = "callers await it like every other question to the asset store"
    )]
    pub async fn list(&self, prefix: &str, before_ms: i64) -> FilesResult<FileStream<String>> {
        if !prefix.is_empty() {
            key::check(prefix)?;
        }
        match self {
            Self::Folder(folder) => Ok(folder.list(prefix, before_ms)),
            Self::S3(bucket) => Ok(bucket.list(prefix, before_ms)),
        }
    }

    /// Removes what interrupted writes left behind before a time; gives back how many. A bucket does this by its own
    /// life-cycle rule for incomplete uploads.
    pub async fn sweep_unfinished(&self, before_ms: i64) -> FilesResult<u64> {
        match self {
            Self::Folder(folder) => folder.sweep_unfinished(before_ms).await,
            Self::S3(_) => Ok(0),
        }
    }
}
