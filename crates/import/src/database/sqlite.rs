//! A file of SQLite, opened to be read alone.

use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::{TableRow, TextQuery};
use crate::error::ImportError;

/// How long another program may hold the file.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

pub(super) struct SqliteSource(Connection);

impl SqliteSource {
    pub(super) fn open(path: &str) -> Result<Self, ImportError> {
        if !std::path::Path::new(path).is_file() {
            return Err(ImportError::Unreachable(format!("there is no file {path}")));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        // Everything as it is at the first read.
        connection.execute_batch("BEGIN")?;
        Ok(Self(connection))
    }

    pub(super) fn rows(
        &mut self,
        query: &TextQuery,
        columns: usize,
    ) -> Result<Vec<TableRow>, ImportError> {
        let mut statement = self.0.prepare_cached(&query.sql)?;
        let rows = statement.query_map(params_from_iter(&query.values), |row| {
            let cells = (0..columns).map(|place| row.get(place));
            Ok(TableRow(cells.collect::<Result<_, _>>()?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
