//! A MySQL or MariaDB, read in one transaction that sees one moment and writes nothing.

use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::{TableRow, TextQuery};
use crate::error::ImportError;

pub(super) struct MySqlSource(MySqlConnection);

impl MySqlSource {
    pub(super) async fn open(url: &str) -> Result<Self, ImportError> {
        let mut connection = MySqlConnection::connect(url).await?;
        for begin in [
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        ] {
            sqlx::raw_sql(begin).execute(&mut connection).await?;
        }
        Ok(Self(connection))
    }

    pub(super) async fn rows(
        &mut self,
        query: &TextQuery,
        columns: usize,
    ) -> Result<Vec<TableRow>, ImportError> {
        // Every name in it was read from the database or stands in this program; values have places.
        let mut asked = sqlx::query(AssertSqlSafe(query.sql.as_str()));
        for value in &query.values {
            asked = asked.bind(value);
        }
        let rows: Vec<MySqlRow> = asked.fetch_all(&mut self.0).await?;
        let cells = |row: &MySqlRow| {
            let cells = (0..columns).map(|place| row.try_get(place));
            cells.collect::<Result<Vec<_>, _>>().map(TableRow)
        };
        Ok(rows.iter().map(cells).collect::<Result<_, _>>()?)
    }
}
