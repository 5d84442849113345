//! Who works with a SQLite database. Its jobs belong to one process: a second one would take the first for dead.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::{Error, Result};

/// Takes the lock beside a database file; it is held until the file is dropped, or the process is gone.
pub(crate) fn lock_database(database: &Path) -> Result<File> {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&name)
        .map_err(sqlx::Error::Io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse(name.to_string_lossy().into_owned())),
        Err(TryLockError::Error(error)) => Err(sqlx::Error::Io(error).into()),
    }
}
