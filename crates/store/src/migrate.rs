//! The schema: forward-only migrations, each in a transaction of its own.

use crate::db::{Conn, args};
use crate::dialect::Dialect;
use crate::{Error, Result};

/// Every migration ever shipped, in order. Shipped texts never change.
pub const MIGRATIONS: &[(&str, &str)] = &[
    (
        "0001_accounts",
        include_str!("../migrations/0001_accounts.sql"),
    ),
    ("0002_jobs", include_str!("../migrations/0002_jobs.sql")),
    ("0003_ledger", include_str!("../migrations/0003_ledger.sql")),
    (
        "0004_deliveries",
        include_str!("../migrations/0004_deliveries.sql"),
    ),
    ("0005_house", include_str!("../migrations/0005_house.sql")),
    (
        "0007_retention",
        include_str!("../migrations/0007_retention.sql"),
    ),
    (
        "0008_workers",
        include_str!("../migrations/0008_workers.sql"),
    ),
    ("0009_tries", include_str!("../migrations/0009_tries.sql")),
    (
        "0010_operators",
        include_str!("../migrations/0010_operators.sql"),
    ),
];

/// Any number; nodes that start together queue behind it.
const ADVISORY_LOCK: &str = "SELECT pg_advisory_xact_lock(7208355)";

/// Brings the schema up to date; refuses one that is newer than this program.
pub(crate) async fn migrate(conn: &mut Conn) -> Result<()> {
    loop {
        conn.begin(true).await?;
        match step(conn).await {
            Ok(more) => {
                conn.script("COMMIT").await?;
                if !more {
                    return Ok(());
                }
            }
            Err(error) => {
                conn.script("ROLLBACK").await?;
                return Err(error);
            }
        }
    }
}

/// Applies the next migration; whether there was one.
async fn step(conn: &mut Conn) -> Result<bool> {
    if conn.dialect() == Dialect::Postgres {
        conn.script(ADVISORY_LOCK).await?;
    }
    conn.script(
        "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY NOT NULL, name TEXT NOT NULL)",
    )
    .await?;
    let found: i64 = conn
        .maybe("SELECT COALESCE(MAX(version), 0) FROM schema_version", &[])
        .await?
        .unwrap_or(0);
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(Error::NewerSchema { found, known });
    }
    let Some((name, text)) = MIGRATIONS.get(found as usize) else {
        return Ok(false);
    };
    tracing::info!(name, "applying migration");
    let text = part(conn.dialect(), text);
    let text = conn.dialect().text(&text).into_owned();
    conn.script(&text).await?;
    conn.run(
        "INSERT INTO schema_version (version, name) VALUES ($1, $2)",
        args![found + 1, *name],
    )
    .await?;
    Ok(true)
}

/// The lines meant for a database: those before the first `-- only …` line and those after its own.
fn part(dialect: Dialect, text: &str) -> String {
    let own = match dialect {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgres",
    };
    let mut wanted = true;
    let mut out = String::new();
    for line in text.lines() {
        if let Some(only) = line.strip_prefix("-- only ") {
            wanted = only == own;
        } else if wanted {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
