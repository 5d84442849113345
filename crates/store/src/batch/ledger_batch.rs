//! The accounts of a batch in memory: their balances and credits, their unfinished jobs, and the ledger rows to be written.

use std::collections::BTreeMap;

use crate::Result;
use crate::attribution::Attribution;
use crate::batch::credits::{CreditBatch, CreditChanges, LapsedCredit, NewCredit, Rollover};
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
    /// How many open credits it has, if it ever had one.
    credits: Option<i64>,
    /// What it owes, if it ever did.
    debt: Option<i64>,
    /// How much it may owe for work, if it may.
    credit_limit: Option<i64>,
    touched: bool,
}

impl Line for &AccountQuota {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            self.balance,
            self.frozen,
            self.entries,
            self.words,
            self.credits,
            self.debt,
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
            credits: columns.maybe_int()?,
            debt: columns.maybe_int()?,
            credit_limit: columns.maybe_int()?,
            touched: false,
        })
    }
}

impl AccountQuota {
    /// What it owes.
    pub(crate) fn debt(&self) -> i64 {
        self.debt.unwrap_or(0)
    }

    /// How much more than it may owe that is, below zero where it may owe more.
    pub(crate) fn over_limit(&self) -> i64 {
        self.debt() - self.credit_limit.unwrap_or(0)
    }

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
    /// What an adjustment is, where that is not a correction.
    pub(crate) cause: Option<&'static str>,
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
    cause: Option<&'static str>,
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
            self.cause,
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
    credits: CreditBatch,
    lines: Vec<LedgerLine>,
}

/// The most open credits of an account: all of them are read with everything that it spends.
pub(crate) const CREDITS_MOST: i64 = 100;

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
        let with_credits = standings.iter().filter(|one| one.credits.unwrap_or(0) > 0);
        let with_credits: Vec<&str> = with_credits.map(|one| &*one.id).collect();
        let credits = CreditBatch::load(conn, &with_credits, jobs).await?;
        Ok(Self {
            credits,
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

    /// Moves quota of a loaded account and notes the row. What comes in pays first what the account owes.
    pub(crate) fn post(&mut self, account_id: &str, posting: &Posting<'_>) {
        self.note(account_id, posting);
        self.pay_debt(account_id, posting.balance_delta, posting);
    }

    /// Moves quota of a loaded account and notes the row, and nothing besides.
    fn note(&mut self, account_id: &str, posting: &Posting<'_>) {
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
            cause: posting.cause,
        });
    }

    /// What a loaded account has, all of it.
    pub(crate) fn balance(&self, account_id: &str) -> Quota {
        let balance = self.standing(account_id).map_or(0, |one| one.balance);
        Quota::from_thousandths(balance)
    }

    /// Whether a loaded account has as many open credits as it may.
    pub(crate) fn has_most_credits(&self, account_id: &str) -> bool {
        self.credits.open(account_id) >= CREDITS_MOST
    }

    /// How much a loaded account can spend at a moment, once what is over by then was ended.
    pub(crate) fn spendable(&self, account_id: &str, now_ms: i64) -> i64 {
        let balance = self.standing(account_id).map_or(0, |one| one.balance);
        self.credits.spendable(account_id, balance, now_ms)
    }

    /// How much may be lent to a loaded account for work. A plan that stops is not gone beyond.
    pub(crate) fn lendable(&self, account_id: &str) -> i64 {
        match self.standing(account_id) {
            Some(standing) if !self.credits.is_alone(account_id) => -standing.over_limit().min(0),
            _ => 0,
        }
    }

    /// Lends a loaded account so much for what follows.
    pub(crate) fn lend(&mut self, account_id: &str, amount: i64, of: &Posting<'_>) {
        self.move_debt(account_id, amount, of);
    }

    /// Whether a period of a loaded account's plan is over, and the next one has not begun.
    pub(crate) fn is_plan_due(&self, account_id: &str, now_ms: i64) -> bool {
        self.credits.is_plan_due(account_id, now_ms)
    }

    /// Ends the credits of a loaded account that are over at a moment: nothing else is decided before.
    pub(crate) fn end_credits(&mut self, account_id: &str, now_ms: i64) {
        if self.credits.of(account_id).is_empty() {
            return;
        }
        let lapsed = self.credits.end_due(account_id, now_ms);
        self.book_lapsed(account_id, &lapsed, now_ms);
    }

    /// Holds the price of a job: of credits first, the one that ends first before the others.
    pub(crate) fn hold(&mut self, account_id: &str, job_id: &str, posting: &Posting<'_>) {
        let price = posting.amount.thousandths();
        self.credits
            .hold(account_id, job_id, price, posting.time_ms);
        self.note(account_id, posting);
        self.count_credits(account_id);
    }

    /// Resolves the hold of a job that so much was spent of, and books what lapses of what it gives back.
    pub(crate) fn resolve(&mut self, account_id: &str, spent: i64, posting: &Posting<'_>) {
        self.note(account_id, posting);
        let Some(job_id) = posting.job_id else {
            return;
        };
        let at_ms = posting.time_ms;
        let lapsed = self.credits.resolve(account_id, job_id, spent, at_ms);
        self.book_lapsed(account_id, &lapsed, at_ms);
        let gone: i64 = lapsed.iter().map(|one| one.amount).sum();
        self.pay_debt(account_id, posting.balance_delta - gone, posting);
    }

    /// Grants quota that ends.
    pub(crate) fn grant(&mut self, account_id: &str, new: &NewCredit<'_>, posting: &Posting<'_>) {
        let made = (posting.amount.thousandths(), posting.time_ms);
        self.credits.add(account_id, posting.id, made, new);
        self.post(account_id, posting);
        self.count_credits(account_id);
    }

    /// Has what plans gave a loaded account end with a period; so much of what is left goes over. How much of that is to be granted
    /// anew.
    pub(crate) fn renew_plan(&mut self, account_id: &str, carry: &Rollover, now_ms: i64) -> Quota {
        let (lapsed, anew) = self.credits.renew_plan(account_id, carry, now_ms);
        self.book_lapsed(account_id, &lapsed, now_ms);
        Quota::from_thousandths(anew)
    }

    /// Has what plans gave a loaded account last until a later moment.
    pub(crate) fn prolong_plan(&mut self, account_id: &str, until_ms: i64) {
        self.credits.prolong_plan(account_id, until_ms);
    }

    /// Has everything lapse that plans gave a loaded account, and nothing else be spent until a later moment.
    pub(crate) fn stop_plan(&mut self, account_id: &str, until_ms: i64, now_ms: i64) {
        let lapsed = self.credits.stop_plan(account_id, until_ms, now_ms);
        self.book_lapsed(account_id, &lapsed, now_ms);
    }

    /// Takes quota away: what never ends goes first, then what ends last.
    pub(crate) fn withdraw(&mut self, account_id: &str, posting: &Posting<'_>) {
        let of_credits = -posting.balance_delta - self.base(account_id);
        if of_credits > 0 {
            let at_ms = posting.time_ms;
            self.credits.withdraw(account_id, of_credits, at_ms);
        }
        self.note(account_id, posting);
        self.count_credits(account_id);
    }

    /// What never ends and is not held.
    fn base(&self, account_id: &str) -> i64 {
        let balance = self.standing(account_id).map_or(0, |one| one.balance);
        balance - self.credits.left(account_id)
    }

    /// Takes back what was paid for and is not any more: of its own credit, then of what never ends. The rest is owed, and lent until
    /// it is paid, so that every row follows from the one before it and no balance is below zero. How much its own credit gave.
    pub(crate) fn take_back(
        &mut self,
        account_id: &str,
        credit: &str,
        posting: &Posting<'_>,
    ) -> i64 {
        let (amount, at_ms) = (-posting.balance_delta, posting.time_ms);
        let base = self.base(account_id).max(0);
        let of_credit = self.credits.take_back(account_id, credit, amount, at_ms);
        let lent = (amount - of_credit - base).max(0);
        self.move_debt(account_id, lent, posting);
        self.note(account_id, posting);
        self.count_credits(account_id);
        of_credit
    }

    /// Reads a credit of a loaded account, though it has ended: something is to be given back to it.
    pub(crate) async fn reopen(
        &mut self,
        conn: &mut Conn,
        account_id: &str,
        credit: &str,
    ) -> Result<()> {
        self.credits.reopen(conn, account_id, credit).await
    }

    /// Gives back what was taken: so much at most to its own credit, unless that is over, the rest without an end. How much its own
    /// credit got.
    pub(crate) fn give_back(
        &mut self,
        account_id: &str,
        (credit, most): (&str, i64),
        posting: &Posting<'_>,
    ) -> i64 {
        let most = most.min(posting.balance_delta);
        let to_credit = self
            .credits
            .give_back(account_id, credit, most, posting.time_ms);
        self.note(account_id, posting);
        self.pay_debt(account_id, posting.balance_delta, posting);
        self.count_credits(account_id);
        to_credit
    }

    /// Pays what the account owes of what came in with a row.
    fn pay_debt(&mut self, account_id: &str, came_in: i64, of: &Posting<'_>) {
        let debt = self.standing(account_id).map_or(0, AccountQuota::debt);
        let paid = debt.min(came_in);
        if paid <= 0 {
            return;
        }
        let of_credits = paid - self.base(account_id).max(0);
        if of_credits > 0 {
            self.credits.withdraw(account_id, of_credits, of.time_ms);
        }
        self.move_debt(account_id, -paid, of);
        self.count_credits(account_id);
    }

    /// Lends so much, or has so much of what was lent paid.
    fn move_debt(&mut self, account_id: &str, amount: i64, of: &Posting<'_>) {
        let Some(standing) = self.accounts.get_mut(account_id).filter(|_| amount != 0) else {
            return;
        };
        standing.debt = Some(standing.debt() + amount);
        let posting = Posting {
            id: &format!("debt_{}", of.id),
            job_id: None,
            kind: "adjust",
            cause: Some("debt"),
            amount: Quota::from_thousandths(amount),
            balance_delta: amount,
            frozen_delta: 0,
            reason: of.reason,
            idempotency_key: None,
            time_ms: of.time_ms,
            spender: None,
        };
        self.note(account_id, &posting);
    }

    fn book_lapsed(&mut self, account_id: &str, lapsed: &[LapsedCredit], time_ms: i64) {
        for one in lapsed {
            let posting = Posting {
                id: &one.ledger_id,
                job_id: None,
                kind: "adjust",
                cause: Some("expire"),
                amount: Quota::from_thousandths(-one.amount),
                balance_delta: -one.amount,
                frozen_delta: 0,
                reason: &one.reason,
                idempotency_key: None,
                time_ms,
                spender: None,
            };
            self.note(account_id, &posting);
        }
        self.count_credits(account_id);
    }

    /// Has the account say how many of its credits are open; one that never had any says nothing.
    fn count_credits(&mut self, account_id: &str) {
        if self.credits.of(account_id).is_empty() {
            return;
        }
        let open = self.credits.open(account_id);
        if let Some(standing) = self.accounts.get_mut(account_id)
            && standing.credits != Some(open)
        {
            standing.credits = Some(open);
            standing.touched = true;
        }
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
            credits: self.credits.changed(),
        }
    }
}

/// Rows that a commit has to write.
pub(crate) struct LedgerChanges<'a> {
    standings: Vec<&'a AccountQuota>,
    lines: &'a [LedgerLine],
    in_flight: Vec<&'a InFlightJobs>,
    credits: CreditChanges<'a>,
}

impl LedgerChanges<'_> {
    /// Adds what is to be written. Jobs that rows refer to go before.
    pub(crate) fn add_to<'a>(&'a self, writes: &mut StatementBatch<'a>) {
        writes.add(UPDATE_STANDINGS, &self.standings);
        writes.add(INSERT_LINES, self.lines);
        writes.add(UPSERT_IN_FLIGHT, &self.in_flight);
        self.credits.add_to(writes);
    }
}

const STANDINGS: &str = "SELECT id, balance, frozen, entries, max_queue, max_storage, \
     (SELECT bytes FROM stored WHERE account_id = account.id), words, counting_keys, credits, debt, credit_limit FROM account \
     WHERE id IN ({list:$1} UNION SELECT account_id FROM job WHERE id IN ({list:$2})) ORDER BY id {lock}";

// Asked by itself: who waited for the lock of an account must see what whoever had it did here.
const IN_FLIGHT: &str =
    "SELECT account_id, queue, jobs FROM in_flight WHERE account_id IN ({list:$1})";

const UPDATE_STANDINGS: &str = "UPDATE account SET balance = v.balance, frozen = v.frozen, entries = v.entries, words = v.words, \
     credits = v.credits, debt = v.debt \
     FROM {lines:id text, balance bigint, frozen bigint, entries bigint, words bigint, credits bigint, debt bigint} WHERE account.id = v.id";

const UPSERT_IN_FLIGHT: &str = "INSERT INTO in_flight (account_id, queue, jobs) \
     SELECT v.account_id, v.queue, v.jobs \
     FROM {lines:account_id text, queue text, jobs bigint} WHERE TRUE \
     ON CONFLICT (account_id, queue) DO UPDATE SET jobs = excluded.jobs";

const INSERT_LINES: &str = "INSERT INTO ledger (id, account_id, number, job_id, kind, amount, \
     balance_delta, frozen_delta, balance_after, frozen_after, reason, idempotency_key, time_ms, key_id, member_id, used_model, cause) \
     SELECT v.id, v.account_id, v.number, v.job_id, v.kind, v.amount, v.balance_delta, \
     v.frozen_delta, v.balance_after, v.frozen_after, v.reason, v.idempotency_key, v.time_ms, v.key_id, v.member_id, v.used_model, v.cause \
     FROM {lines:id text, account_id text, number bigint, job_id text, kind text, amount bigint, \
     balance_delta bigint, frozen_delta bigint, balance_after bigint, frozen_after bigint, \
     reason text, idempotency_key text, time_ms bigint, key_id text, member_id text, used_model text, cause text}";
