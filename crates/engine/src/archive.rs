//! The archive: old attempts, and old jobs with their ledger rows and deliveries, go to compressed files. Each file is
//! whole and durable before the commit that removes its rows, so that a crash leaves a file too many and never a row too
//! few.

mod file;

use std::io;
use std::path::Path;

use atelier_store::{ArchiveFile, Cut, Store};

use file::Draft;
pub use file::{FileState, state_of};

/// Ledger rows, or attempts, that share a file and a commit, about.
const ROWS: i64 = 1_000;

/// Why archiving ended early. What was moved until then is moved.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The store did not answer, or something changed meanwhile.
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    /// The file could not be written.
    #[error("the archive's folder failed: {0}")]
    Io(#[from] io::Error),
}

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Files written.
    pub files: u64,
    /// Jobs in them.
    pub jobs: i64,
    /// Ledger rows in them.
    pub entries: i64,
    /// Attempts in them.
    pub attempts: u64,
}

/// Moves what ended before a time into a folder.
pub async fn archive(
    store: &Store,
    folder: &Path,
    before_ms: i64,
    now_ms: i64,
) -> Result<Moved, ArchiveError> {
    let mut archiver = Archiver {
        store,
        folder,
        before_ms,
        now_ms,
        moved: Moved::default(),
    };
    archiver.attempts().await?;
    archiver.accounts().await?;
    Ok(archiver.moved)
}

/// Archiving under way.
struct Archiver<'a> {
    store: &'a Store,
    folder: &'a Path,
    before_ms: i64,
    now_ms: i64,
    moved: Moved,
}

impl Archiver<'_> {
    /// Attempts go first: afterwards none is left of the jobs that go.
    async fn attempts(&mut self) -> Result<(), ArchiveError> {
        loop {
            let old = self.store.old_attempts(self.before_ms, ROWS).await?;
            if old.is_empty() {
                return Ok(());
            }
            let mut draft = Draft::begin(self.folder)?;
            for (_, line) in &old {
                draft.write(line)?;
            }
            let file = self.finish(draft, 0, 0)?;
            let ids: Vec<String> = old.into_iter().map(|(id, _)| id).collect();
            self.moved.attempts += ids.len() as u64;
            self.store.archive_attempts(ids, file).await?;
        }
    }

    /// Account after account; small ones share a file.
    async fn accounts(&mut self) -> Result<(), ArchiveError> {
        let (mut account, mut cuts) = (String::new(), Vec::new());
        loop {
            let cut = self.store.archive_cut(&account, self.before_ms).await?;
            let Some(cut) = cut else {
                return self.cuts(cuts).await;
            };
            let (more, some) = (cut.more, cut.to > cut.from);
            let before = std::mem::replace(&mut account, cut.account_id.clone());
            if some {
                cuts.push(cut);
            }
            let rows: i64 = cuts.iter().map(|cut| cut.to - cut.from).sum();
            if more || rows >= ROWS {
                self.cuts(std::mem::take(&mut cuts)).await?;
            }
            if more {
                // The same account again, from where it is now.
                account = before;
            }
        }
    }

    /// Moves what cuts cover, in one file and one commit.
    async fn cuts(&mut self, cuts: Vec<Cut>) -> Result<(), ArchiveError> {
        if cuts.is_empty() {
            return Ok(());
        }
        let mut draft = Draft::begin(self.folder)?;
        let (mut jobs, mut entries) = (0, 0);
        for cut in &cuts {
            entries += cut.to - cut.from;
            let mut after = cut.from;
            while after < cut.to {
                let (lines, end) = self.store.archive_lines(cut, after).await?;
                for line in &lines {
                    draft.write(line)?;
                    jobs += i64::from(is_job(line));
                }
                after = end;
            }
        }
        let file = self.finish(draft, jobs, entries)?;
        self.store.archive(cuts, file).await?;
        self.moved.jobs += jobs;
        self.moved.entries += entries;
        Ok(())
    }

    fn finish(
        &mut self,
        draft: Draft,
        jobs: i64,
        entries: i64,
    ) -> Result<ArchiveFile, ArchiveError> {
        let (name, hash) = draft.finish()?;
        self.moved.files += 1;
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
