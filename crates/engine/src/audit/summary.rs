//! What an audit looked at, and why it could not.

use atelier_store::files::FilesError;

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] atelier_store::Error),
    /// The asset store did not answer.
    #[error("the asset store could not be read: {0}")]
    Files(#[from] FilesError),
    /// The archive's folder did not answer.
    #[error("the archive's folder could not be read: {0}")]
    Archive(#[from] std::io::Error),
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditSummary {
    /// Rows of the database.
    pub rows: u64,
    /// Files that a row names.
    pub files: u64,
    /// Files that no row knows and that the slow round of a service will remove.
    pub leftovers: u64,
    /// Files of the archive.
    pub archived: u64,
    /// What could not be asked, and why.
    pub left_out: Vec<String>,
}
