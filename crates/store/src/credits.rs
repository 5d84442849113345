//! Credits as they are looked at, and the end of those that nobody asks about: quota that ends, beside what does not.

use atelier_contract::Quota;

use crate::Result;
use crate::batch::ledger_batch::LedgerBatch;
use crate::db::{Conn, args, json};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// Credits that have ended which a look shows, beside those that have not.
const ENDED_SHOWN: i64 = 100;

/// A credit of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreditRow {
    pub id: String,
    /// voucher, payment, plan, import or grant.
    pub source: String,
    pub amount: Quota,
    /// What can still be spent of it.
    pub left: Quota,
    /// What unfinished jobs hold of it.
    pub held: Quota,
    pub spent: Quota,
    /// What was not spent when it ended.
    pub lapsed: Quota,
    pub expires_ms: i64,
    pub created_ms: i64,
    /// What it came of, in words for people.
    pub origin: String,
}

/// What an account has, and what of it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountCredits {
    /// What never ends and is not held.
    pub base: Quota,
    /// What unfinished jobs hold of what never ends.
    pub base_held: Quota,
    /// What it owes, and how much it may owe for work.
    pub debt: Quota,
    pub credit_limit: Quota,
    /// In the order in which they are spent; then those that have ended, the latest first.
    pub credits: Vec<CreditRow>,
}

/// A credit and the account as they are at one moment.
struct SeenRow {
    balance: i64,
    frozen: i64,
    debt: Quota,
    credit_limit: Quota,
    credit: Option<SeenCredit>,
}

struct SeenCredit {
    row: CreditRow,
    ended: bool,
    stays: bool,
}

impl FromRow for SeenRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let mut seen = Self {
            balance: columns.int()?,
            frozen: columns.int()?,
            debt: columns.quota()?,
            credit_limit: columns.quota()?,
            credit: None,
        };
        let Some(id) = columns.maybe_text()? else {
            return Ok(seen);
        };
        let row = CreditRow {
            id,
            source: columns.text()?,
            amount: columns.quota()?,
            left: columns.quota()?,
            held: columns.quota()?,
            spent: columns.quota()?,
            lapsed: columns.quota()?,
            expires_ms: columns.int()?,
            created_ms: columns.int()?,
            origin: columns.text()?,
        };
        let ended = columns.maybe_int()?.is_some();
        let stays = columns.int()? > 0;
        seen.credit = Some(SeenCredit { row, ended, stays });
        Ok(seen)
    }
}

/// Quota that ends.
#[derive(Clone, Copy, Debug)]
pub struct Credits<'a>(pub(crate) &'a StoreCore);

impl Credits<'_> {
    /// What an account has at a moment; `None` when there is no such account. What is over by then is shown as ended, whether or not
    /// that is booked.
    pub async fn of(self, account_id: &str, now_ms: i64) -> Result<Option<AccountCredits>> {
        let reader = self.0.db.of(Some(account_id));
        let open: Vec<SeenRow> = reader.all(SEEN, args![account_id]).await?;
        let Some(first) = open.first() else {
            return Ok(None);
        };
        let (balance, frozen) = (first.balance, first.frozen);
        let (debt, credit_limit) = (first.debt, first.credit_limit);
        let all = || open.iter().filter_map(|one| one.credit.as_ref());
        let sum = |of: fn(&CreditRow) -> Quota| -> i64 {
            all().map(|one| of(&one.row).thousandths()).sum()
        };
        let base = balance - sum(|row| row.left);
        let base_held = frozen - sum(|row| row.held);
        let (mut credits, mut over) = (Vec::new(), Vec::new());
        for one in open.into_iter().filter_map(|one| one.credit) {
            let SeenCredit {
                mut row,
                ended,
                stays,
            } = one;
            if ended || (row.expires_ms <= now_ms && !stays) {
                row.lapsed = row.lapsed + row.left;
                row.left = Quota::ZERO;
                over.push(row);
            } else {
                credits.push(row);
            }
        }
        let ended = reader
            .all(ENDED, args![account_id, ENDED_SHOWN])
            .await?
            .into_iter()
            .filter_map(|one: SeenRow| one.credit);
        credits.extend(over.into_iter().rev());
        credits.extend(ended.map(|one| one.row));
        Ok(Some(AccountCredits {
            base: Quota::from_thousandths(base),
            base_held: Quota::from_thousandths(base_held),
            debt,
            credit_limit,
            credits,
        }))
    }

    /// Books what was over by a moment of accounts that do nothing, of so many at most; how many there were. Whoever else does the same
    /// finds nothing left.
    pub async fn end_due(self, now_ms: i64, accounts: i64) -> Result<usize> {
        let due: Vec<String> = self.0.db.all(DUE, args![now_ms, accounts]).await?;
        if due.is_empty() {
            return Ok(0);
        }
        self.0
            .change_alone((due, now_ms), |conn, (due, now_ms)| {
                Box::pin(end(conn, due, *now_ms))
            })
            .await
    }
}

/// Those that somebody else works on are left out: that books what is over as well, and nobody waits for the other in a circle.
async fn end(conn: &mut Conn, accounts: &[String], now_ms: i64) -> Result<usize> {
    let free = "SELECT id FROM account WHERE id IN ({list:$1}) ORDER BY id {lock free}";
    let free: Vec<String> = conn.all(free, args![&json(accounts)]).await?;
    let ids: Vec<&str> = free.iter().map(String::as_str).collect();
    let mut books = LedgerBatch::load(conn, &ids, &[]).await?;
    for id in ids {
        books.end_credits(id, now_ms);
    }
    books.write(conn).await?;
    Ok(free.len())
}

const SEEN: &str = "SELECT account.balance, account.frozen, COALESCE(account.debt, 0), COALESCE(account.credit_limit, 0), credit.id, credit.source, credit.amount, credit.remaining, \
     credit.held, credit.spent, credit.lapsed, credit.expires_ms, credit.created_ms, credit.origin, credit.ended_ms, credit.stays \
     FROM account LEFT JOIN credit ON credit.account_id = account.id AND (credit.ended_ms IS NULL OR credit.held > 0) \
     WHERE account.id = $1 ORDER BY credit.expires_ms, credit.id";

const ENDED: &str = "SELECT account.balance, account.frozen, COALESCE(account.debt, 0), COALESCE(account.credit_limit, 0), credit.id, credit.source, credit.amount, credit.remaining, \
     credit.held, credit.spent, credit.lapsed, credit.expires_ms, credit.created_ms, credit.origin, credit.ended_ms, credit.stays \
     FROM account JOIN credit ON credit.account_id = account.id AND credit.ended_ms IS NOT NULL AND credit.held = 0 \
     WHERE account.id = $1 ORDER BY credit.expires_ms DESC, credit.id DESC LIMIT $2";

const DUE: &str = "SELECT DISTINCT account_id FROM (SELECT account_id FROM credit \
     WHERE ended_ms IS NULL AND stays = 0 AND expires_ms <= $1 ORDER BY expires_ms LIMIT $2) AS due ORDER BY account_id";
