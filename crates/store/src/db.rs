//! The two databases: the readers' pool, the writer's connection, and one way to ask either.

pub(crate) mod readers;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgQueryResult;
use sqlx::sqlite::{SqlitePool, SqliteQueryResult};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Sqlite, SqliteConnection};
use tokio::time::timeout;

use crate::dialect::{Dialect, column_names, line_columns};
use crate::row::{Columns, Read};
use crate::{Error, Result, error};
use readers::Readers;

/// Runs the same expression on whichever database this is; each arm is typed by its own driver.
macro_rules! on {
    ($kind:ident, $db:expr, $conn:ident => $body:expr) => {
        match $db {
            $kind::Sqlite($conn) => $body,
            $kind::Postgres($conn) => $body,
        }
    };
    ($kind:ident, $db:expr, $conn:ident: $driver:ident => $body:expr) => {
        match $db {
            $kind::Sqlite($conn) => {
                type $driver = Sqlite;
                $body
            }
            $kind::Postgres($conn) => {
                type $driver = Postgres;
                $body
            }
        }
    };
}

/// Lines a statement takes at most on SQLite; larger batches take several.
const LINES_MOST: usize = 64;

/// A line for a statement with a `lines` mark: its values, in the order of the mark's columns.
pub(crate) trait Line {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>);
}

/// A value bound to a statement.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Arg<'a> {
    Text(Option<&'a str>),
    Int(Option<i64>),
    Flag(bool),
}

macro_rules! arg {
    ($type:ty, $value:ident => $arg:expr) => {
        impl<'a> From<$type> for Arg<'a> {
            fn from($value: $type) -> Self {
                $arg
            }
        }
    };
}
arg!(&'a str, text => Arg::Text(Some(text)));
arg!(&'a String, text => Arg::Text(Some(text)));
arg!(Option<&'a str>, text => Arg::Text(text));
arg!(i64, number => Arg::Int(Some(number)));
arg!(Option<i64>, number => Arg::Int(number));
arg!(bool, flag => Arg::Flag(flag));

/// The values of a statement, in the order of their places.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::db::Arg::from($value)),*] };
}
pub(crate) use args;

/// A JSON array for a statement.
pub(crate) fn json<T: serde::Serialize + ?Sized>(lines: &T) -> String {
    serde_json::to_string(lines).expect("plain lines are JSON")
}

/// The statement for a driver with its values bound.
macro_rules! bound {
    ($driver:ident, $sql:expr, $args:expr) => {{
        let mut query = sqlx::query::<$driver>(AssertSqlSafe($sql));
        for arg in $args {
            query = match *arg {
                Arg::Text(text) => query.bind(text),
                Arg::Int(number) => query.bind(number),
                Arg::Flag(flag) => query.bind(flag),
            };
        }
        query
    }};
}

/// How long a connection is waited for that is being closed.
const GOODBYE: Duration = Duration::from_secs(1);

/// Whole tables are compared here, for which loops within loops are the wrong plan whatever the statistics say.
const POSTGRES_SNAPSHOT: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; \
     SET LOCAL enable_nestloop = off; SET LOCAL statement_timeout = 0";

/// The readers.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite(SqlitePool),
    Postgres(Arc<Readers>),
}

/// A connection to either database.
pub(crate) enum Link {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

/// One connection. A step that takes longer than its patience has failed, and the connection with it: a network that
/// has gone silent says nothing by itself. SQLite is in this process, and what was begun there always comes to an end.
pub(crate) struct Conn {
    link: Link,
    patience: Option<Duration>,
    lost: bool,
}

trait Affected {
    fn affected(&self) -> u64;
}
impl Affected for SqliteQueryResult {
    fn affected(&self) -> u64 {
        self.rows_affected()
    }
}
impl Affected for PgQueryResult {
    fn affected(&self) -> u64 {
        self.rows_affected()
    }
}

impl Db {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(crate) async fn all<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(pool) => {
                let sql = Dialect::Sqlite.text(sql).into_owned();
                let rows = bound!(Sqlite, sql, args).fetch_all(pool).await?;
                rows.iter()
                    .map(|row| Ok(T::read(&mut Columns::of(row))?))
                    .collect()
            }
            Self::Postgres(readers) => {
                let mut lent = readers.lend().await?;
                let rows = lent.conn().all(sql, args).await;
                lent.give_back();
                rows
            }
        }
    }

    /// Like [`Db::all`], for a statement whose plan must fit the tables as they are now.
    pub(crate) async fn all_anew<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        let Self::Postgres(readers) = self else {
            return self.all(sql, args).await;
        };
        let mut lent = readers.lend().await?;
        let rows = lent.conn().all_anew(sql, args).await;
        lent.give_back();
        rows
    }

    pub(crate) async fn maybe<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    pub(crate) async fn one<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<T> {
        self.maybe(sql, args).await?.ok_or(Error::NotFound)
    }

    /// Asks several things of one moment; every answer is a list of texts.
    pub(crate) async fn snapshot(&self, statements: &[&str]) -> Result<Vec<Vec<String>>> {
        match self {
            Self::Sqlite(pool) => {
                let mut moment = pool.begin().await?;
                let mut answers = Vec::with_capacity(statements.len());
                for sql in statements {
                    let sql = AssertSqlSafe((*sql).to_owned());
                    let rows = sqlx::query::<Sqlite>(sql).fetch_all(&mut *moment).await?;
                    let texts = rows.iter().map(|row| String::read(&mut Columns::of(row)));
                    answers.push(texts.collect::<sqlx::Result<_>>()?);
                }
                moment.rollback().await?;
                Ok(answers)
            }
            Self::Postgres(readers) => {
                // Whole tables are read, which takes as long as it takes; the connection is not used again.
                let mut conn = readers.open(None).await?;
                conn.script("BEGIN").await?;
                conn.script(POSTGRES_SNAPSHOT).await?;
                let mut answers = Vec::with_capacity(statements.len());
                for sql in statements {
                    answers.push(conn.all(sql, &[]).await?);
                }
                conn.close().await;
                Ok(answers)
            }
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(readers) => readers.close(),
        }
    }
}

/// The lines as a JSON array of objects, named after the columns of the statement's mark.
fn as_objects(sql: &str, lines: &[impl Line]) -> String {
    let names: Vec<&str> = column_names(line_columns(sql)).collect();
    let mut out = String::from("[");
    let mut values = Vec::new();
    for line in lines {
        values.clear();
        line.values(&mut values);
        out.push(if out.len() == 1 { '{' } else { ',' });
        if out.ends_with(',') {
            out.push('{');
        }
        for (index, (name, value)) in names.iter().zip(&values).enumerate() {
            out.push_str(if index == 0 { "\"" } else { ",\"" });
            out.push_str(name);
            out.push_str("\":");
            out.push_str(&serde_json::to_string(value).expect("a plain value is JSON"));
        }
        out.push('}');
    }
    out.push(']');
    out
}

impl Conn {
    /// A connection whose steps take no longer than this.
    pub(crate) fn new(link: Link, patience: Option<Duration>) -> Self {
        Self {
            link,
            patience,
            lost: false,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.link {
            Link::Sqlite(_) => Dialect::Sqlite,
            Link::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Whether a step took too long: what the other end has done since is not known, so nothing more is asked of it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(crate) async fn all<T: Read>(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, true).await
    }

    /// Like [`Conn::all`], for a statement whose plan must fit the tables as they are now: it is made anew each time.
    pub(crate) async fn all_anew<T: Read>(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<T>> {
        let kept = self.dialect() == Dialect::Sqlite;
        self.rows(sql, args, kept).await
    }

    async fn rows<T: Read>(&mut self, sql: &str, args: &[Arg<'_>], kept: bool) -> Result<Vec<T>> {
        let sql = self.dialect().text(sql).into_owned();
        let Self {
            link,
            patience,
            lost,
        } = self;
        on!(Link, link, conn: Driver => {
            let asked = bound!(Driver, sql, args).persistent(kept).fetch_all(&mut **conn);
            let rows = within(*patience, lost, asked).await?;
            rows.iter().map(|row| Ok(T::read(&mut Columns::of(row))?)).collect()
        })
    }

    pub(crate) async fn maybe<T: Read>(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    /// Runs a statement; how many rows it changed.
    pub(crate) async fn run(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<u64> {
        let sql = self.dialect().text(sql).into_owned();
        let Self {
            link,
            patience,
            lost,
        } = self;
        on!(Link, link, conn: Driver => {
            let asked = bound!(Driver, sql, args).execute(&mut **conn);
            Ok(within(*patience, lost, asked).await?.affected())
        })
    }

    /// Runs a statement over lines; how many rows it changed.
    pub(crate) async fn run_lines(&mut self, sql: &str, lines: &[impl Line]) -> Result<u64> {
        match self.dialect() {
            Dialect::Postgres => self.run(sql, args![&as_objects(sql, lines)]).await,
            Dialect::Sqlite => {
                let (mut changed, mut rest) = (0, lines);
                while !rest.is_empty() {
                    // Few different lengths make few different statements, which stay prepared.
                    let most = rest.len().min(LINES_MOST);
                    let (now, later) = rest.split_at(1 << most.ilog2());
                    let mut values = Vec::new();
                    for line in now {
                        line.values(&mut values);
                    }
                    let text = self.dialect().text_for(sql, now.len()).into_owned();
                    changed += self.run(&text, &values).await?;
                    rest = later;
                }
                Ok(changed)
            }
        }
    }

    /// Runs statements that have no values, as they stand.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        let Self {
            link,
            patience,
            lost,
        } = self;
        on!(Link, link, conn => {
            let asked = sqlx::raw_sql(sql).execute(&mut **conn);
            within(*patience, lost, asked).await.map(|_| ())
        })
    }

    /// Runs statements that have no values, as they stand; the one text they return.
    pub(crate) async fn script_text(&mut self, sql: &str) -> Result<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        let Self {
            link,
            patience,
            lost,
        } = self;
        on!(Link, link, conn => {
            let asked = sqlx::raw_sql(sql).fetch_all(&mut **conn);
            let rows = within(*patience, lost, asked).await?;
            Ok(Columns::of(rows.first().ok_or(Error::NotFound)?).text()?)
        })
    }

    /// Says goodbye, without waiting long for an answer.
    pub(crate) async fn close(self) {
        let mut lost = self.lost;
        if lost {
            return;
        }
        let patience = self.patience.map(|_| GOODBYE);
        let closed = on!(Link, self.link, conn => within(patience, &mut lost, conn.close()).await);
        if let Err(error) = closed {
            tracing::warn!(%error, "closing a connection");
        }
    }
}

/// Waits for a step, but no longer than its patience.
async fn within<T>(
    patience: Option<Duration>,
    lost: &mut bool,
    step: impl Future<Output = sqlx::Result<T>>,
) -> Result<T> {
    // A caller who goes away in the middle of a step leaves the connection in the middle of it.
    *lost = true;
    let done = match patience {
        Some(patience) => timeout(patience, step).await,
        None => Ok(step.await),
    };
    let Ok(done) = done else {
        tracing::warn!(?patience, "the database did not answer in time");
        return Err(Error::Busy);
    };
    *lost = done.as_ref().is_err_and(error::loses_connection);
    Ok(done?)
}
