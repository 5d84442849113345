//! Plans that payments renew: each payment gives one period, of what was sold, in its turn; what is not paid for is waited for and then
//! over.

use atelier_contract::Quota;
use atelier_contract::plans::{Every, PlanDefinition, Then};
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    AcceptOutcome, AccountPlan, EventOutcome, NewPayment, PaymentEvent, PaymentNews,
    PaymentOutcome, PaymentRow, PaymentState, PlanOutcome, Store,
};

use crate::credits::credits;
use crate::payments::{
    applied, begin, bought, debt, free, one, pending, product, tell, told, written,
};
use crate::plans;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_plan_that_is_paid_for_waits_for_its_payment,
    a_plan_that_waits_keeps_what_is_left_of_many_periods,
    a_plan_waits_no_longer_than_a_period,
    a_plan_can_be_paid_for_ahead,
    a_payment_between_the_end_and_the_renewal_buys_a_period_of_its_own,
    what_was_paid_ahead_is_of_the_plan_that_was_sold,
    a_service_that_was_away_for_long_gives_a_whole_period,
    another_plan_that_is_paid_for_begins_after_the_one_that_runs,
    a_payment_renews_a_plan_that_an_operator_gave,
    an_operator_gives_a_plan_to_an_account_that_waits,
    a_refunded_plan_ends_with_its_period,
    a_refund_of_an_old_period_leaves_the_plan_of_today,
    a_plan_that_is_bought_again_after_a_refund_begins_at_once,
    a_part_of_a_period_that_is_paid_ahead_is_taken_when_it_begins,
    a_won_dispute_gives_a_plan_back_what_it_may_spend,
    a_dispute_about_a_period_that_is_paid_ahead_holds_it_up,
    a_subscription_pays_every_period_once,
    a_subscription_whose_events_come_in_any_order_is_found_by_its_charges,
    a_renewal_that_fails_gives_nothing,
    a_subscription_that_is_not_paid_for_stops_what_its_plan_stops,
    a_subscription_ends_with_its_plan,
    a_second_subscription_is_ended,
    a_subscription_of_an_account_that_is_gone_is_ended_at_once,
    a_plan_that_was_paid_for_stays,
    a_payment_and_the_renewal_at_once_begin_one_period,
);

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
const PERIOD_MS: i64 = 30 * DAY_MS;

async fn renew(rig: &Rig, now_ms: i64) -> usize {
    let plans = rig.store.ledger().plans();
    let due = plans.due(now_ms, 100).await.expect("a read");
    for account in &due {
        plans.renew(account, now_ms).await.expect("renewed");
    }
    due.len()
}

/// A plan, and a product of the same name that gives a period of it.
async fn sell(rig: &Rig, plan: &PlanDefinition) {
    plans::written(rig, plan, None).await;
    let sold = ProductDefinition {
        quota: None,
        plan: Some(plan.name.clone()),
        ..product(&plan.name)
    };
    written(rig, &sold, None).await;
}

/// A plan of 10 for 30 days, of which 2 go over.
fn month() -> PlanDefinition {
    PlanDefinition {
        rollover_cap: quota(2),
        ..plans::plan("month", 10)
    }
}

async fn monthly(rig: &Rig) {
    sell(rig, &month()).await;
}

fn at(mut event: PaymentEvent, now_ms: i64) -> PaymentEvent {
    event.now_ms = now_ms;
    event
}

/// Buys a period at a moment.
async fn buy(rig: &Rig, account: &str, product: &str, now_ms: i64) -> PaymentRow {
    let id = match begin(rig, account, product, now_ms).await {
        PaymentOutcome::Done(row) => row.id,
        other => panic!("{other:?}"),
    };
    applied(rig, at(told(rig, &id, PaymentNews::Paid, 300), now_ms)).await
}

async fn plan_of(rig: &Rig, account: &str) -> Option<AccountPlan> {
    let found = rig.store.ledger().plans().of(account).await;
    found.expect("a read")
}

async fn running(rig: &Rig, account: &str) -> AccountPlan {
    plan_of(rig, account).await.expect("a plan")
}

async fn ahead(rig: &Rig, account: &str) -> i64 {
    let found = rig.store.ledger().plans().paid_ahead(account).await;
    found.expect("a read")
}

async fn submit(rig: &Rig, account: &str, price: i64, now_ms: i64) -> AcceptOutcome {
    let mut accept = rig.accept(account, price);
    (accept.job.created_ms, accept.job.deadline_ms) = (now_ms, now_ms + DAY_MS);
    rig.take(accept).await
}

async fn submits(rig: &Rig, account: &str, price: i64, now_ms: i64) -> bool {
    let taken = submit(rig, account, price, now_ms).await;
    matches!(taken, AcceptOutcome::New { .. })
}

async fn refund(rig: &Rig, payment: &PaymentRow, money: i64, now_ms: i64) -> PaymentRow {
    let event = told(rig, &payment.id, PaymentNews::Refunded, money);
    applied(rig, at(event, now_ms)).await
}

async fn a_plan_that_is_paid_for_waits_for_its_payment(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let id = bought(&rig, &account, "month").await;
    assert_eq!(one(&rig, &id).await.quota, quota(10));
    assert_eq!(free(&rig, &account).await, quota(10));
    let until_ms = NOW + PERIOD_MS;
    assert_eq!(renew(&rig, until_ms - 1).await, 0);
    // Nobody has paid: what is left can be spent for three days more, and nothing is added.
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(renew(&rig, until_ms + DAY_MS).await, 0, "it waits");
    assert_eq!(free(&rig, &account).await, quota(10));
    assert!(submits(&rig, &account, 3, until_ms + DAY_MS).await);
    // The payment comes: the next period is the one that the plan would have had.
    buy(&rig, &account, "month", until_ms + DAY_MS).await;
    let plan = running(&rig, &account).await;
    assert_eq!(
        (plan.from_ms, plan.until_ms),
        (until_ms, until_ms + PERIOD_MS)
    );
    assert_eq!(plan.waits_ms, None);
    assert_eq!(free(&rig, &account).await, quota(12), "two went over");
    // Nobody pays again: after three days it is over.
    let end_ms = until_ms + PERIOD_MS;
    assert_eq!(renew(&rig, end_ms).await, 1);
    assert_eq!(renew(&rig, end_ms + 3 * DAY_MS - 1).await, 0);
    assert_eq!(renew(&rig, end_ms + 3 * DAY_MS).await, 1);
    assert_eq!(plan_of(&rig, &account).await, None);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
}

/// Eleven credits are open when the last period is over: none of them is lost while the next is waited for.
async fn a_plan_that_waits_keeps_what_is_left_of_many_periods(rig: Rig) {
    let account = rig.account(0, 10).await;
    let daily = PlanDefinition {
        every: Every::Days { days: 1 },
        rollover_cap: quota(1_000),
        ..plans::plan("daily", 1)
    };
    sell(&rig, &daily).await;
    for day in 0..11 {
        buy(&rig, &account, "daily", NOW).await;
        renew(&rig, NOW + day * DAY_MS).await;
    }
    let until_ms = NOW + 11 * DAY_MS;
    renew(&rig, until_ms - 1).await;
    let left = credits(&rig, &account, until_ms - 1).await.credits;
    let open = left.iter().filter(|one| one.left > Quota::ZERO);
    assert_eq!(open.count(), 11);
    assert_eq!(free(&rig, &account).await, quota(11));
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(free(&rig, &account).await, quota(11));
    assert!(submits(&rig, &account, 11, until_ms + HOUR_MS).await);
}

async fn a_plan_waits_no_longer_than_a_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    let daily = PlanDefinition {
        every: Every::Days { days: 1 },
        ..plans::plan("daily", 1)
    };
    sell(&rig, &daily).await;
    bought(&rig, &account, "daily").await;
    let until_ms = NOW + DAY_MS;
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(renew(&rig, until_ms + DAY_MS - 1).await, 0);
    assert!(plan_of(&rig, &account).await.is_some());
    assert_eq!(renew(&rig, until_ms + DAY_MS).await, 1);
    assert_eq!(plan_of(&rig, &account).await, None);
}

async fn a_plan_can_be_paid_for_ahead(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let next = bought(&rig, &account, "month").await;
    assert_eq!(
        free(&rig, &account).await,
        quota(10),
        "one period at a time"
    );
    assert_eq!(ahead(&rig, &account).await, 1);
    assert_eq!(one(&rig, &next).await.ledger_id, None);
    let until_ms = NOW + PERIOD_MS;
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(free(&rig, &account).await, quota(12));
    assert_eq!(ahead(&rig, &account).await, 0);
    let row = one(&rig, &next).await;
    let given = format!(
        "SELECT COUNT(*) FROM credit WHERE id = '{}'",
        row.ledger_id.expect("begun")
    );
    assert_eq!(number(&rig.url, &given).await, 1);
    sell(&rig, &plans::plan("other", 50)).await;
    let refused = begin(&rig, &account, "other", NOW).await;
    assert_eq!(refused, PaymentOutcome::OtherPlan("month".into()));
    let gone = ProductDefinition {
        plan: Some("gone".into()),
        quota: None,
        ..product("gone")
    };
    written(&rig, &gone, None).await;
    let refused = begin(&rig, &account, "gone", NOW).await;
    assert_eq!(refused, PaymentOutcome::NoPlan("gone".into()));
}

async fn a_payment_between_the_end_and_the_renewal_buys_a_period_of_its_own(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let second = bought(&rig, &account, "month").await;
    // The first period is over, and no one has renewed it yet.
    let between_ms = NOW + PERIOD_MS + HOUR_MS;
    let third = buy(&rig, &account, "month", between_ms).await;
    assert!(one(&rig, &second).await.ledger_id.is_some());
    assert_eq!((third.ledger_id, ahead(&rig, &account).await), (None, 1));
    assert_eq!(running(&rig, &account).await.until_ms, NOW + 2 * PERIOD_MS);
    assert_eq!(renew(&rig, NOW + 2 * PERIOD_MS).await, 1);
    assert_eq!(ahead(&rig, &account).await, 0);
    assert_eq!(running(&rig, &account).await.until_ms, NOW + 3 * PERIOD_MS);
    let given = "SELECT COUNT(*) FROM plan_period";
    assert_eq!(number(&rig.url, given).await, 3);
}

async fn what_was_paid_ahead_is_of_the_plan_that_was_sold(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let old = bought(&rig, &account, "month").await;
    let smaller = PlanDefinition {
        quota: quota(3),
        rollover_cap: Quota::ZERO,
        every: Every::Days { days: 7 },
        ..month()
    };
    plans::written(&rig, &smaller, Some(1)).await;
    let new = bought(&rig, &account, "month").await;
    assert_eq!(one(&rig, &new).await.quota, quota(3));
    let second_ms = NOW + PERIOD_MS;
    renew(&rig, second_ms).await;
    assert_eq!(free(&rig, &account).await, quota(12), "ten and two");
    assert_eq!(one(&rig, &old).await.quota, quota(10));
    let third_ms = second_ms + PERIOD_MS;
    assert_eq!(running(&rig, &account).await.until_ms, third_ms);
    renew(&rig, third_ms).await;
    assert_eq!(free(&rig, &account).await, quota(3));
    assert_eq!(
        running(&rig, &account).await.until_ms,
        third_ms + 7 * DAY_MS
    );
}

async fn a_service_that_was_away_for_long_gives_a_whole_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    bought(&rig, &account, "month").await;
    let back_ms = NOW + PERIOD_MS + 40 * DAY_MS;
    assert_eq!(renew(&rig, back_ms).await, 1);
    let plan = running(&rig, &account).await;
    assert_eq!(
        (plan.from_ms, plan.until_ms),
        (back_ms, back_ms + PERIOD_MS)
    );
    assert_eq!(renew(&rig, back_ms).await, 0);
}

/// Two sessions were open at once: neither takes the other's period away.
async fn another_plan_that_is_paid_for_begins_after_the_one_that_runs(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    sell(&rig, &plans::plan("large", 50)).await;
    let (small, large) = (
        pending(&rig, &account, "month").await,
        pending(&rig, &account, "large").await,
    );
    applied(&rig, told(&rig, &small, PaymentNews::Paid, 300)).await;
    let paid = applied(&rig, told(&rig, &large, PaymentNews::Paid, 300)).await;
    assert_eq!((paid.state, paid.ledger_id), (PaymentState::Paid, None));
    assert_eq!(running(&rig, &account).await.plan, "month");
    assert_eq!(free(&rig, &account).await, quota(10));
    assert_eq!(renew(&rig, NOW + PERIOD_MS).await, 1);
    let plan = running(&rig, &account).await;
    assert_eq!((&*plan.plan, plan.until_ms), ("large", NOW + 2 * PERIOD_MS));
    assert_eq!(free(&rig, &account).await, quota(50));
}

async fn a_payment_renews_a_plan_that_an_operator_gave(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    plans::assign(&rig, &account, "month", (NOW, None)).await;
    bought(&rig, &account, "month").await;
    assert!(!running(&rig, &account).await.by_payment);
    assert_eq!(free(&rig, &account).await, quota(10));
    renew(&rig, NOW + PERIOD_MS).await;
    assert!(running(&rig, &account).await.by_payment);
    assert_eq!(ahead(&rig, &account).await, 0);
    renew(&rig, NOW + 2 * PERIOD_MS).await;
    assert!(running(&rig, &account).await.waits_ms.is_some());
    // One that is to begin later begins after what is paid for.
    let other = rig.account(0, 10).await;
    sell(&rig, &plans::plan("later", 5)).await;
    plans::assign(&rig, &other, "later", (NOW, Some(NOW + DAY_MS))).await;
    buy(&rig, &other, "month", NOW).await;
    assert_eq!(running(&rig, &other).await.plan, "month");
    renew(&rig, NOW + PERIOD_MS).await;
    let plan = running(&rig, &other).await;
    assert_eq!((&*plan.plan, plan.by_payment), ("later", false));
}

async fn an_operator_gives_a_plan_to_an_account_that_waits(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    let given = plans::assign(&rig, &account, "month", (until_ms + DAY_MS, None)).await;
    let PlanOutcome::Done(plan) = given else {
        panic!("{given:?}");
    };
    assert_eq!((plan.waits_ms, plan.by_payment), (None, false));
    assert_eq!(free(&rig, &account).await, quota(12));
    renew(&rig, until_ms + PERIOD_MS).await;
    assert_eq!(free(&rig, &account).await, quota(12), "the clock renews it");
}

async fn a_refunded_plan_ends_with_its_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let first = bought(&rig, &account, "month").await;
    let ahead_of_it = bought(&rig, &account, "month").await;
    // A period that has not begun does not begin, and there is nothing to take.
    let row = applied(&rig, told(&rig, &ahead_of_it, PaymentNews::Refunded, 300)).await;
    assert_eq!(
        (row.state, row.taken),
        (PaymentState::Refunded, Quota::ZERO)
    );
    assert_eq!(ahead(&rig, &account).await, 0);
    assert_eq!(free(&rig, &account).await, quota(10));
    assert!(!running(&rig, &account).await.ends);
    let row = applied(&rig, told(&rig, &first, PaymentNews::Refunded, 150)).await;
    assert_eq!(row.taken, quota(5));
    assert_eq!(free(&rig, &account).await, quota(5));
    assert!(!running(&rig, &account).await.ends, "half of it is paid");
    applied(&rig, told(&rig, &first, PaymentNews::Refunded, 300)).await;
    assert!(running(&rig, &account).await.ends);
    assert_eq!(renew(&rig, NOW + PERIOD_MS).await, 1);
    assert_eq!(plan_of(&rig, &account).await, None);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
}

async fn a_refund_of_an_old_period_leaves_the_plan_of_today(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let first = buy(&rig, &account, "month", NOW).await;
    let second_ms = NOW + PERIOD_MS;
    renew(&rig, second_ms).await;
    let second = buy(&rig, &account, "month", second_ms).await;
    let row = refund(&rig, &first, 300, second_ms).await;
    assert_eq!(row.state, PaymentState::Refunded);
    assert!(!running(&rig, &account).await.ends);
    // The second one goes as well, and the account gets another plan: an event that repeats what is known takes nothing more.
    refund(&rig, &second, 300, second_ms).await;
    assert!(running(&rig, &account).await.ends);
    let third_ms = second_ms + PERIOD_MS;
    renew(&rig, third_ms).await;
    assert_eq!(plan_of(&rig, &account).await, None);
    sell(&rig, &plans::plan("gift", 5)).await;
    plans::assign(&rig, &account, "gift", (third_ms, None)).await;
    for money in [300, 300] {
        refund(&rig, &second, money, third_ms).await;
        refund(&rig, &first, money, third_ms).await;
    }
    let plan = running(&rig, &account).await;
    assert_eq!((&*plan.plan, plan.ends), ("gift", false));
}

async fn a_plan_that_is_bought_again_after_a_refund_begins_at_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let first = buy(&rig, &account, "month", NOW).await;
    refund(&rig, &first, 300, NOW).await;
    let again_ms = NOW + DAY_MS;
    let second = buy(&rig, &account, "month", again_ms).await;
    assert!(second.ledger_id.is_some());
    let plan = running(&rig, &account).await;
    assert_eq!(
        (plan.from_ms, plan.until_ms, plan.ends),
        (again_ms, again_ms + PERIOD_MS, false)
    );
    assert_eq!(free(&rig, &account).await, quota(10));
    // The same where the next period is paid for already.
    let ahead_of_it = buy(&rig, &account, "month", again_ms).await;
    refund(&rig, &second, 300, again_ms + DAY_MS).await;
    assert!(one(&rig, &ahead_of_it.id).await.ledger_id.is_some());
    assert_eq!(free(&rig, &account).await, quota(10));
}

async fn a_part_of_a_period_that_is_paid_ahead_is_taken_when_it_begins(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let next = buy(&rig, &account, "month", NOW).await;
    let row = refund(&rig, &next, 150, NOW).await;
    assert_eq!((row.taken, row.state), (Quota::ZERO, PaymentState::Paid));
    let third = buy(&rig, &account, "month", NOW).await;
    renew(&rig, NOW + PERIOD_MS).await;
    let row = one(&rig, &next.id).await;
    assert_eq!((row.taken, row.taken_credit), (quota(5), quota(5)));
    assert_eq!(free(&rig, &account).await, quota(7), "five and two");
    // The rest of it goes from its own credit, and the next payment is untouched.
    let row = refund(&rig, &next, 300, NOW + PERIOD_MS + HOUR_MS).await;
    assert_eq!((row.taken, row.state), (quota(10), PaymentState::Refunded));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    assert!(one(&rig, &third.id).await.ledger_id.is_some());
}

/// While a plan stops, nothing but its own credits can be spent: what a bank gives back has to be one of them.
async fn a_won_dispute_gives_a_plan_back_what_it_may_spend(rig: Rig) {
    let account = rig.account(5, 10).await;
    let stops = PlanDefinition {
        then: Then::Stop,
        ..month()
    };
    sell(&rig, &stops).await;
    let id = bought(&rig, &account, "month").await;
    let dispute = || "d".to_owned();
    let held = PaymentNews::Disputed { dispute: dispute() };
    applied(&rig, told(&rig, &id, held, 300)).await;
    assert!(!submits(&rig, &account, 1, NOW).await);
    let won = PaymentNews::DisputeClosed {
        dispute: dispute(),
        won: true,
    };
    applied(&rig, told(&rig, &id, won, 300)).await;
    assert_eq!(free(&rig, &account).await, quota(15));
    assert!(submits(&rig, &account, 10, NOW).await);
    assert!(!submits(&rig, &account, 1, NOW).await, "the rest is base");
    // A refund finds it again: of the ten that were spent none is left.
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!(row.state, PaymentState::Refunded);
    assert_eq!(debt(&rig, &account).await, quota(5));
}

async fn a_dispute_about_a_period_that_is_paid_ahead_holds_it_up(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let next = buy(&rig, &account, "month", NOW).await;
    let dispute = || "d".to_owned();
    let held = PaymentNews::Disputed { dispute: dispute() };
    applied(&rig, told(&rig, &next.id, held, 300)).await;
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    assert!(running(&rig, &account).await.waits_ms.is_some());
    let won = PaymentNews::DisputeClosed {
        dispute: dispute(),
        won: true,
    };
    let won = at(told(&rig, &next.id, won, 300), until_ms + HOUR_MS);
    let row = applied(&rig, won).await;
    assert!(row.ledger_id.is_some(), "it begins at once");
    assert_eq!(running(&rig, &account).await.waits_ms, None);
    assert_eq!(free(&rig, &account).await, quota(12));
}

/// What a provider reports of a subscription.
struct Subscription<'a> {
    rig: &'a Rig,
    first: String,
    name: &'static str,
}

impl Subscription<'_> {
    fn event(&self, news: PaymentNews, names: &[&str], now_ms: i64) -> PaymentEvent {
        let mut event = told(self.rig, &self.first, news, 300);
        event.references = names.iter().map(|name| (*name).to_owned()).collect();
        event.subscription = Some(self.name.to_owned());
        at(event, now_ms)
    }

    fn invoice(&self, name: &str, now_ms: i64) -> PaymentEvent {
        self.event(PaymentNews::Renewed, &[name, self.name], now_ms)
    }

    async fn begun(&self, session: &str) -> PaymentRow {
        let event = self.event(PaymentNews::Paid, &[session, self.name], NOW);
        applied(self.rig, event).await
    }
}

async fn subscription<'a>(
    rig: &'a Rig,
    account: &str,
    product: &str,
    name: &'static str,
) -> Subscription<'a> {
    let first = pending(rig, account, product).await;
    Subscription { rig, first, name }
}

async fn a_subscription_pays_every_period_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let sub = subscription(&rig, &account, "month", "sub_1").await;
    // The first invoice may come before the session.
    let event = sub.event(PaymentNews::Paid, &["in_1", "pi_1", "sub_1"], NOW);
    let row = applied(&rig, event).await;
    assert_eq!((&row.id, row.state), (&sub.first, PaymentState::Paid));
    let event = sub.event(PaymentNews::Paid, &["in_1", "cs_1", "sub_1"], NOW);
    applied(&rig, event).await;
    assert_eq!(free(&rig, &account).await, quota(10));
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    let row = applied(&rig, sub.invoice("in_2", until_ms + HOUR_MS)).await;
    assert_eq!(row.renews_id.as_ref(), Some(&sub.first));
    assert_eq!(free(&rig, &account).await, quota(12));
    let again = applied(&rig, sub.invoice("in_2", until_ms + HOUR_MS)).await;
    assert_eq!(again.id, row.id, "another event of the same invoice");
    let mut lone = sub.invoice("in_3", until_ms + HOUR_MS);
    lone.payment_id = None;
    let third = applied(&rig, lone).await;
    assert_ne!(third.id, row.id);
    let mut dearer = sub.invoice("in_4", until_ms + HOUR_MS);
    dearer.money = Some(301);
    assert!(matches!(
        tell(&rig.store, dearer).await,
        EventOutcome::Mismatch(_)
    ));
    assert_eq!(free(&rig, &account).await, quota(12), "one period ahead");
    assert_eq!(ahead(&rig, &account).await, 1);
}

async fn a_subscription_whose_events_come_in_any_order_is_found_by_its_charges(rig: Rig) {
    monthly(&rig).await;
    for turn in 0..4 {
        let account = rig.account(0, 10).await;
        let sub = subscription(&rig, &account, "month", "sub_x").await;
        let name = |name: &str| format!("{name}_{turn}");
        let (session, invoice, charge) = (name("cs"), name("in"), name("pi"));
        let complete = sub.event(PaymentNews::Paid, &[&invoice, &session], NOW);
        let paid = sub.event(PaymentNews::Paid, &[&invoice, &charge], NOW);
        let mut refunded = sub.event(PaymentNews::Refunded, &[&charge], NOW);
        (refunded.payment_id, refunded.subscription) = (None, None);
        let mut next = sub.invoice(&name("in_next"), NOW);
        next.references.pop();
        let mut events = [complete, paid, refunded, next];
        events.rotate_left(turn);
        for event in events {
            let event = PaymentEvent {
                subscription: None,
                ..event
            };
            tell(&rig.store, event).await;
        }
        let row = one(&rig, &sub.first).await;
        assert_eq!(row.state, PaymentState::Refunded, "{turn}");
        let paid = format!(
            "SELECT COUNT(*) FROM payment WHERE account_id = '{account}' AND paid_ms IS NOT NULL"
        );
        assert_eq!(number(&rig.url, &paid).await, 2, "{turn}");
    }
}

async fn a_renewal_that_fails_gives_nothing(rig: Rig) {
    let account = rig.account(7, 10).await;
    monthly(&rig).await;
    let sub = subscription(&rig, &account, "month", "sub_1").await;
    sub.begun("cs_1").await;
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    let failed = sub.event(PaymentNews::RenewalFailed, &["in_2", "sub_1"], until_ms);
    applied(&rig, failed).await;
    assert_eq!(free(&rig, &account).await, quota(17));
    // After three days what the plan says applies: the rest of the account can be spent, and the plan is over.
    assert_eq!(renew(&rig, until_ms + 3 * DAY_MS).await, 1);
    assert_eq!(plan_of(&rig, &account).await, None);
    assert_eq!(free(&rig, &account).await, quota(7));
    assert!(submits(&rig, &account, 7, until_ms + 3 * DAY_MS).await);
    // Once it is paid for after all, a whole period begins.
    let late_ms = until_ms + 10 * DAY_MS;
    applied(&rig, sub.invoice("in_2", late_ms)).await;
    let plan = running(&rig, &account).await;
    assert_eq!(plan.until_ms, late_ms + PERIOD_MS);
}

async fn a_subscription_that_is_not_paid_for_stops_what_its_plan_stops(rig: Rig) {
    let account = rig.account(7, 10).await;
    let stops = PlanDefinition {
        then: Then::Stop,
        ..month()
    };
    sell(&rig, &stops).await;
    let sub = subscription(&rig, &account, "month", "sub_1").await;
    sub.begun("cs_1").await;
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    assert!(submits(&rig, &account, 2, until_ms + DAY_MS).await, "left");
    let stopped_ms = until_ms + 3 * DAY_MS;
    assert_eq!(renew(&rig, stopped_ms).await, 1);
    assert!(running(&rig, &account).await.is_stopped());
    assert!(!submits(&rig, &account, 1, stopped_ms).await);
    assert!(!submits(&rig, &account, 1, stopped_ms + PERIOD_MS).await);
    assert_eq!(renew(&rig, stopped_ms + PERIOD_MS).await, 0);
    // It is paid for: a whole period, and the rest stays what it was.
    let late_ms = stopped_ms + PERIOD_MS;
    applied(&rig, sub.invoice("in_2", late_ms)).await;
    let plan = running(&rig, &account).await;
    assert_eq!((plan.until_ms, plan.waits_ms), (late_ms + PERIOD_MS, None));
    assert!(submits(&rig, &account, 10, late_ms).await);
    assert!(!submits(&rig, &account, 1, late_ms).await);
    // The provider gives up: the plan is over, and the account's own quota is free.
    let over_ms = late_ms + PERIOD_MS;
    renew(&rig, over_ms).await;
    renew(&rig, over_ms + 3 * DAY_MS).await;
    assert!(running(&rig, &account).await.is_stopped());
    let ended = sub.event(
        PaymentNews::SubscriptionEnded,
        &["sub_1"],
        over_ms + 9 * DAY_MS,
    );
    applied(&rig, ended).await;
    assert_eq!(plan_of(&rig, &account).await, None);
    assert!(submits(&rig, &account, 7, over_ms + 9 * DAY_MS).await);
}

/// The subscriptions that a provider is to end.
async fn ending(rig: &Rig) -> Vec<(String, bool)> {
    let subscriptions = rig.store.ledger().subscriptions();
    let mut all = Vec::new();
    while let Some(one) = subscriptions.claim(NOW, NOW).await.expect("a read") {
        let told = rig.store.ledger().subscriptions().told(&one).await;
        told.expect("noted");
        all.push((one.reference.clone(), one.at_once));
    }
    all
}

async fn a_subscription_ends_with_its_plan(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let sub = subscription(&rig, &account, "month", "sub_1").await;
    sub.begun("cs_1").await;
    assert_eq!(ending(&rig).await, []);
    let subscribes = async || {
        let current = rig.store.ledger().products().current().await;
        let new = NewPayment {
            id: rig.id("payment"),
            account_id: account.clone(),
            product: "month".into(),
            product_revision: current.expect("a read")[0].revision,
            provider: "stripe".into(),
            subscribes: true,
            saves: false,
            now_ms: NOW,
            expires_ms: NOW + DAY_MS,
        };
        let begun = rig.store.ledger().payments().create(new, None).await;
        begun.expect("an answer")
    };
    assert_eq!(subscribes().await, PaymentOutcome::Subscribed);
    let plans = rig.store.ledger().plans();
    assert!(plans.end(&account, NOW, None).await.expect("ended"));
    assert_eq!(ending(&rig).await, [("sub_1".to_owned(), false)]);
    assert_eq!(ending(&rig).await, [], "the provider knows");
    assert!(running(&rig, &account).await.ends);
    assert!(matches!(subscribes().await, PaymentOutcome::Done(_)));
    // A period that was invoiced meanwhile is given, and nothing after it.
    let until_ms = NOW + PERIOD_MS;
    applied(&rig, sub.invoice("in_2", until_ms - HOUR_MS)).await;
    renew(&rig, until_ms).await;
    assert!(running(&rig, &account).await.ends);
    assert_eq!(renew(&rig, until_ms + PERIOD_MS).await, 1);
    assert_eq!(plan_of(&rig, &account).await, None);
    let ended = sub.event(
        PaymentNews::SubscriptionEnded,
        &["sub_1"],
        until_ms + PERIOD_MS,
    );
    applied(&rig, ended).await;
}

async fn a_second_subscription_is_ended(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    sell(&rig, &plans::plan("large", 50)).await;
    let first = subscription(&rig, &account, "month", "sub_1").await;
    let second = subscription(&rig, &account, "large", "sub_2").await;
    first.begun("cs_1").await;
    let row = second.begun("cs_2").await;
    assert_eq!(row.state, PaymentState::Paid, "its period is given");
    assert_eq!(ending(&rig).await, [("sub_2".to_owned(), false)]);
    // Its end is not the end of the plan that the other one pays for.
    let ended = second.event(PaymentNews::SubscriptionEnded, &["sub_2"], NOW);
    applied(&rig, ended).await;
    assert!(!running(&rig, &account).await.ends);
}

async fn a_subscription_of_an_account_that_is_gone_is_ended_at_once(rig: Rig) {
    let (account, other) = (rig.account(0, 10).await, rig.account(0, 10).await);
    monthly(&rig).await;
    let sub = subscription(&rig, &account, "month", "sub_1").await;
    sub.begun("cs_1").await;
    let plans = rig.store.ledger().plans();
    assert!(plans.end(&account, NOW, None).await.expect("ended"));
    assert_eq!(ending(&rig).await, [("sub_1".to_owned(), false)]);
    let late = subscription(&rig, &other, "month", "sub_2").await;
    for id in [&account, &other] {
        let deleted = rig.store.accounts().delete(id, NOW, None).await;
        assert!(deleted.expect("an answer"));
    }
    assert_eq!(ending(&rig).await, [("sub_1".to_owned(), true)]);
    let event = late.event(PaymentNews::Paid, &["cs_2", "sub_2"], NOW);
    let gone = tell(&rig.store, event).await;
    assert_eq!(gone, EventOutcome::Mismatch("its account is gone"));
    assert_eq!(ending(&rig).await, [("sub_2".to_owned(), true)]);
    let invoice = tell(&rig.store, sub.invoice("in_2", NOW)).await;
    assert_eq!(invoice, EventOutcome::Mismatch("its account is gone"));
    assert_eq!(plan_of(&rig, &account).await, None);
}

async fn a_plan_that_was_paid_for_stays(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    sell(&rig, &plans::plan("other", 5)).await;
    bought(&rig, &account, "month").await;
    plans::assign(&rig, &account, "month", (NOW, None)).await;
    let other = pending(&rig, &account, "month").await;
    applied(&rig, told(&rig, &other, PaymentNews::Paid, 300)).await;
    let removed = plans::removed(&rig, "month", 1).await;
    assert!(
        matches!(
            removed,
            atelier_store::RevisionOutcome::InUse { users: 2, .. }
        ),
        "{removed:?}"
    );
    // A payment for one that is gone is kept for an operator.
    let late = pending(&rig, &rig.account(0, 10).await, "other").await;
    plans::removed(&rig, "other", 1).await;
    let gone = tell(&rig.store, told(&rig, &late, PaymentNews::Paid, 300)).await;
    assert_eq!(gone, EventOutcome::Mismatch("its plan is gone"));
    assert!(
        sql(
            &rig.url,
            "UPDATE payment SET ledger_id = 'x' WHERE ledger_id IS NOT NULL"
        )
        .await
        .is_err()
    );
}

/// The promise: whoever comes first, a period that is paid for begins once.
async fn a_payment_and_the_renewal_at_once_begin_one_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    bought(&rig, &account, "month").await;
    let next = pending(&rig, &account, "month").await;
    let until_ms = NOW + PERIOD_MS;
    let nodes = if rig.store.is_postgres() { 3 } else { 1 };
    let mut stores = vec![rig.store.clone()];
    for _ in 1..nodes {
        let store = Store::open(&rig.url, options()).await;
        stores.push(store.expect("another node"));
    }
    let event = at(told(&rig, &next, PaymentNews::Paid, 300), until_ms + 1);
    let mut tasks = Vec::new();
    for number in 0..60 {
        let store = stores[number % nodes].clone();
        let (event, account) = (event.clone(), account.clone());
        tasks.push(spawn(async move {
            if number % 2 == 0 {
                tell(&store, event).await;
            } else {
                let plans = store.ledger().plans();
                plans.renew(&account, until_ms + 1).await.expect("renewed");
            }
        }));
    }
    for task in tasks {
        task.await.expect("a task");
    }
    assert_eq!(free(&rig, &account).await, quota(12));
    assert_eq!(ahead(&rig, &account).await, 0);
    let given = "SELECT COUNT(*) FROM plan_period";
    assert_eq!(number(&rig.url, given).await, 2);
    for store in stores.into_iter().skip(1) {
        store.close().await;
    }
}
