//! Where the database is, and how its connections are opened.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use rusqlite::ffi;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use tokio::time::{sleep, timeout};

use crate::db::sqlite::{self, Sqlite};
use crate::db::{Conn, RawConn, StepTimeout};
use crate::dialect::Dialect;
use crate::error::is_away;
use crate::options::Options;
use crate::{Error, Result};

/// How long a read waits for a connection, and a connection for a lock of another process.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long until a file is asked for again that another connection has.
const TURN_PAUSE: Duration = Duration::from_millis(20);
/// How long one step of a connection to PostgreSQL may take; the server gives up a statement earlier by itself.
const STEP: Duration = Duration::from_secs(10);
/// What the server is asked to keep to on every connection. A client that has gone silent must not hold its locks for
/// ever, nor its connection. Nothing here is long enough to be compiled first: that alone takes a tenth of a second.
const SERVER_SIDE: [(&str, &str); 8] = [
    ("lock_timeout", "5s"),
    ("statement_timeout", "8s"),
    ("idle_in_transaction_session_timeout", "10s"),
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "20000"),
    ("jit", "off"),
];

/// What the writer asks of the planner. Every statement of the writer reaches rows by key. Plans made while the tables
/// were still empty would read them whole, and stay in use until the next ANALYZE.
const BY_KEY: [(&str, &str); 4] = [
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_material", "off"),
];

/// What the writer has committed survives the server, whatever that usually does; a batch may ask for less.
const DURABLE: [(&str, &str); 1] = [("synchronous_commit", "on")];

/// One plan for each statement, whatever its values are: the server would plan a page of a long list anew each time, which
/// takes longer than reading it. A plan made while a table was small must do when it is large.
const PLANNED_ONCE: [(&str, &str); 2] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
];

/// Where the database is; opens connections.
#[derive(Clone, Debug)]
pub(crate) enum DbConfig {
    /// A file, and whether its statements are run on the thread of whoever asks.
    Sqlite(Box<sqlite::SqliteFile>, bool),
    Postgres(Box<PgServer>),
}

#[derive(Clone, Debug)]
pub(crate) struct PgServer {
    /// The server itself: the schema is changed there, and hints are listened for.
    direct: PgConnectOptions,
    /// A pooler before it that lends a connection for one transaction at a time: everything else goes there.
    pooler: Option<PgConnectOptions>,
}

impl DbConfig {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let file = sqlite::SqliteFile::new(path, PATIENCE);
            return Ok(Self::Sqlite(Box::new(file), false));
        }
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            return Ok(Self::Postgres(Box::new(PgServer {
                direct: postgres(url)?,
                pooler: None,
            })));
        }
        Err(Error::Address(url.chars().take(12).collect()))
    }

    /// The same, with what is wanted of SQLite, or with a pooler before PostgreSQL.
    pub(crate) fn with(self, wanted: &Options) -> Result<Self> {
        Ok(match self {
            Self::Sqlite(mut file, _) => {
                file.references = wanted.references;
                Self::Sqlite(file, wanted.in_place)
            }
            Self::Postgres(mut server) => {
                server.pooler = wanted.pooler.as_deref().map(postgres).transpose()?;
                Self::Postgres(server)
            }
        })
    }

    /// Makes the file of a new SQLite database, for no other user of the machine to read; what SQLite puts beside it
    /// gets the same rights.
    pub(crate) fn make_private(&self) {
        if let Self::Sqlite(file, _) = self {
            let mut new = OpenOptions::new();
            let made = new.write(true).create_new(true).mode(0o600);
            // One that is there stays as it is; a place where no file can be made is SQLite's to complain about.
            drop(made.open(&file.path));
        }
    }

    /// A connection that writes.
    pub(crate) async fn writer(&self) -> Result<Conn> {
        match self {
            Self::Sqlite(file, in_place) => {
                // The log is copied aside, so that no commit waits for that.
                let copies = false;
                open_sqlite(
                    &sqlite::SqliteFile {
                        copies,
                        ..(**file).clone()
                    },
                    *in_place,
                )
                .await
            }
            Self::Postgres(server) => {
                let settings = SERVER_SIDE.iter().chain(&PLANNED_ONCE).chain(&BY_KEY);
                server.open(settings.chain(&DURABLE)).await
            }
        }
    }

    /// A connection that changes the schema, which takes as long as it takes.
    pub(crate) async fn builder(&self) -> Result<Conn> {
        match self {
            Self::Sqlite(file, in_place) => {
                // Opened once before, because here an error is for a person who wants to start the service.
                let opened = timeout(PATIENCE, open_raw(file, *in_place)).await;
                let opened = opened.unwrap_or(Err(sqlx::Error::PoolTimedOut));
                opened.map_err(|error| file_unusable(&file.path, &error))?;
                self.writer().await
            }
            Self::Postgres(server) => {
                let direct = server.direct.clone();
                let options = direct.options(SERVER_SIDE[3..].iter().copied());
                let opened = timeout(PATIENCE, options.connect()).await;
                let opened = opened.unwrap_or(Err(sqlx::Error::PoolTimedOut));
                let conn = opened.map_err(|error| server_away(&options, &error))?;
                let link = RawConn::Postgres(Box::new(conn));
                Ok(Conn::new(link, StepTimeout::Endless))
            }
        }
    }

    /// A connection that copies the write-ahead log of SQLite and waits for nobody.
    pub(crate) async fn copier(&self) -> Result<Option<Conn>> {
        match self {
            Self::Sqlite(file, in_place) => {
                let patience = Duration::ZERO;
                let file = sqlite::SqliteFile {
                    patience,
                    ..(**file).clone()
                };
                open_sqlite(&file, *in_place).await.map(Some)
            }
            Self::Postgres(_) => Ok(None),
        }
    }

    /// A connection that reads.
    pub(crate) async fn reader(&self) -> Result<Conn> {
        match self {
            Self::Sqlite(file, in_place) => {
                let read_only = true;
                open_sqlite(
                    &sqlite::SqliteFile {
                        read_only,
                        ..(**file).clone()
                    },
                    *in_place,
                )
                .await
            }
            Self::Postgres(server) => server.open(SERVER_SIDE.iter().chain(&PLANNED_ONCE)).await,
        }
    }

    /// How a connection that listens is opened; `None` on SQLite.
    pub(crate) fn listening(&self) -> Option<PgConnectOptions> {
        match self {
            Self::Sqlite(..) => None,
            Self::Postgres(server) => Some(server.direct.clone().options(SERVER_SIDE)),
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(..) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// The file of a SQLite database.
    pub(crate) fn file(&self) -> Option<&std::path::Path> {
        match self {
            Self::Sqlite(file, _) => Some(&file.path),
            Self::Postgres(_) => None,
        }
    }
}

impl PgServer {
    /// A connection with these settings: for as long as it lasts, or, at a pooler, for each transaction.
    async fn open(
        &self,
        settings: impl Iterator<Item = &(&'static str, &'static str)>,
    ) -> Result<Conn> {
        let Some(pooler) = &self.pooler else {
            let options = self.direct.clone().options(settings.copied());
            return open_postgres(&options, StepTimeout::For(STEP)).await;
        };
        // What a pooler's own connections do when they fall silent is its own affair.
        let mut opening = String::new();
        for (name, value) in settings.filter(|(name, _)| !name.starts_with("tcp_")) {
            write!(opening, "SET LOCAL {name} = '{value}'; ").expect("a string takes any text");
        }
        let conn = open_postgres(pooler, StepTimeout::For(STEP)).await?;
        Ok(conn.for_one_transaction_at_a_time(opening))
    }
}

fn postgres(url: &str) -> Result<PgConnectOptions> {
    Ok(PgConnectOptions::from_str(url)?
        .application_name("atelier")
        .disable_statement_logging())
}

/// Why a file cannot be the database, and what to do.
fn file_unusable(path: &Path, error: &sqlx::Error) -> Error {
    let code = match error {
        sqlx::Error::Database(database) => {
            database.code().and_then(|code| code.parse::<i32>().ok())
        }
        _ => None,
    };
    let why = match code.map(|code| code & 0xff) {
        Some(ffi::SQLITE_NOTADB) => {
            "it is no SQLite database; move it away, or restore a backup (`atelier restore`)"
        }
        Some(ffi::SQLITE_CORRUPT) => {
            "it is damaged; keep a copy of the folder and restore a backup (`atelier restore`)"
        }
        Some(ffi::SQLITE_CANTOPEN) => {
            "it cannot be opened or made; check that this user may write to its folder"
        }
        Some(ffi::SQLITE_READONLY) => {
            "it cannot be written; check that this user owns it and its folder"
        }
        Some(ffi::SQLITE_FULL) => "the disk is full",
        _ if matches!(error, sqlx::Error::PoolTimedOut) => {
            "another program has locked it; stop that one first"
        }
        _ => return Error::Unreachable(format!("{}: {error}", path.display())),
    };
    Error::Unreachable(format!("{}: {why}", path.display()))
}

/// Why a server cannot be reached, and what to do.
fn server_away(options: &PgConnectOptions, error: &sqlx::Error) -> Error {
    let place = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    };
    let (why, remedy) = match error {
        sqlx::Error::PoolTimedOut => (
            format!("no answer within {} s", PATIENCE.as_secs()),
            "check that the server runs and that host and port in `database` are right",
        ),
        sqlx::Error::Io(error) => (
            error.to_string(),
            "check that the server runs and that host and port in `database` are right",
        ),
        sqlx::Error::Database(error) => (
            error.message().to_owned(),
            "check user, password and database name in `database`",
        ),
        error => (error.to_string(), "check `database`"),
    };
    Error::Unreachable(format!("PostgreSQL at {place}: {why}; {remedy}"))
}

async fn open_raw(file: &sqlite::SqliteFile, in_place: bool) -> sqlx::Result<Sqlite> {
    if in_place {
        Sqlite::open(file, true).await
    } else {
        open_in_turn(file).await
    }
}

async fn open_sqlite(file: &sqlite::SqliteFile, in_place: bool) -> Result<Conn> {
    let opened = timeout(PATIENCE, open_raw(file, in_place)).await;
    let opened = opened.map_err(|_| Error::Busy)??;
    Ok(Conn::new(
        RawConn::Sqlite(Box::new(opened)),
        StepTimeout::Endless,
    ))
}

/// SQLite does not wait for whoever else begins the write-ahead log of the same new file.
async fn open_in_turn(file: &sqlite::SqliteFile) -> sqlx::Result<Sqlite> {
    loop {
        match Sqlite::open(file, false).await {
            Err(sqlx::Error::Database(error)) if is_away(error.as_ref()) => {
                sleep(TURN_PAUSE).await;
            }
            opened => return opened,
        }
    }
}

/// Whether an address of a database can be read; nothing is opened.
pub fn check_address(url: &str) -> Result<()> {
    DbConfig::parse(url).map(|_| ())
}

async fn open_postgres(options: &PgConnectOptions, patience: StepTimeout) -> Result<Conn> {
    let conn = timeout(PATIENCE, options.connect())
        .await
        .map_err(|_| Error::Busy)??;
    Ok(Conn::new(RawConn::Postgres(Box::new(conn)), patience))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The promise: an address without a user means the user of the process, as it does to psql.
    #[test]
    fn an_address_without_a_user_means_the_user_of_the_process() {
        if std::env::var_os("PGUSER").is_some() {
            return;
        }
        let said = Command::new("id").arg("-un").output().expect("id");
        let said = String::from_utf8(said.stdout).expect("a name");
        let options = postgres("postgres:///db?host=/run/postgresql").expect("an address");
        assert_eq!(options.get_username(), said.trim());
    }

    #[test]
    fn an_address_of_something_else_is_refused() {
        for url in ["mysql://localhost/db", "/var/lib/db", ""] {
            assert!(check_address(url).is_err(), "{url}");
        }
        for url in [
            "sqlite:/var/lib/db",
            "postgres:///db",
            "postgresql://user@host/db",
        ] {
            assert!(check_address(url).is_ok(), "{url}");
        }
    }
}
