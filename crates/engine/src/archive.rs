//! The archive: old attempts, and old jobs with their ledger rows and deliveries, go to compressed files. Each file is
//! whole and durable before the commit that removes its rows, and has its name after it: a crash leaves a file without a name
//! and never a row too few, and the next archiving names or removes it. Words that a caller has removed meanwhile stay in none.

mod file;

use std::io;
use std::path::Path;

use atelier_store::{ArchiveCut, ArchiveFile, Store};

use file::{Draft, discard, hold, publish, unfinished_name};
pub use file::{FileState, state_of};

/// Ledger rows, or attempts, that share a file and a commit, about.
const ROWS: i64 = 1_000;

/// How often archiving begins anew because something changed meanwhile.
const TRIES: usize = 20;

/// Why archiving ended early. What was moved until then is moved.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The store did not answer, or something changed meanwhile.
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    /// What was to be moved did not stand still.
    #[error("what was to be archived changed again and again; archive again later")]
    Changing,
    /// Another one archives into the same folder: it would take this one's file for what a crash left, and remove it.
    #[error("another `atelier archive` is at work in {0}; wait for its end")]
    InUse(String),
    /// The file could not be written.
    #[error("the archive's folder failed: {0}")]
    Io(#[from] io::Error),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSummary {
    /// Files written.
    pub files: u64,
    /// Jobs in those files.
    pub jobs: i64,
    /// Ledger rows in them.
    pub entries: i64,
    /// Attempts in those files.
    pub attempts: u64,
}

/// Moves what ended before a time into a folder. One at a time does so in a folder, until its end.
pub async fn archive(
    store: &Store,
    folder: &Path,
    before_ms: i64,
    now_ms: i64,
) -> Result<ArchiveSummary, ArchiveError> {
    let Some(_alone) = hold(folder)? else {
        return Err(ArchiveError::InUse(folder.display().to_string()));
    };
    let mut archiver = Archiver {
        store,
        folder,
        before_ms,
        now_ms,
        moved: ArchiveSummary::default(),
    };
    archiver.recover_unfinished().await?;
    archiver.attempts().await?;
    for _ in 0..TRIES {
        if archiver.accounts().await? {
            return Ok(archiver.moved);
        }
    }
    Err(ArchiveError::Changing)
}

struct Archiver<'a> {
    store: &'a Store,
    folder: &'a Path,
    before_ms: i64,
    now_ms: i64,
    moved: ArchiveSummary,
}

impl Archiver<'_> {
    /// What an archiving before this one left: its rows are gone, and it gets its name, or they are not, and it goes.
    async fn recover_unfinished(&self) -> Result<(), ArchiveError> {
        let Some(name) = unfinished_name(self.folder)? else {
            return Ok(());
        };
        if self.store.archive().has_file(&name).await? {
            publish(self.folder, &name)?;
        } else {
            discard(self.folder)?;
        }
        Ok(())
    }

    /// Attempts go first: afterwards none is left of the jobs that go.
    async fn attempts(&mut self) -> Result<(), ArchiveError> {
        loop {
            let old = self
                .store
                .archive()
                .old_attempts(self.before_ms, ROWS)
                .await?;
            if old.is_empty() {
                return Ok(());
            }
            let mut draft = Draft::begin(self.folder)?;
            for (_, line) in &old {
                draft.write(line)?;
            }
            let file = self.finish(draft, 0, 0)?;
            let ids: Vec<String> = old.into_iter().map(|(id, _)| id).collect();
            let (name, count) = (file.name.clone(), ids.len() as u64);
            let moved = self.store.archive().remove_attempts(ids, file).await;
            if !self.settled(&name, moved)? {
                continue;
            }
            self.moved.attempts += count;
        }
    }

    /// Account after account; small ones share a file. False when something changed meanwhile: it is to be begun anew.
    async fn accounts(&mut self) -> Result<bool, ArchiveError> {
        let (mut account, mut cuts) = (String::new(), Vec::new());
        loop {
            let cut = self.store.archive().cut(&account, self.before_ms).await?;
            let Some(cut) = cut else {
                return self.cuts(cuts).await;
            };
            let (more, some) = (cut.more, cut.to > cut.from);
            let before = std::mem::replace(&mut account, cut.account_id.clone());
            if some {
                cuts.push(cut);
            }
            let rows: i64 = cuts.iter().map(|cut| cut.to - cut.from).sum();
            if (more || rows >= ROWS) && !self.cuts(std::mem::take(&mut cuts)).await? {
                return Ok(false);
            }
            if more {
                // The same account again, from where it is now.
                account = before;
            }
        }
    }

    /// Moves what cuts cover, in one file and one commit; false when something of it has changed meanwhile.
    async fn cuts(&mut self, cuts: Vec<ArchiveCut>) -> Result<bool, ArchiveError> {
        if cuts.is_empty() {
            return Ok(true);
        }
        let mut draft = Draft::begin(self.folder)?;
        let (mut jobs, mut entries) = (0, 0);
        for cut in &cuts {
            entries += cut.to - cut.from;
            let mut after = cut.from;
            while after < cut.to {
                let (lines, end) = self.store.archive().lines(cut, after).await?;
                for line in &lines {
                    draft.write(line)?;
                    jobs += i64::from(is_job(line));
                }
                after = end;
            }
        }
        let file = self.finish(draft, jobs, entries)?;
        let name = file.name.clone();
        let moved = self.store.archive().remove(cuts, file).await;
        let moved = self.settled(&name, moved)?;
        if moved {
            self.moved.jobs += jobs;
            self.moved.entries += entries;
        }
        Ok(moved)
    }

    /// A file whose rows are gone gets its name; any other goes, unless nobody knows which it is.
    fn settled(
        &mut self,
        name: &str,
        moved: Result<(), atelier_store::Error>,
    ) -> Result<bool, ArchiveError> {
        match moved {
            Ok(()) => {
                publish(self.folder, name)?;
                self.moved.files += 1;
                Ok(true)
            }
            Err(atelier_store::Error::Conflict(why)) => {
                tracing::info!(why, "archiving starts again");
                discard(self.folder)?;
                Ok(false)
            }
            Err(error @ atelier_store::Error::Unresolved) => Err(error.into()),
            Err(error) => {
                discard(self.folder)?;
                Err(error.into())
            }
        }
    }

    fn finish(&self, draft: Draft, jobs: i64, entries: i64) -> Result<ArchiveFile, ArchiveError> {
        let (name, hash) = draft.finish()?;
        Ok(ArchiveFile {
            name,
            hash,
            before_ms: self.before_ms,
            jobs,
            entries,
            time_ms: self.now_ms,
        })
    }
}

/// Whether a line is a job. The databases order the keys of a line differently.
fn is_job(line: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        table: &'a str,
    }
    serde_json::from_str::<Line<'_>>(line).is_ok_and(|line| line.table == "job")
}
