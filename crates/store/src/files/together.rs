//! Small files that are stored together: each is written and synced, then all are moved to their places, then every folder
//! that got a name is synced once. Whoever stores one waits for its group, so that what is answered is durable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::draft::{Draft, Known, sync_folder};
use super::error::Result;

/// Larger files are written by themselves: the others would wait for their bytes.
pub(super) const SMALL_BYTES: usize = 256 * 1024;
/// Files in one group at most.
const GROUP_MOST: usize = 64;
/// Groups under way at once: while one waits for the disk, the next is written.
const AT_ONCE: usize = 4;

/// A file that waits to be stored.
#[derive(Debug)]
struct Wish {
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
    /// Folders that need no sync but for what is put into them.
    pub(super) known: Known,
}

impl Together {
    /// Stores a file with others that come at the same time; it is durable when this answers.
    pub(super) async fn put(
        self: &Arc<Self>,
        root: &Arc<Path>,
        target: PathBuf,
        bytes: Bytes,
    ) -> Result<()> {
        let (done, stored) = oneshot::channel();
        let another = {
            let mut waiting = self.waiting();
            waiting.wishes.push(Wish {
                target,
                bytes,
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

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores one group after the other while there are any.
    fn work(self: Arc<Self>, root: &Path) {
        // Whatever happens to a group, the place for one is given back.
        let mut place = Place(Some(&*self));
        loop {
            let wishes = {
                let mut waiting = self.waiting();
                if waiting.wishes.is_empty() {
                    place.0 = None;
                    waiting.groups -= 1;
                    return;
                }
                let count = waiting.wishes.len().min(GROUP_MOST);
                waiting.wishes.drain(..count).collect()
            };
            store(root, wishes, &self.known);
        }
    }
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
fn store(root: &Path, wishes: Vec<Wish>, known: &Known) {
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
    for (wish, outcome) in wishes.into_iter().zip(outcomes) {
        if outcome.is_ok() {
            known.learn(root, &wish.target);
        }
        // Who has gone needs no answer; a file that no row knows is found by the sweep.
        let _: std::result::Result<(), Result<()>> = wish.done.send(outcome);
    }
}
