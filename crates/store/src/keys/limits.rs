//! What a key may spend in windows, as it is stored, and what it has spent so far when a limit is new.

use atelier_contract::{LimitWindow, Quota};

use crate::Result;
use crate::db::{Conn, args, json};
use crate::row::{Columns, FromRow};

/// How much a key may spend in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLimit {
    pub window: LimitWindow,
    pub quota: Quota,
}

/// What a key and those below it hold and have spent in a window of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpending {
    pub key_id: String,
    pub window: LimitWindow,
    /// With what unfinished jobs hold.
    pub spent: Quota,
    /// When the window began.
    pub from_ms: i64,
    /// When the next one begins.
    pub until_ms: i64,
}

impl FromRow for KeySpending {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            key_id: columns.text()?,
            window: LimitWindow::from_word(&columns.text()?).unwrap_or_default(),
            spent: columns.quota()?,
            from_ms: columns.int()?,
            until_ms: columns.int()?,
        })
    }
}

/// The name of the window in which unfinished jobs of a queue are counted.
pub(crate) fn queue_span(queue: &str) -> String {
    format!("queue:{queue}")
}

/// Limits as they are written in a key's row; `None` for none.
pub(crate) fn write_limits(limits: &[KeyLimit]) -> Option<String> {
    let words = limits
        .iter()
        .map(|one| format!("{}={}", one.window.word(), one.quota.thousandths()));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(","))
}

/// Reads what [`write_limits`] wrote.
pub(crate) fn read_limits(text: Option<&str>) -> Vec<KeyLimit> {
    let parts = text.into_iter().flat_map(|text| text.split(','));
    let limit = |part: &str| {
        let (word, quota) = part.split_once('=')?;
        Some(KeyLimit {
            window: LimitWindow::from_word(word)?,
            quota: Quota::from_thousandths(quota.parse().ok()?),
        })
    };
    parts.filter_map(limit).collect()
}

/// A key whose counters begin or end.
pub(crate) struct CountedKey<'a> {
    pub(crate) account_id: &'a str,
    pub(crate) key_id: &'a str,
    /// The keys above it, with spaces between them.
    pub(crate) above: Option<&'a str>,
    pub(crate) now_ms: i64,
}

impl CountedKey<'_> {
    /// Begins the window of a limit with what has been spent and is held in it already, by jobs of the key and of those below it.
    /// Where a window of theirs or of the keys above began later than now, because the clock was put back since, that is where jobs
    /// count: it begins with theirs, too.
    pub(crate) async fn begin(&self, conn: &mut Conn, window: LimitWindow) -> Result<()> {
        let above: Vec<&str> = self
            .above
            .iter()
            .flat_map(|above| above.split(' '))
            .collect();
        let above = json(&above);
        let values = args![self.account_id, self.key_id, &above];
        let latest = conn.maybe::<Option<i64>>(LATEST, values).await?;
        let later = latest.flatten().filter(|at_ms| *at_ms > self.now_ms);
        for at_ms in [self.now_ms].into_iter().chain(later) {
            let (from_ms, until_ms) = window.span(at_ms);
            let values = args![
                self.account_id,
                self.key_id,
                window.word(),
                from_ms,
                until_ms
            ];
            conn.run(BEGIN, values).await?;
        }
        Ok(())
    }

    /// Begins to count unfinished jobs by their queue.
    pub(crate) async fn begin_queues(&self, conn: &mut Conn) -> Result<()> {
        let values = args![self.account_id, self.key_id, i64::MAX];
        conn.run(BEGIN_QUEUES, values).await.map(|_| ())
    }

    /// Forgets the windows of a limit.
    pub(crate) async fn end(&self, conn: &mut Conn, window: LimitWindow) -> Result<()> {
        let sql = "DELETE FROM key_window WHERE account_id = $1 AND key_id = $2 AND span = $3";
        let values = args![self.account_id, self.key_id, window.word()];
        conn.run(sql, values).await.map(|_| ())
    }

    /// Forgets how many unfinished jobs there are.
    pub(crate) async fn end_queues(&self, conn: &mut Conn) -> Result<()> {
        let sql =
            "DELETE FROM key_window WHERE account_id = $1 AND key_id = $2 AND span LIKE 'queue:%'";
        let values = args![self.account_id, self.key_id];
        conn.run(sql, values).await.map(|_| ())
    }
}

/// Notes how many keys of an account count what is spent with them; those that no longer work may have jobs that do.
pub(crate) async fn count_keys(conn: &mut Conn, account_id: &str) -> Result<()> {
    conn.run(COUNT_KEYS, args![&json(&[account_id])])
        .await
        .map(|_| ())
}

const LATEST: &str = "SELECT MAX(from_ms) FROM key_window WHERE account_id = $1 AND (key_id = $2 OR key_id IN ({list:$3}) \
     OR key_id IN (SELECT below.id FROM api_key AS below WHERE below.account_id = $1 AND ' ' || below.above || ' ' LIKE '% ' || $2 || ' %'))";

const BEGIN: &str = "INSERT INTO key_window (account_id, key_id, span, from_ms, until_ms, held, spent, open) \
     SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS BIGINT), \
       (SELECT CAST(COALESCE(SUM(price), 0) AS BIGINT) FROM job WHERE account_id = $1 AND state < 2 AND (key_id = $2 OR ' ' || key_above || ' ' LIKE '% ' || $2 || ' %') \
         AND COALESCE(counted_ms, created_ms) >= $4 AND COALESCE(counted_ms, created_ms) < $5), \
       (SELECT CAST(COALESCE(SUM(quota), 0) AS BIGINT) FROM used WHERE account_id = $1 AND (key_id = $2 OR ' ' || key_above || ' ' LIKE '% ' || $2 || ' %') \
         AND day >= $4 / 86400000 AND day < $5 / 86400000), \
       (SELECT COUNT(*) FROM job WHERE account_id = $1 AND state < 2 AND (key_id = $2 OR ' ' || key_above || ' ' LIKE '% ' || $2 || ' %') \
         AND COALESCE(counted_ms, created_ms) >= $4 AND COALESCE(counted_ms, created_ms) < $5) \
     WHERE TRUE ON CONFLICT (account_id, key_id, span, from_ms) \
     DO UPDATE SET held = excluded.held, spent = excluded.spent, open = excluded.open";

const BEGIN_QUEUES: &str = "INSERT INTO key_window (account_id, key_id, span, from_ms, until_ms, held, spent, open) \
     SELECT account_id, CAST($2 AS TEXT), 'queue:' || queue, 0, CAST($3 AS BIGINT), 0, 0, COUNT(*) FROM job \
     WHERE account_id = $1 AND state < 2 AND (key_id = $2 OR ' ' || key_above || ' ' LIKE '% ' || $2 || ' %') GROUP BY account_id, queue";

/// Counts the keys of some accounts that count in windows.
pub(crate) const COUNT_KEYS: &str = "UPDATE account SET counting_keys = (SELECT COUNT(*) FROM api_key WHERE api_key.account_id = account.id \
     AND (api_key.limits IS NOT NULL OR api_key.max_queue IS NOT NULL)) WHERE id IN ({list:$1})";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_were_written() {
        let limit = |window, thousandths| KeyLimit {
            window,
            quota: Quota::from_thousandths(thousandths),
        };
        let limits = vec![limit(LimitWindow::Day, 1_500), limit(LimitWindow::Total, 1)];
        let text = write_limits(&limits);
        assert_eq!(text.as_deref(), Some("day=1500,total=1"));
        assert_eq!(read_limits(text.as_deref()), limits);
        assert_eq!(write_limits(&[]), None);
        assert!(read_limits(None).is_empty());
    }
}
