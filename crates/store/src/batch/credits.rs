//! The credits of a batch's accounts in memory: quota that ends. What never ends has no row; it is what an account has besides. A hold
//! takes of the credit that ends first, and writes down what it took of which. Only accounts that have open credits are asked about,
//! and all of it is under the lock of the account.

use std::collections::{BTreeMap, HashMap};

use crate::Result;
use crate::db::{Arg, Conn, Line, StatementBatch, args, json};
use crate::row::{Columns, FromRow};

/// Where a credit comes from whose accounts may be told to spend nothing else.
const OF_PLANS: &str = "plan";

/// A credit as it is stored.
pub(crate) struct CreditLine {
    pub(crate) id: String,
    account_id: String,
    pub(crate) source: String,
    amount: i64,
    pub(crate) remaining: i64,
    held: i64,
    spent: i64,
    lapsed: i64,
    pub(crate) expires_ms: i64,
    created_ms: i64,
    ended_ms: Option<i64>,
    /// Whether only the renewal of its plan ends it.
    pub(crate) stays: bool,
    /// Whether nothing but credits of plans can be spent while it is open.
    alone: bool,
    pub(crate) origin: String,
    touched: bool,
}

impl CreditLine {
    fn is_open(&self) -> bool {
        self.ended_ms.is_none() || self.held > 0
    }

    /// Whether it can be spent at a moment: a credit is of no use from the instant at which it ends.
    fn is_usable(&self, now_ms: i64) -> bool {
        self.ended_ms.is_none() && self.expires_ms > now_ms
    }

    /// Ends it; how much lapses.
    fn end(&mut self, now_ms: i64) -> i64 {
        let left = self.lapse(self.remaining);
        self.ended_ms = Some(now_ms);
        left
    }

    /// Has a part of what is left lapse.
    fn lapse(&mut self, amount: i64) -> i64 {
        self.remaining -= amount;
        self.lapsed += amount;
        self.touched = true;
        amount
    }

    /// One of which nothing is left and nothing can come back is over.
    fn close(&mut self, now_ms: i64) {
        if self.remaining + self.held == 0 && !self.stays && self.ended_ms.is_none() {
            self.ended_ms = Some(now_ms);
            self.touched = true;
        }
    }
}

impl FromRow for CreditLine {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            id: columns.text()?,
            account_id: columns.text()?,
            source: columns.text()?,
            amount: columns.int()?,
            remaining: columns.int()?,
            held: columns.int()?,
            spent: columns.int()?,
            lapsed: columns.int()?,
            expires_ms: columns.int()?,
            created_ms: columns.int()?,
            ended_ms: columns.maybe_int()?,
            stays: columns.int()? > 0,
            alone: columns.int()? > 0,
            origin: columns.text()?,
            touched: false,
        })
    }
}

impl Line for &CreditLine {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.id,
            &self.account_id,
            &self.source,
            self.amount,
            self.remaining,
            self.held,
            self.spent,
            self.lapsed,
            self.expires_ms,
            self.created_ms,
            self.ended_ms,
            i64::from(self.stays),
            i64::from(self.alone),
            &self.origin,
        ]);
    }
}

/// What a hold took of a credit.
struct HoldPart {
    job_id: String,
    credit_id: String,
    account_id: String,
    amount: i64,
    /// Whether it is of a period of a plan that is over: what comes back of it lapses.
    lapses: bool,
}

impl FromRow for HoldPart {
    fn read(columns: &mut Columns<'_>) -> sqlx::Result<Self> {
        Ok(Self {
            job_id: columns.text()?,
            credit_id: columns.text()?,
            account_id: columns.text()?,
            amount: columns.int()?,
            lapses: columns.int()? > 0,
        })
    }
}

impl Line for HoldPart {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![
            &self.job_id,
            &self.credit_id,
            &self.account_id,
            self.amount
        ]);
    }
}

/// A credit whose open parts lapse.
struct OverCredit(String);

impl Line for OverCredit {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![&self.0]);
    }
}

/// A hold whose parts are gone.
struct ResolvedHold(String);

impl Line for ResolvedHold {
    fn values<'a>(&'a self, out: &mut Vec<Arg<'a>>) {
        out.extend_from_slice(args![&self.0]);
    }
}

/// A credit to be made; its identifier is that of the ledger row that grants it.
pub(crate) struct NewCredit<'a> {
    pub(crate) source: &'a str,
    pub(crate) expires_ms: i64,
    /// What it came of, in words for people.
    pub(crate) origin: &'a str,
    /// Whether only the renewal of its plan ends it.
    pub(crate) stays: bool,
    /// Whether nothing but credits of plans can be spent while it is open.
    pub(crate) alone: bool,
}

/// What goes over into another period of a plan.
pub(crate) struct Rollover {
    /// So much at most, in thousandths.
    pub(crate) most: i64,
    /// When that period ends.
    pub(crate) until_ms: i64,
    /// Whether nothing but credits of plans can be spent in it.
    pub(crate) alone: bool,
}

/// So many credits of a plan go over as they are: a daily plan with a large cap would otherwise have more and more of them.
const ROLLED_MOST: usize = 10;

/// What lapses of a credit, and the ledger row that says so.
pub(crate) struct LapsedCredit {
    /// Identifier of the row: the same whoever books it, so that it is booked once.
    pub(crate) ledger_id: String,
    pub(crate) amount: i64,
    pub(crate) reason: String,
}

impl LapsedCredit {
    fn of(credit: &CreditLine, after: Option<&str>, amount: i64) -> Self {
        let after = after.map(|after| format!("_{after}")).unwrap_or_default();
        Self {
            ledger_id: format!("expire_{}{after}", credit.id),
            amount,
            reason: credit.origin.clone(),
        }
    }
}

/// The open credits of a batch's accounts, in the order in which they are spent, and the parts of holds.
#[derive(Default)]
pub(crate) struct CreditBatch {
    of: BTreeMap<String, Vec<CreditLine>>,
    parts: HashMap<String, Vec<HoldPart>>,
    new_parts: Vec<HoldPart>,
    resolved: Vec<ResolvedHold>,
    over: Vec<OverCredit>,
}

impl CreditBatch {
    /// Reads the open credits of accounts that have some, and what the holds of jobs took of them.
    pub(crate) async fn load(conn: &mut Conn, accounts: &[&str], jobs: &[&str]) -> Result<Self> {
        let mut credits = Self::default();
        if accounts.is_empty() {
            return Ok(credits);
        }
        let accounts = json(accounts);
        let open: Vec<CreditLine> = conn.all(OPEN, args![&accounts]).await?;
        for credit in open {
            let of_account = credits.of.entry(credit.account_id.clone()).or_default();
            of_account.push(credit);
        }
        if !jobs.is_empty() {
            let parts: Vec<HoldPart> = conn.all(PARTS, args![&json(jobs)]).await?;
            for part in parts {
                let of_job = credits.parts.entry(part.job_id.clone()).or_default();
                of_job.push(part);
            }
        }
        Ok(credits)
    }

    /// The open credits of an account.
    pub(crate) fn of(&self, account_id: &str) -> &[CreditLine] {
        self.of.get(account_id).map_or(&[], Vec::as_slice)
    }

    fn of_mut(&mut self, account_id: &str) -> &mut [CreditLine] {
        self.of
            .get_mut(account_id)
            .map_or(&mut [], Vec::as_mut_slice)
    }

    /// How many credits of an account are open.
    pub(crate) fn open(&self, account_id: &str) -> i64 {
        let open = self.of(account_id).iter().filter(|one| one.is_open());
        open.count() as i64
    }

    /// How much of a balance is of credits that are left, whether or not they can be spent.
    pub(crate) fn left(&self, account_id: &str) -> i64 {
        self.of(account_id).iter().map(|one| one.remaining).sum()
    }

    /// Whether a period of a plan is over, and the next one has not begun.
    pub(crate) fn is_plan_due(&self, account_id: &str, now_ms: i64) -> bool {
        let mut of = self.of(account_id).iter();
        of.any(|one| one.stays && one.ended_ms.is_none() && one.expires_ms <= now_ms)
    }

    /// Whether nothing but credits of plans can be spent.
    pub(crate) fn is_alone(&self, account_id: &str) -> bool {
        let mut of = self.of(account_id).iter();
        of.any(|one| one.alone && one.ended_ms.is_none())
    }

    /// How much of a balance can be spent at a moment.
    pub(crate) fn spendable(&self, account_id: &str, balance: i64, now_ms: i64) -> i64 {
        let of = self.of(account_id);
        if of.is_empty() {
            return balance;
        }
        let alone = self.is_alone(account_id);
        let usable = of.iter().filter(|one| one.is_usable(now_ms));
        let usable = usable.filter(|one| !alone || one.source == OF_PLANS);
        let base = if alone {
            0
        } else {
            balance - self.left(account_id)
        };
        base + usable.map(|one| one.remaining).sum::<i64>()
    }

    /// Ends what is over at a moment; what lapses with it.
    pub(crate) fn end_due(&mut self, account_id: &str, now_ms: i64) -> Vec<LapsedCredit> {
        let due = |one: &&mut CreditLine| {
            one.ended_ms.is_none() && !one.stays && one.expires_ms <= now_ms
        };
        let mut lapsed = Vec::new();
        for credit in self.of_mut(account_id).iter_mut().filter(due) {
            let amount = credit.end(now_ms);
            lapsed.push(LapsedCredit::of(credit, None, amount));
        }
        lapsed.retain(|one| one.amount > 0);
        lapsed
    }

    /// Holds the price of a job: what ends first is taken first, what never ends at last.
    pub(crate) fn hold(&mut self, account_id: &str, job_id: &str, price: i64, now_ms: i64) {
        let alone = self.is_alone(account_id);
        let mut wanted = price;
        let mut parts = Vec::new();
        for credit in self.of_mut(account_id) {
            if !credit.is_usable(now_ms) || (alone && credit.source != OF_PLANS) {
                continue;
            }
            let amount = credit.remaining.min(wanted);
            if amount > 0 {
                credit.remaining -= amount;
                credit.held += amount;
                credit.touched = true;
                wanted -= amount;
                parts.push(HoldPart {
                    job_id: job_id.to_owned(),
                    credit_id: credit.id.clone(),
                    account_id: account_id.to_owned(),
                    amount,
                    lapses: false,
                });
            }
        }
        self.new_parts.extend(parts);
    }

    /// Resolves the hold of a job of which so much is spent: first of what ended first. The rest returns where it came from, and lapses
    /// where that has ended.
    pub(crate) fn resolve(
        &mut self,
        account_id: &str,
        job_id: &str,
        spent: i64,
        now_ms: i64,
    ) -> Vec<LapsedCredit> {
        let Some(parts) = self.parts.remove(job_id) else {
            return Vec::new();
        };
        let (mut to_spend, mut lapsed) = (spent, Vec::new());
        for credit in self.of_mut(account_id) {
            let Some(part) = parts.iter().find(|part| part.credit_id == credit.id) else {
                continue;
            };
            let used = part.amount.min(to_spend);
            let back = part.amount - used;
            to_spend -= used;
            credit.held -= part.amount;
            credit.spent += used;
            credit.remaining += back;
            credit.touched = true;
            if credit.ended_ms.is_some() || part.lapses {
                credit.lapse(back);
                lapsed.push(LapsedCredit::of(credit, Some(job_id), back));
            }
            credit.close(now_ms);
        }
        lapsed.retain(|one| one.amount > 0);
        self.resolved.push(ResolvedHold(job_id.to_owned()));
        lapsed
    }

    /// Has what plans gave end with a period: so much of what is left goes over, and the rest of it lapses, first of what is oldest. What
    /// jobs hold of it lapses as it comes back. Also how much of what goes over is to be granted anew, in one.
    pub(crate) fn renew_plan(
        &mut self,
        account_id: &str,
        carry: &Rollover,
        now_ms: i64,
    ) -> (Vec<LapsedCredit>, i64) {
        let (of, over) = (self.of.get_mut(account_id), &mut self.over);
        let of = of.map_or(&mut [][..], Vec::as_mut_slice);
        let is_open = |one: &&mut CreditLine| one.stays && one.ended_ms.is_none();
        let left: i64 = of.iter_mut().filter(is_open).map(|one| one.remaining).sum();
        let (mut beyond, mut lapsed) = ((left - carry.most).max(0), Vec::new());
        for credit in of.iter_mut().filter(is_open) {
            let amount = credit.lapse(credit.remaining.min(beyond));
            beyond -= amount;
            // How much has lapsed grows with every time.
            let after = credit.lapsed.to_string();
            lapsed.push(LapsedCredit::of(credit, Some(&after), amount));
            over.extend((credit.held > 0).then(|| OverCredit(credit.id.clone())));
            if credit.remaining == 0 {
                credit.stays = false;
                credit.ended_ms = Some(now_ms);
            } else {
                (credit.expires_ms, credit.alone) = (carry.until_ms, carry.alone);
            }
        }
        let mut anew = 0;
        if of.iter_mut().filter(is_open).count() > ROLLED_MOST {
            for credit in of.iter_mut().filter(is_open) {
                let amount = credit.end(now_ms);
                credit.stays = false;
                let after = format!("{}_anew", credit.lapsed);
                lapsed.push(LapsedCredit::of(credit, Some(&after), amount));
                anew += amount;
            }
        }
        sort(of);
        lapsed.retain(|one| one.amount > 0);
        (lapsed, anew)
    }

    /// Has what plans gave last until a later moment, as it is: what jobs hold of it comes back to it.
    pub(crate) fn prolong_plan(&mut self, account_id: &str, until_ms: i64) {
        let Some(of) = self.of.get_mut(account_id) else {
            return;
        };
        for credit in of
            .iter_mut()
            .filter(|one| one.stays && one.ended_ms.is_none())
        {
            (credit.expires_ms, credit.touched) = (until_ms, true);
        }
        sort(of);
    }

    /// Has everything that plans gave lapse, and nothing else be spent until a later moment: one credit stays open, empty.
    pub(crate) fn stop_plan(
        &mut self,
        account_id: &str,
        until_ms: i64,
        now_ms: i64,
    ) -> Vec<LapsedCredit> {
        let nothing = Rollover {
            most: 0,
            until_ms,
            alone: true,
        };
        let of = self.of(account_id).iter();
        let mut open = of.filter(|one| one.stays && one.ended_ms.is_none());
        let kept = open.next().map(|one| one.id.clone());
        let (lapsed, _) = self.renew_plan(account_id, &nothing, now_ms);
        let mut all = self.of_mut(account_id).iter_mut();
        if let Some(credit) = all.find(|one| Some(&one.id) == kept.as_ref()) {
            (credit.stays, credit.alone, credit.ended_ms) = (true, true, None);
            (credit.expires_ms, credit.touched) = (until_ms, true);
        }
        lapsed
    }

    /// Takes so much away of what is left: of what ends last first.
    pub(crate) fn withdraw(&mut self, account_id: &str, amount: i64, now_ms: i64) {
        let mut wanted = amount;
        for credit in self.of_mut(account_id).iter_mut().rev() {
            let taken = credit.remaining.min(wanted);
            if taken > 0 {
                wanted -= credit.lapse(taken);
                credit.close(now_ms);
            }
        }
    }

    /// Takes so much at most of what is left of one credit; how much that was.
    pub(crate) fn take_back(&mut self, account_id: &str, id: &str, most: i64, now_ms: i64) -> i64 {
        let mut of = self.of_mut(account_id).iter_mut();
        let Some(credit) = of.find(|one| one.id == id) else {
            return 0;
        };
        let taken = credit.lapse(credit.remaining.min(most));
        credit.close(now_ms);
        taken
    }

    /// Reads a credit of an account, though it has ended.
    pub(crate) async fn reopen(
        &mut self,
        conn: &mut Conn,
        account_id: &str,
        id: &str,
    ) -> Result<()> {
        if self.of(account_id).iter().any(|one| one.id == id) {
            return Ok(());
        }
        let found: Option<CreditLine> = conn.maybe(ONE, args![id, account_id]).await?;
        if let Some(credit) = found {
            let of_account = self.of.entry(account_id.to_owned()).or_default();
            of_account.push(credit);
            sort(of_account);
        }
        Ok(())
    }

    /// Gives so much at most back to a credit that it was taken of, unless that is over; how much that was.
    pub(crate) fn give_back(&mut self, account_id: &str, id: &str, most: i64, now_ms: i64) -> i64 {
        let mut of = self.of_mut(account_id).iter_mut();
        let Some(credit) = of.find(|one| one.id == id && one.expires_ms > now_ms) else {
            return 0;
        };
        let given = credit.lapsed.min(most).max(0);
        if given > 0 {
            credit.remaining += given;
            credit.lapsed -= given;
            (credit.ended_ms, credit.touched) = (None, true);
        }
        given
    }

    /// Adds a credit that is granted.
    pub(crate) fn add(
        &mut self,
        account_id: &str,
        id: &str,
        (amount, created_ms): (i64, i64),
        new: &NewCredit<'_>,
    ) {
        let of_account = self.of.entry(account_id.to_owned()).or_default();
        of_account.push(CreditLine {
            id: id.to_owned(),
            account_id: account_id.to_owned(),
            source: new.source.to_owned(),
            amount,
            remaining: amount,
            held: 0,
            spent: 0,
            lapsed: 0,
            expires_ms: new.expires_ms,
            created_ms,
            ended_ms: None,
            stays: new.stays,
            alone: new.alone,
            origin: new.origin.to_owned(),
            touched: true,
        });
        sort(of_account);
    }

    /// The rows that are to be written.
    pub(crate) fn changed(&self) -> CreditChanges<'_> {
        let all = self.of.values().flatten();
        CreditChanges {
            credits: all.filter(|one| one.touched).collect(),
            parts: &self.new_parts,
            resolved: &self.resolved,
            over: &self.over,
        }
    }
}

/// Puts credits in the order in which they are spent.
fn sort(credits: &mut [CreditLine]) {
    credits.sort_by(|one, other| (one.expires_ms, &one.id).cmp(&(other.expires_ms, &other.id)));
}

/// Rows that a commit has to write.
pub(crate) struct CreditChanges<'a> {
    credits: Vec<&'a CreditLine>,
    parts: &'a [HoldPart],
    resolved: &'a [ResolvedHold],
    over: &'a [OverCredit],
}

impl CreditChanges<'_> {
    pub(crate) fn add_to<'a>(&'a self, writes: &mut StatementBatch<'a>) {
        writes.add(UPSERT_CREDITS, &self.credits);
        writes.add(INSERT_PARTS, self.parts);
        writes.add(DELETE_PARTS, self.resolved);
        writes.add(LAPSE_PARTS, self.over);
    }
}

const OPEN: &str = "SELECT id, account_id, source, amount, remaining, held, spent, lapsed, expires_ms, created_ms, ended_ms, \
     stays, alone, origin FROM credit WHERE account_id IN ({list:$1}) AND (ended_ms IS NULL OR held > 0) ORDER BY expires_ms, id";

const ONE: &str = "SELECT id, account_id, source, amount, remaining, held, spent, lapsed, expires_ms, created_ms, ended_ms, \
     stays, alone, origin FROM credit WHERE id = $1 AND account_id = $2";

const PARTS: &str = "SELECT job_id, credit_id, account_id, amount, lapses FROM hold_part WHERE job_id IN ({list:$1})";

// A row that is there keeps what it is.
const UPSERT_CREDITS: &str = "INSERT INTO credit (id, account_id, source, amount, remaining, held, spent, lapsed, expires_ms, \
     created_ms, ended_ms, stays, alone, origin) \
     SELECT v.id, v.account_id, v.source, v.amount, v.remaining, v.held, v.spent, v.lapsed, v.expires_ms, \
     v.created_ms, v.ended_ms, v.stays, v.alone, v.origin \
     FROM {lines:id text, account_id text, source text, amount bigint, remaining bigint, held bigint, spent bigint, lapsed bigint, \
     expires_ms bigint, created_ms bigint, ended_ms bigint, stays bigint, alone bigint, origin text} \
     WHERE TRUE ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, held = excluded.held, spent = excluded.spent, \
     lapsed = excluded.lapsed, expires_ms = excluded.expires_ms, ended_ms = excluded.ended_ms, stays = excluded.stays, \
     alone = excluded.alone";

const INSERT_PARTS: &str = "INSERT INTO hold_part (job_id, credit_id, account_id, amount, lapses) \
     SELECT v.job_id, v.credit_id, v.account_id, v.amount, 0 \
     FROM {lines:job_id text, credit_id text, account_id text, amount bigint}";

const LAPSE_PARTS: &str = "UPDATE hold_part SET lapses = 1 FROM {lines:credit_id text} WHERE hold_part.credit_id = v.credit_id";

const DELETE_PARTS: &str =
    "DELETE FROM hold_part WHERE job_id IN (SELECT v.job_id FROM {lines:job_id text})";
