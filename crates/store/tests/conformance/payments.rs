//! Payments: what was paid gives once what it says, whatever is told how often and in which order, and what went back is taken back
//! exactly.

use atelier_contract::Quota;
use atelier_contract::products::ProductDefinition;
use atelier_store::{
    AuditRow, EventOutcome, NewPayment, PRODUCT_EDITION, PaymentEvent, PaymentFilter, PaymentNews,
    PaymentOutcome, PaymentPlace, PaymentRow, PaymentState, RevisionChange, RevisionDraft,
    RevisionOutcome, Store,
};

use crate::rig::{NOW, Rig, number, options, quota, spawn, sql};

each_db!(
    a_payment_gives_its_quota_once,
    an_account_sees_its_own_payments,
    an_event_told_a_thousand_times_at_several_nodes_counts_once,
    what_does_not_fit_is_kept_and_never_credited,
    a_late_payment_still_counts,
    what_ended_does_not_begin_again,
    what_waits_is_bounded,
    payments_of_a_deleted_account_are_kept_without_words,
    what_was_told_never_changes,
    a_confirmation_and_its_act_are_one_commit,
    a_confirmation_that_did_not_fit_can_be_repeated,
    a_service_without_payments_writes_nothing_for_them,
    a_product_that_changed_is_looked_at_again,
    older_programs_and_products_keep_apart,
);

const DAY_MS: i64 = 86_400_000;

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

pub(crate) async fn begin(rig: &Rig, account: &str, product: &str, now_ms: i64) -> PaymentOutcome {
    let current = rig.store.ledger().products().current().await;
    let mut current = current.expect("a read").into_iter();
    let found = current.find(|row| row.name.eq_ignore_ascii_case(product));
    let revision = found.map_or(1, |row| row.revision);
    let new = NewPayment {
        id: rig.id("payment"),
        account_id: account.to_owned(),
        product: product.to_owned(),
        product_revision: revision,
        provider: "stripe".into(),
        subscribes: false,
        saves: false,
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
        subscription: None,
        customer: None,
        news,
        money: Some(money),
        currency: Some("EUR".into()),
        raw: "{}".into(),
        answered: false,
        ledger_id: rig.id("ledger"),
        new_id: rig.id("payment"),
        now_ms: NOW,
    }
}

pub(crate) async fn tell(store: &Store, event: PaymentEvent) -> EventOutcome {
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

pub(crate) async fn one(rig: &Rig, id: &str) -> PaymentRow {
    let found = rig.store.ledger().payments().one(id, None).await;
    found.expect("a read").expect("the payment")
}

pub(crate) async fn debt(rig: &Rig, account: &str) -> Quota {
    let found = rig.store.accounts().find(account).await;
    found.expect("a read").expect("the account").debt
}

pub(crate) async fn free(rig: &Rig, account: &str) -> Quota {
    rig.purse(account).await.0
}

async fn a_payment_gives_its_quota_once(rig: Rig) {
    let account = rig.account(1, 10).await;
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

async fn an_account_sees_its_own_payments(rig: Rig) {
    let (account, other) = (rig.account(0, 10).await, rig.account(0, 10).await);
    written(&rig, &product("ten"), None).await;
    let id = bought(&rig, &account, "ten").await;
    let row = one(&rig, &id).await;
    let seen = async |account: &str| {
        let payments = rig.store.ledger().payments();
        payments.one(&id, Some(account)).await.expect("a read")
    };
    assert_eq!(seen(&account).await, Some(row.clone()));
    assert_eq!(seen(&other).await, None);
    let listed = async |account: &str, state| {
        let filter = PaymentFilter {
            account_id: Some(account.to_owned()),
            state,
        };
        let listed = rig.store.ledger().payments().list(&filter, 0, 10).await;
        listed.expect("a read")
    };
    let paid = Some(PaymentState::Paid);
    assert_eq!(listed(&account, paid).await, (vec![row], 1));
    let pending = Some(PaymentState::Pending);
    assert_eq!(listed(&account, pending).await, (Vec::new(), 0));
    assert_eq!(listed(&other, None).await, (Vec::new(), 0));
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
    // Those that cannot be made are no way to fill the table.
    let other = rig.account(0, 10).await;
    for _ in 0..100 {
        let id = pending(&rig, &other, "ten").await;
        applied(&rig, told(&rig, &id, PaymentNews::Failed, 300)).await;
    }
    let refused = begin(&rig, &other, "ten", NOW).await;
    assert_eq!(refused, PaymentOutcome::TooMany { most: 100 });
    let later = begin(&rig, &other, "ten", NOW + DAY_MS).await;
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

/// An operator is told what does not fit: it is not kept, so that the same confirmation counts once the reason is gone.
async fn a_confirmation_that_did_not_fit_can_be_repeated(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let id = pending(&rig, &account, "ten").await;
    let confirmed = |money| PaymentEvent {
        event_id: format!("confirm_{id}"),
        references: Vec::new(),
        answered: true,
        ..told(&rig, &id, PaymentNews::Paid, money)
    };
    let refused = tell(&rig.store, confirmed(299)).await;
    assert_eq!(refused, EventOutcome::Mismatch("it is another amount"));
    assert_eq!(one(&rig, &id).await.state, PaymentState::Pending);
    let (_, kept) = rig
        .store
        .ledger()
        .payments()
        .mismatches(0, 10)
        .await
        .expect("a read");
    assert_eq!(kept, 0);
    applied(&rig, confirmed(300)).await;
    assert_eq!(free(&rig, &account).await, quota(10));
}

async fn a_service_without_payments_writes_nothing_for_them(rig: Rig) {
    let written_so_far = || {
        let [_, changes] = rig.store.load().commits;
        changes.at("", "").read().1
    };
    let commits = async || {
        let before = written_so_far();
        let tidied = rig.store.ledger().payments().tidy(NOW, NOW, 100).await;
        assert_eq!(tidied.expect("tidied"), 0);
        let claimed = rig.store.ledger().subscriptions().claim(NOW, NOW).await;
        assert_eq!(claimed.expect("a read"), None);
        let claimed = rig.store.ledger().payments().claim_refund(NOW, NOW).await;
        assert_eq!(claimed.expect("a read"), None);
        written_so_far() - before
    };
    assert_eq!(commits().await, 0);
    written(&rig, &product("ten"), None).await;
    let account = rig.account(0, 10).await;
    bought(&rig, &account, "ten").await;
    // A commit is counted a moment after it was answered.
    commits().await;
    assert_eq!(commits().await, 0, "nothing is due");
}

async fn a_product_that_changed_is_looked_at_again(rig: Rig) {
    let account = rig.account(0, 10).await;
    written(&rig, &product("ten"), None).await;
    let dearer = ProductDefinition {
        money: 900,
        ..product("ten")
    };
    written(&rig, &dearer, Some(1)).await;
    let new = NewPayment {
        id: rig.id("payment"),
        account_id: account,
        product: "ten".into(),
        product_revision: 1,
        provider: "stripe".into(),
        subscribes: false,
        saves: false,
        now_ms: NOW,
        expires_ms: NOW + DAY_MS,
    };
    let begun = rig.store.ledger().payments().create(new, None).await;
    assert_eq!(begun.expect("an answer"), PaymentOutcome::Crossed);
}
