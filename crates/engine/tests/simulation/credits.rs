//! Quota that ends: the operator gives some now and then, and takes some away; callers redeem vouchers, both of them the same ones at
//! once; plans are given and changed. What was given is spent, left or lapsed in the end, whatever was cut off in between.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Code, Quota, Refusal};
use atelier_engine::records::{CreditRow, VoucherTerms};
use atelier_engine::{Caller, CreditRequest, Engine};
use atelier_store::{PlanAssignment, PlanOutcome, Store};
use serde_json::json;
use tokio::time::sleep;

use crate::world::{Shared, World, lock};

/// More rows than any account has.
const ALL: i64 = 1_000;

/// Something that the operator gives, and what is known of it.
#[derive(Clone)]
pub(crate) struct Gift {
    at_ms: i64,
    account: usize,
    /// In thousandths; below zero what is taken away.
    amount: i64,
    /// How long it is of use; for ever without.
    life_ms: Option<i64>,
    /// When it ends, once that was said.
    expires_ms: Option<i64>,
    /// Whether nothing more is to be done about it.
    done: bool,
    /// Whether it was answered that it is given.
    given: bool,
}

impl Gift {
    /// What will be given.
    pub(crate) fn all(dice: &mut fastrand::Rng) -> Vec<Self> {
        let count = dice.usize(0..10);
        let gifts = (0..count).map(|_| {
            let taken = dice.u32(0..100) < 20;
            let amount = dice.i64(1..12_000);
            Self {
                at_ms: dice.i64(0..150_000),
                account: dice.usize(0..2),
                amount: if taken { -amount } else { amount },
                life_ms: (!taken && dice.u32(0..100) < 85).then(|| dice.i64(1..90_000)),
                expires_ms: None,
                done: false,
                given: false,
            }
        });
        gifts.collect()
    }

    /// Whether nothing more is to be done about it.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }
}

fn reason(number: usize) -> String {
    format!("gift {number}")
}

/// Gives what is to be given, one after the other, and asks again where no answer came.
pub(crate) async fn give(world: Shared, engine: Arc<Engine>) {
    let count = lock(&world).gifts.len();
    for number in 0..count {
        let (early_ms, done) = {
            let world = lock(&world);
            let gift = &world.gifts[number];
            (gift.at_ms - world.now_ms(), gift.done)
        };
        if done {
            continue;
        }
        sleep(Duration::from_millis(early_ms.max(0) as u64)).await;
        loop {
            let (account_id, request) = {
                let mut world = lock(&world);
                let now_ms = engine.now_ms();
                let gift = &mut world.gifts[number];
                let ends = gift.life_ms.map(|life_ms| now_ms + life_ms);
                gift.expires_ms = gift.expires_ms.or(ends);
                let gift = gift.clone();
                let request = CreditRequest {
                    amount: Quota::from_thousandths(gift.amount),
                    reason: reason(number),
                    idempotency_key: Some(reason(number)),
                    expires_ms: gift.expires_ms,
                };
                (world.callers[gift.account].account_id.clone(), request)
            };
            let credits = engine.admin().credits();
            let answer = credits.credit("root", &account_id, request).await;
            if note(&world, number, &answer) {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Notes what was answered; whether that is an end.
fn note<T>(world: &Shared, number: usize, answer: &Result<T, Refusal>) -> bool {
    let mut world = lock(world);
    let said = match answer {
        Ok(_) => "done".to_owned(),
        Err(refusal) => format!("{:?}", refusal.code),
    };
    world.note(&format!("gift {number}: {said}"));
    let again = [Code::Overloaded, Code::Internal, Code::Conflict];
    if answer.as_ref().is_err_and(|no| again.contains(&no.code)) {
        return false;
    }
    let gift = &mut world.gifts[number];
    (gift.done, gift.given) = (true, answer.is_ok());
    true
}

/// What a voucher is worth, in thousandths.
const WORTH: i64 = 3_000;
/// Plans with what their periods give, how much of that goes over, and whether anything else is spent then.
const PLANS: [(&str, i64, i64, &str); 3] = [
    ("small", 5, 0, "pay_as_you_go"),
    ("big", 50, 20, "stop"),
    ("other", 20, 100, "pay_as_you_go"),
];
const DAY_MS: i64 = 86_400_000;
/// Whoever is given a plan has most often had it for nearly a day: so much of that is left at most.
const NEARLY_MS: i64 = 60_000;

/// A code that both callers have.
#[derive(Clone)]
pub(crate) struct SharedCode {
    code: String,
    at_ms: i64,
    /// Whether it was answered, and that it gave something, by account.
    told: [Option<bool>; 2],
}

impl SharedCode {
    /// Whether nothing more is to be done about it.
    pub(crate) fn is_done(&self) -> bool {
        self.told.iter().all(Option::is_some)
    }
}

/// Makes the vouchers and plans that there will be.
pub(crate) async fn set_up(world: &Shared, engine: &Engine) -> Result<(), Refusal> {
    let count = lock(world).dice.i64(1..7);
    let terms = VoucherTerms {
        note: "voucher".into(),
        amount: Quota::from_thousandths(WORTH),
        per_account: 10,
        expires_ms: None,
        credit_expires_ms: None,
        credit_days: Some(1),
    };
    let vouchers = engine.admin().vouchers();
    let (_, codes) = vouchers.make("root", count, terms).await?;
    {
        let mut world = lock(world);
        for code in codes {
            let at_ms = world.dice.i64(0..120_000);
            world.codes.push(SharedCode {
                code: code.to_string(),
                at_ms,
                told: [None; 2],
            });
        }
    }
    for (name, quota, over, then) in PLANS {
        let plan = json!({
            "name": name,
            "every": { "days": 1 },
            "quota": quota,
            "rollover_cap": over,
            "then": then,
        });
        let plan = plan.as_object().cloned().unwrap_or_default();
        engine.admin().plans().create("root", plan).await?;
    }
    Ok(())
}

/// Both callers redeem every code, until they are told what became of it.
pub(crate) async fn redeem(world: Shared, engine: Arc<Engine>, number: usize) {
    let count = lock(&world).codes.len();
    for place in 0..count {
        let (shared, early_ms, caller) = {
            let world = lock(&world);
            let shared = world.codes[place].clone();
            let early_ms = shared.at_ms - world.now_ms();
            (shared, early_ms, world.callers[number].clone())
        };
        if shared.told[number].is_some() {
            continue;
        }
        sleep(Duration::from_millis(early_ms.max(0) as u64)).await;
        loop {
            let vouchers = engine.admin().vouchers();
            let answer = vouchers.redeem(&caller, &shared.code).await;
            let refused = answer.as_ref().err().map(|refusal| refusal.code);
            if told(&world, (place, number), refused) {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Notes what became of a code; whether that is an end.
fn told(world: &Shared, (place, number): (usize, usize), refused: Option<Code>) -> bool {
    let mut world = lock(world);
    world.note(&format!("code {place} by {number}: {refused:?}"));
    let again = [Code::Overloaded, Code::Internal, Code::Conflict];
    if refused.is_some_and(|code| again.contains(&code)) {
        return false;
    }
    world.codes[place].told[number] = Some(refused.is_none());
    if world.codes[place].told == [Some(true); 2] {
        world.accuse(format!("code {place} gave to both"));
    }
    true
}

/// The operator gives accounts plans, other ones, and ends them, now and then. Most of them are renewed before long.
pub(crate) async fn plan(world: Shared, engine: Arc<Engine>, store: Store) {
    loop {
        let (pause_ms, which, caller, age_ms) = {
            let mut world = lock(&world);
            let pause_ms = world.dice.u64(5_000..80_000);
            let which = world.dice.usize(0..=PLANS.len());
            let number = world.dice.usize(0..2);
            let nearly = world.dice.u32(0..100) < 70;
            let age_ms = nearly.then(|| DAY_MS - world.dice.i64(1..NEARLY_MS));
            (pause_ms, which, world.callers[number].clone(), age_ms)
        };
        sleep(Duration::from_millis(pause_ms)).await;
        if lock(&world).is_calm() {
            return;
        }
        if let (Some((name, ..)), Some(age_ms)) = (PLANS.get(which), age_ms) {
            let now_ms = engine.now_ms();
            let had = PlanAssignment {
                account_id: caller.account_id.to_string(),
                plan: (*name).to_owned(),
                from_ms: Some(now_ms - age_ms),
                now_ms,
                alive_since_ms: now_ms,
            };
            // Without an audit row: no operator may say that a plan began in the past.
            let had = store.ledger().plans().assign(had, None).await;
            let said = match had {
                Ok(PlanOutcome::Done(row)) => format!("until {}", row.until_ms),
                other => format!("{other:?}"),
            };
            lock(&world).note(&format!("plan {name} for a day: {said}"));
            continue;
        }
        let (plans, account_id) = (engine.admin().plans(), &caller.account_id);
        let (what, done) = match PLANS.get(which) {
            Some((name, ..)) => {
                let given = plans.assign("root", account_id, name, None).await;
                (*name, given.map(|_| ()))
            }
            None => ("none", plans.end("root", account_id).await.map(|_| ())),
        };
        let said = done.map_or_else(|refusal| format!("{:?}", refusal.code), |()| "done".into());
        lock(&world).note(&format!("plan {what}: {said}"));
    }
}

/// What has lapsed of credits; the parts of each add up.
fn lapsed(world: &mut World, credits: &[CreditRow]) -> i64 {
    let mut lapsed = 0;
    for credit in credits {
        let parts = [credit.left, credit.held, credit.spent, credit.lapsed];
        let parts: i64 = parts.iter().map(|part| part.thousandths()).sum();
        if parts != credit.amount.thousandths() || credit.held != Quota::ZERO {
            world.accuse(format!("{credit:?} does not add up"));
        }
        lapsed += credit.lapsed.thousandths();
    }
    lapsed
}

/// What was given to an account and has not lapsed, by its ledger; every gift is in it once.
pub(crate) async fn given(
    world: &Shared,
    engine: &Engine,
    number: usize,
    caller: &Caller,
) -> Result<i64, String> {
    let accounts = engine.admin().accounts();
    let rows = accounts.ledger(Some(&caller.account_id), 1, ALL).await;
    let (rows, _) = rows.map_err(|no| no.message)?;
    let credits = engine.admin().credits().of(&caller.account_id).await;
    let credits = credits.map_err(|no| no.message)?;
    let mut world = lock(world);
    let (mut sum, mut ended, mut owed) = (0, 0, 0);
    let gifts: Vec<Gift> = world.gifts.clone();
    for (place, gift) in gifts.iter().enumerate() {
        if gift.account != number {
            continue;
        }
        let of_it = |row: &&atelier_engine::records::LedgerRow| {
            row.reason == reason(place) && row.cause.is_none()
        };
        let booked: Vec<i64> = rows
            .iter()
            .filter(of_it)
            .map(|row| row.amount.thousandths())
            .collect();
        let right = match booked[..] {
            [] => !gift.given,
            [amount] => amount == gift.amount,
            _ => false,
        };
        if !right {
            world.accuse(format!("gift {place} is booked as {booked:?}"));
        }
    }
    // Everything that was given or taken after the first grant.
    for row in rows.iter().filter(|row| row.cause.is_none()) {
        if (row.kind == "grant" || row.kind == "adjust") && row.reason != "first grant" {
            sum += row.amount.thousandths();
        }
    }
    let vouchers = rows
        .iter()
        .filter(|row| row.reason == "voucher" && row.cause.is_none());
    let codes = world
        .codes
        .iter()
        .filter(|code| code.told[number] == Some(true));
    let (booked, codes) = (vouchers.count(), codes.count());
    if booked != codes {
        world.accuse(format!(
            "{codes} codes gave to account {number}, and {booked} are booked"
        ));
    }
    for row in &rows {
        match row.cause.as_deref() {
            Some("expire") => ended -= row.amount.thousandths(),
            // What payments took back, and what of it was lent and paid.
            Some(_) => owed += row.amount.thousandths(),
            None => {}
        }
    }
    let lapsed = lapsed(&mut world, &credits.credits);
    // What the operator took of them is in their lapsed part as well, and so is shown what is over and yet to be booked.
    if lapsed < ended {
        world.accuse(format!(
            "{lapsed} lapsed and {ended} is booked of account {number}"
        ));
    }
    Ok(sum - ended + owed)
}
