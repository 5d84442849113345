//! Top-ups: an account buys a product by itself when its balance falls below a threshold, from a customer that its provider has saved, and
//! for no more money a month than its owner said.

use atelier_contract::Quota;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// After a purchase, and where there is nothing to do, the next look is so much later.
const AGAIN_MS: i64 = 60_000;
/// After each failure in a row the next try is so much later; after the last of them there is none.
const AFTER_FAILURE_MS: [i64; 2] = [3_600_000, 24 * 3_600_000];

/// The top-up of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopupRow {
    pub account_id: String,
    pub provider: String,
    pub product: String,
    /// It buys when the balance is below that.
    pub threshold: Quota,
    /// The most money that it spends in a month, in minor units.
    pub monthly_cap: i64,
    /// Whether it buys; after three failures in a row it does not.
    pub active: bool,
    pub failures: i64,
    /// Why it does not buy, where it does not.
    pub why: Option<String>,
    next_ms: i64,
}

impl FromRow for TopupRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            provider: columns.text()?,
            product: columns.text()?,
            threshold: columns.quota()?,
            monthly_cap: columns.int()?,
            active: columns.int()? > 0,
            failures: columns.int()?,
            why: columns.maybe_text()?,
            next_ms: columns.int()?,
        })
    }
}

/// What a top-up shall be.
#[derive(Clone, Debug)]
pub struct NewTopup {
    pub account_id: String,
    pub provider: String,
    pub product: String,
    pub threshold: Quota,
    pub monthly_cap: i64,
    pub now_ms: i64,
}

/// Top-ups of accounts.
#[derive(Clone, Copy, Debug)]
pub struct Topups<'a>(pub(crate) &'a StoreCore);

impl Topups<'_> {
    /// The top-up of an account.
    pub async fn of(self, account_id: &str) -> Result<Option<TopupRow>> {
        let reader = self.0.db.of(Some(account_id));
        reader.maybe(OF, args![account_id]).await
    }

    /// Money that the top-up of an account has spent or is about to since a moment.
    pub async fn spent(self, account_id: &str, since_ms: i64) -> Result<i64> {
        let reader = self.0.db.of(Some(account_id));
        reader.one(SPENT, args![account_id, since_ms]).await
    }

    /// What a provider calls the customer of an account, if it has saved one.
    pub async fn customer(self, account_id: &str, provider: &str) -> Result<Option<String>> {
        let reader = self.0.db.of(Some(account_id));
        reader.maybe(CUSTOMER, args![account_id, provider]).await
    }

    /// Sets the top-up of an account; it buys from now on.
    pub async fn set(self, new: NewTopup, act: Option<AuditRow>) -> Result<()> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| {
                Box::pin(async move {
                    let values = args![
                        &new.account_id,
                        &new.provider,
                        &new.product,
                        new.threshold.thousandths(),
                        new.monthly_cap,
                        new.now_ms
                    ];
                    conn.run(SET, values).await.map(|_| ())
                })
            },
            |()| true,
        )
        .await
    }

    /// Takes the top-up of an account away; whether it had one.
    pub async fn remove(self, account_id: &str, act: Option<AuditRow>) -> Result<bool> {
        audited_change::run(
            self.0,
            account_id.to_owned(),
            act,
            |conn, account_id| {
                Box::pin(async move {
                    let sql = "DELETE FROM topup WHERE account_id = $1";
                    Ok(conn.run(sql, args![account_id]).await? > 0)
                })
            },
            |removed| *removed,
        )
        .await
    }

    /// Accounts whose top-up may have to buy by a moment, or has a payment whose outcome is not known; so many at most.
    pub async fn due(self, now_ms: i64, most: i64) -> Result<Vec<String>> {
        self.0.db.all(DUE, args![now_ms, most]).await
    }

    /// Notes that a purchase failed, and why; after three in a row it buys no more.
    pub async fn failed(self, account_id: &str, why: &str, now_ms: i64) -> Result<()> {
        let input = (account_id.to_owned(), why.to_owned(), now_ms);
        self.0
            .change(input, |conn, (account_id, why, now_ms)| {
                Box::pin(failed(conn, account_id, why, *now_ms))
            })
            .await
    }
}

/// A top-up as the writer sees it, with the lock of its account.
pub(crate) struct DueTopup {
    pub(crate) row: TopupRow,
    /// What the provider calls the customer.
    pub(crate) customer: Option<String>,
    pub(crate) balance: Quota,
    pub(crate) spent: i64,
}

/// The top-up of an account that may have to buy; `None` where it does not.
pub(crate) async fn look(
    conn: &mut Conn,
    account_id: &str,
    (month_ms, now_ms): (i64, i64),
) -> Result<Option<DueTopup>> {
    let balance: Option<i64> = conn.maybe(LOCK, args![account_id]).await?;
    let row: Option<TopupRow> = conn.maybe(OF, args![account_id]).await?;
    // Someone else may have it in hand.
    let row = row.filter(|row| row.active && row.next_ms <= now_ms);
    let (Some(balance), Some(row)) = (balance, row) else {
        return Ok(None);
    };
    let spent: Option<i64> = conn.maybe(SPENT, args![account_id, month_ms]).await?;
    let values = args![account_id, &row.provider];
    Ok(Some(DueTopup {
        customer: conn.maybe(CUSTOMER, values).await?,
        balance: Quota::from_thousandths(balance),
        spent: spent.unwrap_or(0),
        row,
    }))
}

/// Looks at a top-up again no earlier than at a moment.
pub(crate) async fn wait(
    conn: &mut Conn,
    account_id: &str,
    (next_ms, why): (i64, Option<&str>),
) -> Result<()> {
    conn.run(WAIT, args![account_id, next_ms, why])
        .await
        .map(|_| ())
}

/// When a top-up is looked at next that has bought, or need not.
pub(crate) fn soon(now_ms: i64) -> i64 {
    now_ms.saturating_add(AGAIN_MS)
}

/// Has a top-up buy no more until its owner sets it again.
pub(crate) async fn stop(conn: &mut Conn, account_id: &str, why: &str) -> Result<()> {
    conn.run(STOP, args![account_id, why]).await.map(|_| ())
}

/// Notes that a purchase was paid.
pub(crate) async fn paid(conn: &mut Conn, account_id: &str) -> Result<()> {
    conn.run(PAID, args![account_id]).await.map(|_| ())
}

/// Notes what a provider calls the customer of an account.
pub(crate) async fn save(
    conn: &mut Conn,
    (account_id, provider): (&str, &str),
    (reference, now_ms): (&str, i64),
) -> Result<()> {
    let values = args![account_id, provider, reference, now_ms];
    conn.run(SAVE, values).await.map(|_| ())
}

/// Forgets top-up and customers of an account that goes.
pub(crate) async fn forget(conn: &mut Conn, account_id: &str) -> Result<()> {
    for sql in [
        "DELETE FROM topup WHERE account_id = $1",
        "DELETE FROM payment_customer WHERE account_id = $1",
    ] {
        conn.run(sql, args![account_id]).await?;
    }
    Ok(())
}

async fn failed(conn: &mut Conn, account_id: &str, why: &str, now_ms: i64) -> Result<()> {
    let row: Option<TopupRow> = conn.maybe(OF, args![account_id]).await?;
    let Some(row) = row else {
        return Ok(());
    };
    let place = usize::try_from(row.failures).unwrap_or(usize::MAX);
    match AFTER_FAILURE_MS.get(place) {
        Some(after_ms) => {
            let values = args![account_id, now_ms.saturating_add(*after_ms), why];
            conn.run(FAILED, values).await.map(|_| ())
        }
        None => stop(conn, account_id, why).await,
    }
}

const OF: &str = "SELECT account_id, provider, product, threshold, monthly_cap, active, failures, why, next_ms FROM topup WHERE account_id = $1";

// One that was deleted keeps its row.
const LOCK: &str =
    "SELECT balance FROM account WHERE id = $1 AND email_key <> 'deleted-' || id {lock}";

const SPENT: &str = "SELECT CAST(COALESCE(SUM(money), 0) AS BIGINT) FROM payment WHERE account_id = $1 AND topup = 1 \
     AND created_ms >= $2 AND state NOT IN ('failed', 'expired')";

const CUSTOMER: &str =
    "SELECT reference FROM payment_customer WHERE account_id = $1 AND provider = $2";

const SET: &str = "INSERT INTO topup (account_id, provider, product, threshold, monthly_cap, active, failures, next_ms, changed_ms) \
     VALUES ($1, $2, $3, $4, $5, 1, 0, 0, $6) ON CONFLICT (account_id) DO UPDATE SET provider = excluded.provider, \
     product = excluded.product, threshold = excluded.threshold, monthly_cap = excluded.monthly_cap, active = 1, failures = 0, \
     why = NULL, next_ms = 0, changed_ms = excluded.changed_ms";

const DUE: &str = "SELECT topup.account_id FROM topup JOIN account ON account.id = topup.account_id \
     WHERE topup.active = 1 AND topup.next_ms <= $1 AND NOT account.disabled AND (account.balance < topup.threshold \
       OR EXISTS (SELECT 1 FROM payment WHERE payment.account_id = topup.account_id AND payment.topup = 1 AND payment.state = 'pending')) \
     ORDER BY topup.next_ms LIMIT $2";

const WAIT: &str = "UPDATE topup SET next_ms = $2, why = $3 WHERE account_id = $1";

const FAILED: &str =
    "UPDATE topup SET failures = failures + 1, next_ms = $2, why = $3 WHERE account_id = $1";

const STOP: &str =
    "UPDATE topup SET failures = failures + 1, active = 0, why = $2 WHERE account_id = $1";

const PAID: &str = "UPDATE topup SET failures = 0, why = NULL WHERE account_id = $1";

const SAVE: &str = "INSERT INTO payment_customer (account_id, provider, reference, saved_ms) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (account_id, provider) DO UPDATE SET reference = excluded.reference, saved_ms = excluded.saved_ms";
