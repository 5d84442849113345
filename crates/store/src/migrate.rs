//! The schema: forward-only migrations, each in a transaction of its own or, where that would hold up
//! other nodes, in none.

use std::time::Duration;

use tokio::time::sleep;

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
    (
        "0011_written",
        include_str!("../migrations/0011_written.sql"),
    ),
    ("0012_lanes", include_str!("../migrations/0012_lanes.sql")),
    (
        "0013_tallies",
        include_str!("../migrations/0013_tallies.sql"),
    ),
    ("0014_open", include_str!("../migrations/0014_open.sql")),
    (
        "0015_audit_chain",
        include_str!("../migrations/0015_audit_chain.sql"),
    ),
    (
        "0016_sessions",
        include_str!("../migrations/0016_sessions.sql"),
    ),
    (
        "0017_switches",
        include_str!("../migrations/0017_switches.sql"),
    ),
    ("0018_faults", include_str!("../migrations/0018_faults.sql")),
    (
        "0019_looking",
        include_str!("../migrations/0019_looking.sql"),
    ),
    (
        "0020_archive",
        include_str!("../migrations/0020_archive.sql"),
    ),
    (
        "0021_uploads",
        include_str!("../migrations/0021_uploads.sql"),
    ),
    ("0022_bulks", include_str!("../migrations/0022_bulks.sql")),
    ("0023_ended", include_str!("../migrations/0023_ended.sql")),
    (
        "0024_deleted",
        include_str!("../migrations/0024_deleted.sql"),
    ),
    ("0025_costs", include_str!("../migrations/0025_costs.sql")),
    ("0026_shares", include_str!("../migrations/0026_shares.sql")),
    (SINCE_WIDENS, include_str!("../migrations/0028_widens.sql")),
    ("0029_listed", include_str!("../migrations/0029_listed.sql")),
    ("0030_totals", include_str!("../migrations/0030_totals.sql")),
    (
        "0031_uncounted",
        include_str!("../migrations/0031_uncounted.sql"),
    ),
    ("0032_clock", include_str!("../migrations/0032_clock.sql")),
    ("0036_words", include_str!("../migrations/0036_words.sql")),
    (
        "0037_failed_words",
        include_str!("../migrations/0037_failed_words.sql"),
    ),
    (
        "0038_account_acts",
        include_str!("../migrations/0038_account_acts.sql"),
    ),
    (
        "0039_batched",
        include_str!("../migrations/0039_batched.sql"),
    ),
    (
        "0041_bound_sessions",
        include_str!("../migrations/0041_bound_sessions.sql"),
    ),
    (
        "0042_words_removed",
        include_str!("../migrations/0042_words_removed.sql"),
    ),
    (MODELS, include_str!("../migrations/0043_models.sql")),
    (KEYS, include_str!("../migrations/0044_keys.sql")),
    (GROUPS, include_str!("../migrations/0045_groups.sql")),
    (
        "0046_takings",
        include_str!("../migrations/0046_takings.sql"),
    ),
    (
        "0052_notes_and_links",
        include_str!("../migrations/0052_notes_and_links.sql"),
    ),
    (
        "0053_links_found",
        include_str!("../migrations/0053_links_found.sql"),
    ),
    (CREDITS, include_str!("../migrations/0054_credits.sql")),
    (
        "0055_vouchers",
        include_str!("../migrations/0055_vouchers.sql"),
    ),
    (PLANS, include_str!("../migrations/0056_plans.sql")),
    (PAYMENTS, include_str!("../migrations/0057_payments.sql")),
    (
        CREDIT_LIMITS,
        include_str!("../migrations/0058_credit_limits.sql"),
    ),
    ("0059_topups", include_str!("../migrations/0059_topups.sql")),
    (
        "0060_receipts",
        include_str!("../migrations/0060_receipts.sql"),
    ),
];

/// The migration since which there may be models. It widens until there is one.
pub(crate) const MODELS: &str = "0043_models";

/// The migration since which keys may count what is spent with them. It widens until one does.
pub(crate) const KEYS: &str = "0044_keys";

/// The same of groups of accounts.
pub(crate) const GROUPS: &str = "0045_groups";

/// The same of credits.
pub(crate) const CREDITS: &str = "0054_credits";

/// The same of plans.
pub(crate) const PLANS: &str = "0056_plans";

/// The same of products, payments and what accounts owe.
pub(crate) const PAYMENTS: &str = "0057_payments";

/// The same of what accounts may owe.
pub(crate) const CREDIT_LIMITS: &str = "0058_credit_limits";

/// The number of a migration in the database: the first is 1, and there is none for a name that was never shipped.
pub(crate) fn number_of(name: &str) -> i64 {
    let found = MIGRATIONS.iter().position(|(one, _)| *one == name);
    found.map_or(i64::MAX, |index| index as i64 + 1)
}

/// The migration since which it is noted whether one widens.
const SINCE_WIDENS: &str = "0028_widens";

/// A line at the head of a migration that only adds what older programs need not know.
const WIDENS: &str = "-- widens";

/// The first migration after those this program knows that it cannot work beside.
const NARROWED: &str =
    "SELECT version FROM schema_version WHERE version > $1 AND widens = 0 ORDER BY version LIMIT 1";

/// Any number; nodes that start together take their turns by it. It is asked for again and again and not waited for:
/// whoever waits inside a statement holds up an index that is being made beside the work of other nodes.
const TURN: &str = "SELECT CASE WHEN pg_try_advisory_lock(7208355) THEN 1 ELSE 0 END::bigint";
const TURN_PAUSE: Duration = Duration::from_millis(200);

/// A step that cannot have its table at once lets others go first, so that nobody queues behind it for long.
const LOCK_WAIT: &str = "SET LOCAL lock_timeout = '2s'";
const LOCK_TRIES: u32 = 150;

/// Indexes that were begun and never finished; nobody else makes any now.
const UNFINISHED: &str = "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT i.indisvalid AND n.nspname = current_schema()";

/// The first line of a migration whose statements are run one by one and outside of a transaction on PostgreSQL. Each
/// of them can be run again.
const APART: &str = "-- apart\n";

/// Whether programs that do not know this migration go on working beside it.
pub fn is_widening(text: &str) -> bool {
    text.lines()
        .take_while(|line| line.starts_with("--"))
        .any(|line| line == WIDENS)
}

/// Brings the schema up to date; refuses one that is newer than this program and more than wider. Nodes that start together take turns, and
/// nothing here is given up because it takes long.
pub(crate) async fn migrate(conn: &mut Conn) -> Result<()> {
    if conn.dialect() == Dialect::Postgres {
        while conn.maybe::<i64>(TURN, &[]).await? != Some(1) {
            sleep(TURN_PAUSE).await;
        }
    }
    let (mut tries, mut applied) = (0, 0);
    loop {
        match step(conn).await {
            Ok(true) => {
                tries = 0;
                applied += 1;
            }
            Ok(false) => {
                if applied > 0 {
                    let version = MIGRATIONS.len();
                    tracing::info!(applied, version, "the database schema is up to date");
                }
                return Ok(());
            }
            Err(error) if error.is_passing() && tries < LOCK_TRIES => {
                tries += 1;
                sleep(TURN_PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Applies the next migration; whether there was one.
async fn step(conn: &mut Conn) -> Result<bool> {
    begin(conn).await?;
    let done = in_transaction(conn).await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    conn.script(end).await?;
    let Some((version, text)) = done? else {
        return Ok(false);
    };
    if let Some(text) = text {
        apart(conn, &text).await?;
        begin(conn).await?;
        note(conn, version).await?;
        conn.script("COMMIT").await?;
    }
    Ok(true)
}

async fn begin(conn: &mut Conn) -> Result<()> {
    match conn.dialect() {
        Dialect::Sqlite => conn.script("BEGIN IMMEDIATE").await,
        Dialect::Postgres => {
            conn.script("BEGIN").await?;
            conn.script(LOCK_WAIT).await
        }
    }
}

/// Applies the next migration and gives its number, with its text if that is to be run apart.
async fn in_transaction(conn: &mut Conn) -> Result<Option<(usize, Option<String>)>> {
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
        if conn.maybe::<i64>(NARROWED, args![known]).await?.is_some() {
            return Err(Error::NewerSchema { found, known });
        }
        tracing::info!(
            found,
            known,
            "the database is of a newer release; this one works beside it"
        );
        return Ok(None);
    }
    let version = found as usize;
    let Some((name, text)) = MIGRATIONS.get(version) else {
        return Ok(None);
    };
    tracing::debug!(name, "applying migration");
    let is_apart = text.starts_with(APART) && conn.dialect() == Dialect::Postgres;
    let text = part(conn.dialect(), text);
    let text = conn.dialect().text(&text).into_owned();
    if is_apart {
        return Ok(Some((version, Some(text))));
    }
    conn.script(&text).await?;
    note(conn, version).await?;
    Ok(Some((version, None)))
}

/// Notes that a migration has been applied.
async fn note(conn: &mut Conn, version: usize) -> Result<()> {
    let (name, text) = MIGRATIONS[version];
    let number = version as i64 + 1;
    if name >= SINCE_WIDENS {
        let widens = i64::from(is_widening(text));
        let sql = "INSERT INTO schema_version (version, name, widens) VALUES ($1, $2, $3)";
        conn.run(sql, args![number, name, widens]).await?;
    } else {
        let sql = "INSERT INTO schema_version (version, name) VALUES ($1, $2)";
        conn.run(sql, args![number, name]).await?;
    }
    Ok(())
}

/// Runs statements one by one, each in a transaction of its own or in none, while other nodes go on.
async fn apart(conn: &mut Conn, text: &str) -> Result<()> {
    for name in conn.all::<String>(UNFINISHED, &[]).await? {
        conn.script(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))
            .await?;
    }
    for statement in text
        .split_inclusive(";\n")
        .filter(|one| !one.trim().is_empty())
    {
        conn.script(statement).await?;
    }
    Ok(())
}

/// The lines meant for a database: those before the first `-- only …` line, those after its own,
/// and those after `-- only both`.
fn part(dialect: Dialect, text: &str) -> String {
    let own = match dialect {
        Dialect::Sqlite => "sqlite",
        Dialect::Postgres => "postgres",
    };
    let mut wanted = true;
    let mut out = String::new();
    for line in text.lines() {
        if let Some(only) = line.strip_prefix("-- only ") {
            wanted = only == own || only == "both";
        } else if wanted {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}
