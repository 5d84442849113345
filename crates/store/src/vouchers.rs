//! Codes that are worth quota: made in batches, redeemed once each. The mark on the code, the grant and the act of whoever redeemed it
//! are one commit.

use atelier_contract::Quota;

use crate::Result;
use crate::audit::AuditRow;
use crate::audited_change;
use crate::batch::credits::NewCredit;
use crate::batch::ledger_batch::{CREDITS_MOST, LedgerBatch, Posting};
use crate::db::{Arg, Conn, Line, args};
use crate::first_use;
use crate::migrate::CREDITS;
use crate::row::{Columns, FromRow};
use crate::store_core::StoreCore;

const DAY_MS: i64 = 86_400_000;

/// What every code of a batch is worth, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoucherTerms {
    /// What the batch is for, in the operator's words.
    pub note: String,
    pub amount: Quota,
    /// How many codes of the batch one account may redeem.
    pub per_account: i64,
    /// From then on its codes cannot be redeemed.
    pub expires_ms: Option<i64>,
    /// When what they give ends.
    pub credit_expires_ms: Option<i64>,
    /// How many days after it was given it ends.
    pub credit_days: Option<i64>,
}

impl VoucherTerms {
    /// When the quota of a code ends that is redeemed at a moment, if it does: whichever comes first.
    fn credit_end(&self, now_ms: i64) -> Option<i64> {
        let days = self.credit_days.map(|days| now_ms + days * DAY_MS);
        match (self.credit_expires_ms, days) {
            (Some(fixed), Some(days)) => Some(fixed.min(days)),
            (fixed, days) => fixed.or(days),
        }
    }
}

/// A batch to be made.
#[derive(Clone, Debug)]
pub struct NewVouchers {
    pub id: String,
    pub terms: VoucherTerms,
    /// SHA-256 of each code, in hexadecimal.
    pub hashes: Vec<String>,
    pub now_ms: i64,
}

/// A batch with what became of its codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoucherBatch {
    pub id: String,
    pub terms: VoucherTerms,
    pub codes: i64,
    pub redeemed: i64,
    pub created_ms: i64,
    pub revoked_ms: Option<i64>,
}

impl FromRow for VoucherBatch {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            terms: VoucherTerms {
                note: columns.text()?,
                amount: columns.quota()?,
                per_account: columns.int()?,
                expires_ms: columns.maybe_int()?,
                credit_expires_ms: columns.maybe_int()?,
                credit_days: columns.maybe_int()?,
            },
            codes: columns.int()?,
            created_ms: columns.int()?,
            revoked_ms: columns.maybe_int()?,
            redeemed: columns.int()?,
        })
    }
}

/// Somebody who has a code.
#[derive(Clone, Debug)]
pub struct Redemption {
    pub account_id: String,
    /// SHA-256 of the code, in hexadecimal.
    pub hash: String,
    /// Identifier of the ledger row, and of the credit.
    pub ledger_id: String,
    pub now_ms: i64,
    /// Nodes that were heard of since then may be at work.
    pub alive_since_ms: i64,
}

/// What a code gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redeemed {
    /// Identifier of the ledger row.
    pub ledger_id: String,
    pub batch_id: String,
    pub amount: Quota,
    /// When it ends, if it does.
    pub expires_ms: Option<i64>,
    pub redeemed_ms: i64,
}

/// What became of a [`Redemption`]. Nothing has changed unless it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedeemOutcome {
    Done(Redeemed),
    /// The account has redeemed it before; what it gave then.
    Repeated(Redeemed),
    /// There is no such code.
    Unknown,
    /// Another account has redeemed it.
    Used,
    /// It could be redeemed until a while ago.
    Expired,
    /// Its batch was revoked.
    Revoked,
    /// The account has redeemed as many of its batch as it may.
    Limit {
        per_account: i64,
    },
    /// The account has as many credits that have not ended as it may.
    TooMany {
        most: i64,
    },
    /// Nothing ends yet, and a node is at work whose program does not know that anything may.
    OlderNode(String),
    /// The account is paused.
    Paused,
    /// There is no such account.
    NoAccount,
}

/// Codes that are worth quota.
#[derive(Clone, Copy, Debug)]
pub struct Vouchers<'a>(pub(crate) &'a StoreCore);

impl Vouchers<'_> {
    /// Stores a batch with the act of whoever made it.
    pub async fn make(self, new: NewVouchers, act: Option<AuditRow>) -> Result<()> {
        audited_change::run(
            self.0,
            new,
            act,
            |conn, new| Box::pin(make(conn, new)),
            |()| true,
        )
        .await
    }

    /// A page of the batches, the latest first, and how many there are.
    pub async fn list(self, offset: i64, limit: i64) -> Result<(Vec<VoucherBatch>, i64)> {
        let page = format!(
            "SELECT {BATCH_TERMS}, {BATCH_REDEEMED} FROM voucher_batch ORDER BY created_ms DESC, id DESC LIMIT $1 OFFSET $2"
        );
        let rows = self.0.db.all(&page, args![limit, offset]).await?;
        let count = "SELECT COUNT(*) FROM voucher_batch";
        Ok((rows, self.0.db.one(count, &[]).await?))
    }

    /// One batch.
    pub async fn one(self, id: &str) -> Result<Option<VoucherBatch>> {
        let sql =
            format!("SELECT {BATCH_TERMS}, {BATCH_REDEEMED} FROM voucher_batch WHERE id = $1");
        self.0.db.maybe(&sql, args![id]).await
    }

    /// Has nobody redeem the codes of a batch from now on; whether there is one that could be until now.
    pub async fn revoke(self, id: &str, now_ms: i64, act: Option<AuditRow>) -> Result<bool> {
        audited_change::run(
            self.0,
            (id.to_owned(), now_ms),
            act,
            |conn, (id, now_ms)| {
                Box::pin(async move {
                    let sql = "UPDATE voucher_batch SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL";
                    Ok(conn.run(sql, args![id, *now_ms]).await? > 0)
                })
            },
            |revoked| *revoked,
        )
        .await
    }

    /// Redeems a code, with the act of whoever did.
    pub async fn redeem(
        self,
        redemption: Redemption,
        act: Option<AuditRow>,
    ) -> Result<RedeemOutcome> {
        audited_change::run(
            self.0,
            redemption,
            act,
            |conn, redemption| Box::pin(redeem(conn, redemption)),
            |outcome| matches!(outcome, RedeemOutcome::Done(_)),
        )
        .await
    }
}

/// A code of a batch.
struct CodeLine<'a> {
    hash: &'a str,
    batch_id: &'a str,
}

impl Line for CodeLine<'_> {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![self.hash, self.batch_id]);
    }
}

async fn make(conn: &mut Conn, new: &NewVouchers) -> Result<()> {
    let terms = &new.terms;
    let values = args![
        &new.id,
        &terms.note,
        terms.amount.thousandths(),
        new.hashes.len() as i64,
        terms.per_account,
        terms.expires_ms,
        terms.credit_expires_ms,
        terms.credit_days,
        new.now_ms
    ];
    conn.run(INSERT_BATCH, values).await?;
    let lines: Vec<CodeLine<'_>> = new
        .hashes
        .iter()
        .map(|hash| CodeLine {
            hash,
            batch_id: &new.id,
        })
        .collect();
    conn.run_lines(INSERT_CODES, &lines).await.map(|_| ())
}

/// A code as it is stored.
struct CodeRow {
    batch_id: String,
    account_id: Option<String>,
    ledger_id: Option<String>,
    redeemed_ms: Option<i64>,
    expires_ms: Option<i64>,
}

impl FromRow for CodeRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            batch_id: columns.text()?,
            account_id: columns.maybe_text()?,
            ledger_id: columns.maybe_text()?,
            redeemed_ms: columns.maybe_int()?,
            expires_ms: columns.maybe_int()?,
        })
    }
}

async fn redeem(conn: &mut Conn, redemption: &Redemption) -> Result<RedeemOutcome> {
    let account_id = &*redemption.account_id;
    // The account first, as everywhere; then whoever has the same code waits for it.
    let mut books = LedgerBatch::load(conn, &[account_id], &[]).await?;
    let paused: Option<i64> = conn.maybe(PAUSED, args![account_id]).await?;
    match paused {
        None => return Ok(RedeemOutcome::NoAccount),
        Some(0) => {}
        Some(_) => return Ok(RedeemOutcome::Paused),
    }
    let code: Option<CodeRow> = conn.maybe(CODE, args![&redemption.hash]).await?;
    let Some(code) = code else {
        return Ok(RedeemOutcome::Unknown);
    };
    // How many of its codes were redeemed is nothing to wait for here.
    let sql = format!("SELECT {BATCH_TERMS}, CAST(0 AS BIGINT) FROM voucher_batch WHERE id = $1");
    let batch: Option<VoucherBatch> = conn.maybe(&sql, args![&code.batch_id]).await?;
    let Some(batch) = batch else {
        return Ok(RedeemOutcome::Unknown);
    };
    if let Some(refused) = judge(conn, redemption, code, &batch).await? {
        return Ok(refused);
    }
    let expires_ms = batch.terms.credit_end(redemption.now_ms);
    if let Some(refused) = grant(conn, &mut books, redemption, &batch.terms).await? {
        return Ok(refused);
    }
    books.write(conn).await?;
    let values = args![
        &redemption.hash,
        account_id,
        &redemption.ledger_id,
        redemption.now_ms,
        expires_ms
    ];
    conn.run(MARK, values).await?;
    Ok(RedeemOutcome::Done(Redeemed {
        ledger_id: redemption.ledger_id.clone(),
        batch_id: batch.id,
        amount: batch.terms.amount,
        expires_ms,
        redeemed_ms: redemption.now_ms,
    }))
}

/// Why a code gives nothing, if it does not: whose it is comes before what it is.
async fn judge(
    conn: &mut Conn,
    redemption: &Redemption,
    code: CodeRow,
    batch: &VoucherBatch,
) -> Result<Option<RedeemOutcome>> {
    let Redemption {
        account_id, now_ms, ..
    } = redemption;
    let terms = &batch.terms;
    if let (Some(by), Some(ledger_id)) = (&code.account_id, code.ledger_id) {
        if by != account_id {
            return Ok(Some(RedeemOutcome::Used));
        }
        return Ok(Some(RedeemOutcome::Repeated(Redeemed {
            ledger_id,
            batch_id: batch.id.clone(),
            amount: terms.amount,
            expires_ms: code.expires_ms,
            redeemed_ms: code.redeemed_ms.unwrap_or_default(),
        })));
    }
    if batch.revoked_ms.is_some() {
        return Ok(Some(RedeemOutcome::Revoked));
    }
    let over = |end: Option<i64>| end.is_some_and(|end_ms| end_ms <= *now_ms);
    if over(terms.expires_ms) || over(terms.credit_end(*now_ms)) {
        return Ok(Some(RedeemOutcome::Expired));
    }
    let redeemed: Option<i64> = conn.maybe(REDEEMED, args![&batch.id, account_id]).await?;
    let per_account = terms.per_account;
    let limit = RedeemOutcome::Limit { per_account };
    Ok((redeemed.unwrap_or(0) >= per_account).then_some(limit))
}

/// Grants what a code is worth, or says why that cannot be.
async fn grant(
    conn: &mut Conn,
    books: &mut LedgerBatch,
    redemption: &Redemption,
    terms: &VoucherTerms,
) -> Result<Option<RedeemOutcome>> {
    let Redemption {
        account_id, now_ms, ..
    } = redemption;
    books.end_credits(account_id, *now_ms);
    let posting = Posting {
        id: &redemption.ledger_id,
        job_id: None,
        kind: "grant",
        cause: None,
        amount: terms.amount,
        balance_delta: terms.amount.thousandths(),
        frozen_delta: 0,
        reason: "voucher",
        idempotency_key: None,
        time_ms: *now_ms,
        spender: None,
    };
    let Some(expires_ms) = terms.credit_end(*now_ms) else {
        books.post(account_id, &posting);
        return Ok(None);
    };
    if books.has_most_credits(account_id) {
        return Ok(Some(RedeemOutcome::TooMany { most: CREDITS_MOST }));
    }
    let since_ms = redemption.alive_since_ms;
    if let Some(node) = first_use::begin(conn, CREDITS, since_ms).await? {
        return Ok(Some(RedeemOutcome::OlderNode(node)));
    }
    let new = NewCredit {
        source: "voucher",
        expires_ms,
        origin: &terms.note,
        stays: false,
        alone: false,
    };
    books.grant(account_id, &new, &posting);
    Ok(None)
}

const BATCH_TERMS: &str = "voucher_batch.id, voucher_batch.note, voucher_batch.amount, voucher_batch.per_account, \
     voucher_batch.expires_ms, voucher_batch.credit_expires_ms, voucher_batch.credit_days, voucher_batch.codes, \
     voucher_batch.created_ms, voucher_batch.revoked_ms";

const BATCH_REDEEMED: &str = "(SELECT COUNT(voucher.account_id) FROM voucher WHERE voucher.batch_id = voucher_batch.id AND voucher.account_id IS NOT NULL)";

const INSERT_BATCH: &str = "INSERT INTO voucher_batch (id, note, amount, codes, per_account, expires_ms, credit_expires_ms, credit_days, created_ms) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const INSERT_CODES: &str = "INSERT INTO voucher (hash, batch_id) SELECT v.hash, v.batch_id FROM {lines:hash text, batch_id text}";

const PAUSED: &str =
    "SELECT CAST(CASE WHEN disabled THEN 1 ELSE 0 END AS BIGINT) FROM account WHERE id = $1";

const CODE: &str = "SELECT batch_id, account_id, ledger_id, redeemed_ms, expires_ms FROM voucher WHERE hash = $1 {lock}";

const REDEEMED: &str = "SELECT COUNT(*) FROM voucher WHERE batch_id = $1 AND account_id = $2";

const MARK: &str = "UPDATE voucher SET account_id = $2, ledger_id = $3, redeemed_ms = $4, expires_ms = $5 WHERE hash = $1";
