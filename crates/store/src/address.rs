//! Where the database is, and how its connections are opened.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use crate::db::{Conn, Db};
use crate::{Error, Options, Result};

/// How long a read waits for a connection, and a connection for a lock of another process.
const PATIENCE: Duration = Duration::from_secs(5);
/// A pooled PostgreSQL connection idle for longer is tried before it is trusted.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// Where the database is; opens connections.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Sqlite(Box<SqliteConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return Ok(Self::Sqlite(Box::new(sqlite(path))));
        }
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            let options = PgConnectOptions::from_str(url)?
                .application_name("atelier")
                .options([
                    ("lock_timeout", "5s"),
                    ("statement_timeout", "30s"),
                    // A node that freezes inside a transaction must not hold its locks for ever.
                    ("idle_in_transaction_session_timeout", "10s"),
                ])
                .disable_statement_logging();
            return Ok(Self::Postgres(Box::new(options)));
        }
        Err(Error::Address(url.chars().take(12).collect()))
    }

    /// A connection that writes.
    pub(crate) async fn writer(&self) -> Result<Conn> {
        tokio::time::timeout(PATIENCE, self.connect())
            .await
            .map_err(|_| Error::Busy)?
    }

    async fn connect(&self) -> Result<Conn> {
        Ok(match self {
            Self::Sqlite(options) => {
                // Checkpoints are made aside, so that no commit waits for one.
                let options = (**options)
                    .clone()
                    .pragma("wal_autocheckpoint", "0")
                    .pragma("journal_size_limit", "4194304");
                Conn::Sqlite(Box::new(options.connect().await?))
            }
            Self::Postgres(options) => {
                // Every statement of the writer reaches rows by key. Plans made while the tables were still empty
                // would read them whole, and stay in use until the next ANALYZE.
                let options = (**options).clone().options([
                    ("enable_seqscan", "off"),
                    ("enable_hashjoin", "off"),
                    ("enable_mergejoin", "off"),
                    ("enable_bitmapscan", "off"),
                    ("enable_material", "off"),
                    ("plan_cache_mode", "force_generic_plan"),
                ]);
                Conn::Postgres(Box::new(options.connect().await?))
            }
        })
    }

    /// The write-ahead log beside a SQLite file.
    pub(crate) fn write_ahead_log(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(options) => {
                let mut name = options.get_filename().as_os_str().to_owned();
                name.push("-wal");
                Some(name.into())
            }
            Self::Postgres(_) => None,
        }
    }

    /// The connections that read; opened as they are needed.
    pub(crate) fn readers(&self, options: &Options) -> Db {
        match self {
            Self::Sqlite(address) => Db::Sqlite(
                SqlitePoolOptions::new()
                    .max_connections(options.readers.max(1))
                    .acquire_timeout(PATIENCE)
                    .test_before_acquire(false)
                    .max_lifetime(None)
                    .connect_lazy_with(
                        (**address).clone().read_only(true).create_if_missing(false),
                    ),
            ),
            Self::Postgres(address) => Db::Postgres(
                PgPoolOptions::new()
                    .max_connections(options.readers.max(1))
                    .acquire_timeout(PATIENCE)
                    .test_before_acquire(false)
                    .before_acquire(|conn, meta| {
                        Box::pin(async move {
                            Ok(meta.idle_for < TRUSTED_IDLE || conn.ping().await.is_ok())
                        })
                    })
                    .connect_lazy_with((**address).clone()),
            ),
        }
    }
}

fn sqlite(path: &str) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(PATIENCE)
        .disable_statement_logging()
}
