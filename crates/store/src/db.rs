//! The two databases: the readers' pool, the writer's connection, and one way to ask either.

use sqlx::postgres::{PgPool, PgQueryResult};
use sqlx::sqlite::{SqlitePool, SqliteQueryResult};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Sqlite, SqliteConnection};

use crate::dialect::{Dialect, column_names, line_columns};
use crate::row::{Columns, Read};
use crate::{Error, Result};

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

/// Whole tables are compared here, for which loops within loops are the wrong plan whatever the statistics say.
const POSTGRES_SNAPSHOT: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; \
     SET LOCAL enable_nestloop = off; SET LOCAL statement_timeout = 0";

/// The readers.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// One connection that writes.
pub(crate) enum Conn {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
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
        let sql = self.dialect().text(sql).into_owned();
        on!(Db, self, pool: Driver => {
            let rows = bound!(Driver, sql, args).fetch_all(pool).await?;
            rows.iter().map(|row| Ok(T::read(&mut Columns::of(row))?)).collect()
        })
    }

    pub(crate) async fn maybe<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<Option<T>> {
        let sql = self.dialect().text(sql).into_owned();
        on!(Db, self, pool: Driver => {
            let row = bound!(Driver, sql, args).fetch_optional(pool).await?;
            row.map(|row| Ok(T::read(&mut Columns::of(&row))?)).transpose()
        })
    }

    pub(crate) async fn one<T: Read>(&self, sql: &str, args: &[Arg<'_>]) -> Result<T> {
        self.maybe(sql, args).await?.ok_or(Error::NotFound)
    }

    /// Asks several things of one moment; every answer is a list of texts.
    pub(crate) async fn snapshot(&self, statements: &[&str]) -> Result<Vec<Vec<String>>> {
        let mut answers = Vec::with_capacity(statements.len());
        on!(Db, self, pool: Driver => {
            let mut moment = pool.begin().await?;
            if self.dialect() == Dialect::Postgres {
                sqlx::raw_sql(POSTGRES_SNAPSHOT).execute(&mut *moment).await?;
            }
            for sql in statements {
                let sql = AssertSqlSafe((*sql).to_owned());
                let rows = sqlx::query::<Driver>(sql).fetch_all(&mut *moment).await?;
                let texts: sqlx::Result<Vec<String>> =
                    rows.iter().map(|row| String::read(&mut Columns::of(row))).collect();
                answers.push(texts?);
            }
            moment.rollback().await?;
        });
        Ok(answers)
    }

    pub(crate) async fn close(&self) {
        on!(Db, self, pool => pool.close().await);
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
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(crate) async fn all<T: Read>(&mut self, sql: &str, args: &[Arg<'_>]) -> Result<Vec<T>> {
        let sql = self.dialect().text(sql).into_owned();
        on!(Conn, self, conn: Driver => {
            let rows = bound!(Driver, sql, args).fetch_all(&mut **conn).await?;
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
        on!(Conn, self, conn: Driver => {
            Ok(bound!(Driver, sql, args).execute(&mut **conn).await?.affected())
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
        on!(Conn, self, conn => {
            sqlx::raw_sql(sql).execute(&mut **conn).await?;
        });
        Ok(())
    }

    /// Begins a transaction that may write; on PostgreSQL its number, by which its fate can be asked for later. Unless
    /// it is to be durable, its commit survives the end of the process but perhaps not that of the machine.
    pub(crate) async fn begin(&mut self, durable: bool) -> Result<Option<String>> {
        match self {
            Self::Sqlite(_) => {
                let level = if durable { "FULL" } else { "NORMAL" };
                let text = format!("PRAGMA synchronous = {level}; BEGIN IMMEDIATE");
                self.script(&text).await.map(|()| None)
            }
            Self::Postgres(conn) => {
                let text = if durable {
                    "BEGIN; SELECT pg_current_xact_id()::text"
                } else {
                    "BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_current_xact_id()::text"
                };
                let rows = sqlx::raw_sql(text).fetch_all(&mut **conn).await?;
                let row = rows.first().ok_or(Error::NotFound)?;
                Ok(Some(Columns::of(row).text()?))
            }
        }
    }

    pub(crate) async fn close(self) {
        let closed = on!(Conn, self, conn => conn.close().await);
        if let Err(error) = closed {
            tracing::warn!(%error, "closing the writing connection");
        }
    }
}
