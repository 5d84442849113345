//! Months that are closed for all accounts: how far that is, and whose books are closed.

use atelier_contract::Quota;
use atelier_contract::month::Month;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::args;
use crate::row::{Columns, FromRow};
use crate::statements::Statements;

/// A month that is closed for all accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthClose {
    pub month: i64,
    /// Who had it closed.
    pub actor: String,
    /// The last account that was looked at.
    pub after_id: String,
    pub begun_ms: i64,
    pub ended_ms: Option<i64>,
}

impl FromRow for MonthClose {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            month: columns.int()?,
            actor: columns.text()?,
            after_id: columns.text()?,
            begun_ms: columns.int()?,
            ended_ms: columns.maybe_int()?,
        })
    }
}

const COLUMNS: &str = "month, actor, after_id, begun_ms, ended_ms";

/// The wish to go on with a month that nobody works on.
#[derive(Clone, Debug)]
pub struct CloseClaim {
    pub node: String,
    pub now_ms: i64,
    /// Until when it is this node's.
    pub until_ms: i64,
}

/// How many accounts of a month have what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseTally {
    /// Accounts that there were by its end.
    pub accounts: i64,
    /// Those that have a statement.
    pub closed: i64,
    /// What jobs of those consumed.
    pub charged: Quota,
    /// Those that could have none.
    pub refused: i64,
}

impl FromRow for CloseTally {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            accounts: columns.int()?,
            closed: columns.int()?,
            charged: columns.quota()?,
            refused: columns.int()?,
        })
    }
}

/// The books of an account in a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookRow {
    pub account_id: String,
    pub email: String,
    pub closing: Option<Quota>,
    pub charged: Option<Quota>,
    /// The SHA-256 of its statement, if it has one.
    pub hash: Option<String>,
    /// Why it could have none.
    pub why: Option<String>,
}

impl FromRow for BookRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        let quota = |thousandths: Option<i64>| thousandths.map(Quota::from_thousandths);
        Ok(Self {
            account_id: columns.text()?,
            email: columns.text()?,
            closing: quota(columns.maybe_int()?),
            charged: quota(columns.maybe_int()?),
            hash: columns.maybe_text()?,
            why: columns.maybe_text()?,
        })
    }
}

/// Accounts by the end of a month, with their statements of it.
const BOOKS: &str = "FROM account LEFT JOIN statement ON statement.account_id = account.id AND statement.month = $1 \
     LEFT JOIN month_refusal ON month_refusal.account_id = account.id AND month_refusal.month = $1 \
     WHERE account.created_ms < $2 AND CASE $3 WHEN 'closed' THEN statement.hash IS NOT NULL \
       WHEN 'refused' THEN statement.hash IS NULL AND month_refusal.why IS NOT NULL \
       WHEN 'open' THEN statement.hash IS NULL AND month_refusal.why IS NULL ELSE TRUE END";

const TAKE: &str = "UPDATE month_close SET owner = $1, until_ms = $3 WHERE month IN (SELECT open.month FROM month_close AS open \
     WHERE open.ended_ms IS NULL AND (open.owner = $1 OR open.until_ms <= $2) ORDER BY open.month LIMIT 1 {lock free}) RETURNING";

impl Statements<'_> {
    /// Has a month be closed for all accounts, and whoever was refused looked at again; whether it was not under way already.
    pub async fn close(
        self,
        month: i64,
        actor: &str,
        now_ms: i64,
        act: Option<AuditRow>,
    ) -> Result<bool> {
        let input = (month, actor.to_owned(), now_ms);
        audited_change::run(
            self.0,
            input,
            act,
            |conn, (month, actor, now_ms)| {
                Box::pin(async move {
                    let sql = "INSERT INTO month_close (month, actor, after_id, until_ms, begun_ms) VALUES ($1, $2, '', 0, $3) \
                         ON CONFLICT (month) DO UPDATE SET actor = excluded.actor, after_id = '', owner = NULL, until_ms = 0, \
                         begun_ms = excluded.begun_ms, ended_ms = NULL WHERE month_close.ended_ms IS NOT NULL";
                    let begun = conn.run(sql, args![*month, actor, *now_ms]).await? == 1;
                    if begun {
                        let sql = "DELETE FROM month_refusal WHERE month = $1";
                        conn.run(sql, args![*month]).await?;
                    }
                    Ok(begun)
                })
            },
            |begun| *begun,
        )
        .await
    }

    /// Takes a month that is being closed and that nobody works on.
    pub async fn claim_close(self, claim: CloseClaim) -> Result<Option<MonthClose>> {
        // Nearly always there is none, and nobody has to wait for a commit to know.
        let open = "SELECT COUNT(*) FROM month_close WHERE ended_ms IS NULL";
        if self.0.db.one::<i64>(open, &[]).await? == 0 {
            return Ok(None);
        }
        self.0
            .change(claim, |conn, claim| {
                Box::pin(async move {
                    let sql = format!("{TAKE} {COLUMNS}");
                    let values = args![&claim.node, claim.now_ms, claim.until_ms];
                    conn.maybe(&sql, values).await
                })
            })
            .await
    }

    /// Notes how far a month is closed, who could have no statement, and when all accounts were looked at.
    pub async fn record_close(
        self,
        close: &MonthClose,
        refused: Vec<(String, String)>,
        ended_ms: Option<i64>,
    ) -> Result<()> {
        self.0
            .change((close.clone(), refused, ended_ms), |conn, (close, refused, ended_ms)| {
                Box::pin(async move {
                    for (account_id, why) in refused {
                        let sql = "INSERT INTO month_refusal (month, account_id, why) VALUES ($1, $2, $3) \
                             ON CONFLICT (month, account_id) DO UPDATE SET why = excluded.why";
                        conn.run(sql, args![close.month, account_id, why]).await?;
                    }
                    // Another node that went on meanwhile is not put back.
                    let sql = "UPDATE month_close SET after_id = $2, ended_ms = $3 WHERE month = $1 AND after_id <= $2";
                    conn.run(sql, args![close.month, &close.after_id, *ended_ms]).await.map(|_| ())
                })
            })
            .await
    }

    /// The months that were closed for all accounts, the latest first.
    pub async fn closes(self, first: i64, last: i64) -> Result<Vec<MonthClose>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM month_close WHERE month >= $1 AND month <= $2 ORDER BY month DESC"
        );
        self.0.db.all(&sql, args![first, last]).await
    }

    /// How many accounts of a month have what.
    pub async fn tally(self, month: Month) -> Result<CloseTally> {
        let sql = "SELECT (SELECT COUNT(*) FROM account WHERE created_ms < $2), \
             (SELECT COUNT(*) FROM statement WHERE month = $1), \
             (SELECT CAST(COALESCE(SUM(charged), 0) AS BIGINT) FROM statement WHERE month = $1), \
             (SELECT COUNT(*) FROM month_refusal WHERE month_refusal.month = $1 AND NOT EXISTS (SELECT 1 FROM statement \
                WHERE statement.account_id = month_refusal.account_id AND statement.month = $1))";
        let values = args![month.number(), month.until_ms()];
        self.0.db.one(sql, values).await
    }

    /// A page of the accounts of a month, in a state or in any, and how many there are.
    pub async fn books(
        self,
        month: Month,
        state: Option<&str>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<BookRow>, i64)> {
        let page = format!(
            "SELECT account.id, account.email, statement.closing, statement.charged, statement.hash, month_refusal.why {BOOKS} \
             ORDER BY account.id LIMIT $4 OFFSET $5"
        );
        let state = state.unwrap_or("");
        let (number, until_ms) = (month.number(), month.until_ms());
        let values = args![number, until_ms, state, limit, offset];
        let rows = self.0.db.all(&page, values).await?;
        let count = format!("SELECT COUNT(*) {BOOKS}");
        let total = self
            .0
            .db
            .one(&count, args![number, until_ms, state])
            .await?;
        Ok((rows, total))
    }

    /// When the first account was made.
    pub async fn first_account_ms(self) -> Result<Option<i64>> {
        self.0
            .db
            .one("SELECT MIN(created_ms) FROM account", &[])
            .await
    }
}
