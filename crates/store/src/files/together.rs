//! Small files that are stored together: in the spool, if there is one and they are small enough for it. Else each is written
//! and synced, then all are moved to their places, then every folder that got a name is synced once. Whoever stores one waits for
//! its group, so that what is answered is durable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::draft::{Draft, Known, sync_folder, write_to_place};
use super::error::Result;
use super::spool::{SPOOLED_BYTES, Spool, sync_all};

/// Larger files are written by themselves: the others would wait for their bytes.
pub(super) const SMALL_BYTES: usize = 256 * 1024;
/// Files in one group at most.
const GROUP_MOST: usize = 64;
/// Groups under way at once: while one waits for the disk, the next is written.
const AT_ONCE: usize = 4;
/// The same with a spool, to which one group is written after the other.
const SPOOLED_AT_ONCE: usize = 2;

/// A file that waits to be stored.
#[derive(Debug)]
struct Wish {
    key: String,
    target: PathBuf,
    bytes: Bytes,
    done: oneshot::Sender<Result<()>>,
}

#[derive(Debug, Default)]
struct Waiting {
    wishes: Vec<Wish>,
    /// Groups under way.
    groups: usize,
}

/// Stores small files in groups.
#[derive(Debug, Default)]
pub(super) struct Together {
    waiting: Mutex<Waiting>,
    spool: Option<Mutex<Spool>>,
    /// Folders that need no sync but for what is put into them.
    pub(super) known: Known,
}

impl Together {
    pub(super) fn with_spool(spool: Option<Spool>) -> Self {
        Self {
            spool: spool.map(Mutex::new),
            ..Self::default()
        }
    }

    /// Something else is done to the file of a key. What must be so after a power cut is synced.
    pub(super) fn forget(&self, key: &str, synced: bool) -> Result<()> {
        match self.spool() {
            Some(mut spool) => Ok(spool.forget(key, synced)?),
            None => Ok(()),
        }
    }

    fn spool(&self) -> Option<MutexGuard<'_, Spool>> {
        let spool = self.spool.as_ref()?;
        Some(spool.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stores a file with others that come at the same time; it is durable when this answers.
    pub(super) async fn put(
        self: &Arc<Self>,
        root: &Arc<Path>,
        key: &str,
        bytes: Bytes,
    ) -> Result<()> {
        let (done, stored) = oneshot::channel();
        let (key, target) = (key.to_owned(), root.join(key));
        let another = {
            let mut waiting = self.waiting();
            waiting.wishes.push(Wish {
                key,
                target,
                bytes,
                done,
            });
            let most = self.spool.as_ref().map_or(AT_ONCE, |_| SPOOLED_AT_ONCE);
            let another = waiting.groups < most;
            waiting.groups += usize::from(another);
            another
        };
        if another {
            let (together, root) = (Arc::clone(self), Arc::clone(root));
            tokio::task::spawn_blocking(move || together.work(&root));
        }
        stored.await.map_err(std::io::Error::other)?
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores one group after the other while there are any.
    fn work(self: Arc<Self>, root: &Path) {
        // Whatever happens to a group, the place for one is given back.
        let mut place = Place(Some(&*self));
        loop {
            // Who waits for the spool takes what came meanwhile.
            let mut spool = self.spool();
            let wishes: Vec<Wish> = {
                let mut waiting = self.waiting();
                if waiting.wishes.is_empty() {
                    place.0 = None;
                    waiting.groups -= 1;
                    return;
                }
                let count = waiting.wishes.len().min(GROUP_MOST);
                waiting.wishes.drain(..count).collect()
            };
            let (spooled, rest) = match &mut spool {
                Some(spool) => add_to(spool, wishes),
                None => (Vec::new(), wishes),
            };
            let filled = spool.as_mut().and_then(|spool| spool.filled());
            drop(spool);
            for wish in spooled {
                let placed = write_to_place(root, &wish.target, &wish.bytes, &self.known);
                // Who has gone needs no answer; a file that no row knows is found by the sweep.
                let _: std::result::Result<(), Result<()>> = wish.done.send(placed);
            }
            store(root, rest, &self);
            if let Some(filled) = filled {
                self.bring_to_disk(root, filled);
            }
        }
    }

    /// Has the files of a full half on disk by themselves, so that it may be filled again. Until then files are synced one by one
    /// when the other half is full too.
    fn bring_to_disk(&self, root: &Path, filled: u64) {
        let done = sync_all(root).and_then(|()| {
            let spool = self.spool();
            spool.map_or(Ok(()), |mut spool| spool.emptied(filled))
        });
        if let Err(error) = done {
            tracing::error!(%error, "the spool of files could not be emptied; files are synced one by one");
        }
    }
}

/// Those that are durable in the spool now, and those that have to be synced by themselves.
fn add_to(spool: &mut Spool, wishes: Vec<Wish>) -> (Vec<Wish>, Vec<Wish>) {
    let small = |wish: &Wish| wish.bytes.len() <= SPOOLED_BYTES;
    let (small, large): (Vec<Wish>, Vec<Wish>) = wishes.into_iter().partition(small);
    if small.is_empty() {
        return (small, large);
    }
    let files = small.iter().map(|wish| (wish.key.as_str(), &*wish.bytes));
    match spool.add(files) {
        Ok(true) => return (small, large),
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(%error, "the spool of files failed; they are synced one by one");
        }
    }
    (Vec::new(), small.into_iter().chain(large).collect())
}

/// The right to work on a group.
struct Place<'a>(Option<&'a Together>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(together) = self.0.take() {
            together.waiting().groups -= 1;
        }
    }
}

/// Stores a group and answers each of it.
fn store(root: &Path, wishes: Vec<Wish>, together: &Together) {
    let known = &together.known;
    let mut folders: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    let (mut outcomes, mut moving) = (Vec::new(), Vec::new());
    for wish in &wishes {
        let (draft, outcome) = match Draft::written(root, &wish.bytes) {
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
            outcome = together.forget(&wish.key, true);
        }
        let _: std::result::Result<(), Result<()>> = wish.done.send(outcome);
    }
}
