//! What can go wrong here, sorted by what the caller does next.

use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

/// A change or a read that did not happen, or of which nobody knows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such row.
    #[error("not found")]
    NotFound,
    /// A rule of the data forbids it, such as a second account with one e-mail.
    #[error("conflict: {0}")]
    Conflict(String),
    /// An account cannot be in a group that is not there.
    #[error("there is no group {0}")]
    NoGroup(String),
    /// The queue is full or the database is away. Nothing was changed.
    #[error("the store is busy")]
    Busy,
    /// The database went away while committing and did not come back; the change may or may not stand.
    #[error("the outcome of a commit is unknown")]
    Unresolved,
    /// The database cannot be opened at all.
    #[error("{0}")]
    Unreachable(String),
    /// The stored schema is newer than this program.
    #[error(
        "the database is of a newer release: it has schema version {found}, this program knows {known}; start that release, or \
         restore the backup from before the upgrade"
    )]
    NewerSchema {
        /// The version in the database.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// Another process works with this SQLite database.
    #[error(
        "another process works with this database (it holds {0}); stop it first, or give this one a data directory of its own"
    )]
    InUse(String),
    /// The files beside the database are not as they must be.
    #[error("{0}")]
    Files(String),
    /// The address of the database is of no known kind.
    #[error("must be empty or a URL that starts with postgres://, starts with {0:?}")]
    Address(String),
    /// Anything else the database says.
    #[error("database: {0}")]
    Database(sqlx::Error),
}

/// The result of everything here.
pub type Result<T> = std::result::Result<T, Error>;

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => Self::Busy,
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed => {
                tracing::warn!(%error, "the database is unreachable");
                Self::Busy
            }
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                Self::Conflict(database.to_string())
            }
            sqlx::Error::Database(database) if is_away(database.as_ref()) => {
                tracing::warn!(%error, "the database is unreachable");
                Self::Busy
            }
            _ => Self::Database(error),
        }
    }
}

/// Whether nothing more can be asked of the connection on which this happened.
pub(crate) fn loses_connection(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(database) => {
            database.try_downcast_ref::<PgDatabaseError>().is_some() && is_away(database.as_ref())
        }
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        _ => false,
    }
}

/// Connection trouble, shutting down, or no room for one more connection; SQLite: locked by another process.
pub(crate) fn is_away(database: &dyn DatabaseError) -> bool {
    let code = database.code().unwrap_or_default();
    let postgres = database.try_downcast_ref::<PgDatabaseError>().is_some();
    if postgres {
        code.starts_with("08") || code.starts_with("53") || code.starts_with("57P")
    } else {
        // What is above the lowest byte tells more about it.
        code.parse::<i32>().is_ok_and(|code| code & 0xff == 5)
    }
}

/// A read that took too long and was ended by the database is a read that cannot be had now.
pub(crate) fn given_up(error: Error) -> Error {
    match &error {
        Error::Database(sqlx::Error::Database(database)) => match database.code().as_deref() {
            // SQLite says 9, PostgreSQL 57014.
            Some("9" | "57014") => Error::Busy,
            _ => error,
        },
        _ => error,
    }
}

impl Error {
    /// Whether the same change may well succeed when tried again at once: a deadlock, a lock not had in time.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Busy => true,
            Self::Database(sqlx::Error::Database(database)) => {
                matches!(
                    database.code().as_deref(),
                    Some("40P01" | "40001" | "55P03")
                )
            }
            _ => false,
        }
    }
}
