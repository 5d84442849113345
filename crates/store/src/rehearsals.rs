//! Rehearsals: what copies of requests cost at a back end that is tried, and how they compare with what callers were answered.

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// Calls that did not come out alike which are kept of each back end.
const CALLS_KEPT: i64 = 200;

/// A rehearsal as it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RehearsalRow {
    pub backend_id: String,
    /// When its first copy was made.
    pub since_ms: i64,
    /// What copies have cost, in millionths of a dollar, with those under way.
    pub spent: i64,
    /// Until when its vendor is left alone.
    pub paused_ms: i64,
}

impl FromRow for RehearsalRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            backend_id: columns.text()?,
            since_ms: columns.int()?,
            spent: columns.int()?,
            paused_ms: columns.int()?,
        })
    }
}

/// How a call ended, or all calls of an operation with a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RehearsalCounts {
    /// How many succeeded.
    pub succeeded: i64,
    /// What those cost of which it is known, in millionths of a dollar.
    pub cost: i64,
    /// Of how many it is known.
    pub costed: i64,
    /// How long they took, all together and the slowest.
    pub took_ms: i64,
    pub slowest_ms: i64,
}

/// What was compared of an operation with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearsalSumRow {
    pub operation: String,
    pub model: String,
    pub calls: i64,
    pub alike: i64,
    /// How many differ in whether they succeeded, in how many results came, in their size.
    pub status: i64,
    pub count: i64,
    pub size: i64,
    pub answered: RehearsalCounts,
    pub copied: RehearsalCounts,
}

impl FromRow for RehearsalSumRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            operation: columns.text()?,
            model: columns.text()?,
            calls: columns.int()?,
            alike: columns.int()?,
            status: columns.int()?,
            count: columns.int()?,
            size: columns.int()?,
            answered: RehearsalCounts::read(columns)?,
            copied: RehearsalCounts::read(columns)?,
        })
    }
}

impl FromRow for RehearsalCounts {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            succeeded: columns.int()?,
            cost: columns.int()?,
            costed: columns.int()?,
            took_ms: columns.int()?,
            slowest_ms: columns.int()?,
        })
    }
}

/// A copy that was compared.
#[derive(Clone, Debug)]
pub struct RehearsalResult {
    pub id: String,
    pub backend_id: String,
    /// One call: its counts are of it alone.
    pub sum: RehearsalSumRow,
    /// What is to be shown of it, as JSON; nothing when it came out alike.
    pub call: Option<String>,
    /// What it cost beyond what was set aside for it; below 0 when it cost less.
    pub beyond: i64,
    pub at_ms: i64,
}

/// Rehearsals of back ends.
#[derive(Clone, Copy, Debug)]
pub struct Rehearsals<'a>(pub(crate) &'a StoreCore);

impl Rehearsals<'_> {
    /// All that have begun.
    pub async fn all(self) -> Result<Vec<RehearsalRow>> {
        let sql = "SELECT backend_id, since_ms, spent, paused_ms FROM rehearsal";
        self.0.db.all(sql, &[]).await
    }

    /// What was compared of a back end, the most calls first.
    pub async fn sums(self, backend_id: &str) -> Result<Vec<RehearsalSumRow>> {
        self.0.db.all(SUMS, args![backend_id]).await
    }

    /// The latest calls of a back end that did not come out alike, as JSON, newest first.
    pub async fn latest(self, backend_id: &str, most: i64) -> Result<Vec<String>> {
        let sql = "SELECT call FROM rehearsal_call WHERE backend_id = $1 ORDER BY at_ms DESC, id DESC LIMIT $2";
        self.0.db.all(sql, args![backend_id, most]).await
    }

    /// Sets aside what a copy is to cost, unless that is more than is left; the rehearsal as it is then, and whether it was.
    pub async fn set_aside(
        self,
        backend_id: &str,
        cost: i64,
        cap: i64,
        now_ms: i64,
    ) -> Result<(RehearsalRow, bool)> {
        let input = (backend_id.to_owned(), cost, cap, now_ms);
        self.0
            .change(input, |conn, (backend_id, cost, cap, now_ms)| {
                Box::pin(set_aside(conn, backend_id, *cost, *cap, *now_ms))
            })
            .await
    }

    /// Gives back what was set aside for a copy that was not made.
    pub async fn give_back(self, backend_id: &str, cost: i64) -> Result<()> {
        self.0
            .change((backend_id.to_owned(), cost), |conn, (backend_id, cost)| {
                Box::pin(async move {
                    let values = args![&*backend_id, -*cost];
                    conn.run(SPEND, values).await.map(|_| ())
                })
            })
            .await
    }

    /// Has a back end left alone until a moment.
    pub async fn pause(self, backend_id: &str, until_ms: i64) -> Result<()> {
        self.0
            .change((backend_id.to_owned(), until_ms), |conn, (id, until_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE rehearsal SET paused_ms = $2 WHERE backend_id = $1";
                    conn.run(sql, args![&*id, *until_ms]).await.map(|_| ())
                })
            })
            .await
    }

    /// Writes down how a copy compared.
    pub async fn record(self, result: RehearsalResult) -> Result<()> {
        self.0
            .change(result, |conn, result| Box::pin(record(conn, result)))
            .await
    }

    /// Forgets what was compared of a back end and what it cost; whether there was anything.
    pub async fn clear(self, backend_id: &str, act: AuditRow) -> Result<bool> {
        audited_change::run(
            self.0,
            backend_id.to_owned(),
            Some(act),
            |conn, id| Box::pin(clear(conn, id)),
            |cleared| *cleared,
        )
        .await
    }
}

const TABLES: [&str; 3] = ["rehearsal_call", "rehearsal_sum", "rehearsal"];

async fn set_aside(
    conn: &mut Conn,
    backend_id: &str,
    cost: i64,
    cap: i64,
    now_ms: i64,
) -> Result<(RehearsalRow, bool)> {
    conn.run(BEGIN, args![backend_id, now_ms]).await?;
    let sql =
        "SELECT backend_id, since_ms, spent, paused_ms FROM rehearsal WHERE backend_id = $1 {lock}";
    let row: Option<RehearsalRow> = conn.maybe(sql, args![backend_id]).await?;
    let mut row = row.unwrap_or_default();
    // One that costs nothing is let through until the cap is spent, too.
    let fits = row.spent < cap && row.spent.saturating_add(cost) <= cap && row.paused_ms <= now_ms;
    if fits && cost > 0 {
        conn.run(SPEND, args![backend_id, cost]).await?;
        row.spent += cost;
    }
    Ok((row, fits))
}

async fn record(conn: &mut Conn, result: &RehearsalResult) -> Result<()> {
    let RehearsalSumRow {
        operation,
        model,
        calls,
        alike,
        status,
        count,
        size,
        answered,
        copied,
    } = &result.sum;
    let values = args![
        &result.backend_id,
        operation,
        model,
        *calls,
        *alike,
        *status,
        *count,
        *size,
        answered.succeeded,
        answered.cost,
        answered.costed,
        answered.took_ms,
        answered.slowest_ms,
        copied.succeeded,
        copied.cost,
        copied.costed,
        copied.took_ms,
        copied.slowest_ms
    ];
    conn.run(ADD, values).await?;
    if result.beyond != 0 {
        conn.run(SPEND, args![&result.backend_id, result.beyond])
            .await?;
    }
    if let Some(call) = &result.call {
        let sql =
            "INSERT INTO rehearsal_call (id, backend_id, at_ms, call) VALUES ($1, $2, $3, $4)";
        let values = args![&result.id, &result.backend_id, result.at_ms, call];
        conn.run(sql, values).await?;
        conn.run(TRIM, args![&result.backend_id, CALLS_KEPT])
            .await?;
    }
    Ok(())
}

/// Forgets what was compared of a back end and what it cost; whether there was anything.
pub(crate) async fn clear(conn: &mut Conn, backend_id: &str) -> Result<bool> {
    let mut cleared = false;
    for table in TABLES {
        let sql = format!("DELETE FROM {table} WHERE backend_id = $1");
        cleared |= conn.run(&sql, args![backend_id]).await? > 0;
    }
    Ok(cleared)
}

const BEGIN: &str = "INSERT INTO rehearsal (backend_id, since_ms, spent, paused_ms) VALUES ($1, $2, 0, 0) \
     ON CONFLICT (backend_id) DO NOTHING";

const SPEND: &str = "UPDATE rehearsal SET spent = CASE WHEN spent + $2 < 0 THEN 0 ELSE spent + $2 END WHERE backend_id = $1";

const ADD: &str = "INSERT INTO rehearsal_sum AS old (backend_id, operation, model, calls, alike, status, count, size, answered, \
     answered_cost, answered_costed, answered_ms, answered_most_ms, copied, copied_cost, copied_costed, copied_ms, copied_most_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) \
     ON CONFLICT (backend_id, operation, model) DO UPDATE SET calls = old.calls + excluded.calls, alike = old.alike + excluded.alike, \
     status = old.status + excluded.status, count = old.count + excluded.count, size = old.size + excluded.size, \
     answered = old.answered + excluded.answered, answered_cost = old.answered_cost + excluded.answered_cost, \
     answered_costed = old.answered_costed + excluded.answered_costed, answered_ms = old.answered_ms + excluded.answered_ms, \
     answered_most_ms = CASE WHEN excluded.answered_most_ms > old.answered_most_ms THEN excluded.answered_most_ms ELSE old.answered_most_ms END, \
     copied = old.copied + excluded.copied, copied_cost = old.copied_cost + excluded.copied_cost, \
     copied_costed = old.copied_costed + excluded.copied_costed, copied_ms = old.copied_ms + excluded.copied_ms, \
     copied_most_ms = CASE WHEN excluded.copied_most_ms > old.copied_most_ms THEN excluded.copied_most_ms ELSE old.copied_most_ms END";

const TRIM: &str = "DELETE FROM rehearsal_call WHERE backend_id = $1 AND id IN (SELECT id FROM rehearsal_call WHERE backend_id = $1 \
     ORDER BY at_ms DESC, id DESC LIMIT 1000 OFFSET $2)";

const SUMS: &str = "SELECT operation, model, calls, alike, status, count, size, answered, answered_cost, answered_costed, answered_ms, \
     answered_most_ms, copied, copied_cost, copied_costed, copied_ms, copied_most_ms FROM rehearsal_sum WHERE backend_id = $1 \
     ORDER BY calls DESC, operation, model LIMIT 200";
