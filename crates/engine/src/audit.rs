//! The audit of everything that is kept: the ledger, the chain of acts, and the files. It needs no engine at work.

mod archive_files;
mod assets;
mod statements;
mod summary;

use std::path::Path;

use atelier_store::Store;
use atelier_store::files::Files;
pub use atelier_store::{CheckOptions, Violation};
pub use summary::{AuditError, AuditSummary};

/// Looks at everything and tells `found` of each broken invariant. Memory does not grow with what is kept.
pub async fn audit(
    store: &Store,
    files: &Files,
    archive: &Path,
    look: CheckOptions,
    found: &mut (dyn FnMut(Violation) + Send),
) -> Result<AuditSummary, AuditError> {
    let mut looked = AuditSummary {
        rows: store.invariants().check(look, found).await?,
        ..AuditSummary::default()
    };
    for subject in store.admin().check_audit().await? {
        found(Violation {
            invariant: "chain.acts",
            what: "audit list was changed",
            subject,
        });
    }
    let (broken, receipts) = store.ledger().receipts().check().await?;
    looked.rows += receipts;
    for subject in broken {
        found(Violation {
            invariant: "chain.receipts",
            what: "receipt was changed, or does not follow from the one before it",
            subject,
        });
    }
    statements::are_as_made(store, &mut looked, found).await?;
    assets::rows_have_files(store, files, look, &mut looked, found).await?;
    assets::files_have_rows(store, files, look, &mut looked, found).await?;
    archive_files::files_are_whole(store, archive, &mut looked, found).await?;
    Ok(looked)
}
