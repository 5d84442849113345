//! The plan of an account as it is stored: a new column is a line in each list of this file.

use crate::Result;
use crate::db::{Conn, args};
use crate::row::{Columns, FromRow};

/// The plan of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountPlan {
    pub account_id: String,
    /// Its name in lower case.
    pub plan: String,
    /// The revision that this period goes by; 0 before the first.
    pub revision: u32,
    /// The one that the next renewal makes of it.
    pub next: Option<String>,
    /// Whether the next renewal is its end. Periods that were paid for come first.
    pub ends: bool,
    /// What its periods are counted from.
    pub first_ms: i64,
    /// When this period began, and when it is renewed.
    pub from_ms: i64,
    pub until_ms: i64,
    /// Whether its first period has begun.
    pub begun: bool,
    /// The group that it put the account in, and the one that the account was in before.
    pub group: Option<String>,
    pub group_before: Option<String>,
    /// Whether payments renew it, not the clock alone.
    pub by_payment: bool,
    /// Until when it waits for the next payment, once its period is over.
    pub waits_ms: Option<i64>,
}

/// Until when a plan waits that is stopped for want of a payment: the last second of the year 9999.
pub(super) const STOPPED_MS: i64 = 253_402_300_799_000;

impl AccountPlan {
    /// Whether it has waited for its payment as long as it may: nothing can be spent until it is paid for or ended.
    pub fn is_stopped(&self) -> bool {
        self.waits_ms == Some(STOPPED_MS)
    }

    /// One whose first period begins at a moment, and has not begun.
    pub(super) fn planned(account_id: &str, plan: String, from_ms: i64) -> Self {
        Self {
            account_id: account_id.to_owned(),
            plan,
            revision: 0,
            next: None,
            ends: false,
            first_ms: from_ms,
            from_ms,
            until_ms: from_ms,
            begun: false,
            group: None,
            group_before: None,
            by_payment: false,
            waits_ms: None,
        }
    }
}

impl FromRow for AccountPlan {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            plan: columns.text()?,
            revision: columns.int()? as u32,
            next: columns.maybe_text()?,
            ends: columns.int()? > 0,
            first_ms: columns.int()?,
            from_ms: columns.int()?,
            until_ms: columns.int()?,
            begun: columns.int()? > 0,
            group: columns.maybe_text()?,
            group_before: columns.maybe_text()?,
            by_payment: columns.maybe_int()?.unwrap_or(0) > 0,
            waits_ms: columns.maybe_int()?,
        })
    }
}

/// The plan of an account, as the writer sees it.
pub(super) async fn of(conn: &mut Conn, account_id: &str) -> Result<Option<AccountPlan>> {
    conn.maybe(OF_ACCOUNT, args![account_id]).await
}

pub(super) async fn write(conn: &mut Conn, row: &AccountPlan) -> Result<()> {
    let values = args![
        &row.account_id,
        &row.plan,
        i64::from(row.revision),
        row.next.as_deref(),
        i64::from(row.ends),
        row.first_ms,
        row.from_ms,
        row.until_ms,
        i64::from(row.begun),
        row.group.as_deref(),
        row.group_before.as_deref(),
        row.by_payment.then_some(1_i64),
        row.waits_ms
    ];
    conn.run(UPSERT, values).await.map(|_| ())
}

pub(super) async fn remove(conn: &mut Conn, account_id: &str) -> Result<()> {
    let sql = "DELETE FROM account_plan WHERE account_id = $1";
    conn.run(sql, args![account_id]).await.map(|_| ())
}

pub(super) const OF_ACCOUNT: &str = "SELECT account_id, plan_key, revision, next_key, ends, first_ms, from_ms, until_ms, begun, group_key, \
     group_before, by_payment, waits_ms FROM account_plan WHERE account_id = $1";

const UPSERT: &str = "INSERT INTO account_plan (account_id, plan_key, revision, next_key, ends, first_ms, from_ms, until_ms, begun, group_key, \
     group_before, by_payment, waits_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     ON CONFLICT (account_id) DO UPDATE SET plan_key = excluded.plan_key, revision = excluded.revision, next_key = excluded.next_key, \
     ends = excluded.ends, first_ms = excluded.first_ms, from_ms = excluded.from_ms, until_ms = excluded.until_ms, begun = excluded.begun, \
     group_key = excluded.group_key, group_before = excluded.group_before, by_payment = excluded.by_payment, waits_ms = excluded.waits_ms";
