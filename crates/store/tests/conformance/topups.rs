//! Top-ups: one purchase at a time, when the balance is low, within the cap of the month, from a customer that was saved.

use atelier_contract::Quota;
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    NewPayment, NewTopup, PaymentEvent, PaymentNews, PaymentOutcome, PaymentRow, PaymentState,
    Store, TopupOutcome, TopupPurchase, TopupRow,
};

use crate::payments::{applied, bought, free, product, tell, told, written};
use crate::rig::{NOW, Rig, options, quota, spawn};

each_db!(
    a_customer_is_saved_by_a_payment_that_says_so,
    a_low_balance_buys_once_at_several_nodes,
    a_purchase_whose_outcome_is_not_known_is_charged_again,
    no_more_is_spent_in_a_month_than_the_cap,
    three_failures_in_a_row_stop_it,
    what_cannot_be_bought_stops_it,
    an_account_that_goes_buys_nothing,
);

const MONTH_MS: i64 = 30 * 86_400_000;
const HOUR_MS: i64 = 3_600_000;

async fn customer(rig: &Rig, account: &str) -> Option<String> {
    let found = rig
        .store
        .ledger()
        .topups()
        .customer(account, "stripe")
        .await;
    found.expect("a read")
}

/// Buys something and has the customer saved, or not.
async fn saved(rig: &Rig, account: &str, saves: bool) {
    let new = NewPayment {
        id: rig.id("payment"),
        account_id: account.to_owned(),
        product: "ten".into(),
        product_revision: 1,
        provider: "stripe".into(),
        subscribes: false,
        saves,
        now_ms: NOW - MONTH_MS,
        expires_ms: NOW,
    };
    let begun = rig.store.ledger().payments().create(new, None).await;
    let PaymentOutcome::Done(row) = begun.expect("an answer") else {
        panic!("no payment");
    };
    let event = PaymentEvent {
        customer: Some(format!("cus_{account}")),
        ..told(rig, &row.id, PaymentNews::Paid, 300)
    };
    applied(rig, event).await;
}

async fn set(rig: &Rig, account: &str, threshold: i64, monthly_cap: i64) {
    let new = NewTopup {
        account_id: account.to_owned(),
        provider: "stripe".into(),
        product: "ten".into(),
        threshold: quota(threshold),
        monthly_cap,
        now_ms: NOW,
    };
    rig.store
        .ledger()
        .topups()
        .set(new, None)
        .await
        .expect("set");
}

async fn of(rig: &Rig, account: &str) -> TopupRow {
    let found = rig.store.ledger().topups().of(account).await;
    found.expect("a read").expect("a top-up")
}

fn purchase(rig: &Rig, account: &str, now_ms: i64) -> TopupPurchase {
    TopupPurchase {
        id: rig.id("topup"),
        account_id: account.to_owned(),
        month_ms: NOW - HOUR_MS,
        next_month_ms: NOW + MONTH_MS,
        now_ms,
        expires_ms: now_ms + MONTH_MS,
    }
}

/// What one step does: the accounts that are due, and what is to be charged for the first of them.
async fn step(rig: &Rig, now_ms: i64) -> Option<(PaymentRow, bool)> {
    let due = rig.store.ledger().topups().due(now_ms, 10).await;
    let account = due.expect("a read").into_iter().next()?;
    let begun = rig
        .store
        .ledger()
        .payments()
        .begin_topup(purchase(rig, &account, now_ms))
        .await;
    match begun.expect("an answer") {
        TopupOutcome::Charge {
            payment,
            customer,
            again,
        } => {
            assert_eq!(customer, format!("cus_{account}"));
            Some((*payment, again))
        }
        TopupOutcome::Waits => None,
    }
}

async fn charged(rig: &Rig, payment: &PaymentRow) {
    let row = applied(rig, told(rig, &payment.id, PaymentNews::Paid, 300)).await;
    assert_eq!((row.state, row.topup), (PaymentState::Paid, true));
}

async fn a_customer_is_saved_by_a_payment_that_says_so(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, false).await;
    assert_eq!(customer(&rig, &account).await, None);
    bought(&rig, &account, "ten").await;
    saved(&rig, &account, true).await;
    assert_eq!(
        customer(&rig, &account).await,
        Some(format!("cus_{account}"))
    );
}

/// The promise: however many nodes look, a low balance buys one product.
async fn a_low_balance_buys_once_at_several_nodes(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, true).await;
    set(&rig, &account, 9, 900).await;
    assert_eq!(step(&rig, NOW).await, None, "ten are enough");
    rig.waiting(&account, 2).await;
    let nodes = if rig.store.is_postgres() { 3 } else { 1 };
    let mut stores = vec![rig.store.clone()];
    for _ in 1..nodes {
        let store = Store::open(&rig.url, options()).await;
        stores.push(store.expect("another node"));
    }
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let store = stores[number % nodes].clone();
            let wish = purchase(&rig, &account, NOW);
            spawn(async move {
                let begun = store.ledger().payments().begin_topup(wish).await;
                begun.expect("an answer")
            })
        })
        .collect();
    let mut charges = Vec::new();
    for task in tasks {
        if let TopupOutcome::Charge { payment, again, .. } = task.await.expect("a task") {
            assert!(!again);
            charges.push(*payment);
        }
    }
    assert_eq!(charges.len(), 1, "{charges:?}");
    charged(&rig, &charges[0]).await;
    assert_eq!(free(&rig, &account).await, quota(18));
    assert_eq!(step(&rig, NOW + 2 * HOUR_MS).await, None);
    for store in stores.into_iter().skip(1) {
        store.close().await;
    }
}

async fn a_purchase_whose_outcome_is_not_known_is_charged_again(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, true).await;
    set(&rig, &account, 100, 600).await;
    let (first, again) = step(&rig, NOW).await.expect("a charge");
    assert!(!again);
    assert_eq!(step(&rig, NOW + 1).await, None, "someone has it in hand");
    let (same, again) = step(&rig, NOW + 61_000).await.expect("a charge");
    assert_eq!((&same.id, again), (&first.id, true));
    charged(&rig, &first).await;
    // The provider's own event says the same.
    let event = told(&rig, &first.id, PaymentNews::Paid, 300);
    applied(&rig, event).await;
    assert_eq!(free(&rig, &account).await, quota(20));
}

async fn no_more_is_spent_in_a_month_than_the_cap(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, true).await;
    set(&rig, &account, 1_000, 800).await;
    let mut now_ms = NOW;
    for _ in 0..2 {
        let (payment, _) = step(&rig, now_ms).await.expect("a charge");
        charged(&rig, &payment).await;
        now_ms += 61_000;
    }
    let spent = rig.store.ledger().topups().spent(&account, NOW).await;
    assert_eq!(spent.expect("a read"), 600);
    assert_eq!(step(&rig, now_ms).await, None, "a third would be 900");
    let row = of(&rig, &account).await;
    assert!(row.active && row.why.is_some(), "{row:?}");
    assert_eq!(step(&rig, NOW + MONTH_MS - 1).await, None);
    // The next month begins anew.
    let mut next = purchase(&rig, &account, NOW + MONTH_MS);
    next.month_ms = NOW + MONTH_MS;
    let begun = rig.store.ledger().payments().begin_topup(next).await;
    assert!(matches!(
        begun.expect("an answer"),
        TopupOutcome::Charge { .. }
    ));
}

async fn three_failures_in_a_row_stop_it(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, true).await;
    set(&rig, &account, 100, 9_000).await;
    let mut now_ms = NOW;
    for (failure, later_ms) in [(1, HOUR_MS), (2, 24 * HOUR_MS), (3, 0)] {
        let (payment, again) = step(&rig, now_ms).await.expect("a charge");
        assert!(!again);
        let failed = told(&rig, &payment.id, PaymentNews::Failed, 300);
        applied(&rig, failed).await;
        rig.store
            .ledger()
            .topups()
            .failed(&account, "the card was declined", now_ms)
            .await
            .expect("noted");
        let row = of(&rig, &account).await;
        assert_eq!((row.failures, row.active), (failure, failure < 3));
        if later_ms > 0 {
            assert_eq!(step(&rig, now_ms + later_ms - 1).await, None);
        }
        now_ms += later_ms;
    }
    assert_eq!(step(&rig, now_ms + MONTH_MS).await, None);
    // Set again it tries again, and what failed is not counted.
    set(&rig, &account, 100, 300).await;
    let (payment, _) = step(&rig, now_ms).await.expect("a charge");
    charged(&rig, &payment).await;
    assert_eq!(of(&rig, &account).await.failures, 0);
}

async fn what_cannot_be_bought_stops_it(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    set(&rig, &account, 100, 9_000).await;
    assert_eq!(step(&rig, NOW).await, None);
    let row = of(&rig, &account).await;
    assert!(!row.active && row.why.is_some(), "no one is saved: {row:?}");
    saved(&rig, &account, true).await;
    set(&rig, &account, 100, 9_000).await;
    let planned = ProductDefinition {
        quota: None,
        plan: Some("month".into()),
        ..product("ten")
    };
    written(&rig, &planned, Some(1)).await;
    assert_eq!(step(&rig, NOW).await, None);
    assert!(!of(&rig, &account).await.active);
    let removed = rig.store.ledger().topups().remove(&account, None).await;
    assert!(removed.expect("an answer"));
    assert_eq!(
        rig.store
            .ledger()
            .topups()
            .of(&account)
            .await
            .expect("a read"),
        None
    );
}

async fn an_account_that_goes_buys_nothing(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    saved(&rig, &account, true).await;
    set(&rig, &account, 100, 9_000).await;
    let (payment, _) = step(&rig, NOW).await.expect("a charge");
    let deleted = rig.store.accounts().delete(&account, NOW, None).await;
    assert!(deleted.expect("an answer"));
    assert_eq!(customer(&rig, &account).await, None);
    assert_eq!(step(&rig, NOW + HOUR_MS).await, None);
    // Money that was on its way is kept for an operator.
    let late = tell(&rig.store, told(&rig, &payment.id, PaymentNews::Paid, 300)).await;
    assert!(
        matches!(late, atelier_store::EventOutcome::Mismatch(_)),
        "{late:?}"
    );
    assert_eq!(free(&rig, &account).await, Quota::from_thousandths(10_000));
}
