//! What is known of a file that rows were moved to.

use crate::row::{Columns, FromRow};

/// A file that rows were moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    /// Jobs in it ended before this time.
    pub before_ms: i64,
    /// How many jobs it holds.
    pub jobs: i64,
    /// How many ledger rows it holds.
    pub entries: i64,
    /// When it was written.
    pub time_ms: i64,
}

impl FromRow for ArchiveFile {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            name: columns.text()?,
            hash: columns.text()?,
            before_ms: columns.int()?,
            jobs: columns.int()?,
            entries: columns.int()?,
            time_ms: columns.int()?,
        })
    }
}
