//! Rows and files agree: what a row promises is in the asset store, and what is in the asset store has a row.

use atelier_store::files::Files;
use atelier_store::{Asset, CheckOptions, Store, Violation};
use futures_util::{StreamExt as _, TryStreamExt as _};

use super::summary::{AuditError, AuditSummary};
use crate::assets::{ASSET_FOLDERS, INSTALL, INSTALL_MARKERS};

/// Rows read at once, and files looked up in one question.
const PAGE: usize = 200;
/// Files asked for at the same time.
const PARALLEL: usize = 16;
/// A file that is about to expire may be gone before it is asked for.
const EXPIRING_MS: i64 = 120_000;
/// An input is recorded before it is stored: a young one may be on its way.
const STORING_MS: i64 = 600_000;
/// The slow round of a service records older files without a row as expired: after a while, and some rounds.
const LEFTOVER_MS: i64 = 2 * 3_600_000;

/// Asks the asset store for every file that a row promises.
pub(super) async fn rows_have_files(
    store: &Store,
    files: &Files,
    look: CheckOptions,
    looked: &mut AuditSummary,
    found: &mut (dyn FnMut(Violation) + Send),
) -> Result<(), AuditError> {
    let mut after = String::new();
    loop {
        let page = store.assets().list_after(&after, PAGE as i64).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after.clone_from(&last.key);
        let promised = page.into_iter().filter(|row| is_promised(row, look));
        let sizes = futures_util::stream::iter(promised).map(async |row| {
            let size = files.size(&row.key).await?;
            Ok::<_, AuditError>((row, size))
        });
        let mut sizes = sizes.buffer_unordered(PARALLEL);
        while let Some((row, size)) = sizes.try_next().await? {
            looked.files += 1;
            if size != Some(row.bytes as u64) && is_missed(store, &row).await? {
                found(Violation {
                    invariant: "files.stored",
                    what: "file is not in the asset store, or not whole",
                    subject: row.key,
                });
            }
        }
    }
}

/// Whether a row says that its file is there now.
fn is_promised(row: &Asset, look: CheckOptions) -> bool {
    let is_input = row.job_id.is_empty();
    row.expires_ms > look.now_ms + EXPIRING_MS
        && !(is_input && row.created_ms > look.now_ms - STORING_MS)
}

/// Whether anybody misses a file: it may have been deleted meanwhile, and an input that was recorded but never stored,
/// because the process died in between, belongs to no job.
async fn is_missed(store: &Store, row: &Asset) -> Result<bool, AuditError> {
    let now = store.assets().find(&row.key).await?;
    if now.is_none_or(|now| now.expires_ms != row.expires_ms) {
        return Ok(false);
    }
    if !row.job_id.is_empty() {
        return Ok(true);
    }
    let name = row.key.rsplit('/').next().unwrap_or_default();
    let wanted = store.jobs().unfinished_with(&row.account_id, name).await?;
    Ok(wanted.is_some())
}

/// Looks for files that no row knows. After a crash there may be some until the slow round has passed, so that they are
/// only wrong while a service is at work.
pub(super) async fn files_have_rows(
    store: &Store,
    files: &Files,
    look: CheckOptions,
    looked: &mut AuditSummary,
    found: &mut (dyn FnMut(Violation) + Send),
) -> Result<(), AuditError> {
    let install = store.settings().list(INSTALL).await?;
    let install = install.first().map_or("", |(_, value)| value);
    let marks: Vec<String> = files
        .list(INSTALL_MARKERS, i64::MAX)
        .await?
        .try_collect()
        .await?;
    let strange = |mark: &&String| mark.rsplit('/').next() != Some(install);
    if let Some(mark) = marks.iter().find(strange) {
        looked.left_out.push(format!(
            "files without a row were not looked for: the asset store is shared, {mark} is another installation's mark"
        ));
        return Ok(());
    }
    for folder in ASSET_FOLDERS {
        let listed = files.list(folder, look.now_ms - LEFTOVER_MS).await?;
        let mut pages = listed.try_ready_chunks(PAGE);
        while let Some(page) = pages.next().await {
            let keys = page.map_err(|broken| broken.1)?;
            for key in store.assets().unknown(&keys).await? {
                looked.leftovers += 1;
                if look.at_work {
                    found(Violation {
                        invariant: "files.known",
                        what: "file is in the asset store though no row knows it",
                        subject: key,
                    });
                }
            }
        }
    }
    Ok(())
}
