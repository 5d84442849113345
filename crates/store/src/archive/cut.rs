//! Where the ledger of an account is cut: above everything that is old enough. A job goes with the row that resolves its
//! hold; the hold of a job that was still at work at the cut goes before it.

use crate::Result;
use crate::db::args;
use crate::readers::Db;

/// Ledger rows moved at once, so that no commit is long.
const STEP: i64 = 1_000;

/// The oldest ledger rows of an account that can be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveCut {
    pub account_id: String,
    /// The rows after this number…
    pub from: i64,
    /// …and up to this one; the same when there is nothing to move.
    pub to: i64,
    /// Whether there may be more after them.
    pub more: bool,
    /// How much their jobs say. Words that are removed before the rows are moved must not stay in what was read before.
    pub words: i64,
}

/// The jobs whose holds some ledger rows resolve.
pub(super) const JOBS: &str = "SELECT job_id FROM ledger WHERE account_id = $1 AND number > $2 AND number <= $3 \
     AND kind IN ('capture', 'release')";

/// How much jobs say, all together.
pub(super) const WORDS: &str = "SELECT CAST(COALESCE(SUM(LENGTH(request) + LENGTH(COALESCE(output, '')) \
     + LENGTH(COALESCE(message, ''))), 0) AS BIGINT) FROM job WHERE id IN";

const FROM: &str = "SELECT number FROM ledger_checkpoint WHERE account_id = $1";

/// The first row that is too young.
const YOUNG: &str = "SELECT number FROM ledger WHERE account_id = $1 AND number > $2 AND number <= $3 \
     AND time_ms >= $4 ORDER BY number LIMIT 1";

/// The last row there is.
const LAST: &str = "SELECT number FROM ledger WHERE account_id = $1 AND number > $2 AND number <= $3 \
     ORDER BY number DESC LIMIT 1";

/// The first row that resolves the hold of a job whose result is still owed to its caller.
const OWED: &str = "SELECT l.number FROM ledger l JOIN delivery ON delivery.job_id = l.job_id \
     WHERE l.account_id = $1 AND l.number > $2 AND l.number <= $3 AND l.kind IN ('capture', 'release') \
     AND delivery.state IN ('due', 'sending') ORDER BY l.number LIMIT 1";

/// Finds the cut of an account.
pub(super) async fn find(db: &Db, account_id: String, before_ms: i64) -> Result<ArchiveCut> {
    let from: Option<i64> = db.maybe(FROM, args![&account_id]).await?;
    let from = from.unwrap_or(0);
    let end = from + STEP;
    let young: Option<i64> = db
        .maybe(YOUNG, args![&account_id, from, end, before_ms])
        .await?;
    let last: Option<i64> = db.maybe(LAST, args![&account_id, from, end]).await?;
    let owed: Option<i64> = db.maybe(OWED, args![&account_id, from, end]).await?;
    let to = [young.map(|row| row - 1), owed.map(|row| row - 1), last];
    let to = to.into_iter().flatten().min().unwrap_or(from);
    let words = format!("{WORDS} ({JOBS})");
    let words: Option<i64> = db.maybe(&words, args![&account_id, from, to]).await?;
    Ok(ArchiveCut {
        account_id,
        from,
        to,
        more: to == end,
        words: words.unwrap_or(0),
    })
}
