//! Deliveries: recorded once, given up, made due again and listed.

use atelier_store::{Claim, Delivery, DeliveryResult, DeliveryState, Guard, Period, RouteSlots};

use crate::rig::{NOW, Rig};

each_db!(
    a_delivery_is_claimed_once_and_counts_a_try,
    tries_recorded_together_are_each_answered,
    a_try_is_recorded_with_its_log,
    a_late_result_is_refused,
    a_lost_try_is_made_again,
    a_given_up_delivery_can_be_made_due_again,
    deliveries_are_listed_by_account_and_state,
);

/// Deliveries become due when their job ends.
pub(crate) const DUE: i64 = NOW + 5_000;

/// A finished job that owes a result to a host; the delivery's id.
pub(crate) async fn owed(rig: &Rig, account_id: &str, host: &str) -> String {
    let mut accept = rig.accept(account_id, 0);
    accept.job.hook_url = Some(format!("https://{host}/hook"));
    let id = accept.job.id.clone();
    rig.take(accept).await;
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    format!("cb_{id}")
}

pub(crate) async fn claim(rig: &Rig, now_ms: i64, limit: i64, per_host: i64) -> Vec<Delivery> {
    claim_with(rig, now_ms, limit, per_host, Vec::new()).await
}

pub(crate) async fn claim_with(
    rig: &Rig,
    now_ms: i64,
    limit: i64,
    per_route: i64,
    routes: Vec<RouteSlots>,
) -> Vec<Delivery> {
    let claim = Claim {
        now_ms,
        for_ms: 60_000,
        limit,
        per_route,
        routes,
        per_account: 1_000,
        accounts: Vec::new(),
    };
    let claimed = rig.store.deliveries().claim(&claim, || now_ms).await;
    claimed.expect("claims")
}

pub(crate) fn result(delivery: &Delivery, state: DeliveryState, status: i64) -> DeliveryResult {
    DeliveryResult {
        id: delivery.id.clone(),
        attempts: delivery.attempts,
        failures: delivery.failures + i64::from(status >= 300),
        state,
        status: Some(status),
        error: (status >= 300).then(|| format!("answered {status}")),
        duration_ms: 12,
        answer_start: "ok \"x\"".into(),
        now_ms: DUE + 100,
    }
}

async fn a_delivery_is_claimed_once_and_counts_a_try(rig: Rig) {
    let account = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    assert_eq!(
        rig.store.deliveries().next_due_ms().await.expect("a time"),
        Some(DUE)
    );
    assert!(claim(&rig, DUE - 1, 10, 10).await.is_empty(), "not yet due");
    let claimed = claim(&rig, DUE, 10, 10).await;
    assert_eq!(claimed.len(), 1);
    let one = &claimed[0];
    assert_eq!(
        (one.id.as_str(), one.state.as_str(), one.attempts),
        (id.as_str(), "sending", 1)
    );
    assert_eq!(
        (one.host.as_str(), one.next_ms),
        ("a.example", DUE + 60_000)
    );
    assert!(claim(&rig, DUE, 10, 10).await.is_empty());
    assert_eq!(rig.job(&one.job_id).await.hook_times, 1);
}

async fn tries_recorded_together_are_each_answered(rig: Rig) {
    let account = rig.account(1, 1_000).await;
    for _ in 0..30 {
        owed(&rig, &account, "a.example").await;
    }
    let claimed = claim(&rig, DUE, 30, 30).await;
    let states = [
        DeliveryState::Delivered,
        DeliveryState::Due { next_ms: DUE + 7 },
        DeliveryState::Exhausted,
    ];
    let results = claimed.iter().enumerate().flat_map(|(number, one)| {
        let right = result(one, states[number % 3], 200);
        let mut late = right.clone();
        late.attempts = 0;
        [late, right.clone(), right]
    });
    let answers = results.map(|result| rig.store.deliveries().finish(result));
    let answers: Vec<bool> = futures_util::future::join_all(answers)
        .await
        .into_iter()
        .map(|answer| answer.expect("an answer"))
        .collect();
    for (number, three) in answers.chunks(3).enumerate() {
        assert_eq!(three, [false, true, false], "delivery {number}");
    }
    for state in ["delivered", "due", "exhausted"] {
        let deliveries = rig.store.deliveries();
        let page = deliveries.list(None, Some(state), Period::default(), 0, 1);
        assert_eq!(page.await.expect("a page").1, 10, "{state}");
    }
    for one in &claimed {
        let log = rig.store.deliveries().log(&one.account_id, &one.id).await;
        assert_eq!(log.expect("a log").len(), 1);
    }
}

async fn a_try_is_recorded_with_its_log(rig: Rig) {
    let account = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    let first = claim(&rig, DUE, 1, 1).await.remove(0);
    let again = DeliveryState::Due { next_ms: DUE + 200 };
    assert!(
        rig.store
            .deliveries()
            .finish(result(&first, again, 500))
            .await
            .expect("an answer")
    );
    assert_eq!(
        rig.store.deliveries().next_due_ms().await.expect("a time"),
        Some(DUE + 200)
    );
    let second = claim(&rig, DUE + 200, 1, 1).await.remove(0);
    assert_eq!((second.attempts, second.last_status), (2, Some(500)));
    assert_eq!((first.failures, second.failures), (0, 1));
    let done = result(&second, DeliveryState::Delivered, 200);
    assert!(
        rig.store
            .deliveries()
            .finish(done)
            .await
            .expect("an answer")
    );
    assert_eq!(
        rig.store.deliveries().next_due_ms().await.expect("a time"),
        None
    );
    let log = rig
        .store
        .deliveries()
        .log(&account, &id)
        .await
        .expect("a log");
    let told: Vec<_> = log
        .iter()
        .map(|one| (one.attempt, one.status, one.error.as_deref()))
        .collect();
    assert_eq!(
        told,
        [(1, Some(500), Some("answered 500")), (2, Some(200), None)]
    );
    assert_eq!(
        (log[0].duration_ms, log[0].answer_start.as_str()),
        (12, "ok \"x\"")
    );
    let (rows, _) = rig
        .store
        .deliveries()
        .list(Some(&account), None, Period::default(), 0, 1)
        .await
        .expect("a page");
    assert_eq!(
        (rows[0].state.as_str(), rows[0].delivered_ms),
        ("delivered", Some(DUE + 100))
    );
}

async fn a_late_result_is_refused(rig: Rig) {
    let account = rig.account(1, 100).await;
    owed(&rig, &account, "a.example").await;
    let first = claim(&rig, DUE, 1, 1).await.remove(0);
    let second = claim(&rig, DUE + 60_000, 1, 1).await.remove(0);
    let late = result(&first, DeliveryState::Delivered, 200);
    assert!(
        !rig.store
            .deliveries()
            .finish(late)
            .await
            .expect("an answer"),
        "not the current try"
    );
    let current = result(&second, DeliveryState::Delivered, 200);
    assert!(
        rig.store
            .deliveries()
            .finish(current.clone())
            .await
            .expect("an answer")
    );
    assert!(
        !rig.store
            .deliveries()
            .finish(current)
            .await
            .expect("an answer"),
        "only once"
    );
}

async fn a_lost_try_is_made_again(rig: Rig) {
    let account = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    claim(&rig, DUE, 1, 1).await;
    assert!(claim(&rig, DUE + 59_999, 1, 1).await.is_empty());
    let again = claim(&rig, DUE + 60_000, 1, 1).await.remove(0);
    assert_eq!((again.id, again.attempts), (id, 2));
    assert_eq!(again.failures, 0, "nobody knows that it failed");
}

async fn a_given_up_delivery_can_be_made_due_again(rig: Rig) {
    let account = rig.account(1, 100).await;
    let other = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    owed(&rig, &account, "b.example").await;
    let claimed = claim(&rig, DUE, 10, 10).await;
    assert!(
        !rig.store
            .deliveries()
            .redeliver(&account, &id, 9, DUE)
            .await
            .expect("an answer"),
        "being sent"
    );
    for (one, state) in claimed
        .iter()
        .zip([DeliveryState::Exhausted, DeliveryState::Stopped])
    {
        rig.store
            .deliveries()
            .finish(result(one, state, 500))
            .await
            .expect("an answer");
    }
    assert!(
        claim(&rig, DUE + 1_000, 10, 10).await.is_empty(),
        "given up"
    );
    assert!(
        !rig.store
            .deliveries()
            .redeliver(&other, &id, 9, DUE)
            .await
            .expect("an answer"),
        "not theirs"
    );
    assert!(
        !rig.store
            .deliveries()
            .redeliver(&account, &id, 1, DUE + 5)
            .await
            .expect("an answer"),
        "often enough"
    );
    assert!(
        rig.store
            .deliveries()
            .redeliver(&account, &id, 9, DUE + 5)
            .await
            .expect("an answer")
    );
    let again = claim(&rig, DUE + 5, 10, 10).await;
    assert_eq!(
        (again.len(), again[0].attempts, again[0].failures),
        (1, 2, 0),
        "the count goes on, the schedule begins anew"
    );
    let failed = async |since_ms, most| {
        rig.store
            .deliveries()
            .redeliver_failed(&account, since_ms, most, DUE + 6)
            .await
            .expect("a count")
    };
    assert_eq!(failed(DUE + 1, 9).await, 0);
    assert_eq!(failed(DUE, 1).await, 0, "often enough");
    assert_eq!(failed(DUE, 9).await, 1);
}

async fn deliveries_are_listed_by_account_and_state(rig: Rig) {
    let (mine, theirs) = (rig.account(1, 100).await, rig.account(1, 100).await);
    let first = owed(&rig, &mine, "a.example").await;
    let second = owed(&rig, &mine, "a.example").await;
    owed(&rig, &theirs, "a.example").await;
    let all = Period::default();
    let list = async |account: Option<&str>, state: Option<&str>, period: Period| {
        let deliveries = rig.store.deliveries();
        let page = deliveries.list(account, state, period, 0, 10).await;
        page.expect("a page")
    };
    let (page, total) = list(Some(&mine), Some("due"), all).await;
    let page: Vec<&str> = page.iter().map(|one| &*one.id).collect();
    assert_eq!((page, total), (vec![&*second, &*first], 2));
    let shown = rig
        .store
        .deliveries()
        .find(&mine, &first)
        .await
        .expect("a read");
    assert_eq!(shown.map(|one| one.id), Some(first.clone()));
    let stranger = rig.account(1, 100).await;
    let shown = rig.store.deliveries().find(&stranger, &first).await;
    assert_eq!(shown.expect("a read"), None, "not theirs");
    assert_eq!(list(None, None, all).await.1, 3);
    assert_eq!(list(None, Some("sending"), all).await.1, 0);
    // A period has its first moment and not its last one.
    let since_ms = page_created_ms(&list(Some(&mine), None, all).await.0);
    for (from_ms, to_ms, want) in [
        (Some(since_ms), None, 2),
        (Some(since_ms + 1), None, 0),
        (None, Some(since_ms), 0),
        (None, Some(since_ms + 1), 2),
    ] {
        let period = Period { from_ms, to_ms };
        let (page, total) = list(Some(&mine), None, period).await;
        assert_eq!((page.len() as i64, total), (want, want), "{period:?}");
    }
}

/// When deliveries came to be owed, all of them at once.
fn page_created_ms(page: &[Delivery]) -> i64 {
    assert!(page.iter().all(|one| one.created_ms == page[0].created_ms));
    page[0].created_ms
}
