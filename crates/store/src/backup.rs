//! A copy of a SQLite database as it is at one moment, while others write. They do not wait for it.

use std::path::Path;

use crate::db::args;
use crate::store_core::StoreCore;
use crate::{Error, Result};

pub(crate) async fn write_copy(core: &StoreCore, file: &Path) -> Result<()> {
    if core.is_postgres() {
        return Err(Error::Conflict(
            "PostgreSQL is backed up with its own tools, such as pg_dump".into(),
        ));
    }
    let Some(name) = file.to_str() else {
        return Err(Error::Conflict("the name of the copy is not text".into()));
    };
    let whole = core.db.without_limit();
    let _: Vec<String> = whole.all("VACUUM INTO $1", args![name]).await?;
    Ok(())
}
