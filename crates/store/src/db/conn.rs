//! One connection to either database, and one way to ask it.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgQueryResult, PgRow};
use sqlx::sqlite::{SqliteQueryResult, SqliteRow};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Sqlite, SqliteConnection};
use tokio::time::timeout;

use crate::db::in_place::in_place;
use crate::db::statement::{Arg, Line, args, bound};
use crate::dialect::{Dialect, column_names, line_columns};
use crate::row::{Columns, Read};
use crate::{Error, Result, error};

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
/// Empty lines that fill it up at most.
const EMPTY_MOST: usize = 8;

/// How long a connection is waited for that is being closed.
const GOODBYE: Duration = Duration::from_secs(1);

/// A connection to either database.
pub(crate) enum Link {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

/// One connection. A step that takes longer than its patience has failed, and the connection with it: a network that
/// has gone silent says nothing by itself. SQLite is in this process, and what was begun there always comes to an end.
pub(crate) struct Conn {
    link: Link,
    patience: Patience,
    lost: bool,
    /// Whether commits survive the machine, once that was said; SQLite keeps it for each connection.
    durable: Option<bool>,
    /// What every transaction begins with, where a pooler lends connections for one transaction at a time and so keeps
    /// neither settings nor prepared statements.
    opening: Option<String>,
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
pub(crate) enum Patience {
    /// As long as it takes.
    Endless,
    /// So long; then it has failed.
    For(Duration),
    /// As long as it takes, with nothing else happening meanwhile.
    InPlace,
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
    Sqlite(Vec<SqliteRow>),
    Postgres(Vec<PgRow>),
}

impl Rows {
    pub(crate) fn read<T: Read>(&self) -> Result<Vec<T>> {
        on!(Self, self, rows => {
            rows.iter().map(|row| Ok(T::read(&mut Columns::of(row))?)).collect()
        })
    }
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

/// The lines in portions for SQLite, each with its own statement. Few different lengths make few different statements,
/// which stay prepared; a portion is filled up with empty lines, because every statement is a way to another thread and back.
fn portions<'a>(
    sql: &'a str,
    lines: &'a [impl Line],
) -> impl Iterator<Item = (String, Vec<Arg<'a>>)> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        let mut length = rest.len().min(LINES_MOST).next_power_of_two();
        if length.saturating_sub(rest.len()) > EMPTY_MOST {
            length /= 2;
        }
        let (now, later) = rest.split_at(rest.len().min(length));
        rest = later;
        let mut values = Vec::new();
        for line in now {
            line.values(&mut values);
        }
        let width = values.len().checked_div(now.len())?;
        values.resize(width * length, Arg::Int(None));
        Some((Dialect::Sqlite.text_for(sql, length).into_owned(), values))
    })
}

impl Conn {
    /// A connection whose steps take no longer than this.
    pub(crate) fn new(link: Link, patience: Patience) -> Self {
        Self {
            link,
            patience,
            lost: false,
            durable: None,
            opening: None,
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
            Link::Sqlite(_) => Dialect::Sqlite,
            Link::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Whether a step took too long: what the other end has done since is not known, so nothing more is asked of it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    pub(crate) async fn all<T: Read>(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Kept).await?.read()
    }

    /// Like [`Conn::all`], for a statement whose plan must fit the tables as they are now: it is made anew each time.
    pub(crate) async fn all_anew<T: Read>(
        &mut self,
        sql: &str,
        args: &[Arg<'_>],
    ) -> Result<Vec<T>> {
        self.rows(sql, args, Plan::Anew).await?.read()
    }

    /// From now on commits to SQLite survive the machine, or only the process.
    pub(crate) async fn survive(&mut self, durable: bool) -> Result<()> {
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
            Some(opening) => self.script(&format!("BEGIN; {opening}")).await,
            None => Ok(()),
        }
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
            let kept = match plan {
                Plan::Kept => true,
                Plan::Anew => self.dialect() == Dialect::Sqlite,
            };
            let sql = self.dialect().text(sql).into_owned();
            let kept = kept && self.opening.is_none();
            let (patience, lost) = (self.patience, &mut self.lost);
            match &mut self.link {
                Link::Sqlite(conn) => {
                    let asked = bound!(Sqlite, sql, args).persistent(kept);
                    let rows = within(patience, lost, asked.fetch_all(&mut **conn)).await?;
                    Ok(Rows::Sqlite(rows))
                }
                Link::Postgres(conn) => {
                    let asked = bound!(Postgres, sql, args).persistent(kept);
                    let rows = within(patience, lost, asked.fetch_all(&mut **conn)).await?;
                    Ok(Rows::Postgres(rows))
                }
            }
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
    pub(crate) fn run<'a>(
        &'a mut self,
        sql: &'a str,
        args: &'a [Arg<'a>],
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(async move {
            let sql = self.dialect().text(sql).into_owned();
            let Self {
                link,
                patience,
                lost,
                opening,
                ..
            } = self;
            let kept = opening.is_none();
            on!(Link, link, conn: Driver => {
                let asked = bound!(Driver, sql, args).persistent(kept).execute(&mut **conn);
                Ok(within(*patience, lost, asked).await?.affected())
            })
        })
    }

    /// Runs a statement over lines; how many rows it changed.
    pub(crate) async fn run_lines(&mut self, sql: &str, lines: &[impl Line]) -> Result<u64> {
        match self.dialect() {
            Dialect::Postgres => self.run(sql, args![&as_objects(sql, lines)]).await,
            Dialect::Sqlite => {
                let mut changed = 0;
                for (text, values) in portions(sql, lines) {
                    changed += self.run(&text, &values).await?;
                }
                Ok(changed)
            }
        }
    }

    /// Runs a statement over lines; the rows it returns.
    pub(crate) async fn all_lines<T: Read>(
        &mut self,
        sql: &str,
        lines: &[impl Line],
    ) -> Result<Vec<T>> {
        match self.dialect() {
            Dialect::Postgres => self.all(sql, args![&as_objects(sql, lines)]).await,
            Dialect::Sqlite => {
                let mut found = Vec::new();
                for (text, values) in portions(sql, lines) {
                    found.extend(self.all(&text, &values).await?);
                }
                Ok(found)
            }
        }
    }

    /// Runs statements that have no values, as they stand.
    pub(crate) fn script<'a>(&'a mut self, sql: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let sql = AssertSqlSafe(sql.to_owned());
            let Self {
                link,
                patience,
                lost,
                ..
            } = self;
            on!(Link, link, conn => {
                let asked = sqlx::raw_sql(sql).execute(&mut **conn);
                within(*patience, lost, asked).await.map(|_| ())
            })
        })
    }

    /// Runs statements that have no values, as they stand; the one text they return.
    pub(crate) async fn script_text(&mut self, sql: &str) -> Result<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        let Self {
            link,
            patience,
            lost,
            ..
        } = self;
        on!(Link, link, conn => {
            let asked = sqlx::raw_sql(sql).fetch_all(&mut **conn);
            let rows = within(*patience, lost, asked).await?;
            Ok(Columns::of(rows.first().ok_or(Error::NotFound)?).text()?)
        })
    }

    /// Whether the other end answers within a while; SQLite is at this end.
    pub(crate) async fn answers(&mut self, patience: Duration) -> bool {
        let Link::Postgres(conn) = &mut self.link else {
            return true;
        };
        let asked = within(Patience::For(patience), &mut self.lost, conn.ping());
        asked.await.is_ok()
    }

    /// Says goodbye, without waiting long for an answer.
    pub(crate) async fn close(self) {
        let mut lost = self.lost;
        if lost {
            return;
        }
        let patience = match self.patience {
            Patience::For(_) => Patience::For(GOODBYE),
            other => other,
        };
        let closed = on!(Link, self.link, conn => within(patience, &mut lost, conn.close()).await);
        if let Err(error) = closed {
            tracing::warn!(%error, "closing a connection");
        }
    }
}

/// Waits for a step, but no longer than its patience.
async fn within<T>(
    patience: Patience,
    lost: &mut bool,
    step: impl Future<Output = sqlx::Result<T>>,
) -> Result<T> {
    // A caller who goes away in the middle of a step leaves the connection in the middle of it.
    *lost = true;
    let done = match patience {
        Patience::For(patience) => timeout(patience, step).await,
        Patience::Endless => Ok(step.await),
        Patience::InPlace => Ok(in_place(step)),
    };
    let Ok(done) = done else {
        tracing::warn!(?patience, "the database did not answer in time");
        return Err(Error::Busy);
    };
    *lost = done.as_ref().is_err_and(error::loses_connection);
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(i64);

    impl Line for One {
        fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
            out.extend_from_slice(args!["a", self.0]);
        }
    }

    /// Every line goes into a statement once, and few empty ones with it.
    #[test]
    fn portions_have_every_line_once() {
        let sql = "INSERT INTO t SELECT v.id, v.n FROM {lines:id text, n bigint}";
        for count in 0..200 {
            let lines: Vec<One> = (0..count).map(One).collect();
            let (mut seen, mut empty) = (Vec::new(), 0);
            for (text, values) in portions(sql, &lines) {
                assert_eq!(text.matches('?').count(), values.len());
                let length = values.len() / 2;
                assert!(length.is_power_of_two() && length <= LINES_MOST);
                for line in values.chunks(2) {
                    match line {
                        [Arg::Text(Some(_)), Arg::Int(Some(number))] => seen.push(*number),
                        _ => empty += 1,
                    }
                }
            }
            assert_eq!(seen, (0..count).collect::<Vec<_>>());
            assert!(empty <= EMPTY_MOST, "{empty} of {count}");
        }
    }
}
