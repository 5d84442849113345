//! Files of the archive are as they were written, as far as they are still in its folder.

use std::path::Path;

use atelier_store::{Store, Violation};

use super::summary::{AuditError, AuditSummary};
use crate::archive::{FileState, state_of};

/// Rows read at once.
const PAGE: i64 = 100;

/// Compares every file of the archive with its hash.
pub(super) async fn files_are_whole(
    store: &Store,
    folder: &Path,
    looked: &mut AuditSummary,
    found: &mut (dyn FnMut(Violation) + Send),
) -> Result<(), AuditError> {
    let (mut after, mut away) = (String::new(), 0);
    loop {
        let page = store.archive().files(&after, PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        after.clone_from(&last.name);
        for file in page {
            looked.archived += 1;
            match state_of(folder, &file.name, &file.hash)? {
                FileState::Whole => {}
                FileState::Away => away += 1,
                FileState::Changed => found(Violation {
                    invariant: "archive.whole",
                    what: "file of the archive is not as it was written",
                    subject: file.name,
                }),
            }
        }
    }
    if away > 0 {
        let folder = folder.display();
        looked.left_out.push(format!(
            "{away} files of the archive are not in {folder}; they were not looked at"
        ));
    }
    Ok(())
}
