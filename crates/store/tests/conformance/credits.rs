//! Quota that ends: what ends first is spent first, nothing is spent after its instant, and not a thousandth is lost or made.

use std::collections::BTreeMap;

use atelier_contract::Quota;
use atelier_store::{
    AcceptOutcome, Acceptance, AccountCredits, Credit, CreditEnd, CreditKind, CreditOutcome,
    CreditRow, Guard, LedgerRow, Outcome, Settlement, Store,
};

use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_hold_takes_what_ends_first,
    a_credit_is_of_no_use_from_its_instant,
    what_returns_to_a_credit_that_has_ended_lapses,
    what_nobody_asks_about_ends_once_at_several_nodes,
    a_withdrawal_takes_what_never_ends_first,
    a_repeated_grant_is_the_same_with_the_same_end,
    a_clock_that_was_put_back_revives_nothing,
    what_a_credit_is_never_changes,
    an_account_has_so_many_open_credits_at_most,
    credits_outlive_their_account,
    older_programs_and_credits_keep_apart,
    whatever_happens_credits_agree_with_the_model,
);

const HOUR_MS: i64 = 3_600_000;

fn wish(rig: &Rig, account: &str, whole: i64, expires_ms: Option<i64>) -> Credit {
    Credit {
        id: rig.id("credit"),
        account_id: account.to_owned(),
        amount: quota(whole),
        kind: if whole > 0 {
            CreditKind::Grant
        } else {
            CreditKind::Adjust
        },
        reason: "a trial".into(),
        idempotency_key: None,
        end: expires_ms.map(|expires_ms| CreditEnd {
            expires_ms,
            alive_since_ms: NOW - 60_000,
        }),
        now_ms: NOW,
    }
}

async fn post(rig: &Rig, credit: Credit) -> CreditOutcome {
    let posted = rig.store.ledger().credit(credit, None).await;
    posted.expect("an answer")
}

/// Grants whole quota that ends; the identifier of the credit.
pub(crate) async fn grant(rig: &Rig, account: &str, whole: i64, expires_ms: i64) -> String {
    let credit = wish(rig, account, whole, Some(expires_ms));
    let id = credit.id.clone();
    let posted = post(rig, credit).await;
    assert!(matches!(posted, CreditOutcome::Done(_)), "{posted:?}");
    id
}

pub(crate) async fn credits(rig: &Rig, account: &str, now_ms: i64) -> AccountCredits {
    let found = rig.store.ledger().credits().of(account, now_ms).await;
    found.expect("a read").expect("an account")
}

fn whole(amount: Quota) -> i64 {
    assert_eq!(amount.thousandths() % 1000, 0, "{amount}");
    amount.thousandths() / 1000
}

/// What is left, held, spent and lapsed of a credit.
fn parts(credit: &CreditRow) -> [i64; 4] {
    [credit.left, credit.held, credit.spent, credit.lapsed].map(whole)
}

async fn parts_of(rig: &Rig, account: &str, id: &str, now_ms: i64) -> [i64; 4] {
    let all = credits(rig, account, now_ms).await.credits;
    let found = all.iter().find(|one| one.id == id);
    parts(found.expect("the credit"))
}

fn accept_at(rig: &Rig, account: &str, price: i64, now_ms: i64) -> Acceptance {
    let mut accept = rig.accept(account, price);
    accept.job.created_ms = now_ms;
    accept.job.deadline_ms = now_ms + 300_000;
    accept
}

async fn held_at(rig: &Rig, account: &str, price: i64, now_ms: i64) -> String {
    let accept = accept_at(rig, account, price, now_ms);
    let id = accept.job.id.clone();
    let taken = rig.take(accept).await;
    assert!(matches!(taken, AcceptOutcome::New { .. }), "{taken:?}");
    id
}

fn at(settlement: Settlement, now_ms: i64) -> Settlement {
    Settlement {
        now_ms,
        ..settlement
    }
}

async fn rows(rig: &Rig, account: &str) -> Vec<LedgerRow> {
    let listed = rig.store.ledger().list(Some(account), 0, 100).await;
    listed.expect("a read").0
}

/// The newest rows of an account: what they are and what they are about.
async fn newest(rig: &Rig, account: &str, count: usize) -> Vec<(String, i64)> {
    let rows = rows(rig, account).await.into_iter().take(count);
    let named = rows.map(|row| (row.cause.unwrap_or(row.kind), whole(row.amount)));
    named.collect()
}

async fn check(rig: &Rig) {
    let found = rig.store.invariants().check_books().await;
    assert_eq!(found.expect("an audit"), Vec::<String>::new());
}

async fn a_hold_takes_what_ends_first(rig: Rig) {
    let account = rig.account(10, 10).await;
    let late = grant(&rig, &account, 5, NOW + 2 * HOUR_MS).await;
    let soon = grant(&rig, &account, 3, NOW + HOUR_MS).await;
    let seen = credits(&rig, &account, NOW).await;
    let order: Vec<&str> = seen.credits.iter().map(|one| &*one.id).collect();
    assert_eq!(order, [&*soon, &*late], "in the order of use");
    assert_eq!((seen.base, seen.base_held), (quota(10), quota(0)));
    assert_eq!(
        (&*seen.credits[0].source, &*seen.credits[0].origin),
        ("grant", "a trial")
    );
    let job = rig.waiting(&account, 9).await;
    assert_eq!(rig.purse(&account).await, (quota(9), quota(9)));
    assert_eq!(parts_of(&rig, &account, &soon, NOW).await, [0, 3, 0, 0]);
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [0, 5, 0, 0]);
    let seen = credits(&rig, &account, NOW).await;
    assert_eq!((seen.base, seen.base_held), (quota(9), quota(1)));
    check(&rig).await;
    // What is spent is spent in that order, and the rest returns where it came from.
    rig.settle(rig.success(&job, Guard::Unfinished, 4)).await;
    assert_eq!(parts_of(&rig, &account, &soon, NOW).await, [0, 0, 3, 0]);
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [4, 0, 1, 0]);
    assert_eq!(credits(&rig, &account, NOW).await.base, quota(10));
    let failed = rig.waiting(&account, 12).await;
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [0, 4, 1, 0]);
    rig.settle(rig.failure(&failed, Guard::Unfinished)).await;
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [4, 0, 1, 0]);
    assert_eq!(rig.purse(&account).await, (quota(14), quota(0)));
    check(&rig).await;
}

async fn a_credit_is_of_no_use_from_its_instant(rig: Rig) {
    let account = rig.account(1, 10).await;
    let end_ms = NOW + HOUR_MS;
    let credit = grant(&rig, &account, 5, end_ms).await;
    let job = held_at(&rig, &account, 2, end_ms - 1).await;
    let refused = rig.take(accept_at(&rig, &account, 2, end_ms)).await;
    let short = AcceptOutcome::QuotaShort { balance: quota(1) };
    assert_eq!(refused, short, "three are left of it, and none is of use");
    assert_eq!(newest(&rig, &account, 1).await, [("expire".into(), -3)]);
    let row = &rows(&rig, &account).await[0];
    assert_eq!((&*row.kind, &*row.reason), ("adjust", "a trial"));
    assert_eq!(rig.purse(&account).await, (quota(1), quota(2)));
    assert_eq!(
        parts_of(&rig, &account, &credit, end_ms).await,
        [0, 2, 0, 3]
    );
    // What was held before it ended may be spent.
    rig.settle(at(rig.success(&job, Guard::Unfinished, 2), end_ms + 1))
        .await;
    assert_eq!(
        parts_of(&rig, &account, &credit, end_ms).await,
        [0, 0, 2, 3]
    );
    assert_eq!(newest(&rig, &account, 1).await, [("capture".into(), 2)]);
    held_at(&rig, &account, 1, end_ms + 2).await;
    check(&rig).await;
}

async fn what_returns_to_a_credit_that_has_ended_lapses(rig: Rig) {
    let account = rig.account(3, 10).await;
    let end_ms = NOW + HOUR_MS;
    let credit = grant(&rig, &account, 5, end_ms).await;
    let failed = rig.waiting(&account, 2).await;
    let partial = rig.waiting(&account, 4).await;
    // Nobody has booked the end before: what is left and what returns are in one commit.
    rig.settle(at(rig.failure(&failed, Guard::Unfinished), end_ms))
        .await;
    let told = [("expire".into(), -2), ("release".into(), 2)];
    assert_eq!(newest(&rig, &account, 2).await, told);
    rig.settle(at(rig.success(&partial, Guard::Unfinished, 1), end_ms))
        .await;
    let told = [("expire".into(), -2), ("capture".into(), 1)];
    assert_eq!(newest(&rig, &account, 2).await, told);
    assert_eq!(
        parts_of(&rig, &account, &credit, end_ms).await,
        [0, 0, 1, 4]
    );
    assert_eq!(rig.purse(&account).await, (quota(3), quota(0)));
    let open = "SELECT COUNT(*) FROM hold_part";
    assert_eq!(number(&rig.url, open).await, 0);
    check(&rig).await;
}

async fn what_nobody_asks_about_ends_once_at_several_nodes(rig: Rig) {
    let mut accounts = Vec::new();
    for _ in 0..7 {
        let account = rig.account(1, 10).await;
        grant(&rig, &account, 5, NOW + HOUR_MS).await;
        grant(&rig, &account, 4, NOW + 2 * HOUR_MS).await;
        accounts.push(account);
    }
    let at_ms = NOW + HOUR_MS;
    let ended = rig.store.ledger().credits().end_due(at_ms - 1, 100).await;
    assert_eq!(ended.expect("looked"), 0, "it has an instant yet");
    // Until it is booked it is shown as what it is.
    let seen = credits(&rig, &accounts[0], at_ms).await;
    let shown: Vec<[i64; 4]> = seen.credits.iter().map(parts).collect();
    assert_eq!(shown, [[4, 0, 0, 0], [0, 0, 0, 5]]);
    assert_eq!(seen.base, quota(1));
    let mut nodes = vec![rig.store.clone()];
    for _ in 0..2 {
        nodes.push(Store::open(&rig.url, options()).await.expect("a node"));
    }
    let sweeps: Vec<_> = nodes
        .iter()
        .map(|node| {
            let node = node.clone();
            spawn(async move {
                while node
                    .ledger()
                    .credits()
                    .end_due(at_ms, 2)
                    .await
                    .expect("ended")
                    > 0
                {}
            })
        })
        .collect();
    for sweep in sweeps {
        sweep.await.expect("it ends");
    }
    for account in &accounts {
        assert_eq!(rig.purse(account).await, (quota(5), quota(0)));
        let rows = rows(&rig, account).await;
        let ends = rows
            .iter()
            .filter(|row| row.cause.as_deref() == Some("expire"));
        assert_eq!(ends.count(), 1, "{rows:?}");
        assert_eq!(rows[0].time_ms, at_ms);
    }
    check(&rig).await;
    for node in nodes.into_iter().skip(1) {
        node.close().await;
    }
}

async fn a_withdrawal_takes_what_never_ends_first(rig: Rig) {
    let account = rig.account(4, 10).await;
    let late = grant(&rig, &account, 5, NOW + 2 * HOUR_MS).await;
    let soon = grant(&rig, &account, 3, NOW + HOUR_MS).await;
    let job = rig.waiting(&account, 1).await;
    let most = post(&rig, wish(&rig, &account, -12, None)).await;
    assert!(matches!(most, CreditOutcome::TooLow(account) if account.balance == quota(11)));
    let done = post(&rig, wish(&rig, &account, -6, None)).await;
    assert!(matches!(done, CreditOutcome::Done(account) if account.balance == quota(5)));
    assert_eq!(newest(&rig, &account, 1).await, [("adjust".into(), -6)]);
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [3, 0, 0, 2]);
    assert_eq!(parts_of(&rig, &account, &soon, NOW).await, [2, 1, 0, 0]);
    assert_eq!(credits(&rig, &account, NOW).await.base, quota(0));
    post(&rig, wish(&rig, &account, -5, None)).await;
    assert_eq!(parts_of(&rig, &account, &late, NOW).await, [0, 0, 0, 5]);
    assert_eq!(parts_of(&rig, &account, &soon, NOW).await, [0, 1, 0, 2]);
    rig.settle(rig.success(&job, Guard::Unfinished, 1)).await;
    assert_eq!(rig.purse(&account).await, (quota(0), quota(0)));
    // What is over by then cannot be taken away: it lapses.
    grant(&rig, &account, 3, NOW + HOUR_MS).await;
    let late = Credit {
        now_ms: NOW + HOUR_MS,
        ..wish(&rig, &account, -1, None)
    };
    let late = post(&rig, late).await;
    assert!(matches!(late, CreditOutcome::TooLow(account) if account.balance == quota(0)));
    check(&rig).await;
}

async fn a_repeated_grant_is_the_same_with_the_same_end(rig: Rig) {
    let account = rig.account(0, 10).await;
    let keyed = |expires_ms: Option<i64>| Credit {
        idempotency_key: Some("invoice 7".into()),
        ..wish(&rig, &account, 5, expires_ms)
    };
    let first = post(&rig, keyed(Some(NOW + HOUR_MS))).await;
    assert!(matches!(first, CreditOutcome::Done(_)));
    let again = post(&rig, keyed(Some(NOW + HOUR_MS))).await;
    assert!(matches!(again, CreditOutcome::Repeated(_)), "{again:?}");
    for other in [None, Some(NOW + 2 * HOUR_MS)] {
        let other = post(&rig, keyed(other)).await;
        assert_eq!(other, CreditOutcome::Mismatch);
    }
    assert_eq!(rig.purse(&account).await, (quota(5), quota(0)));
    let nobody = post(&rig, wish(&rig, "nobody", 5, Some(NOW + HOUR_MS))).await;
    assert_eq!(nobody, CreditOutcome::NoAccount);
    let none = rig
        .store
        .ledger()
        .credits()
        .of("nobody", NOW)
        .await
        .expect("a read");
    assert_eq!(none, None);
}

async fn a_clock_that_was_put_back_revives_nothing(rig: Rig) {
    let account = rig.account(0, 10).await;
    let end_ms = NOW + HOUR_MS;
    let credit = grant(&rig, &account, 5, end_ms).await;
    let job = rig.waiting(&account, 2).await;
    let ended = rig.store.ledger().credits().end_due(end_ms, 10).await;
    assert_eq!(ended.expect("ended"), 1);
    let refused = rig.take(accept_at(&rig, &account, 1, end_ms - 1_000)).await;
    assert!(matches!(refused, AcceptOutcome::QuotaShort { .. }));
    rig.settle(at(rig.failure(&job, Guard::Unfinished), end_ms - 500))
        .await;
    assert_eq!(
        parts_of(&rig, &account, &credit, end_ms - 500).await,
        [0, 0, 0, 5]
    );
    let again = rig.store.ledger().credits().end_due(end_ms + 1, 10).await;
    assert_eq!(again.expect("looked"), 0);
    assert_eq!(rig.purse(&account).await, (quota(0), quota(0)));
    check(&rig).await;
}

async fn what_a_credit_is_never_changes(rig: Rig) {
    let account = rig.account(0, 10).await;
    grant(&rig, &account, 5, NOW + HOUR_MS).await;
    for damage in [
        "UPDATE credit SET amount = amount + 1, remaining = remaining + 1",
        "UPDATE credit SET account_id = 'other'",
        "UPDATE credit SET source = 'plan'",
        "DELETE FROM credit",
    ] {
        let refused = sql(&rig.url, damage).await.expect_err("refused");
        assert!(refused.to_string().contains("never"), "{refused}");
    }
    for damage in [
        "UPDATE credit SET remaining = remaining + 1",
        "UPDATE credit SET held = -1, remaining = remaining + 1",
        "UPDATE credit SET ended_ms = 1",
    ] {
        sql(&rig.url, damage).await.expect_err("refused");
    }
}

async fn an_account_has_so_many_open_credits_at_most(rig: Rig) {
    let account = rig.account(0, 10).await;
    for _ in 0..100 {
        grant(&rig, &account, 1, NOW + HOUR_MS).await;
    }
    let more = post(&rig, wish(&rig, &account, 1, Some(NOW + HOUR_MS))).await;
    assert_eq!(more, CreditOutcome::TooMany { most: 100 });
    // A hold of all of them is one commit, and what is spent makes place.
    let job = rig.waiting(&account, 100).await;
    rig.settle(rig.success(&job, Guard::Unfinished, 60)).await;
    grant(&rig, &account, 1, NOW + HOUR_MS).await;
    check(&rig).await;
}

async fn credits_outlive_their_account(rig: Rig) {
    let account = rig.account(2, 10).await;
    let credit = grant(&rig, &account, 5, NOW + HOUR_MS).await;
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    check(&rig).await;
    let ended = rig
        .store
        .ledger()
        .credits()
        .end_due(NOW + HOUR_MS, 10)
        .await;
    assert_eq!(ended.expect("ended"), 1);
    assert_eq!(parts_of(&rig, &account, &credit, NOW).await, [0, 0, 0, 5]);
    check(&rig).await;
}

/// The promise: while a program that knows no credits is at work nothing ends, and none starts once something does.
async fn older_programs_and_credits_keep_apart(rig: Rig) {
    let account = rig.account(0, 10).await;
    let widens = "SELECT widens FROM schema_version WHERE name = '0054_credits'";
    let beat = rig.store.nodes().beat("newer", NOW, NOW, "{}").await;
    beat.expect("noted");
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0054_credits'"
    );
    sql(&rig.url, &older).await.expect("noted");
    let plain = post(&rig, wish(&rig, &account, 1, None)).await;
    assert!(matches!(plain, CreditOutcome::Done(_)), "it never ends");
    assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
    let answer = post(&rig, wish(&rig, &account, 5, Some(NOW + HOUR_MS))).await;
    if rig.store.is_postgres() {
        assert_eq!(answer, CreditOutcome::OlderNode("older".into()));
        assert_eq!(rig.purse(&account).await, (quota(1), quota(0)));
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        grant(&rig, &account, 5, NOW + HOUR_MS).await;
    } else {
        assert!(matches!(answer, CreditOutcome::Done(_)), "it is alone");
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
}

/// A small seeded generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % sides) as i64
    }
}

/// What is simple enough to be right: an amount for each end, and one for none.
#[derive(Default)]
struct Purse {
    /// Left by end; what never ends is at the end of time.
    left: BTreeMap<i64, i64>,
    /// The holds of jobs, by end.
    holds: BTreeMap<String, BTreeMap<i64, i64>>,
    granted: i64,
    spent: i64,
    lapsed: i64,
    taken: i64,
}

const NEVER: i64 = i64::MAX;

impl Purse {
    fn end(&mut self, now_ms: i64) {
        let over: Vec<i64> = self.left.range(..=now_ms).map(|(end, _)| *end).collect();
        for end in over {
            self.lapsed += self.left.remove(&end).unwrap_or(0);
        }
    }

    fn balance(&self) -> i64 {
        self.left.values().sum()
    }

    fn hold(&mut self, job: &str, price: i64) {
        let (mut wanted, mut parts) = (price, BTreeMap::new());
        for (end, left) in &mut self.left {
            let taken = wanted.min(*left);
            *left -= taken;
            wanted -= taken;
            parts.insert(*end, taken);
        }
        assert_eq!(wanted, 0);
        self.holds.insert(job.to_owned(), parts);
    }

    fn settle(&mut self, job: &str, spent: i64, now_ms: i64) {
        self.end(now_ms);
        let mut wanted = spent;
        for (end, part) in self.holds.remove(job).expect("a hold") {
            let used = wanted.min(part);
            wanted -= used;
            if end <= now_ms {
                self.lapsed += part - used;
            } else {
                *self.left.entry(end).or_default() += part - used;
            }
        }
        self.spent += spent;
    }

    fn take(&mut self, amount: i64) {
        let mut wanted = amount;
        for left in self.left.values_mut().rev() {
            let taken = wanted.min(*left);
            *left -= taken;
            wanted -= taken;
        }
        self.taken += amount;
    }
}

/// A story of one account beside its model.
struct Story {
    rig: Rig,
    dice: Dice,
    account: String,
    purse: Purse,
    now_ms: i64,
}

impl Story {
    async fn step(&mut self) {
        match self.dice.roll(10) {
            0 | 1 => self.grant().await,
            2 => self.take().await,
            3 => {
                let ended = self
                    .rig
                    .store
                    .ledger()
                    .credits()
                    .end_due(self.now_ms, 10)
                    .await;
                ended.expect("ended");
                self.purse.end(self.now_ms);
            }
            4 => self.now_ms += self.dice.roll(15_000),
            5..=7 => self.accept().await,
            _ => self.settle().await,
        }
    }

    async fn post(&self, amount: i64, expires_ms: Option<i64>) -> CreditOutcome {
        let credit = Credit {
            now_ms: self.now_ms,
            ..wish(&self.rig, &self.account, amount, expires_ms)
        };
        post(&self.rig, credit).await
    }

    async fn grant(&mut self) {
        let expires_ms = self.now_ms + 1 + self.dice.roll(40) * 1_000;
        let amount = 1 + self.dice.roll(6);
        let done = self.post(amount, Some(expires_ms)).await;
        assert!(matches!(done, CreditOutcome::Done(_)), "{done:?}");
        self.purse.end(self.now_ms);
        *self.purse.left.entry(expires_ms).or_default() += amount;
        self.purse.granted += amount;
    }

    async fn take(&mut self) {
        let amount = 1 + self.dice.roll(4);
        let done = self.post(-amount, None).await;
        self.purse.end(self.now_ms);
        if self.purse.balance() >= amount {
            assert!(matches!(done, CreditOutcome::Done(_)), "{done:?}");
            self.purse.take(amount);
        } else {
            assert!(matches!(done, CreditOutcome::TooLow(_)), "{done:?}");
        }
    }

    async fn accept(&mut self) {
        let price = self.dice.roll(8);
        let accept = accept_at(&self.rig, &self.account, price, self.now_ms);
        let job = accept.job.id.clone();
        let taken = self.rig.take(accept).await;
        self.purse.end(self.now_ms);
        if self.purse.balance() >= price {
            assert!(matches!(taken, AcceptOutcome::New { .. }), "{taken:?}");
            self.purse.hold(&job, price);
        } else {
            let balance = quota(self.purse.balance());
            assert_eq!(taken, AcceptOutcome::QuotaShort { balance });
        }
    }

    async fn settle(&mut self) {
        let jobs: Vec<String> = self.purse.holds.keys().cloned().collect();
        if jobs.is_empty() {
            return;
        }
        let job = &jobs[self.dice.roll(jobs.len() as u64) as usize];
        let price: i64 = self.purse.holds[job].values().sum();
        let spent = self.dice.roll(price as u64 + 1);
        let settlement = match self.dice.roll(3) {
            0 => self.rig.failure(job, Guard::Unfinished),
            _ => self.rig.success(job, Guard::Unfinished, spent),
        };
        let failed = matches!(settlement.outcome, Outcome::Failed { .. });
        self.rig.settle(at(settlement, self.now_ms)).await;
        let spent = if failed { 0 } else { spent };
        self.purse.settle(job, spent, self.now_ms);
    }

    async fn agree(&self) {
        let (rig, purse, now_ms) = (&self.rig, &self.purse, self.now_ms);
        // What is over and not booked is still in the balance.
        let unbooked: i64 = purse.left.range(..=now_ms).map(|(_, left)| *left).sum();
        let seen = credits(rig, &self.account, now_ms).await;
        let left: i64 = seen.credits.iter().map(|one| whole(one.left)).sum();
        let ends = purse.balance() - unbooked - purse.left[&NEVER];
        assert_eq!((left, whole(seen.base)), (ends, purse.left[&NEVER]));
        let (balance, frozen) = rig.purse(&self.account).await;
        let held: i64 = purse.holds.values().flat_map(BTreeMap::values).sum();
        assert_eq!((whole(balance), whole(frozen)), (purse.balance(), held));
        let all = purse.spent + purse.balance() + held + purse.lapsed + purse.taken;
        assert_eq!(purse.granted, all);
    }
}

/// The promise: money granted is money spent, left, held, lapsed and taken away, whatever happens in which order.
async fn whatever_happens_credits_agree_with_the_model(rig: Rig) {
    for seed in [3_u64, 58, 4_711] {
        let mut purse = Purse::default();
        purse.left.insert(NEVER, 5);
        purse.granted = 5;
        let mut story = Story {
            dice: Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            account: rig.account(5, 1_000).await,
            rig: rig.clone(),
            purse,
            now_ms: NOW,
        };
        for _ in 0..160 {
            story.step().await;
            story.agree().await;
        }
        check(&rig).await;
    }
}
