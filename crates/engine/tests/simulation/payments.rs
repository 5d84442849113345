//! Payments: both callers buy quota and periods of a plan, and the provider reports what became of it, often, late and in any order, until it
//! is heard, whatever was cut off in between. What was paid gave once, and what went back was taken back exactly.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::products::taken_back;
use atelier_contract::{Quota, Refusal};
use atelier_engine::Engine;
use atelier_store::{NewPayment, PaymentEvent, PaymentNews, PaymentOutcome, Store};
use serde_json::json;
use tokio::time::sleep;

use crate::world::{Shared, lock};

const MONEY: i64 = 700;
/// In thousandths.
const WORTH: i64 = 9_000;
const PROVIDER: &str = "stripe";

/// Something that is bought, and what is told of it.
#[derive(Clone)]
pub(crate) struct Purchase {
    at_ms: i64,
    account: usize,
    /// `nine`, or `daily` for a period of a plan.
    product: &'static str,
    /// In the order in which it is told, with the pause before it.
    events: Vec<(u64, String, PaymentNews, i64)>,
    done: bool,
}

impl Purchase {
    /// What will be bought.
    pub(crate) fn all(dice: &mut fastrand::Rng) -> Vec<Self> {
        let count = dice.usize(0..6);
        let bought = (0..count).map(|number| Self {
            at_ms: dice.i64(0..100_000),
            account: dice.usize(0..2),
            product: if dice.u32(0..100) < 40 {
                "daily"
            } else {
                "nine"
            },
            events: events(dice, number),
            done: false,
        });
        bought.collect()
    }

    /// Whether everything was told and heard.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// How much of the money is gone in the end.
    fn gone(&self) -> i64 {
        let of = |wanted: fn(&PaymentNews) -> bool| {
            let told = self.events.iter().filter(move |one| wanted(&one.2));
            told.map(|one| one.3).max().unwrap_or(0)
        };
        let won = |news: &PaymentNews| matches!(news, PaymentNews::DisputeClosed { won: true, .. });
        let disputed = if self.events.iter().any(|one| won(&one.2)) {
            0
        } else {
            of(|news| matches!(news, PaymentNews::Disputed { .. }))
        };
        (of(|news| *news == PaymentNews::Refunded) + disputed).min(MONEY)
    }
}

/// What is told of a payment: that it was made, and perhaps that money went back; some of it twice, in any order.
fn events(dice: &mut fastrand::Rng, number: usize) -> Vec<(u64, String, PaymentNews, i64)> {
    let dispute = format!("dispute-{number}");
    let mut all = vec![(PaymentNews::Paid, MONEY)];
    for _ in 0..dice.usize(0..3) {
        all.push((PaymentNews::Refunded, dice.i64(1..=MONEY)));
    }
    if dice.u32(0..100) < 40 {
        let held = dice.i64(1..=MONEY);
        let won = dice.bool();
        all.push((
            PaymentNews::Disputed {
                dispute: dispute.clone(),
            },
            held,
        ));
        all.push((PaymentNews::DisputeClosed { dispute, won }, held));
    }
    let named = all.into_iter().enumerate();
    let mut told: Vec<_> = named
        .map(|(place, (news, money))| (format!("event-{number}-{place}"), news, money))
        .collect();
    let twice = told[dice.usize(0..told.len())].clone();
    told.push(twice);
    dice.shuffle(&mut told);
    let paused = told.into_iter();
    paused
        .map(|(id, news, money)| (dice.u64(0..9_000), id, news, money))
        .collect()
}

fn id_of(place: usize) -> String {
    format!("purchase-{place}")
}

/// Makes the products that there will be.
pub(crate) async fn set_up(engine: &Engine) -> Result<(), Refusal> {
    let quota = Quota::from_thousandths(WORTH);
    let plan =
        json!({ "name": "paid", "every": { "days": 1 }, "quota": quota, "then": "pay_as_you_go" });
    let plan = plan.as_object().cloned().unwrap_or_default();
    engine.admin().plans().create("root", plan).await?;
    let nine = json!({ "name": "nine", "money": MONEY, "currency": "EUR", "quota": quota });
    let daily = json!({ "name": "daily", "money": MONEY, "currency": "EUR", "plan": "paid" });
    for product in [nine, daily] {
        let product = product.as_object().cloned().unwrap_or_default();
        engine.admin().products().create("root", product).await?;
    }
    Ok(())
}

/// Buys what is to be bought, one after the other, and tells what becomes of it until that is heard.
pub(crate) async fn buy(world: Shared, engine: Arc<Engine>, store: Store) {
    let count = lock(&world).purchases.len();
    for place in 0..count {
        let (purchase, early_ms, account_id) = {
            let world = lock(&world);
            let purchase = world.purchases[place].clone();
            let early_ms = purchase.at_ms - world.now_ms();
            let account_id = world.callers[purchase.account].account_id.to_string();
            (purchase, early_ms, account_id)
        };
        if purchase.done {
            continue;
        }
        sleep(Duration::from_millis(early_ms.max(0) as u64)).await;
        while !begun(&engine, &store, (place, purchase.product), &account_id).await {
            sleep(Duration::from_secs(1)).await;
        }
        for (pause_ms, id, news, money) in &purchase.events {
            sleep(Duration::from_millis(*pause_ms)).await;
            let event = told(&engine, place, (id, news, *money));
            while store
                .ledger()
                .payments()
                .record(event.clone(), None)
                .await
                .is_err()
            {
                sleep(Duration::from_secs(1)).await;
            }
        }
        let mut world = lock(&world);
        world.note(&format!("purchase {place} is told of"));
        world.purchases[place].done = true;
    }
}

/// Whether a payment is waited for; it may be from an earlier life. Where another plan runs, quota is bought in its place.
async fn begun(
    engine: &Engine,
    store: &Store,
    (place, product): (usize, &str),
    account_id: &str,
) -> bool {
    let (payments, now_ms) = (store.ledger().payments(), engine.now_ms());
    if matches!(payments.one(&id_of(place), None).await, Ok(Some(_))) {
        return true;
    }
    for product in [product, "nine"] {
        let new = NewPayment {
            id: id_of(place),
            account_id: account_id.to_owned(),
            product: product.into(),
            product_revision: 1,
            provider: PROVIDER.into(),
            subscribes: false,
            saves: false,
            now_ms,
            expires_ms: now_ms + 20_000,
        };
        match payments.create(new, None).await {
            Ok(PaymentOutcome::Done(_)) => return true,
            Ok(PaymentOutcome::OtherPlan(_)) => {}
            _ => return false,
        }
    }
    false
}

fn told(
    engine: &Engine,
    place: usize,
    (id, news, money): (&str, &PaymentNews, i64),
) -> PaymentEvent {
    // That it was made names the payment; the rest may come before, and names the charge alone.
    let is_paid = *news == PaymentNews::Paid;
    PaymentEvent {
        provider: PROVIDER.into(),
        event_id: id.to_owned(),
        payment_id: is_paid.then(|| id_of(place)),
        references: vec![format!("charge-{place}")],
        account_id: None,
        subscription: None,
        customer: None,
        news: news.clone(),
        money: Some(money),
        currency: Some("EUR".into()),
        raw: String::new(),
        answered: false,
        ledger_id: format!("back-{place}-{id}"),
        new_id: format!("next-{place}-{id}"),
        now_ms: engine.now_ms(),
    }
}

/// What was paid is paid, and what was taken back is what of its money is gone.
pub(crate) async fn check(world: &Shared, engine: &Engine) -> Result<(), String> {
    let purchases = lock(world).purchases.clone();
    for (place, purchase) in purchases.iter().enumerate() {
        let row = engine.admin().payments().one(&id_of(place), None).await;
        let row = row.map_err(|no| no.message)?;
        // A period that was paid ahead has given nothing until it begins.
        let wanted = match row.ledger_id {
            Some(_) => taken_back(Quota::from_thousandths(WORTH), MONEY, purchase.gone()),
            None => Quota::ZERO,
        };
        if row.paid_ms.is_none() || row.taken != wanted {
            let mut world = lock(world);
            world.accuse(format!("{row:?} is to have {wanted} taken back"));
        }
    }
    Ok(())
}
