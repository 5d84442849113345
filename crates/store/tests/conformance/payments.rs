//! Payments: what was paid gives once what it says, whatever is told how often and in which order, and what went back is taken back
//! exactly.

use atelier_contract::Quota;
use atelier_contract::plans::PlanDefinition;
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    AcceptOutcome, AuditRow, BulkItemOutcome, EventOutcome, Guard, NewPayment, PRODUCT_EDITION,
    PaymentEvent, PaymentFilter, PaymentNews, PaymentOutcome, PaymentPlace, PaymentRow,
    PaymentState, RevisionChange, RevisionDraft, RevisionOutcome, Store,
};

use crate::credits::{credits, grant};
use crate::plans;
use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_payment_gives_its_quota_once,
    an_event_told_a_thousand_times_at_several_nodes_counts_once,
    what_does_not_fit_is_kept_and_never_credited,
    a_late_payment_still_counts,
    what_ended_does_not_begin_again,
    refunds_take_back_what_they_are_worth,
    what_was_spent_is_owed_and_paid_first,
    a_refund_takes_its_own_credit_before_what_never_ends,
    a_refund_that_comes_before_its_payment_counts,
    a_dispute_takes_and_a_won_one_gives_back,
    disputes_count_in_any_order,
    debts_survive_the_archive,
    a_plan_that_is_paid_for_waits_for_its_payment,
    a_plan_can_be_paid_for_ahead,
    a_subscription_pays_every_period_once,
    a_refunded_plan_ends_with_its_period,
    operators_refund_no_more_than_was_paid,
    what_waits_is_bounded,
    payments_of_a_deleted_account_are_kept_without_words,
    what_was_told_never_changes,
    a_confirmation_and_its_act_are_one_commit,
    older_programs_and_products_keep_apart,
    any_order_of_events_comes_to_the_same,
);

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
const PERIOD_MS: i64 = 30 * DAY_MS;

/// Ten quota for 3.00 EUR.
pub(crate) fn product(name: &str) -> ProductDefinition {
    ProductDefinition {
        name: name.into(),
        money: 300,
        currency: "EUR".into(),
        quota: Some(quota(10)),
        plan: None,
        credit_days: None,
    }
}

async fn append(rig: &Rig, product: &ProductDefinition, expected: Option<u32>) -> RevisionOutcome {
    let seen = rig.store.settings().get(PRODUCT_EDITION).await;
    let change = RevisionChange {
        drafts: vec![RevisionDraft {
            name: product.name.clone(),
            definition: serde_json::to_string(product).expect("JSON"),
            removed: false,
            expected_revision: expected,
        }],
        seen_edition: seen.expect("a read"),
        seen_beside: None,
        edition: rig.id("edition"),
        changed_ms: NOW,
        alive_since_ms: NOW - 60_000,
    };
    let outcome = rig.store.ledger().products().append(change, None).await;
    outcome.expect("an answer")
}

pub(crate) async fn written(rig: &Rig, product: &ProductDefinition, expected: Option<u32>) {
    let next = expected.map_or(1, |before| before + 1);
    let outcome = append(rig, product, expected).await;
    assert_eq!(outcome, RevisionOutcome::Written(vec![next]));
}

async fn begin(rig: &Rig, account: &str, product: &str, now_ms: i64) -> PaymentOutcome {
    let new = NewPayment {
        id: rig.id("payment"),
        account_id: account.to_owned(),
        product: product.to_owned(),
        provider: "stripe".into(),
        now_ms,
        expires_ms: now_ms + DAY_MS,
    };
    let begun = rig.store.ledger().payments().create(new, None).await;
    begun.expect("an answer")
}

/// A payment that is waited for; its identifier.
pub(crate) async fn pending(rig: &Rig, account: &str, product: &str) -> String {
    match begin(rig, account, product, NOW).await {
        PaymentOutcome::Done(row) => row.id,
        other => panic!("{other:?}"),
    }
}

/// What a provider tells of a payment of 3.00 EUR.
pub(crate) fn told(rig: &Rig, payment: &str, news: PaymentNews, money: i64) -> PaymentEvent {
    PaymentEvent {
        provider: "stripe".into(),
        event_id: rig.id("event"),
        payment_id: Some(payment.to_owned()),
        references: vec![format!("pi_{payment}")],
        account_id: None,
        news,
        money: Some(money),
        currency: Some("EUR".into()),
        raw: "{}".into(),
        ledger_id: rig.id("ledger"),
        new_id: rig.id("payment"),
        now_ms: NOW,
    }
}

async fn tell(store: &Store, event: PaymentEvent) -> EventOutcome {
    let recorded = store.ledger().payments().record(event, None).await;
    recorded.expect("an answer")
}

pub(crate) async fn applied(rig: &Rig, event: PaymentEvent) -> PaymentRow {
    match tell(&rig.store, event).await {
        EventOutcome::Applied(row) => {
            assert_eq!(*row, one(rig, &row.id).await, "as it is stored");
            *row
        }
        other => panic!("{other:?}"),
    }
}

/// A payment that was made; its identifier.
pub(crate) async fn bought(rig: &Rig, account: &str, product: &str) -> String {
    let id = pending(rig, account, product).await;
    let row = applied(rig, told(rig, &id, PaymentNews::Paid, 300)).await;
    assert_eq!(row.state, PaymentState::Paid);
    id
}

async fn one(rig: &Rig, id: &str) -> PaymentRow {
    let found = rig.store.ledger().payments().one(id, None).await;
    found.expect("a read").expect("the payment")
}

async fn debt(rig: &Rig, account: &str) -> Quota {
    let found = rig.store.accounts().find(account).await;
    found.expect("a read").expect("the account").debt
}

async fn free(rig: &Rig, account: &str) -> Quota {
    rig.purse(account).await.0
}

fn dispute(name: &str) -> PaymentNews {
    let dispute = name.to_owned();
    PaymentNews::Disputed { dispute }
}

fn closed(name: &str, won: bool) -> PaymentNews {
    let dispute = name.to_owned();
    PaymentNews::DisputeClosed { dispute, won }
}

async fn a_payment_gives_its_quota_once(rig: Rig) {
    let (account, other) = (rig.account(1, 10).await, rig.account(0, 10).await);
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "TEN").await;
    let row = one(&rig, &id).await;
    let bought = (&*row.product, row.money, &*row.currency, row.quota);
    assert_eq!(bought, ("ten", 300, "EUR", quota(10)));
    assert_eq!((row.state, row.paid_ms), (PaymentState::Pending, None));
    let place = PaymentPlace {
        pay_at: Some("https://pay.example.com/1".into()),
        reference: Some("session 1".into()),
        failed: false,
    };
    let placed = rig.store.ledger().payments().place(&id, place).await;
    assert!(placed.expect("placed"));
    // What it costs today is nothing to a payment of yesterday.
    let dearer = ProductDefinition {
        money: 900,
        ..product("ten")
    };
    written(&rig, &dearer, Some(1)).await;
    let paid = told(&rig, &id, PaymentNews::Paid, 300);
    let row = applied(&rig, paid.clone()).await;
    assert_eq!((row.state, row.paid_ms), (PaymentState::Paid, Some(NOW)));
    assert_eq!(free(&rig, &account).await, quota(11));
    // The same event again, and another one that tells of the same payment.
    assert_eq!(tell(&rig.store, paid).await, EventOutcome::Known);
    let mut again = told(&rig, &id, PaymentNews::Paid, 300);
    again.references = vec!["session 1".into(), "customer".into()];
    assert_eq!(applied(&rig, again).await, row);
    let mut again = told(&rig, &id, PaymentNews::Paid, 300);
    again.references = Vec::new();
    assert_eq!(tell(&rig.store, again).await, EventOutcome::Known);
    assert_eq!(free(&rig, &account).await, quota(11));
    assert_eq!(
        rig.store
            .ledger()
            .payments()
            .one(&id, Some(&other))
            .await
            .expect("a read"),
        None
    );
    let own = rig
        .store
        .ledger()
        .payments()
        .one(&id, Some(&account))
        .await
        .expect("a read");
    assert_eq!(own, Some(row.clone()));
    let filter = PaymentFilter {
        account_id: Some(account.clone()),
        state: Some(PaymentState::Paid),
    };
    let (rows, total) = rig
        .store
        .ledger()
        .payments()
        .list(&filter, 0, 10)
        .await
        .expect("a read");
    assert_eq!((rows, total), (vec![row], 1));
    let filter = PaymentFilter {
        account_id: Some(other),
        state: None,
    };
    let listed = rig
        .store
        .ledger()
        .payments()
        .list(&filter, 0, 10)
        .await
        .expect("a read");
    assert_eq!(listed, (Vec::new(), 0));
    let events = rig
        .store
        .ledger()
        .payments()
        .events(&id)
        .await
        .expect("a read");
    let mut outcomes: Vec<&str> = events.iter().map(|one| &*one.outcome).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["applied", "applied", "known"]);
    let references = rig.store.ledger().payments().references(&id).await;
    let paid_by = format!("pi_{id}");
    let known = ["customer".to_owned(), paid_by, "session 1".to_owned()];
    assert_eq!(references.expect("a read"), known);
    assert_eq!(
        begin(&rig, &account, "nothing", NOW).await,
        PaymentOutcome::NoProduct
    );
    assert_eq!(
        begin(&rig, "nobody", "ten", NOW).await,
        PaymentOutcome::NoAccount
    );
}

/// The promise: however often and wherever an event arrives, it credits once.
async fn an_event_told_a_thousand_times_at_several_nodes_counts_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let nodes = if rig.store.is_postgres() { 3 } else { 1 };
    let mut stores = vec![rig.store.clone()];
    for _ in 1..nodes {
        let store = Store::open(&rig.url, options()).await;
        stores.push(store.expect("another node"));
    }
    let (event, other) = (
        told(&rig, &id, PaymentNews::Paid, 300),
        told(&rig, &id, PaymentNews::Paid, 300),
    );
    let (mut tasks, mut counted) = (Vec::new(), 0);
    for number in 0..1_000 {
        let store = stores[number % nodes].clone();
        let event = if number % 5 == 0 { &other } else { &event };
        let event = event.clone();
        tasks.push(spawn(async move { tell(&store, event).await }));
    }
    for task in tasks {
        match task.await.expect("a task") {
            EventOutcome::Applied(_) => counted += 1,
            EventOutcome::Known => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(counted, 2, "each event once, and only one of them gives");
    assert_eq!(free(&rig, &account).await, quota(10));
    for store in stores.into_iter().skip(1) {
        store.close().await;
    }
}

async fn what_does_not_fit_is_kept_and_never_credited(rig: Rig) {
    let (account, other) = (rig.account(0, 10).await, rig.account(0, 10).await);
    written(&rig, &product("ten"), None).await;
    let wrong: [fn(&mut PaymentEvent, &str); 5] = [
        |event, _| event.money = Some(299),
        |event, _| event.money = Some(301),
        |event, _| event.currency = Some("USD".into()),
        |event, _| event.money = None,
        |event, other| event.account_id = Some(other.to_owned()),
    ];
    for change in wrong {
        let id = pending(&rig, &account, "ten").await;
        let mut event = told(&rig, &id, PaymentNews::Paid, 300);
        change(&mut event, &other);
        let kept = tell(&rig.store, event.clone()).await;
        assert!(matches!(kept, EventOutcome::Mismatch(_)), "{kept:?}");
        assert_eq!(tell(&rig.store, event).await, EventOutcome::Known);
        assert_eq!(one(&rig, &id).await.state, PaymentState::Mismatch);
    }
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
    assert_eq!(free(&rig, &other).await, Quota::ZERO);
    // What is of no payment here is kept as well.
    let stray = told(&rig, "no payment", PaymentNews::Paid, 300);
    let mut foreign = told(&rig, "foreign", PaymentNews::Renewed, 300);
    foreign.payment_id = None;
    let nobody = tell(&rig.store, foreign).await;
    assert_eq!(
        nobody,
        EventOutcome::Known,
        "of somebody else's subscription"
    );
    assert!(matches!(
        tell(&rig.store, stray).await,
        EventOutcome::Mismatch(_)
    ));
    let (rows, total) = rig
        .store
        .ledger()
        .payments()
        .mismatches(0, 10)
        .await
        .expect("a read");
    assert_eq!((rows.len(), total), (6, 6));
    assert!(rows.iter().all(|row| row.why.is_some()));
    // A second payment of what is paid, and one that has paid for something else.
    let id = bought(&rig, &account, "ten").await;
    let mut twice = told(&rig, &id, PaymentNews::Paid, 300);
    twice.references = vec!["another".into()];
    let twice = tell(&rig.store, twice).await;
    assert_eq!(twice, EventOutcome::Mismatch("it was paid a second time"));
    assert_eq!(one(&rig, &id).await.state, PaymentState::Paid);
    let next = pending(&rig, &account, "ten").await;
    let mut again = told(&rig, &next, PaymentNews::Paid, 300);
    again.references = vec![format!("pi_{id}")];
    let again = tell(&rig.store, again).await;
    assert!(matches!(again, EventOutcome::Mismatch(_)), "{again:?}");
    // The right one counts after all.
    applied(&rig, told(&rig, &next, PaymentNews::Paid, 300)).await;
    assert_eq!(free(&rig, &account).await, quota(20));
}

async fn a_late_payment_still_counts(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let (late, failed) = (
        pending(&rig, &account, "ten").await,
        pending(&rig, &account, "ten").await,
    );
    let tidied = rig
        .store
        .ledger()
        .payments()
        .tidy(NOW + DAY_MS - 1, 0, 100)
        .await;
    assert_eq!(tidied.expect("tidied"), 0);
    applied(&rig, told(&rig, &failed, PaymentNews::Failed, 300)).await;
    let tidied = rig
        .store
        .ledger()
        .payments()
        .tidy(NOW + DAY_MS, 0, 100)
        .await;
    assert_eq!(tidied.expect("tidied"), 1);
    assert_eq!(one(&rig, &late).await.state, PaymentState::Expired);
    for id in [late, failed] {
        let row = applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
        assert_eq!(row.state, PaymentState::Paid);
    }
    assert_eq!(free(&rig, &account).await, quota(20));
}

async fn what_ended_does_not_begin_again(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    for news in [PaymentNews::Expired, PaymentNews::Failed] {
        let late = tell(&rig.store, told(&rig, &id, news, 300)).await;
        assert_eq!(late, EventOutcome::Known);
    }
    let tidied = rig
        .store
        .ledger()
        .payments()
        .tidy(NOW + 9 * DAY_MS, 0, 100)
        .await;
    assert_eq!(tidied.expect("tidied"), 0);
    assert_eq!(one(&rig, &id).await.state, PaymentState::Paid);
}

async fn refunds_take_back_what_they_are_worth(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let steps = [
        (1, 33),
        (1, 33),
        (100, 3_333),
        (299, 9_966),
        (50, 9_966),
        (300, 10_000),
    ];
    for (refunded, taken) in steps {
        let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, refunded)).await;
        assert_eq!(row.taken.thousandths(), taken, "{refunded}");
        assert_eq!(free(&rig, &account).await.thousandths(), 10_000 - taken);
        let whole = row.refunded == 300;
        assert_eq!(row.state == PaymentState::Refunded, whole, "{refunded}");
    }
    // More than was paid is no more than all of it.
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 400)).await;
    assert_eq!((row.refunded, row.taken), (300, quota(10)));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    let rows = rig.store.ledger().list(Some(&account), 0, 20).await;
    let (rows, _) = rows.expect("a read");
    let refunds: i64 = rows
        .iter()
        .filter(|row| row.cause.as_deref() == Some("refund") && row.kind == "adjust")
        .map(|row| row.amount.thousandths())
        .sum();
    assert_eq!(refunds, -10_000);
    let mut foreign = told(&rig, &id, PaymentNews::Refunded, 300);
    foreign.currency = Some("USD".into());
    assert!(matches!(
        tell(&rig.store, foreign).await,
        EventOutcome::Mismatch(_)
    ));
}

/// The promise: what was taken back and is spent is owed; nothing is submitted meanwhile, and whatever comes in pays it first.
async fn what_was_spent_is_owed_and_paid_first(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let (spent, held) = (
        rig.running(&account, 4).await,
        rig.running(&account, 5).await,
    );
    rig.settle(rig.success(&spent, Guard::Fence(1), 4)).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    // One was free, five are held and four are gone.
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, quota(5)));
    assert_eq!(debt(&rig, &account).await, quota(9));
    let refused = rig.take(rig.accept(&account, 0)).await;
    assert_eq!(refused, AcceptOutcome::Debt { debt: quota(9) });
    let asked = rig.accept(&account, 1).job;
    let asked = rig.store.jobs().precheck_refusal(&asked, 1_000_000).await;
    let refused = Some(AcceptOutcome::Debt { debt: quota(9) });
    assert_eq!(asked.expect("a read"), refused);
    // The job that was at work goes on; what it gives back pays.
    rig.settle(rig.success(&held, Guard::Fence(1), 3)).await;
    assert_eq!(rig.purse(&account).await, (Quota::ZERO, Quota::ZERO));
    assert_eq!(debt(&rig, &account).await, quota(7));
    grant(&rig, &account, 3, NOW + HOUR_MS).await;
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
    assert_eq!(debt(&rig, &account).await, quota(4));
    bought(&rig, &account, "ten").await;
    assert_eq!(free(&rig, &account).await, quota(6));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    rig.waiting(&account, 6).await;
    let bulk = BulkItemOutcome::Debt { debt: 1 };
    let text = serde_json::to_string(&bulk).expect("JSON");
    assert_eq!(text, r#"{"debt":{"debt":1}}"#, "as batches remember it");
}

async fn a_refund_takes_its_own_credit_before_what_never_ends(rig: Rig) {
    let account = rig.account(4, 10).await;
    let ending = ProductDefinition {
        credit_days: Some(7),
        ..product("week")
    };
    written(&rig, &ending, None).await;
    let id = bought(&rig, &account, "week").await;
    grant(&rig, &account, 2, NOW + HOUR_MS).await;
    let parts = async || {
        let found = credits(&rig, &account, NOW).await;
        let left = found
            .credits
            .iter()
            .map(|one| one.left.thousandths() / 1_000);
        (left.collect::<Vec<_>>(), found.base)
    };
    assert_eq!(parts().await, (vec![2, 10], quota(4)));
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 150)).await;
    assert_eq!(parts().await, (vec![2, 5], quota(4)));
    // Six are held: two of what ends first, four of what was bought. One is left of that, and the rest of a refund is of the base.
    rig.waiting(&account, 6).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 240)).await;
    assert_eq!(credits(&rig, &account, NOW).await.base, quota(2));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!(credits(&rig, &account, NOW).await.base, Quota::ZERO);
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    let again = bought(&rig, &account, "week").await;
    let end_ms = NOW + 7 * DAY_MS;
    rig.store
        .ledger()
        .credits()
        .end_due(end_ms, 10)
        .await
        .expect("ended");
    // What has ended unused is not there to be taken.
    applied(&rig, told(&rig, &again, PaymentNews::Refunded, 300)).await;
    assert_eq!(debt(&rig, &account).await, quota(10));
}

async fn a_refund_that_comes_before_its_payment_counts(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let mut early = told(&rig, &id, PaymentNews::Refunded, 150);
    early.payment_id = None;
    let waits = tell(&rig.store, early.clone()).await;
    assert_eq!(waits, EventOutcome::Unmatched);
    assert_eq!(tell(&rig.store, early).await, EventOutcome::Known);
    let row = applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    assert_eq!((row.refunded, row.taken), (150, quota(5)));
    assert_eq!(free(&rig, &account).await, quota(5));
    // One that is known to be of it takes nothing before anything was given.
    let id = pending(&rig, &account, "ten").await;
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!((row.state, row.taken), (PaymentState::Pending, Quota::ZERO));
    let row = applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    assert_eq!(row.state, PaymentState::Refunded);
    assert_eq!(free(&rig, &account).await, quota(5));
}

async fn a_dispute_takes_and_a_won_one_gives_back(rig: Rig) {
    let account = rig.account(0, 10).await;
    let ending = ProductDefinition {
        credit_days: Some(7),
        ..product("week")
    };
    for product in [product("ten"), ending] {
        written(&rig, &product, None).await;
        let id = bought(&rig, &account, &product.name).await;
        let row = applied(&rig, told(&rig, &id, dispute("d"), 300)).await;
        assert_eq!(row.state, PaymentState::Disputed);
        assert_eq!(free(&rig, &account).await, Quota::ZERO);
        let row = applied(&rig, told(&rig, &id, closed("d", true), 300)).await;
        assert_eq!((row.state, row.taken), (PaymentState::Paid, Quota::ZERO));
        assert_eq!(free(&rig, &account).await, quota(10));
        let found = credits(&rig, &account, NOW).await;
        let ends = found.credits.first().map(|one| one.expires_ms);
        assert_eq!(ends, product.credit_days.map(|days| NOW + days * DAY_MS));
        let row = applied(&rig, told(&rig, &id, dispute("e"), 300)).await;
        assert_eq!(row.state, PaymentState::Disputed);
        let row = applied(&rig, told(&rig, &id, closed("e", false), 300)).await;
        assert_eq!(row.state, PaymentState::Refunded);
        // What was given back is taken again: of its credit it is gone, so it is owed until the next comes in.
        let owed = debt(&rig, &account).await;
        let back = free(&rig, &account).await;
        assert_eq!(owed, back, "{product:?}");
        if owed > Quota::ZERO {
            return;
        }
    }
}

async fn disputes_count_in_any_order(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let row = applied(&rig, told(&rig, &id, closed("d", true), 300)).await;
    assert_eq!(row.state, PaymentState::Paid);
    let row = applied(&rig, told(&rig, &id, dispute("d"), 300)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 0));
    let row = applied(&rig, told(&rig, &id, closed("e", false), 100)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 100));
    let row = applied(&rig, told(&rig, &id, dispute("e"), 100)).await;
    assert_eq!((row.state, row.disputed), (PaymentState::Paid, 100));
    // What the bank has taken cannot be refunded as well.
    let row = applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    assert_eq!((row.state, row.taken), (PaymentState::Refunded, quota(10)));
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
}

async fn debts_survive_the_archive(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let spent = rig.running(&account, 10).await;
    rig.settle(rig.success(&spent, Guard::Fence(1), 10)).await;
    applied(&rig, told(&rig, &id, PaymentNews::Refunded, 300)).await;
    let cut = rig.store.archive().cut("", NOW + DAY_MS).await;
    let cut = cut.expect("a read").expect("an account");
    assert!(cut.to > cut.from, "{cut:?}");
    let file = atelier_store::ArchiveFile {
        name: "archive-1".into(),
        hash: "hash".into(),
        before_ms: NOW + DAY_MS,
        jobs: 1,
        entries: cut.to - cut.from,
        time_ms: NOW + DAY_MS,
    };
    let removed = rig.store.archive().remove(vec![cut], file).await;
    removed.expect("archived");
    let found = rig.store.invariants().check_books().await;
    assert_eq!(found.expect("an audit"), Vec::<String>::new());
    bought(&rig, &account, "ten").await;
    assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
}

async fn renew(rig: &Rig, now_ms: i64) -> usize {
    let plans = rig.store.ledger().plans();
    let due = plans.due(now_ms, 100).await.expect("a read");
    for account in &due {
        plans.renew(account, now_ms).await.expect("renewed");
    }
    due.len()
}

/// A plan of 10 for 30 days, and what it is bought by.
async fn monthly(rig: &Rig) {
    let plan = PlanDefinition {
        rollover_cap: quota(2),
        ..plans::plan("month", 10)
    };
    plans::written(rig, &plan, None).await;
    let sold = ProductDefinition {
        quota: None,
        plan: Some("month".into()),
        ..product("month")
    };
    written(rig, &sold, None).await;
}

fn at(mut event: PaymentEvent, now_ms: i64) -> PaymentEvent {
    event.now_ms = now_ms;
    event
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
    let mut late = rig.accept(&account, 3);
    (late.job.created_ms, late.job.deadline_ms) = (until_ms + DAY_MS, until_ms + 2 * DAY_MS);
    let taken = rig.take(late).await;
    assert!(matches!(taken, AcceptOutcome::New { .. }), "{taken:?}");
    // The payment comes: the next period is the one that the plan would have had.
    let next = pending(&rig, &account, "month").await;
    let paid = at(told(&rig, &next, PaymentNews::Paid, 300), until_ms + DAY_MS);
    applied(&rig, paid).await;
    let plan = rig.store.ledger().plans().of(&account).await;
    let plan = plan.expect("a read").expect("a plan");
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
    let plan = rig.store.ledger().plans().of(&account).await;
    assert_eq!(plan.expect("a read"), None);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
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
    let until_ms = NOW + PERIOD_MS;
    assert_eq!(renew(&rig, until_ms).await, 1);
    assert_eq!(free(&rig, &account).await, quota(12));
    let row = one(&rig, &next).await;
    let given = format!(
        "SELECT COUNT(*) FROM credit WHERE id = '{}'",
        row.ledger_id.expect("paid")
    );
    assert_eq!(number(&rig.url, &given).await, 1, "what it will have given");
    let other = PlanDefinition {
        name: "other".into(),
        ..plans::plan("other", 50)
    };
    plans::written(&rig, &other, None).await;
    let sold = ProductDefinition {
        plan: Some("other".into()),
        quota: None,
        ..product("other")
    };
    written(&rig, &sold, None).await;
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

async fn a_subscription_pays_every_period_once(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let first = pending(&rig, &account, "month").await;
    let invoice = |name: &str, now_ms| {
        let mut event = told(&rig, &first, PaymentNews::Renewed, 300);
        event.references = vec![format!("in_{name}"), "sub_1".into()];
        at(event, now_ms)
    };
    // The first invoice may come before the session is told to be complete.
    let row = applied(&rig, invoice("1", NOW)).await;
    assert_eq!((&row.id, row.state), (&first, PaymentState::Paid));
    let mut complete = told(&rig, &first, PaymentNews::Paid, 300);
    complete.references = vec!["cs_1".into(), "sub_1".into(), "in_1".into()];
    applied(&rig, complete).await;
    assert_eq!(free(&rig, &account).await, quota(10));
    let until_ms = NOW + PERIOD_MS;
    renew(&rig, until_ms).await;
    let row = applied(&rig, invoice("2", until_ms + HOUR_MS)).await;
    assert_eq!(row.renews_id.as_ref(), Some(&first));
    assert_eq!(free(&rig, &account).await, quota(12));
    let again = tell(&rig.store, invoice("2", until_ms + HOUR_MS)).await;
    assert_eq!(
        again,
        EventOutcome::Known,
        "another event of the same invoice"
    );
    let mut lone = invoice("3", until_ms + HOUR_MS);
    lone.payment_id = None;
    let third = applied(&rig, lone).await;
    assert_ne!(third.id, row.id);
    let mut dearer = invoice("4", until_ms + HOUR_MS);
    dearer.money = Some(301);
    assert!(matches!(
        tell(&rig.store, dearer).await,
        EventOutcome::Mismatch(_)
    ));
    assert_eq!(free(&rig, &account).await, quota(12), "one period ahead");
}

async fn a_refunded_plan_ends_with_its_period(rig: Rig) {
    let account = rig.account(0, 10).await;
    monthly(&rig).await;
    let first = bought(&rig, &account, "month").await;
    let ahead = bought(&rig, &account, "month").await;
    // A period that has not begun does not begin, and there is nothing to take.
    let row = applied(&rig, told(&rig, &ahead, PaymentNews::Refunded, 300)).await;
    assert_eq!(
        (row.state, row.taken),
        (PaymentState::Refunded, Quota::ZERO)
    );
    assert_eq!(free(&rig, &account).await, quota(10));
    let row = applied(&rig, told(&rig, &first, PaymentNews::Refunded, 150)).await;
    assert_eq!(row.taken, quota(5));
    assert_eq!(free(&rig, &account).await, quota(5));
    assert_eq!(renew(&rig, NOW + PERIOD_MS).await, 1);
    let plan = rig.store.ledger().plans().of(&account).await;
    assert_eq!(plan.expect("a read"), None);
    assert_eq!(free(&rig, &account).await, Quota::ZERO);
}

async fn operators_refund_no_more_than_was_paid(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let early = tell(&rig.store, told(&rig, &id, PaymentNews::RefundedMore, 1)).await;
    assert!(matches!(early, EventOutcome::Mismatch(_)), "{early:?}");
    applied(&rig, told(&rig, &id, PaymentNews::Paid, 300)).await;
    for (more, taken) in [(100, 3_333), (100, 6_666)] {
        let row = applied(&rig, told(&rig, &id, PaymentNews::RefundedMore, more)).await;
        assert_eq!(row.taken.thousandths(), taken);
    }
    let beyond = tell(&rig.store, told(&rig, &id, PaymentNews::RefundedMore, 101)).await;
    assert!(matches!(beyond, EventOutcome::Mismatch(_)), "{beyond:?}");
    let row = applied(&rig, told(&rig, &id, PaymentNews::RefundedMore, 100)).await;
    assert_eq!(row.state, PaymentState::Refunded);
}

async fn what_waits_is_bounded(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    for _ in 0..20 {
        pending(&rig, &account, "ten").await;
    }
    let refused = begin(&rig, &account, "ten", NOW).await;
    assert_eq!(refused, PaymentOutcome::TooMany { most: 20 });
    let later = begin(&rig, &account, "ten", NOW + DAY_MS).await;
    assert!(matches!(later, PaymentOutcome::Done(_)), "{later:?}");
    // What is of nobody's payment goes after a while.
    let mut stray = told(&rig, "stray", PaymentNews::Refunded, 1);
    stray.payment_id = None;
    assert_eq!(tell(&rig.store, stray).await, EventOutcome::Unmatched);
    let tidied = rig.store.ledger().payments().tidy(NOW, NOW, 100).await;
    assert_eq!(tidied.expect("tidied"), 0);
    let tidied = rig.store.ledger().payments().tidy(NOW, NOW + 1, 100).await;
    assert_eq!(tidied.expect("tidied"), 1);
}

async fn payments_of_a_deleted_account_are_kept_without_words(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let (paid, late) = (
        bought(&rig, &account, "ten").await,
        pending(&rig, &account, "ten").await,
    );
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    let events = rig.store.ledger().payments().events(&paid).await;
    assert!(events.expect("a read").iter().all(|one| one.raw.is_empty()));
    let gone = tell(&rig.store, told(&rig, &late, PaymentNews::Paid, 300)).await;
    assert_eq!(gone, EventOutcome::Mismatch("its account is gone"));
    assert_eq!(one(&rig, &late).await.state, PaymentState::Mismatch);
    assert_eq!(
        begin(&rig, &account, "ten", NOW).await,
        PaymentOutcome::NoAccount
    );
}

async fn what_was_told_never_changes(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    bought(&rig, &account, "ten").await;
    for change in [
        "UPDATE product SET definition = '{}'",
        "DELETE FROM product",
        "UPDATE payment SET money = 1",
        "UPDATE payment SET ledger_id = 'another'",
        "DELETE FROM payment",
        "UPDATE payment_event SET money = 1",
        "DELETE FROM payment_event",
    ] {
        let refused = sql(&rig.url, change).await;
        assert!(refused.is_err(), "{change}");
    }
}

async fn a_confirmation_and_its_act_are_one_commit(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let act = || AuditRow {
        id: rig.id("act"),
        time_ms: NOW,
        actor: "root".into(),
        action: "payment.confirm".into(),
        target: id.clone(),
        detail: String::new(),
        account_id: None,
    };
    for (money, acts) in [(299, 0), (300, 1), (300, 1)] {
        let mut event = told(&rig, &id, PaymentNews::Paid, money);
        event.references = Vec::new();
        rig.store
            .ledger()
            .payments()
            .record(event, Some(act()))
            .await
            .expect("an answer");
        let told = "SELECT COUNT(*) FROM audit WHERE action = 'payment.confirm'";
        assert_eq!(number(&rig.url, told).await, acts, "{money}");
    }
}

async fn older_programs_and_products_keep_apart(rig: Rig) {
    let widens = "SELECT widens FROM schema_version WHERE name = '0057_payments'";
    let older = format!(
        "INSERT INTO node (id, started_ms, seen_ms, detail, knows) \
         SELECT 'older', 1, {NOW}, '{{}}', version - 1 FROM schema_version WHERE name = '0057_payments'"
    );
    sql(&rig.url, &older).await.expect("noted");
    let answer = append(&rig, &product("ten"), None).await;
    if rig.store.is_postgres() {
        assert_eq!(answer, RevisionOutcome::OlderNode("older".into()));
        assert_eq!(number(&rig.url, widens).await, 1, "older ones may start");
        rig.store.nodes().forget("older").await.expect("stopped");
        written(&rig, &product("ten"), None).await;
    } else {
        let alone = RevisionOutcome::Written(vec![1]);
        assert_eq!(answer, alone, "one process has the database");
    }
    assert_eq!(number(&rig.url, widens).await, 0, "older ones do not start");
    let widens = "SELECT widens FROM schema_version WHERE name = '0054_credits'";
    assert_eq!(number(&rig.url, widens).await, 0, "what it gives may end");
    let current = rig.store.ledger().products().current().await;
    assert_eq!(current.expect("a read").len(), 1);
}

/// The promise: refunds and disputes come to the same whatever is told first.
async fn any_order_of_events_comes_to_the_same(rig: Rig) {
    written(&rig, &product("ten"), None).await;
    let all = [
        (PaymentNews::Paid, 300),
        (PaymentNews::Refunded, 40),
        (PaymentNews::Refunded, 90),
        (dispute("d"), 120),
        (closed("d", true), 120),
        (dispute("e"), 60),
    ];
    let mut seed = 7_usize;
    for _ in 0..12 {
        let account = rig.account(0, 10).await;
        let id = pending(&rig, &account, "ten").await;
        let mut left: Vec<usize> = (0..all.len()).collect();
        while !left.is_empty() {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (news, money) = all[left.swap_remove((seed >> 33) % left.len())].clone();
            let mut event = told(&rig, &id, news, money);
            if !matches!(event.news, PaymentNews::Paid) {
                event.payment_id = None;
            }
            tell(&rig.store, event).await;
        }
        let row = one(&rig, &id).await;
        assert_eq!((row.refunded, row.disputed), (90, 60));
        assert_eq!((row.state, row.taken), (PaymentState::Disputed, quota(5)));
        assert_eq!(free(&rig, &account).await, quota(5));
        assert_eq!(debt(&rig, &account).await, Quota::ZERO);
    }
}
