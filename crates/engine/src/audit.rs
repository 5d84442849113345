//! The audit of everything that is kept: the books, the chain of acts, and the files. It needs no engine at work.

mod archived;
mod looked;
mod vault;

use std::path::Path;

use atelier_store::Store;
use atelier_store::files::Files;
pub use atelier_store::{Fault, Look};
pub use looked::{AuditError, Looked};

/// Looks at everything and tells `found` of each broken invariant. Memory does not grow with what is kept.
pub async fn audit(
    store: &Store,
    files: &Files,
    archive: &Path,
    look: Look,
    found: &mut (dyn FnMut(Fault) + Send),
) -> Result<Looked, AuditError> {
    let mut looked = Looked {
        rows: store.audit_books(look, found).await?,
        ..Looked::default()
    };
    for subject in store.check_audit().await? {
        found(Fault {
            invariant: "chain.acts",
            what: "audit list was changed",
            subject,
        });
    }
    vault::rows_have_files(store, files, look, &mut looked, found).await?;
    vault::files_have_rows(store, files, look, &mut looked, found).await?;
    archived::files_are_whole(store, archive, &mut looked, found).await?;
    Ok(looked)
}
