//! Files in a folder. A write goes to a file of its own under `.unfinished`, is synced, renamed to its place, and the
//! folders above it are synced, so that neither a crash nor a power cut shows half a file or loses a finished one. Small files
//! of a folder that one machine has for itself go through the spool instead.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use super::error::{FileStream, FilesError, FilesResult};
use super::group_writer::{GroupWriter, SMALL_BYTES};
use super::temp_file::{TempFile, UNFINISHED, private_folder};

/// The size of one piece of a file that is read.
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug)]
pub struct Folder {
    root: Arc<Path>,
    /// Whether each step is waited for in place, with nothing else happening meanwhile.
    in_place: bool,
    /// Whether it may have a spool: it is on a disk of this machine.
    own: bool,
    together: Arc<GroupWriter>,
}

impl Folder {
    pub(super) fn open(root: PathBuf, in_place: bool) -> FilesResult<Self> {
        let mut folders = private_folder();
        folders.recursive(true).create(root.join(UNFINISHED))?;
        Ok(Self {
            root: root.into(),
            in_place,
            own: false,
            together: Arc::default(),
        })
    }

    /// The same folder, on a disk of this machine that nobody else uses.
    pub(super) fn own(self) -> Self {
        Self { own: true, ..self }
    }

    /// See [`super::Files::open_spool`].
    pub(super) async fn open_spool(&self) -> FilesResult<bool> {
        if !self.own {
            return Ok(false);
        }
        let (root, together) = (Arc::clone(&self.root), Arc::clone(&self.together));
        self.blocking(move || together.open_spool(&root)).await
    }

    /// See [`super::Files::close_spool`].
    pub(super) async fn close_spool(&self) -> FilesResult<()> {
        let together = Arc::clone(&self.together);
        self.blocking(move || together.close_spool()).await
    }

    pub(super) async fn put(&self, key: &str, bytes: Bytes) -> FilesResult<()> {
        self.put_as(key, bytes, false).await
    }

    pub(super) async fn put_unseen(&self, key: &str, bytes: Bytes) -> FilesResult<()> {
        self.put_as(key, bytes, true).await
    }

    async fn put_as(&self, key: &str, bytes: Bytes, unseen: bool) -> FilesResult<()> {
        let root = Arc::clone(&self.root);
        if !self.in_place && bytes.len() <= SMALL_BYTES {
            return self.together.put(&root, key, bytes, unseen).await;
        }
        let (together, key) = (Arc::clone(&self.together), key.to_owned());
        self.blocking(move || {
            let draft = TempFile::written(&root, &bytes)?.sync()?;
            draft.finish(&root, &root.join(&key), &together.known)?;
            together.replaced(&key)
        })
        .await
    }

    pub(super) async fn put_stream<S>(&self, key: &str, mut pieces: S) -> FilesResult<u64>
    where
        S: Stream<Item = FilesResult<Bytes>> + Send + Unpin,
    {
        let root = Arc::clone(&self.root);
        let draft = self
            .blocking({
                let root = Arc::clone(&root);
                move || TempFile::create(&root)
            })
            .await?;
        let mut file = tokio::fs::OpenOptions::new()
            .write(true)
            .open(&draft.path)
            .await?;
        let mut size = 0;
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            file.write_all(&piece).await?;
            size += piece.len() as u64;
        }
        file.flush().await?;
        file.sync_all().await?;
        drop(file);
        let (together, key) = (Arc::clone(&self.together), key.to_owned());
        self.blocking(move || {
            draft.finish(&root, &root.join(&key), &together.known)?;
            together.replaced(&key)
        })
        .await?;
        Ok(size)
    }

    pub(super) async fn size(&self, key: &str) -> FilesResult<Option<u64>> {
        let path = self.root.join(key);
        self.blocking(move || match fs::metadata(path) {
            Ok(data) if data.is_file() => Ok(Some(data.len())),
            Ok(_) => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error.into()),
        })
        .await
    }

    pub(super) async fn read(&self, key: &str) -> FilesResult<Bytes> {
        let path = self.root.join(key);
        self.blocking(move || match fs::read(path) {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(absent_or(error)),
        })
        .await
    }

    pub(super) async fn read_range(
        &self,
        key: &str,
        range: Range<u64>,
    ) -> FilesResult<FileStream<Bytes>> {
        let mut file = tokio::fs::File::open(self.root.join(key))
            .await
            .map_err(absent_or)?;
        let data = file.metadata().await?;
        if !data.is_file() {
            return Err(FilesError::NotFound);
        }
        if range.end > data.len() {
            return Err(FilesError::BadRange);
        }
        file.seek(io::SeekFrom::Start(range.start)).await?;
        let part = file.take(range.end - range.start);
        let pieces = ReaderStream::with_capacity(part, PIECE_BYTES).map_err(FilesError::from);
        Ok(Box::pin(pieces))
    }

    pub(super) async fn delete(&self, key: &str) -> FilesResult<()> {
        let path = self.root.join(key);
        let deep = key.split('/').count() > 2;
        let (together, key) = (Arc::clone(&self.together), key.to_owned());
        self.blocking(move || {
            together.deleted(&key);
            match fs::remove_file(&path) {
                Err(error) if !is_absent(&error) => return Err(error.into()),
                _ => {}
            }
            // A job's folder goes with its last file; one that still has files refuses.
            if deep && let Some(folder) = path.parent() {
                together.known.forget(folder);
                let _ = fs::remove_dir(folder);
            }
            Ok(())
        })
        .await
    }

    pub(super) fn list(&self, prefix: &str, before_ms: i64) -> FileStream<String> {
        let walk = TreeWalk {
            root: Arc::clone(&self.root),
            folders: vec![self.root.join(prefix)],
            before_ms,
            in_place: self.in_place,
        };
        let pages = futures_util::stream::try_unfold(walk, |mut walk| async move {
            let Some(folder) = walk.folders.pop() else {
                return Ok(None);
            };
            blocking(walk.in_place, move || {
                let keys = walk.visit(&folder)?;
                Ok(Some((keys, walk)))
            })
            .await
        });
        Box::pin(
            pages
                .map_ok(|keys| futures_util::stream::iter(keys.into_iter().map(Ok)))
                .try_flatten(),
        )
    }

    pub(super) async fn sweep_unfinished(&self, before_ms: i64) -> FilesResult<u64> {
        let folder = self.root.join(UNFINISHED);
        self.blocking(move || {
            let mut removed = 0;
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry
                    .metadata()
                    .is_ok_and(|data| modified_ms(&data) < before_ms)
                {
                    fs::remove_file(entry.path())?;
                    removed += 1;
                }
            }
            Ok(removed)
        })
        .await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> FilesResult<T> + Send + 'static,
    ) -> FilesResult<T> {
        blocking(self.in_place, work).await
    }
}

/// A walk through the tree, one folder at a time, so that its memory is one folder's names.
struct TreeWalk {
    root: Arc<Path>,
    folders: Vec<PathBuf>,
    before_ms: i64,
    in_place: bool,
}

impl TreeWalk {
    /// The old files of one folder; its subfolders are visited later.
    fn visit(&mut self, folder: &Path) -> FilesResult<Vec<String>> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut keys = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let Ok(data) = fs::symlink_metadata(&path) else {
                continue;
            };
            let key = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
            let Some(key) = key.filter(|key| super::key::check(key).is_ok()) else {
                continue;
            };
            if data.is_dir() {
                self.folders.push(path);
            } else if data.is_file() && modified_ms(&data) < self.before_ms {
                keys.push(key.to_owned());
            }
        }
        Ok(keys)
    }
}

fn modified_ms(data: &fs::Metadata) -> i64 {
    data.modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_millis() as i64)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn absent_or(error: io::Error) -> FilesError {
    if is_absent(&error) || error.kind() == io::ErrorKind::IsADirectory {
        FilesError::NotFound
    } else {
        error.into()
    }
}

async fn blocking<T: Send + 'static>(
    in_place: bool,
    work: impl FnOnce() -> FilesResult<T> + Send + 'static,
) -> FilesResult<T> {
    if in_place {
        return work();
    }
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}
