//! Receipts as they are looked at, the public keys that they are signed for, and whether every chain holds.

use atelier_contract::receipts::{ReceiptPayload, receipt_hash};

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::db::args;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

/// Receipts checked at once.
const PAGE: i64 = 500;

/// A receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptRow {
    pub job_id: String,
    pub account_id: String,
    /// Counts the receipts of the account from 1.
    pub number: i64,
    /// The text that is hashed and signed.
    pub payload: String,
    pub hash: String,
    /// The hash of the one before it.
    pub previous: Option<String>,
    pub time_ms: i64,
}

impl FromRow for ReceiptRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            job_id: columns.text()?,
            account_id: columns.text()?,
            number: columns.int()?,
            payload: columns.text()?,
            hash: columns.text()?,
            previous: columns.maybe_text()?,
            time_ms: columns.int()?,
        })
    }
}

impl ReceiptRow {
    /// Whether it says itself what stands beside it, and follows from the one before it.
    fn is_whole(&self, before: Option<&Self>) -> bool {
        let said: Option<ReceiptPayload> = serde_json::from_str(&self.payload).ok();
        let Some(said) = said else {
            return false;
        };
        let of_it = (said.job, said.account, said.previous);
        let beside = (&self.job_id, &self.account_id, &self.previous);
        let follows = before.is_none_or(|before| {
            self.number == before.number + 1 && self.previous.as_ref() == Some(&before.hash)
        });
        receipt_hash(&self.payload) == self.hash
            && (&of_it.0, &of_it.1, &of_it.2) == beside
            && follows
    }
}

/// A public key of receipts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptKeyRow {
    pub kid: String,
    /// In base64url.
    pub public: String,
    pub created_ms: i64,
}

impl FromRow for ReceiptKeyRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            kid: columns.text()?,
            public: columns.text()?,
            created_ms: columns.int()?,
        })
    }
}

/// A key to be added: its public part for ever, the other sealed.
#[derive(Clone, Debug)]
pub struct NewReceiptKey {
    pub row: ReceiptKeyRow,
    /// The setting that the sealed part is kept in, and that part.
    pub setting: String,
    pub sealed: String,
    /// The newest key that was seen; another one by now is enough.
    pub seen: Option<String>,
}

/// Receipts and their keys.
#[derive(Clone, Copy, Debug)]
pub struct Receipts<'a>(pub(crate) &'a StoreCore);

impl Receipts<'_> {
    /// The receipt of a job, for its account.
    pub async fn of(self, account_id: &str, job_id: &str) -> Result<Option<ReceiptRow>> {
        let reader = self.0.db.of(Some(account_id));
        reader.maybe(ONE, args![job_id, account_id]).await
    }

    /// A page of the receipts of an account, the latest first, and how many there are.
    pub async fn list(
        self,
        account_id: &str,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<ReceiptRow>, i64)> {
        let reader = self.0.db.of(Some(account_id));
        let rows = reader.all(LIST, args![account_id, limit, offset]).await?;
        let count = "SELECT COUNT(*) FROM receipt WHERE account_id = $1";
        Ok((rows, reader.one(count, args![account_id]).await?))
    }

    /// All public keys, the newest first.
    pub async fn keys(self) -> Result<Vec<ReceiptKeyRow>> {
        self.0.db.all(KEYS, &[]).await
    }

    /// Adds a key, with the act of whoever did, unless there is a newer one than was seen; whether it was added.
    pub async fn add_key(self, new: NewReceiptKey, act: Option<AuditRow>) -> Result<bool> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| {
                Box::pin(async move {
                    conn.maybe::<i64>(LOCK, &[]).await?;
                    let newest: Option<ReceiptKeyRow> =
                        conn.all(KEYS, &[]).await?.into_iter().next();
                    if newest.map(|key| key.kid) != new.seen {
                        return Ok(false);
                    }
                    let row = &new.row;
                    let values = args![&row.kid, &row.public, row.created_ms];
                    conn.run(ADD_KEY, values).await?;
                    let values = args![&new.setting, &new.sealed];
                    conn.run(ADD_SEALED, values).await?;
                    Ok(true)
                })
            },
            |added| *added,
        )
        .await
    }

    /// The receipts that do not say what stands beside them, or do not follow from the one before; the oldest that is kept of an account
    /// follows from what is archived. Also how many there are.
    pub async fn check(self) -> Result<(Vec<String>, u64)> {
        let (mut wrong, mut looked) = (Vec::new(), 0);
        let mut before: Option<ReceiptRow> = None;
        loop {
            let (account, number) = before
                .as_ref()
                .map_or(("", 0), |row| (&*row.account_id, row.number));
            let page: Vec<ReceiptRow> = self.0.db.all(CHAIN, args![account, number, PAGE]).await?;
            if page.is_empty() {
                return Ok((wrong, looked));
            }
            for row in page {
                looked += 1;
                let same = before
                    .as_ref()
                    .filter(|before| before.account_id == row.account_id);
                if !row.is_whole(same) {
                    wrong.push(row.job_id.clone());
                }
                before = Some(row);
            }
        }
    }
}

const ONE: &str = "SELECT job_id, account_id, number, payload, hash, previous, time_ms FROM receipt \
     WHERE job_id = $1 AND account_id = $2";

const LIST: &str = "SELECT job_id, account_id, number, payload, hash, previous, time_ms FROM receipt \
     WHERE account_id = $1 ORDER BY number DESC LIMIT $2 OFFSET $3";

const CHAIN: &str = "SELECT job_id, account_id, number, payload, hash, previous, time_ms FROM receipt \
     WHERE account_id > $1 OR (account_id = $1 AND number > $2) ORDER BY account_id, number LIMIT $3";

const KEYS: &str =
    "SELECT kid, public, created_ms FROM receipt_key ORDER BY created_ms DESC, kid DESC";

// Whoever else adds one waits here.
const LOCK: &str = "SELECT widens FROM schema_version WHERE name = '0060_receipts' {lock}";

const ADD_KEY: &str = "INSERT INTO receipt_key (kid, public, created_ms) VALUES ($1, $2, $3)";

const ADD_SEALED: &str = "INSERT INTO setting (name, value) VALUES ($1, $2)";
