//! The accounts of a batch in memory: their balances, their unfinished jobs, and the ledger rows to be written.

use std::collections::BTreeMap;

use crate::Result;
use crate::attribution::Attribution;
use crate::db::{Arg, Conn, Line, PrefetchQuery, StatementBatch, args, json};
use crate::row::{Columns, FromRow};
use atelier_contract::Quota;

/// An account as far as quota is concerned.
pub(crate) struct AccountQuota {
    id: String,
    pub(crate) balance: i64,
    frozen: i64,
    entries: i64,
    pub(crate) max_queue: i64,
    max_storage: i64,
    stored: i64,
    words: i64,
    /// Whether keys of it count what is spent with them.
    pub(crate) counts_keys: bool,
    touched: bool,
}

impl Line for &AccountQuota {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            self.balance,
            self.frozen,
            self.entries,
            self.words
        ]);
    }
}

impl FromRow for AccountQuota {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            balance: columns.int()?,
            frozen: columns.int()?,
            entries: columns.int()?,
            max_queue: columns.int()?,
            max_storage: columns.int()?,
            stored: columns.maybe_int()?.unwrap_or(0),
            words: columns.int()?,
            counts_keys: columns.maybe_int()?.unwrap_or(0) > 0,
            touched: false,
        })
    }
}

impl AccountQuota {
    /// How many bytes of files and words may be kept for it, when as many are; `usual` unless its row says otherwise.
    pub(crate) fn full_storage(&self, usual: i64) -> Option<i64> {
        let most = storage_limit(self.max_storage, usual);
        (self.stored + self.words >= most).then_some(most)
    }
}

/// How many bytes of files and words may be kept for an account: what its row says, unless that is 0.
pub(crate) fn storage_limit(own: i64, usual: i64) -> i64 {
    if own > 0 { own } else { usual }
}

/// A movement of quota.
pub(crate) struct Posting<'a> {
    pub(crate) id: &'a str,
    pub(crate) job_id: Option<&'a str>,
    pub(crate) kind: &'static str,
    pub(crate) amount: Quota,
    pub(crate) balance_delta: i64,
    pub(crate) frozen_delta: i64,
    pub(crate) reason: &'a str,
    pub(crate) idempotency_key: Option<&'a str>,
    pub(crate) time_ms: i64,
    /// Who spends it, of what is a job's.
    pub(crate) spender: Option<&'a Attribution>,
}

/// A row for the ledger.
struct LedgerLine {
    id: String,
    account_id: String,
    number: i64,
    job_id: Option<String>,
    kind: &'static str,
    amount: i64,
    balance_delta: i64,
    frozen_delta: i64,
    balance_after: i64,
    frozen_after: i64,
    reason: String,
    idempotency_key: Option<String>,
    time_ms: i64,
    key_id: Option<String>,
    member_id: Option<String>,
    used_model: Option<String>,
}

impl Line for LedgerLine {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            &self.account_id,
            self.number,
            self.job_id.as_deref(),
            self.kind,
            self.amount,
            self.balance_delta,
            self.frozen_delta,
            self.balance_after,
            self.frozen_after,
            &self.reason,
            self.idempotency_key.as_deref(),
            self.time_ms,
            self.key_id.as_deref(),
            self.member_id.as_deref(),
            self.used_model.as_deref(),
        ]);
    }
}

/// How many unfinished jobs an account has in a queue.
pub(crate) struct InFlightJobs {
    account_id: String,
    queue: String,
    jobs: i64,
    touched: bool,
}

impl Line for &InFlightJobs {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![&self.account_id, &self.queue, self.jobs]);
    }
}

impl FromRow for InFlightJobs {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            account_id: columns.text()?,
            queue: columns.text()?,
            jobs: columns.int()?,
            touched: false,
        })
    }
}

/// The accounts of a batch. Whatever is loaded is locked until the commit.
#[derive(Default)]
pub(crate) struct LedgerBatch {
    accounts: BTreeMap<String, AccountQuota>,
    in_flight: BTreeMap<(String, String), InFlightJobs>,
    lines: Vec<LedgerLine>,
}

impl LedgerBatch {
    /// Locks and reads these accounts and those of these jobs.
    pub(crate) async fn load(conn: &mut Conn, accounts: &[&str], jobs: &[&str]) -> Result<Self> {
        let standings: Vec<AccountQuota> = conn
            .all(STANDINGS, args![&json(accounts), &json(jobs)])
            .await?;
        let ids: Vec<&str> = if jobs.is_empty() {
            accounts.to_vec()
        } else {
            standings.iter().map(|one| &*one.id).collect()
        };
        let in_flight: Vec<InFlightJobs> = conn.all(IN_FLIGHT, args![&json(&ids)]).await?;
        Ok(Self {
            in_flight: in_flight
                .into_iter()
                .map(|one| ((one.account_id.clone(), one.queue.clone()), one))
                .collect(),
            accounts: standings
                .into_iter()
                .map(|one| (one.id.clone(), one))
                .collect(),
            ..Self::default()
        })
    }

    /// What [`LedgerBatch::load`] will ask, as far as that is known before.
    pub(crate) fn questions(accounts: &[&str], jobs: &[&str]) -> Vec<PrefetchQuery> {
        let standings = PrefetchQuery {
            name: "standings",
            sql: STANDINGS.into(),
            values: vec![json(accounts), json(jobs)],
        };
        let in_flight = jobs.is_empty().then(|| PrefetchQuery {
            name: "in_flight",
            sql: IN_FLIGHT.into(),
            values: vec![json(accounts)],
        });
        std::iter::once(standings).chain(in_flight).collect()
    }

    pub(crate) fn standing(&self, account_id: &str) -> Option<&AccountQuota> {
        self.accounts.get(account_id)
    }

    pub(crate) fn unfinished(&self, account_id: &str, queue: &str) -> i64 {
        self.in_flight
            .get(&(account_id.to_owned(), queue.to_owned()))
            .map_or(0, |one| one.jobs)
    }

    /// Counts a job in or out.
    pub(crate) fn count(&mut self, account_id: &str, queue: &str, change: i64) {
        let key = (account_id.to_owned(), queue.to_owned());
        let one = self.in_flight.entry(key).or_insert_with(|| InFlightJobs {
            account_id: account_id.to_owned(),
            queue: queue.to_owned(),
            jobs: 0,
            touched: true,
        });
        one.jobs += change;
        one.touched = true;
    }

    /// Counts bytes of words that are kept for a loaded account from now on.
    pub(crate) fn keep_words(&mut self, account_id: &str, bytes: usize) {
        if let Some(standing) = self.accounts.get_mut(account_id) {
            standing.words += bytes as i64;
            standing.touched = true;
        }
    }

    /// Moves quota of a loaded account and notes the row.
    pub(crate) fn post(&mut self, account_id: &str, posting: &Posting<'_>) {
        let Some(standing) = self.accounts.get_mut(account_id) else {
            return;
        };
        standing.balance += posting.balance_delta;
        standing.frozen += posting.frozen_delta;
        standing.entries += 1;
        standing.touched = true;
        self.lines.push(LedgerLine {
            id: posting.id.to_owned(),
            account_id: account_id.to_owned(),
            number: standing.entries,
            job_id: posting.job_id.map(str::to_owned),
            kind: posting.kind,
            amount: posting.amount.thousandths(),
            balance_delta: posting.balance_delta,
            frozen_delta: posting.frozen_delta,
            balance_after: standing.balance,
            frozen_after: standing.frozen,
            reason: posting.reason.to_owned(),
            idempotency_key: posting.idempotency_key.map(str::to_owned),
            time_ms: posting.time_ms,
            key_id: posting.spender.and_then(|spender| spender.key_id.clone()),
            member_id: posting
                .spender
                .and_then(|spender| spender.member_id.clone()),
            used_model: posting.spender.and_then(|spender| spender.model.clone()),
        });
    }

    pub(crate) async fn write(&self, conn: &mut Conn) -> Result<()> {
        let changed = self.changed();
        let mut writes = StatementBatch::default();
        changed.add_to(&mut writes);
        conn.write(&writes).await.map(|_| ())
    }

    pub(crate) fn changed(&self) -> LedgerChanges<'_> {
        let standings = self.accounts.values().filter(|one| one.touched);
        let in_flight = self.in_flight.values().filter(|one| one.touched);
        LedgerChanges {
            standings: standings.collect(),
            lines: &self.lines,
            in_flight: in_flight.collect(),
        }
    }
}

/// Rows that a commit has to write.
pub(crate) struct LedgerChanges<'a> {
    standings: Vec<&'a AccountQuota>,
    lines: &'a [LedgerLine],
    in_flight: Vec<&'a InFlightJobs>,
}

impl LedgerChanges<'_> {
    /// Adds what is to be written. Jobs that rows refer to go before.
    pub(crate) fn add_to<'a>(&'a self, writes: &mut StatementBatch<'a>) {
        writes.add(UPDATE_STANDINGS, &self.standings);
        writes.add(INSERT_LINES, self.lines);
        writes.add(UPSERT_IN_FLIGHT, &self.in_flight);
    }
}

const STANDINGS: &str = "SELECT id, balance, frozen, entries, max_queue, max_storage, \
     (SELECT bytes FROM stored WHERE account_id = account.id), words, counting_keys FROM account \
     WHERE id IN ({list:$1} UNION SELECT account_id FROM job WHERE id IN ({list:$2})) ORDER BY id {lock}";

// Asked by itself: who waited for the lock of an account must see what whoever had it did here.
const IN_FLIGHT: &str =
    "SELECT account_id, queue, jobs FROM in_flight WHERE account_id IN ({list:$1})";

const UPDATE_STANDINGS: &str = "UPDATE account SET balance = v.balance, frozen = v.frozen, entries = v.entries, words = v.words \
     FROM {lines:id text, balance bigint, frozen bigint, entries bigint, words bigint} WHERE account.id = v.id";

const UPSERT_IN_FLIGHT: &str = "INSERT INTO in_flight (account_id, queue, jobs) \
     SELECT v.account_id, v.queue, v.jobs \
     FROM {lines:account_id text, queue text, jobs bigint} WHERE TRUE \
     ON CONFLICT (account_id, queue) DO UPDATE SET jobs = excluded.jobs";

const INSERT_LINES: &str = "INSERT INTO ledger (id, account_id, number, job_id, kind, amount, \
     balance_delta, frozen_delta, balance_after, frozen_after, reason, idempotency_key, time_ms, key_id, member_id, used_model) \
     SELECT v.id, v.account_id, v.number, v.job_id, v.kind, v.amount, v.balance_delta, \
     v.frozen_delta, v.balance_after, v.frozen_after, v.reason, v.idempotency_key, v.time_ms, v.key_id, v.member_id, v.used_model \
     FROM {lines:id text, account_id text, number bigint, job_id text, kind text, amount bigint, \
     balance_delta bigint, frozen_delta bigint, balance_after bigint, frozen_after bigint, \
     reason text, idempotency_key text, time_ms bigint, key_id text, member_id text, used_model text}";
