//! One connection to either database, and one way to ask it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use atelier_fairness::share::FairPermit;
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Connection, Either, PgConnection, Postgres};
use tokio::time::timeout;

use crate::db::prefetch::{PrefetchCache, PrefetchQuery};
use crate::db::sqlite::{self, Sqlite};
use crate::db::statement::{Arg, Line, flat};
use crate::db::writes::StatementBatch;
use crate::dialect::{Dialect, line_columns};
use crate::row::{Cells, Columns, FromRow};
use crate::{Error, Result, error};

/// How long a server works on a statement unless it is told otherwise.
pub(crate) const USUAL_LIMIT: Duration = Duration::from_secs(8);
/// How long a connection is waited for that is being closed.
const GOODBYE: Duration = Duration::from_secs(1);

/// A connection to either database.
pub(crate) enum RawConn {
    Sqlite(Box<Sqlite>),
    Postgres(Box<PgConnection>),
}

/// One connection. A step that takes longer than its patience has failed, and the connection with it: a network that
/// has gone silent says nothing by itself. SQLite is in this process, and what was begun there always comes to an end.
pub(crate) struct Conn {
    link: RawConn,
    patience: StepTimeout,
    lost: bool,
    /// Whether commits survive the machine, once that was said; SQLite keeps it for each connection.
    durable: Option<bool>,
    /// What every transaction begins with, where a pooler lends connections for one transaction at a time and so keeps
    /// neither settings nor prepared statements.
    opening: Option<String>,
    /// How long a server works on a statement, once that was said.
    limit: Option<Duration>,
    /// Answers to what is about to be asked.
    ahead: PrefetchCache,
    /// What has been prepared by name.
    prepared: HashSet<&'static str>,
}

/// Whether the plan of a statement is kept for the next time.
#[derive(Clone, Copy)]
pub(crate) enum Plan {
    /// It is.
    Kept,
    /// It must fit the tables as they are now, so it is made anew where plans depend on them.
    Anew,
}

/// How long a step is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepTimeout {
    /// As long as it takes.
    Endless,
    /// So long; then it has failed.
    For(Duration),
}

impl fmt::Debug for Conn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conn")
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

/// Rows as they came, before they have types.
pub(crate) enum Rows {
    Sqlite(Vec<sqlite::SqliteRow>),
    Postgres(Vec<PgRow>),
}

impl Rows {
    pub(crate) fn read<T: FromRow>(self) -> Result<Vec<T>> {
        fn read<T: FromRow>(row: &mut dyn Cells) -> Result<T> {
            Ok(T::read(&mut Columns::of(row))?)
        }
        match self {
            Self::Sqlite(rows) => rows.into_iter().map(|mut row| read(&mut row)).collect(),
            Self::Postgres(rows) => rows.into_iter().map(|mut row| read(&mut row)).collect(),
        }
    }
}

/// A statement for PostgreSQL with its values bound.
fn bind_query<'a>(sql: String, args: &[Arg<'a>]) -> PgQuery<'a> {
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for arg in args {
        query = match *arg {
            Arg::Text(text) => query.bind(text),
            Arg::Int(number) => query.bind(number),
            Arg::Flag(flag) => query.bind(flag),
        };
    }
    query
}

type PgQuery<'a> = Query<'a, Postgres, PgArguments>;

/// Binds the values of lines for PostgreSQL: every column of them is an array.
fn bind_lines<'a>(mut query: PgQuery<'a>, sql: &str, values: &[Arg<'a>]) -> PgQuery<'a> {
    let columns: Vec<&str> = line_columns(sql).split(',').collect();
    for (index, column) in columns.iter().enumerate() {
        let values = values.iter().skip(index).step_by(columns.len());
        query = if column.ends_with(" text") {
            query.bind(values.map(Arg::text).collect::<Vec<Option<&str>>>())
        } else {
            query.bind(values.map(Arg::int).collect::<Vec<Option<i64>>>())
        };
    }
    query
}

impl Conn {
    /// A connection whose steps take no longer than this.
    pub(crate) fn new(link: RawConn, patience: StepTimeout) -> Self {
        Self {
            link,
            patience,
            lost: false,
            durable: None,
            opening: None,
            limit: None,
            ahead: PrefetchCache::default(),
            prepared: HashSet::new(),
        }
    }

    /// The same, behind a pooler that lends connections for one transaction at a time, each of which begins with this.
    pub(crate) fn for_one_transaction_at_a_time(self, opening: String) -> Self {
        Self {
            opening: Some(opening),
            ..self
        }
    }

    /// What a transaction begins with.
    pub(crate) fn opening(&self) -> &str {
        self.opening.as_deref().unwrap_or_default()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.link {
            RawConn::Sqlite(_) => Dialect::Sqlite,
            RawConn::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Whether a step took too long: what the other end has done since is not known, so nothing more is asked of it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(crate) async fn all<T: FromRow>(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Kept).await?.read()
    }

    /// Like [`Conn::all`], for a statement whose plan must fit the tables as they are now: it is made anew each time.
    pub(crate) async fn all_replanned<T: FromRow>(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Anew).await?.read()
    }

    /// From now on commits to SQLite survive the machine, or only the process.
    pub(crate) async fn set_durable(&mut self, durable: bool) -> Result<()> {
        if self.durable != Some(durable) {
            let level = if durable { "FULL" } else { "NORMAL" };
            self.script(&format!("PRAGMA synchronous = {level}"))
                .await?;
            self.durable = Some(durable);
        }
        Ok(())
    }

    /// Commits. SQLite keeps the word ready, because it is said so often.
    pub(crate) async fn commit(&mut self) -> Result<()> {
        match self.dialect() {
            Dialect::Sqlite => self.run("COMMIT", &[]).await.map(|_| ()),
            Dialect::Postgres => self.script("COMMIT").await,
        }
    }

    /// Begins a transaction for statements that are not in one, where a pooler would otherwise answer their halves from
    /// two connections.
    pub(crate) async fn open(&mut self) -> Result<()> {
        match &self.opening {
            Some(opening) => {
                let limit = self.limit.map(|limit| set_limit("LOCAL ", limit));
                let limit = limit.unwrap_or_default();
                self.script(&format!("BEGIN; {opening}{limit}")).await
            }
            None => Ok(()),
        }
    }

    /// Whether statements may take so long as it is. SQLite has no such limit.
    pub(crate) fn has_limit(&self, limit: Duration) -> bool {
        self.dialect() == Dialect::Sqlite || self.limit.unwrap_or(USUAL_LIMIT) == limit
    }

    /// From now on PostgreSQL gives up a statement that takes longer. What SQLite does is given up by whoever waits for it.
    pub(crate) async fn limit(&mut self, limit: Duration) -> Result<()> {
        if self.has_limit(limit) {
            return Ok(());
        }
        if self.opening.is_none() {
            self.script(&set_limit("", limit)).await?;
        }
        self.limit = Some(limit);
        Ok(())
    }

    /// Ends what [`Conn::open`] began.
    pub(crate) async fn end<T>(&mut self, done: Result<T>) -> Result<T> {
        if self.opening.is_none() || self.lost {
            return done;
        }
        let word = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.script(word).await;
        done.and_then(|done| ended.map(|()| done))
    }

    /// Asks. Boxed, like everything here that talks to a driver: the body of an asynchronous function is compiled again
    /// wherever it is awaited, and both drivers with it.
    pub(crate) fn rows<'a>(
        &'a mut self,
        sql: &'a str,
        args: &'a [Arg<'a>],
        plan: Plan,
    ) -> BoxFuture<'a, Result<Rows>> {
        Box::pin(async move {
            if let Some(rows) = self.ahead.take(sql, args) {
                return Ok(Rows::Postgres(rows));
            }
            let sql = self.dialect().text(sql).into_owned();
            let kept = self.opening.is_none() && matches!(plan, Plan::Kept);
            let (patience, lost) = (self.patience, &mut self.lost);
            match &mut self.link {
                RawConn::Sqlite(conn) => {
                    let rows = within(patience, lost, conn.rows(sql, args)).await?;
                    Ok(Rows::Sqlite(rows))
                }
                RawConn::Postgres(conn) => {
                    let asked = bind_query(sql, args).persistent(kept);
                    let rows = within(patience, lost, asked.fetch_all(&mut **conn)).await?;
                    Ok(Rows::Postgres(rows))
                }
            }
        })
    }

    pub(crate) async fn maybe<T: FromRow>(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    /// Runs a statement; how many rows it changed.
    pub(crate) fn run<'a>(
        &'a mut self,
        sql: &'a str,
        args: &'a [Arg<'a>],
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let sql = self.dialect().text(sql).into_owned();
            let kept = self.opening.is_none();
            let (patience, lost) = (self.patience, &mut self.lost);
            match &mut self.link {
                RawConn::Sqlite(conn) => within(patience, lost, conn.run(sql, args)).await,
                RawConn::Postgres(conn) => {
                    let asked = bind_query(sql, args).persistent(kept).execute(&mut **conn);
                    Ok(within(patience, lost, asked).await?.rows_affected())
                }
            }
        })
    }

    /// Runs a statement over lines; how many rows it changed.
    pub(crate) async fn run_lines(&mut self, sql: &str, lines: &[impl Line]) -> Result<u64> {
        let mut writes = StatementBatch::default();
        writes.add(sql, lines);
        Ok(self.write(&writes).await?.into_iter().sum())
    }

    /// Runs statements over lines; how many rows each of them changed.
    pub(crate) fn write<'a>(
        &'a mut self,
        writes: &'a StatementBatch<'a>,
    ) -> BoxFuture<'a, Result<Vec<u64>>> {
        Box::pin(async move {
            let kept = self.opening.is_none();
            let (patience, lost) = (self.patience, &mut self.lost);
            let mut changed = Vec::new();
            match (&mut self.link, writes.parts.as_slice()) {
                (_, []) => {}
                (RawConn::Sqlite(conn), parts) => {
                    for part in parts {
                        let step = conn.lines(&part.sql, &part.values, part.width);
                        changed.push(within(patience, lost, step).await?.1);
                    }
                }
                (RawConn::Postgres(conn), [part]) => {
                    let text = Dialect::Postgres.text(&part.sql).into_owned();
                    let asked = sqlx::query(AssertSqlSafe(text)).persistent(kept);
                    let asked = bind_lines(asked, &part.sql, &part.values);
                    let done = within(patience, lost, asked.execute(&mut **conn)).await?;
                    changed.push(done.rows_affected());
                }
                (RawConn::Postgres(conn), parts) => {
                    let mut asked = sqlx::query(AssertSqlSafe(writes.as_one())).persistent(kept);
                    for part in parts {
                        asked = bind_lines(asked, &part.sql, &part.values);
                    }
                    let rows = within(patience, lost, asked.fetch_all(&mut **conn)).await?;
                    let counts: Vec<i64> = Rows::Postgres(rows).read()?;
                    changed.extend(counts.into_iter().map(|count| count as u64));
                }
            }
            Ok(changed)
        })
    }

    /// Runs a statement over lines; the rows it returns.
    pub(crate) async fn all_lines<T: FromRow>(
        &mut self,
        sql: &str,
        lines: &[impl Line],
    ) -> Result<Vec<T>> {
        let values = flat(lines);
        let Some(width) = values.len().checked_div(lines.len()) else {
            return Ok(Vec::new());
        };
        self.rows_of_lines(sql, &values, width).await?.read()
    }

    fn rows_of_lines<'a>(
        &'a mut self,
        sql: &'a str,
        values: &'a [Arg<'a>],
        width: usize,
    ) -> BoxFuture<'a, Result<Rows>> {
        Box::pin(async move {
            let kept = self.opening.is_none();
            let (patience, lost) = (self.patience, &mut self.lost);
            match &mut self.link {
                RawConn::Sqlite(conn) => {
                    let (rows, _) = within(patience, lost, conn.lines(sql, values, width)).await?;
                    Ok(Rows::Sqlite(rows))
                }
                RawConn::Postgres(conn) => {
                    let text = Dialect::Postgres.text(sql).into_owned();
                    let asked = sqlx::query(AssertSqlSafe(text)).persistent(kept);
                    let asked = bind_lines(asked, sql, values).fetch_all(&mut **conn);
                    Ok(Rows::Postgres(within(patience, lost, asked).await?))
                }
            }
        })
    }

    /// Runs statements that have no values, as they stand.
    pub(crate) fn script<'a>(&'a mut self, sql: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let sql = sql.to_owned();
            let (patience, lost) = (self.patience, &mut self.lost);
            match &mut self.link {
                RawConn::Sqlite(conn) => within(patience, lost, conn.script(sql)).await,
                RawConn::Postgres(conn) => {
                    let asked = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut **conn);
                    within(patience, lost, asked).await.map(|_| ())
                }
            }
        })
    }

    /// Prepares a statement of PostgreSQL by a name, unless it has one already.
    pub(crate) async fn prepare(
        &mut self,
        name: &'static str,
        sql: impl FnOnce() -> String,
    ) -> Result<()> {
        if !self.prepared.contains(name) {
            self.script(&sql()).await?;
            self.prepared.insert(name);
        }
        Ok(())
    }

    /// Runs statements for PostgreSQL that have no values, as they stand; the rows of each. So many of them may have to wait.
    pub(crate) async fn script_rows(&mut self, sql: String, waits: u32) -> Result<Vec<Vec<PgRow>>> {
        let RawConn::Postgres(conn) = &mut self.link else {
            return Err(Error::NotFound);
        };
        let asked = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_many(&mut **conn);
        let patience = match self.patience {
            StepTimeout::For(one) => StepTimeout::For(one * waits),
            StepTimeout::Endless => StepTimeout::Endless,
        };
        let answers = within(patience, &mut self.lost, asked.try_collect::<Vec<_>>()).await?;
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Either::Left(_) => all.push(std::mem::take(&mut rows)),
                Either::Right(row) => rows.push(row),
            }
        }
        Ok(all)
    }

    /// Keeps answers until they are asked for; what is left of earlier ones is void.
    pub(crate) fn keep_answers(&mut self, answered: Vec<(PrefetchQuery, Vec<PgRow>)>) {
        self.ahead = PrefetchCache::new(answered);
    }

    /// Has what is asked of SQLite from now on keep a place.
    pub(crate) fn keep(&mut self, place: Option<Arc<FairPermit>>) {
        if let RawConn::Sqlite(conn) = &mut self.link {
            conn.keep(place);
        }
    }

    /// From now on SQLite is asked on the thread of whoever asks, which has nothing else to do.
    pub(crate) fn run_on_caller_thread(&mut self) {
        if let RawConn::Sqlite(conn) = &mut self.link {
            conn.run_on_caller_thread();
        }
    }

    /// Whether the other end answers within a while; SQLite is at this end.
    pub(crate) async fn answers(&mut self, patience: Duration) -> bool {
        let RawConn::Postgres(conn) = &mut self.link else {
            return true;
        };
        let asked = within(StepTimeout::For(patience), &mut self.lost, conn.ping());
        asked.await.is_ok()
    }

    /// Says goodbye, without waiting long for an answer.
    pub(crate) async fn close(self) {
        let mut lost = self.lost;
        if lost {
            return;
        }
        let patience = match self.patience {
            StepTimeout::For(_) => StepTimeout::For(GOODBYE),
            StepTimeout::Endless => StepTimeout::Endless,
        };
        let closed = match self.link {
            RawConn::Sqlite(conn) => within(patience, &mut lost, conn.close()).await,
            RawConn::Postgres(conn) => within(patience, &mut lost, conn.close()).await,
        };
        if let Err(error) = closed {
            tracing::warn!(%error, "closing a connection");
        }
    }
}

/// Has PostgreSQL give up what takes longer.
fn set_limit(scope: &str, limit: Duration) -> String {
    format!("SET {scope}statement_timeout = {}; ", limit.as_millis())
}

/// Waits for a step, but no longer than its patience.
async fn within<T>(
    patience: StepTimeout,
    lost: &mut bool,
    step: impl Future<Output = sqlx::Result<T>>,
) -> Result<T> {
    // A caller who goes away in the middle of a step leaves the connection in the middle of it.
    *lost = true;
    let done = match patience {
        StepTimeout::For(patience) => timeout(patience, step).await,
        StepTimeout::Endless => Ok(step.await),
    };
    let Ok(done) = done else {
        tracing::warn!(?patience, "the database did not respond in time");
        return Err(Error::Busy);
    };
    *lost = done.as_ref().is_err_and(error::loses_connection);
    Ok(done?)
}
