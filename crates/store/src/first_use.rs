//! The first use of something that programs of the release before know nothing of: it waits until none of them is at work, and
//! from then on none of them starts.

use crate::Result;
use crate::db::{Conn, args};
use crate::dialect::Dialect;
use crate::migrate;

/// Whether something may be used that came with a migration.
pub(crate) enum FirstUse {
    /// It is in use already.
    Known,
    /// Nothing speaks against it; [`narrow`] is to be called in the same transaction.
    Free,
    /// This node is at work, whose program does not know it.
    OlderNode(String),
}

/// Looks whether something may be used for the first time. Whoever else would waits here until this transaction ends.
pub(crate) async fn look(
    conn: &mut Conn,
    migration: &str,
    alive_since_ms: i64,
) -> Result<FirstUse> {
    if lock(conn, migration).await? == Some(0) {
        return Ok(FirstUse::Known);
    }
    // One process has a SQLite database, so that those of others are gone.
    if conn.dialect() == Dialect::Sqlite {
        return Ok(FirstUse::Free);
    }
    let needed = migrate::number_of(migration);
    let older: Option<String> = conn.maybe(OLDER, args![alive_since_ms, needed]).await?;
    Ok(older.map_or(FirstUse::Free, FirstUse::OlderNode))
}

/// Has whoever else would use it, or changes what came with it, wait until this transaction ends; 0 when older programs no longer
/// start.
pub(crate) async fn lock(conn: &mut Conn, migration: &str) -> Result<Option<i64>> {
    conn.maybe(LOCK, args![migration]).await
}

/// Uses it from now on; the node that speaks against it, if one does.
pub(crate) async fn begin(
    conn: &mut Conn,
    migration: &str,
    alive_since_ms: i64,
) -> Result<Option<String>> {
    // What is in use stays so: nobody has to wait for anybody to see that.
    if conn.maybe(WIDENS, args![migration]).await? == Some(0_i64) {
        return Ok(None);
    }
    match look(conn, migration, alive_since_ms).await? {
        FirstUse::OlderNode(node) => return Ok(Some(node)),
        FirstUse::Free => narrow(conn, migration).await?,
        FirstUse::Known => {}
    }
    Ok(None)
}

/// Programs that do not know it no longer start.
pub(crate) async fn narrow(conn: &mut Conn, migration: &str) -> Result<()> {
    conn.run(NARROW, args![migration]).await.map(|_| ())
}

const WIDENS: &str = "SELECT widens FROM schema_version WHERE name = $1";

const LOCK: &str = "SELECT widens FROM schema_version WHERE name = $1 {lock}";

const OLDER: &str = "SELECT id FROM node WHERE seen_ms >= $1 AND COALESCE(knows, 0) < $2 ORDER BY started_ms, id LIMIT 1";

const NARROW: &str = "UPDATE schema_version SET widens = 0 WHERE name = $1";
