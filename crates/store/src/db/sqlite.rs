//! A connection to SQLite. It is a library in this process, so a statement is a call. Whoever has a thread of its own, as the writer
//! has, makes it there; for everybody else it is made aside, because it may wait for the disk.

mod error;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_fairness::share::FairPermit;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{CachedStatement, Connection, InterruptHandle, OpenFlags, ToSql};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::db::statement::{Arg, OwnedArg};
use crate::dialect::for_lines;
use crate::row::Cells;
use error::to_sqlx_error;

/// Statements that are kept ready.
const KEPT: usize = 100;
/// The file of the log stays no longer than this.
pub(crate) const LOG_BYTES: u64 = 15 << 20;
/// Lines that an insert takes at once.
const AT_ONCE: [usize; 3] = [32, 8, 1];

/// A file, and how it is opened.
#[derive(Clone, Debug)]
pub(crate) struct SqliteFile {
    pub(crate) path: PathBuf,
    /// How long a lock of another connection is waited for.
    pub(crate) patience: Duration,
    /// Whether SQLite looks whether anything refers to what is deleted.
    pub(crate) references: bool,
    /// Whether the log is copied into the file by commits. The writer has it done aside, so that no commit waits for it.
    pub(crate) copies: bool,
    pub(crate) read_only: bool,
}

impl SqliteFile {
    pub(crate) fn new(path: &str, patience: Duration) -> Self {
        Self {
            path: path.into(),
            patience,
            references: true,
            copies: true,
            read_only: false,
        }
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let mode = if self.read_only {
            OpenFlags::SQLITE_OPEN_READ_ONLY
        } else {
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE
        };
        let conn = Connection::open_with_flags(&self.path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(self.patience)?;
        conn.set_prepared_statement_cache_capacity(KEPT);
        if !self.read_only {
            conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
        }
        let references = if self.references { "ON" } else { "OFF" };
        conn.execute_batch(&format!("PRAGMA foreign_keys = {references}"))?;
        if !self.copies {
            conn.execute_batch(&format!(
                "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = {LOG_BYTES}"
            ))?;
        }
        Ok(conn)
    }
}

/// One connection. While something is done aside it is away, and comes back with the answer; a caller who does not wait for
/// that has lost it.
pub(crate) struct Sqlite {
    conn: Option<Connection>,
    in_place: bool,
    texts: HashMap<String, StatementTexts>,
    /// The place of a reader. What it asked for has it for as long as it runs, also when nobody waits for it any more.
    place: Option<Arc<FairPermit>>,
}

/// Statements, each with the number of its lines.
type StatementTexts = Arc<[(usize, String)]>;

impl Sqlite {
    pub(crate) async fn open(file: &SqliteFile, in_place: bool) -> sqlx::Result<Self> {
        let file = file.clone();
        let conn = run_blocking(in_place, move || file.open().map_err(to_sqlx_error)).await?;
        Ok(Self {
            conn: Some(conn),
            in_place,
            texts: HashMap::new(),
            place: None,
        })
    }

    /// From now on statements are run by whoever asks, on its own thread.
    pub(crate) fn run_on_caller_thread(&mut self) {
        self.in_place = true;
    }

    /// Has what is asked for from now on keep a place.
    pub(crate) fn keep(&mut self, place: Option<Arc<FairPermit>>) {
        self.place = place;
    }

    /// The rows that a statement returns.
    pub(crate) async fn rows(
        &mut self,
        sql: String,
        args: &[Arg<'_>],
    ) -> sqlx::Result<Vec<SqliteRow>> {
        self.ask(args, move |conn, args| {
            let mut found = Vec::new();
            PreparedStatement::ready(conn, &sql)?.run(args, Some(&mut found))?;
            Ok(found)
        })
        .await
    }

    /// Runs a statement; how many rows it changed.
    pub(crate) async fn run(&mut self, sql: String, args: &[Arg<'_>]) -> sqlx::Result<u64> {
        self.ask(args, move |conn, args| {
            PreparedStatement::ready(conn, &sql)?.run(args, None)?;
            Ok(conn.changes())
        })
        .await
    }

    /// Runs a statement over lines of so many values; the rows that it returns, and how many it changed.
    pub(crate) async fn lines(
        &mut self,
        sql: &str,
        values: &[Arg<'_>],
        width: usize,
    ) -> sqlx::Result<(Vec<SqliteRow>, u64)> {
        let texts = self.texts(sql);
        self.ask(values, move |conn, values| {
            let (mut found, mut changed) = (Vec::new(), 0);
            let mut rest = values;
            for (lines, text) in texts.iter() {
                let most = lines * width;
                if rest.len() < most || rest.is_empty() {
                    continue;
                }
                let mut statement = PreparedStatement::in_order(conn, text)?;
                while rest.len() >= most && !rest.is_empty() {
                    let (now, later) = rest.split_at(most);
                    statement.run(now, Some(&mut found))?;
                    changed += conn.changes();
                    rest = later;
                }
            }
            Ok((found, changed))
        })
        .await
    }

    /// A statement for several numbers of lines, the largest first.
    fn texts(&mut self, sql: &str) -> StatementTexts {
        if let Some(texts) = self.texts.get(sql) {
            return Arc::clone(texts);
        }
        let texts = AT_ONCE
            .iter()
            .filter_map(|lines| Some((*lines, for_lines(sql, *lines)?)));
        let texts: StatementTexts = texts.collect();
        self.texts.insert(sql.to_owned(), Arc::clone(&texts));
        texts
    }

    /// Runs statements that have no values, as they stand.
    pub(crate) async fn script(&mut self, sql: String) -> sqlx::Result<()> {
        self.with(move |conn| conn.execute_batch(&sql).map_err(to_sqlx_error))
            .await
    }

    pub(crate) async fn close(mut self) -> sqlx::Result<()> {
        let Some(conn) = self.conn.take() else {
            return Ok(());
        };
        let close = move || conn.close().map_err(|(_, error)| to_sqlx_error(error));
        run_blocking(self.in_place, close).await
    }

    async fn ask<T: Send + 'static>(
        &mut self,
        args: &[Arg<'_>],
        act: impl FnOnce(&Connection, &[Arg<'_>]) -> sqlx::Result<T> + Send + 'static,
    ) -> sqlx::Result<T> {
        if let Some(conn) = self.conn.as_ref().filter(|_| self.in_place) {
            return act(conn, args);
        }
        let owned: Vec<OwnedArg> = args.iter().map(OwnedArg::from).collect();
        self.with(move |conn| {
            let args: Vec<Arg<'_>> = owned.iter().map(Arg::from).collect();
            act(conn, &args)
        })
        .await
    }

    async fn with<T: Send + 'static>(
        &mut self,
        act: impl FnOnce(&Connection) -> sqlx::Result<T> + Send + 'static,
    ) -> sqlx::Result<T> {
        let conn = self.conn.take().ok_or(sqlx::Error::WorkerCrashed)?;
        let waited_for = InterruptGuard {
            given_up: Arc::default(),
            handle: Some(conn.get_interrupt_handle()),
        };
        let (place, given_up) = (self.place.clone(), Arc::clone(&waited_for.given_up));
        let act = move || {
            if given_up.load(Ordering::Relaxed) {
                return Err(sqlx::Error::WorkerCrashed);
            }
            let done = act(&conn);
            drop(place);
            Ok((conn, done))
        };
        let (conn, done) = run_blocking(self.in_place, act).await?;
        waited_for.disarm();
        self.conn = Some(conn);
        done
    }
}

/// Ends what SQLite is doing, or was about to do, when nobody waits for it any more.
struct InterruptGuard {
    given_up: Arc<AtomicBool>,
    handle: Option<InterruptHandle>,
}

impl InterruptGuard {
    fn disarm(mut self) {
        self.handle = None;
    }
}

impl Drop for InterruptGuard {
    fn drop(&mut self) {
        if let Some(handle) = &self.handle {
            self.given_up.store(true, Ordering::Relaxed);
            handle.interrupt();
        }
    }
}

/// Does it here, or on a thread for what may wait.
async fn run_blocking<T: Send + 'static>(
    in_place: bool,
    act: impl FnOnce() -> sqlx::Result<T> + Send + 'static,
) -> sqlx::Result<T> {
    if in_place {
        return act();
    }
    let done = if tokio::runtime::worker_index().is_some() {
        spawn_blocking(act).await
    } else {
        // This thread may be none of the runtime's. Its priority may be lower, and a thread that it made would have that for ever.
        let act = async { spawn_blocking(act).await };
        Handle::current().spawn(act).await.and_then(|done| done)
    };
    done.unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

/// A statement that is ready to be run.
struct PreparedStatement<'a> {
    prepared: CachedStatement<'a>,
    /// Which value goes where.
    places: Vec<usize>,
}

impl<'a> PreparedStatement<'a> {
    fn ready(conn: &'a Connection, sql: &str) -> sqlx::Result<Self> {
        let mut statement = Self::in_order(conn, sql)?;
        for (index, place) in statement.places.iter_mut().enumerate() {
            // `$2` and `?2` are the second value wherever they stand; a plain `?` is the next one.
            let name = statement.prepared.parameter_name(index + 1);
            let number = name.and_then(|name| name.get(1..)?.parse::<usize>().ok());
            *place = number.map_or(index, |number| number.saturating_sub(1));
        }
        Ok(statement)
    }

    /// One whose values are numbered from the first to the last; looking for the names of many takes long.
    fn in_order(conn: &'a Connection, sql: &str) -> sqlx::Result<Self> {
        let prepared = conn.prepare_cached(sql).map_err(to_sqlx_error)?;
        let places = (0..prepared.parameter_count()).collect();
        Ok(Self { prepared, places })
    }

    /// Runs it to its end; keeps the rows if they are wanted.
    fn run(
        &mut self,
        args: &[Arg<'_>],
        mut found: Option<&mut Vec<SqliteRow>>,
    ) -> sqlx::Result<()> {
        for (index, place) in self.places.iter().enumerate() {
            let arg = args.get(*place).ok_or_else(|| too_few(args.len()))?;
            let bound = self.prepared.raw_bind_parameter(index + 1, arg);
            bound.map_err(to_sqlx_error)?;
        }
        let width = self.prepared.column_count();
        let mut rows = self.prepared.raw_query();
        while let Some(row) = rows.next().map_err(to_sqlx_error)? {
            if let Some(found) = &mut found {
                let cells = (0..width).map(|column| row.get(column));
                found.push(SqliteRow(
                    cells
                        .collect::<rusqlite::Result<_>>()
                        .map_err(to_sqlx_error)?,
                ));
            }
        }
        Ok(())
    }
}

fn too_few(count: usize) -> sqlx::Error {
    sqlx::Error::Encode(format!("a statement wants more than {count} values").into())
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Arg::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Arg::Int(Some(number)) => ValueRef::Integer(number),
            Arg::Flag(flag) => ValueRef::Integer(i64::from(flag)),
            Arg::Text(None) | Arg::Int(None) => ValueRef::Null,
        }))
    }
}

/// A row as it came.
pub(crate) struct SqliteRow(Vec<Value>);

impl SqliteRow {
    fn take(&mut self, column: usize) -> sqlx::Result<Value> {
        let cell = self.0.get_mut(column);
        let cell = cell.ok_or_else(|| sqlx::Error::Decode(format!("no column {column}").into()))?;
        Ok(std::mem::replace(cell, Value::Null))
    }
}

fn type_mismatch(column: usize, wanted: &str, found: &Value) -> sqlx::Error {
    let found = found.data_type();
    sqlx::Error::Decode(format!("column {column} is {found}, not {wanted}").into())
}

impl Cells for SqliteRow {
    fn text(&mut self, column: usize) -> sqlx::Result<Option<String>> {
        match self.take(column)? {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            other => Err(type_mismatch(column, "a text", &other)),
        }
    }

    fn int(&mut self, column: usize) -> sqlx::Result<Option<i64>> {
        match self.take(column)? {
            Value::Integer(number) => Ok(Some(number)),
            Value::Null => Ok(None),
            other => Err(type_mismatch(column, "a number", &other)),
        }
    }

    fn flag(&mut self, column: usize) -> sqlx::Result<bool> {
        let number = self.int(column)?;
        let missing = || type_mismatch(column, "a number", &Value::Null);
        number.map(|number| number != 0).ok_or_else(missing)
    }
}
