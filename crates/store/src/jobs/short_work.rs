//! Short work of an account beside its long work: whether there is any that a slot is to be left free for.

use crate::Result;
use crate::db::{Conn, args, json};
use crate::jobs::queue::Queue;
use crate::readers::Reader;

/// What counts as short work beside some long work.
#[derive(Clone, Debug, Default)]
pub struct ShortWork {
    /// The operations whose work is short and that the same slots serve.
    pub operations: Vec<&'static str>,
    /// The lanes that the same slots serve.
    pub lanes: Vec<String>,
    /// What is dated at or after this time counts, and besides whatever waits.
    pub since_ms: i64,
}

/// A kind of work whose long jobs are not leased while short work of their account is there.
#[derive(Clone, Debug)]
pub struct YieldRule {
    /// The kind; see [`work_kind`](crate::work_kind).
    pub kind: String,
    /// Whether all its jobs are long, and not those alone that were submitted together.
    pub long: bool,
    /// The short work that they give way to; since when is in the time of the lease.
    pub short: ShortWork,
}

/// Short work of an account that came lately, and such that waits. Each is found by an index of the account's jobs.
const CAME: &str = "SELECT short.id FROM job AS short WHERE short.account_id = {account} \
     AND short.created_ms >= {since} AND short.batched IS NULL \
     AND short.operation IN ({operations}) AND short.lane IN ({lanes})";
const WAITS: &str = "SELECT short.id FROM job AS short WHERE short.account_id = {account} \
     AND short.state < 2 AND short.state + 0 = 0 AND short.batched IS NULL \
     AND short.not_before_ms <= {now} AND short.deadline_ms > {now} \
     AND short.operation IN ({operations}) AND short.lane IN ({lanes})";

fn fill_placeholders(sql: &str, account: &str) -> String {
    sql.replace("{account}", account)
        .replace("{now}", "$2")
        .replace("{since}", "$3")
        .replace("{operations}", "{list:$4}")
        .replace("{lanes}", "{list:$5}")
}

impl Queue<'_> {
    /// Whether an account has short work that came lately or waits.
    pub async fn has_short_work(
        self,
        account_id: &str,
        short: &ShortWork,
        now_ms: i64,
    ) -> Result<bool> {
        let reader = self.0.db.of(None);
        is_there(reader, account_id, short, now_ms).await
    }

    /// The same for a call of the account, on whose behalf it is read.
    pub async fn caller_has_short_work(
        self,
        account_id: &str,
        short: &ShortWork,
        now_ms: i64,
    ) -> Result<bool> {
        let reader = self.0.db.of(Some(account_id));
        is_there(reader, account_id, short, now_ms).await
    }
}

async fn is_there(
    reader: Reader<'_>,
    account_id: &str,
    short: &ShortWork,
    now_ms: i64,
) -> Result<bool> {
    let (came, waits) = (
        fill_placeholders(CAME, "$1"),
        fill_placeholders(WAITS, "$1"),
    );
    let sql = format!("{came} UNION ALL {waits} LIMIT 1");
    let (operations, lanes) = (json(&short.operations), json(&short.lanes));
    let args = args![account_id, now_ms, short.since_ms, &operations, &lanes];
    let found: Option<String> = reader.maybe(&sql, args).await?;
    Ok(found.is_some())
}

/// Of a kind of work those jobs whose turn comes first and that need not give way to short work.
pub(super) async fn choose(
    conn: &mut Conn,
    narrow: &YieldRule,
    now_ms: i64,
    since_ms: i64,
    limit: i64,
) -> Result<Vec<String>> {
    let (came, waits) = (
        fill_placeholders(CAME, "job.account_id"),
        fill_placeholders(WAITS, "job.account_id"),
    );
    let long = if narrow.long {
        "1 = 0"
    } else {
        "job.batched IS NULL"
    };
    let sql = format!(
        "SELECT job.id FROM job WHERE job.state < 1 \
         AND job.operation || ' ' || CAST(job.speed AS TEXT) || ' ' || job.lane = $1 \
         AND job.not_before_ms <= $2 AND job.deadline_ms > $2 \
         AND ({long} OR (NOT EXISTS ({came}) AND NOT EXISTS ({waits}))) \
         ORDER BY job.turn_ms, job.id LIMIT $6"
    );
    let short = &narrow.short;
    let (operations, lanes) = (json(&short.operations), json(&short.lanes));
    let args = args![&narrow.kind, now_ms, since_ms, &operations, &lanes, limit];
    conn.all_replanned(&sql, args).await
}
