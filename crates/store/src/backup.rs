//! A copy of a SQLite database as it is at one moment, while others write. They do not wait for it.

use std::path::Path;

use crate::db::args;
use crate::{Error, Result, Store};

impl Store {
    /// Writes a copy to a file that must not be there yet. PostgreSQL has tools of its own for this.
    pub async fn backup_to(&self, file: &Path) -> Result<()> {
        if self.is_postgres() {
            return Err(Error::Conflict(
                "PostgreSQL is backed up with its own tools, such as pg_dump".into(),
            ));
        }
        let Some(name) = file.to_str() else {
            return Err(Error::Conflict("the name of the copy is not text".into()));
        };
        let _: Vec<String> = self
            .core
            .db
            .without_limit()
            .all("VACUUM INTO $1", args![name])
            .await?;
        Ok(())
    }
}
