//! What would become of an acceptance, asked before anything is done for it. Only the commit decides; this saves the work
//! for calls that it would refuse, and finds calls that were accepted before.

use atelier_contract::Quota;

use crate::Result;
use crate::batch::key_windows::KeyWindows;
use crate::batch::ledger_batch::storage_limit;
use crate::changes::accept::{AcceptOutcome, Idempotency, NewJob};
use crate::db::args;
use crate::jobs::Jobs;
use crate::row::{Columns, FromRow};

/// An account as far as it says whether a job would be accepted.
struct PrecheckRow {
    balance: i64,
    max_queue: i64,
    own_storage: i64,
    stored: i64,
    /// Its keys that count what is spent with them.
    counting: i64,
    debt: i64,
    credit_limit: i64,
}

impl FromRow for PrecheckRow {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            balance: columns.int()?,
            max_queue: columns.int()?,
            own_storage: columns.int()?,
            stored: columns.int()?,
            counting: columns.int()?,
            debt: columns.int()?,
            credit_limit: columns.int()?,
        })
    }
}

impl Jobs<'_> {
    /// The call that an account's key stands for: the same one or another; `None` when the key is free.
    pub async fn earlier_call(
        self,
        account_id: &str,
        given: &Idempotency,
    ) -> Result<Option<AcceptOutcome>> {
        let sql = "SELECT fingerprint, job_id FROM idempotency \
             WHERE account_id = $1 AND key = $2 AND created_ms >= $3";
        let args = args![account_id, &given.key, given.keep_after_ms];
        let found: Option<(String, String)> =
            self.0.db.of(Some(account_id)).maybe(sql, args).await?;
        Ok(found.map(|(fingerprint, job_id)| {
            if fingerprint == given.fingerprint {
                AcceptOutcome::Replayed { job_id }
            } else {
                AcceptOutcome::Mismatch
            }
        }))
    }

    /// Why a job would be refused now, if it would: the queue first, then storage, of which there is so much unless the account's
    /// row says otherwise, then the limits of its keys, then what the account owes, then quota.
    pub async fn precheck_refusal(
        self,
        job: &NewJob,
        max_storage: i64,
    ) -> Result<Option<AcceptOutcome>> {
        let (account_id, queue, price) = (&*job.account_id, &*job.queue, job.price);
        let sql = "SELECT balance, max_queue, max_storage, \
             COALESCE((SELECT bytes FROM stored WHERE account_id = account.id), 0) + words, COALESCE(counting_keys, 0), COALESCE(debt, 0), \
             COALESCE(credit_limit, 0) FROM account WHERE id = $1";
        let reader = self.0.db.of(Some(account_id));
        let standing: Option<PrecheckRow> = reader.maybe(sql, args![account_id]).await?;
        let Some(PrecheckRow {
            balance,
            max_queue,
            own_storage,
            stored,
            counting,
            debt,
            credit_limit,
        }) = standing
        else {
            return Ok(Some(AcceptOutcome::NoAccount));
        };
        let sql = "SELECT jobs FROM in_flight WHERE account_id = $1 AND queue = $2";
        let jobs: Option<i64> = reader.maybe(sql, args![account_id, queue]).await?;
        if jobs.unwrap_or(0) >= max_queue {
            return Ok(Some(AcceptOutcome::QueueFull { max_queue }));
        }
        let by = &job.attribution;
        let windows = match counting {
            0 => KeyWindows::default(),
            _ => KeyWindows::look(reader, account_id, by, job.created_ms).await?,
        };
        if let Some(max_queue) = windows.full_queue(by, queue) {
            return Ok(Some(AcceptOutcome::QueueFull { max_queue }));
        }
        let max_storage = storage_limit(own_storage, max_storage);
        if stored >= max_storage {
            return Ok(Some(AcceptOutcome::StorageFull { max_storage }));
        }
        let counted_ms = windows.counted_ms(by, job.created_ms);
        if let Some(reached) = windows.reached(by, counted_ms, price.thousandths()) {
            return Ok(Some(AcceptOutcome::KeyLimit(reached)));
        }
        if debt > credit_limit {
            let debt = Quota::from_thousandths(debt);
            return Ok(Some(AcceptOutcome::Debt { debt }));
        }
        let balance = Quota::from_thousandths(balance + credit_limit - debt);
        if balance >= price {
            return Ok(None);
        }
        // The next period of a plan that is due may give enough.
        let due = "SELECT account_id FROM account_plan WHERE account_id = $1 AND until_ms <= $2";
        let due: Option<String> = reader.maybe(due, args![account_id, job.created_ms]).await?;
        Ok(due
            .is_none()
            .then_some(AcceptOutcome::QuotaShort { balance }))
    }
}
