//! What can go wrong here, sorted by what the caller does next.

/// A change or a read that did not happen, or of which nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such row.
    #[error("not found")]
    NotFound,
    /// A rule of the data forbids it, such as a second account with one e-mail.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The queue is full or the database is away. Nothing was changed.
    #[error("the store is busy")]
    Busy,
    /// The database went away while committing and did not come back; the change may or may not stand.
    #[error("the outcome of a commit is not known")]
    Unresolved,
    /// The stored schema is newer than this program.
    #[error("the database has schema version {found}, this program knows {known}")]
    NewerSchema {
        /// The version in the database.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// The address of the database is of no known kind.
    #[error("a database address starts with sqlite: or postgres:, not {0:?}")]
    Address(String),
    /// Anything else the database says.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;
