//! Files that no row knows: a crash between storing and settling leaves them. They are looked for only in the folders
//! of this service, and only while no other installation has left its mark in the asset store: what one database does not
//! know, another one may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atelier_store::files::{Files, FilesError};
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::context::Context;

/// Where results and inputs are; nothing else in the asset store is ever deleted.
pub(crate) const ASSET_FOLDERS: [&str; 2] = ["out", "in"];
/// Where each installation that uses the asset store leaves its mark, named after itself.
pub(crate) const INSTALL_MARKERS: &str = "installs";
/// The name of whoever owns files that were in the asset store before the first mark.
const UNKNOWN_INSTALL: &str = "unknown";
/// The setting that names this installation; every node that shares the database shares it.
pub(crate) const INSTALL: &str = "install.id";
/// Files looked up in one question.
const AT_ONCE: usize = 500;

/// Why orphans could not be looked for.
#[derive(Debug, thiserror::Error)]
enum OrphanScanError {
    #[error("the asset store could not be listed: {0}")]
    Files(#[from] FilesError),
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
}

/// Looks for files that no row knows.
pub(crate) struct Orphans {
    context: Arc<Context>,
    files: Files,
    /// Whether the log says already that orphans stay because the asset store is shared.
    reported: AtomicBool,
}

impl Orphans {
    pub(crate) fn new(context: Arc<Context>, files: Files) -> Self {
        Self {
            context,
            files,
            reported: AtomicBool::new(false),
        }
    }

    /// Has files written before a time that no row knows expire at once; says how many. An asset store that cannot be read
    /// is left for the next round.
    pub(crate) async fn give_up(&self, before_ms: i64) -> Result<u64, atelier_store::Error> {
        match self.look(before_ms).await {
            Ok(found) => Ok(found),
            Err(OrphanScanError::Store(error)) => Err(error),
            Err(trouble) => {
                tracing::warn!(%trouble, "orphaned files could not be searched");
                Ok(0)
            }
        }
    }

    async fn look(&self, before_ms: i64) -> Result<u64, OrphanScanError> {
        let install = self.context.ids().uuid();
        let install = self
            .context
            .store()
            .settings()
            .put_if_absent(INSTALL, &install)
            .await?;
        let marks = self.marks(&install, before_ms).await?;
        let others: Vec<&str> = marks
            .iter()
            .map(String::as_str)
            .filter(|mark| *mark != install)
            .collect();
        if !others.is_empty() {
            if !self.reported.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    install,
                    marks = others.join(", "),
                    "orphaned files are not deleted: other installations have left their marks in the asset store; \
                     delete the mark {INSTALL_MARKERS}/NAME of one that no longer uses it"
                );
            }
            return Ok(0);
        }
        self.files.sweep_unfinished(before_ms).await?;
        let mut found = 0;
        for folder in ASSET_FOLDERS {
            let listed = self.files.list(folder, before_ms).await?;
            let mut pages = listed.try_ready_chunks(AT_ONCE);
            while let Some(page) = pages.next().await {
                let keys = page.map_err(|broken| broken.1)?;
                let keys = self.context.store().assets().unknown(&keys).await?;
                if !keys.is_empty() {
                    found += self
                        .context
                        .store()
                        .assets()
                        .note_orphans(&keys, self.context.now_ms())
                        .await?;
                }
            }
        }
        Ok(found)
    }

    /// Who uses the asset store, this installation included: it leaves its mark at the first look, and one for whoever owns
    /// the files that were there before.
    async fn marks(&self, install: &str, before_ms: i64) -> Result<Vec<String>, OrphanScanError> {
        let listed = self.files.list(INSTALL_MARKERS, i64::MAX).await?;
        let mut marks: Vec<String> = listed.try_collect().await?;
        for mark in &mut marks {
            *mark = mark.rsplit('/').next().unwrap_or_default().to_owned();
        }
        if marks.iter().any(|mark| mark == install) {
            return Ok(marks);
        }
        // The stranger's mark first: after a crash between the two, the next look begins anew.
        if marks.is_empty() && self.holds_unknown(before_ms).await? {
            self.leave_mark(UNKNOWN_INSTALL).await?;
            marks.push(UNKNOWN_INSTALL.to_owned());
        }
        self.leave_mark(install).await?;
        marks.push(install.to_owned());
        Ok(marks)
    }

    async fn leave_mark(&self, name: &str) -> Result<(), OrphanScanError> {
        let text = "An installation that keeps files here. While there is more than one mark, no files are \
                    deleted but expired ones; delete the mark of an installation that is gone.\n";
        let key = format!("{INSTALL_MARKERS}/{name}");
        Ok(self
            .files
            .put(&key, Bytes::from_static(text.as_bytes()))
            .await?)
    }

    /// Whether the asset store holds files older than a time that the database does not know.
    async fn holds_unknown(&self, before_ms: i64) -> Result<bool, OrphanScanError> {
        for folder in ASSET_FOLDERS {
            let listed = self.files.list(folder, before_ms).await?;
            let mut pages = listed.try_ready_chunks(AT_ONCE);
            while let Some(page) = pages.next().await {
                let keys = page.map_err(|broken| broken.1)?;
                if !self
                    .context
                    .store()
                    .assets()
                    .unknown(&keys)
                    .await?
                    .is_empty()
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
