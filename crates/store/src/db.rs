//! The two databases: who reads them, and one way to ask either.

mod conn;
pub(crate) mod readers;
pub(crate) mod statement;

use std::sync::Arc;

use sqlx::Sqlite;
use sqlx::sqlite::SqlitePool;

use crate::dialect::Dialect;
use crate::row::{Columns, Read};
use crate::{Error, Result};
use readers::Readers;
use statement::bound;

pub(crate) use conn::{Conn, Link};
pub(crate) use statement::{Arg, Line, args, json};

/// The readers.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    Sqlite(SqlitePool),
    Postgres(Arc<Readers>),
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
            Self::Sqlite(readers) => {
                let sql = Dialect::Sqlite.text(sql).into_owned();
                let rows = bound!(Sqlite, sql, args).fetch_all(readers).await?;
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

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(readers) => readers.close().await,
            Self::Postgres(readers) => readers.close(),
        }
    }
}
