//! Small files that are stored together: in the spool, if there is one and they are small enough for it. Else each is written
//! and synced, then all are moved to their places, then every folder that got a name is synced once. Whoever stores one waits for
//! its group, so that what is answered is durable.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::error::FilesResult;
use super::record::SPOOLED_BYTES;
use super::spool::{Spool, sync_all};
use super::temp_file::{SyncedFolders, TempFile, place, sync_folder};

/// Larger files are written by themselves: the others would wait for their bytes.
pub(super) const SMALL_BYTES: usize = 256 * 1024;
/// Files in one group at most.
const GROUP_MOST: usize = 64;
/// Groups under way at once: while one waits for the disk, the next is written.
const AT_ONCE: usize = 4;

/// How often, and how far apart, the end waits for files that are not in their places.
const CLOSING_LOOKS: u32 = 200;
const CLOSING_PAUSE: Duration = Duration::from_millis(5);

/// A file that waits to be stored.
#[derive(Debug)]
struct PendingFile {
    key: String,
    target: PathBuf,
    bytes: Bytes,
    /// Nobody reads it before it is stored.
    unseen: bool,
    done: oneshot::Sender<FilesResult<()>>,
}

#[derive(Debug, Default)]
struct PendingFiles {
    wishes: Vec<PendingFile>,
    groups: usize,
}

/// Stores small files in groups.
#[derive(Debug, Default)]
pub(super) struct GroupWriter {
    waiting: Mutex<PendingFiles>,
    /// Once this process is known to be the only one that works here.
    spool: Mutex<Option<Spool>>,
    /// Folders that need no sync but for what is put into them.
    pub(super) known: SyncedFolders,
}

impl GroupWriter {
    /// From now on small files go through the spool, unless another process has it; whether they do.
    pub(super) fn open_spool(&self, root: &Path) -> FilesResult<bool> {
        if self.spool().is_some() {
            return Ok(true);
        }
        let spool = Spool::open(root)?;
        let opened = spool.is_some();
        if !opened {
            tracing::warn!("another process uses the file spool; files are synced one by one");
        }
        *self.spool() = spool;
        Ok(opened)
    }

    /// Has everything on disk by itself and goes on without a spool. One that is never quiet stays as after a crash.
    pub(super) fn close_spool(&self) -> FilesResult<()> {
        for _ in 0..CLOSING_LOOKS {
            let mut spool = self.spool();
            match &mut *spool {
                None => return Ok(()),
                Some(open) if open.is_quiet() => {
                    open.empty()?;
                    *spool = None;
                    return Ok(());
                }
                Some(_) => drop(spool),
            }
            std::thread::sleep(CLOSING_PAUSE);
        }
        Ok(())
    }

    /// Something else was done to the file of a key, and must be so after a power cut.
    pub(super) fn replaced(&self, key: &str) -> FilesResult<()> {
        let mut spool = self.spool();
        Ok(spool
            .as_mut()
            .map_or(Ok(()), |spool| spool.forget(key, true))?)
    }

    /// The file of a key is about to be deleted. Should it come back after a power cut, no row knows it.
    pub(super) fn deleted(&self, key: &str) {
        if let Some(spool) = &mut *self.spool()
            && let Err(error) = spool.forget(key, false)
        {
            tracing::warn!(%error, "a deletion could not be noted in the file spool");
        }
    }

    fn spool(&self) -> MutexGuard<'_, Option<Spool>> {
        self.spool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a file with others that come at the same time; it is durable when this answers.
    pub(super) async fn put(
        self: &Arc<Self>,
        root: &Arc<Path>,
        key: &str,
        bytes: Bytes,
        unseen: bool,
    ) -> FilesResult<()> {
        let (done, stored) = oneshot::channel();
        let (key, target) = (key.to_owned(), root.join(key));
        let another = {
            let mut waiting = self.waiting();
            waiting.wishes.push(PendingFile {
                key,
                target,
                bytes,
                unseen,
                done,
            });
            let another = waiting.groups < AT_ONCE;
            waiting.groups += usize::from(another);
            another
        };
        if another {
            let (together, root) = (Arc::clone(self), Arc::clone(root));
            tokio::task::spawn_blocking(move || together.work(&root));
        }
        stored.await.map_err(std::io::Error::other)?
    }

    fn waiting(&self) -> MutexGuard<'_, PendingFiles> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores one group after the other while there are any.
    fn work(self: Arc<Self>, root: &Path) {
        // Whatever happens to a group, the place for one is given back.
        let mut place = GroupSlot(Some(&*self));
        loop {
            // Who waits for the spool takes what came meanwhile.
            let mut spool = self.spool();
            let wishes: Vec<PendingFile> = {
                let mut waiting = self.waiting();
                if waiting.wishes.is_empty() {
                    place.0 = None;
                    waiting.groups -= 1;
                    return;
                }
                let count = waiting.wishes.len().min(GROUP_MOST);
                waiting.wishes.drain(..count).collect()
            };
            let (filling, rest) = match &mut *spool {
                Some(spool) => add_to(spool, wishes),
                None => (None, wishes),
            };
            drop(spool);
            let filled =
                filling.and_then(|(filling, wishes)| self.put_in_place(root, filling, wishes));
            store(root, rest, &self);
            if let Some((filled, folder)) = filled {
                self.bring_to_disk(&folder, filled);
            }
        }
    }

    /// Moves the files of a group to their places and answers for each. The half that is full now, if there is one.
    fn put_in_place(
        &self,
        root: &Path,
        filling: u64,
        wishes: Vec<PendingFile>,
    ) -> Option<(u64, Arc<File>)> {
        let moved: Vec<FilesResult<Vec<PathBuf>>> = wishes
            .iter()
            .map(|wish| {
                if wish.unseen {
                    return place(root, &wish.target, &wish.bytes, &self.known);
                }
                TempFile::written(root, &wish.bytes)?.move_to(root, &wish.target, &self.known)
            })
            .collect();
        // Who stored the same key aside has taken it out of the spool: then this file has to be durable by itself.
        let (covered, filled) = match &mut *self.spool() {
            Some(spool) => {
                spool.placed(filling);
                let covered = wishes.iter().map(|wish| spool.covers(&wish.key, filling));
                (covered.collect(), spool.filled())
            }
            None => (vec![false; wishes.len()], None),
        };
        for ((wish, moved), covered) in wishes.into_iter().zip(moved).zip(covered) {
            let placed = moved.and_then(|folders| {
                if covered {
                    return Ok(());
                }
                File::open(&wish.target)?.sync_all()?;
                folders.iter().try_for_each(|folder| sync_folder(folder))
            });
            // Who has gone needs no answer; a file that no row knows is found by the sweep.
            let _: std::result::Result<(), FilesResult<()>> = wish.done.send(placed);
        }
        filled
    }

    /// Has the files of a full half on disk by themselves, so that it may be filled again. Until then files are synced one by one
    /// when the other half is full too.
    fn bring_to_disk(&self, folder: &File, filled: u64) {
        let done = sync_all(folder).and_then(|()| {
            let mut spool = self.spool();
            spool.as_mut().map_or(Ok(()), |spool| spool.emptied(filled))
        });
        if let Err(error) = done {
            tracing::error!(%error, "the file spool could not be emptied; files are synced one by one");
            if let Some(spool) = &mut *self.spool() {
                spool.fail();
            }
        }
    }
}

/// Those that are durable in a filling of the spool now, and those that have to be synced by themselves.
fn add_to(
    spool: &mut Spool,
    wishes: Vec<PendingFile>,
) -> (Option<(u64, Vec<PendingFile>)>, Vec<PendingFile>) {
    let small = |wish: &PendingFile| wish.bytes.len() <= SPOOLED_BYTES;
    let (small, large): (Vec<PendingFile>, Vec<PendingFile>) = wishes.into_iter().partition(small);
    if small.is_empty() {
        return (None, large);
    }
    let files = small.iter().map(|wish| (wish.key.as_str(), &*wish.bytes));
    match spool.add(files) {
        Ok(Some(filling)) => return (Some((filling, small)), large),
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "the file spool failed; files are synced one by one");
        }
    }
    (None, small.into_iter().chain(large).collect())
}

/// The right to work on a group.
struct GroupSlot<'a>(Option<&'a GroupWriter>);

impl Drop for GroupSlot<'_> {
    fn drop(&mut self) {
        if let Some(together) = self.0.take() {
            together.waiting().groups -= 1;
        }
    }
}

/// Stores a group and answers each of it.
fn store(root: &Path, wishes: Vec<PendingFile>, together: &GroupWriter) {
    let known = &together.known;
    let mut folders: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    let (mut outcomes, mut moving) = (Vec::new(), Vec::new());
    for wish in &wishes {
        let (draft, outcome) = match TempFile::written(root, &wish.bytes) {
            Ok(draft) => (Some(draft), Ok(())),
            Err(error) => (None, Err(error)),
        };
        moving.push(draft);
        outcomes.push(outcome);
    }
    for (index, draft) in moving.into_iter().enumerate() {
        let Some(draft) = draft else { continue };
        let moved = draft
            .sync()
            .and_then(|draft| draft.move_to(root, &wishes[index].target, known));
        match moved {
            Ok(changed) => {
                for folder in changed {
                    folders.entry(folder).or_default().push(index);
                }
            }
            Err(error) => outcomes[index] = Err(error),
        }
    }
    for (folder, of) in folders {
        if let Err(error) = sync_folder(&folder) {
            let kind = error.to_string();
            for index in of {
                outcomes[index] = Err(std::io::Error::other(kind.clone()).into());
            }
        }
    }
    for (wish, mut outcome) in wishes.into_iter().zip(outcomes) {
        if outcome.is_ok() {
            known.learn(root, &wish.target);
            outcome = together.replaced(&wish.key);
        }
        let _: std::result::Result<(), FilesResult<()>> = wish.done.send(outcome);
    }
}
