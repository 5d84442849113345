//! Deliveries: claimed fairly, recorded once, given up and made due again.

use atelier_store::{Delivery, DeliveryResult, DeliveryState, Guard};

use crate::rig::{NOW, Rig};

each_db!(
    a_delivery_is_claimed_once_and_counts_a_try,
    claims_are_fair_between_hosts,
    hosts_to_skip_are_skipped,
    a_try_is_recorded_with_its_log,
    a_late_result_is_refused,
    a_lost_try_is_made_again,
    a_given_up_delivery_can_be_made_due_again,
    deliveries_are_listed_by_account_and_state,
);

/// A finished job that owes a result to a host; the delivery's id.
async fn owed(rig: &Rig, account_id: &str, host: &str) -> String {
    let mut accept = rig.accept(account_id, 0);
    accept.job.hook_url = Some(format!("https://{host}/hook"));
    let id = accept.job.id.clone();
    rig.take(accept).await;
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    format!("cb_{id}")
}

/// Deliveries become due when their job ends.
const DUE: i64 = NOW + 5_000;

async fn claim(rig: &Rig, now_ms: i64, limit: i64, per_host: i64) -> Vec<Delivery> {
    rig.store
        .claim_deliveries(now_ms, now_ms + 60_000, limit, per_host, &[])
        .await
        .expect("claims")
}

fn result(delivery: &Delivery, state: DeliveryState, status: i64) -> DeliveryResult {
    DeliveryResult {
        id: delivery.id.clone(),
        attempts: delivery.attempts,
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
        rig.store.next_delivery_ms().await.expect("a time"),
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

async fn claims_are_fair_between_hosts(rig: Rig) {
    let account = rig.account(1, 1_000).await;
    for _ in 0..10 {
        owed(&rig, &account, "crowd.example").await;
    }
    owed(&rig, &account, "quiet.example").await;
    let claimed = claim(&rig, DUE, 4, 3).await;
    let crowd = claimed
        .iter()
        .filter(|one| one.host == "crowd.example")
        .count();
    assert_eq!((claimed.len(), crowd), (4, 3));
    assert_eq!(claim(&rig, DUE, 2, 1).await.len(), 1, "one for each host");
    assert_eq!(claim(&rig, DUE, 100, 100).await.len(), 6);
}

async fn hosts_to_skip_are_skipped(rig: Rig) {
    let account = rig.account(1, 100).await;
    owed(&rig, &account, "dead.example").await;
    owed(&rig, &account, "live.example").await;
    let skip = ["dead.example".to_owned()];
    let claimed = rig
        .store
        .claim_deliveries(DUE, DUE + 1, 10, 10, &skip)
        .await
        .expect("claims");
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].host, "live.example");
}

async fn a_try_is_recorded_with_its_log(rig: Rig) {
    let account = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    let first = claim(&rig, DUE, 1, 1).await.remove(0);
    let again = DeliveryState::Due { next_ms: DUE + 200 };
    assert!(
        rig.store
            .finish_delivery(result(&first, again, 500))
            .await
            .expect("an answer")
    );
    assert_eq!(
        rig.store.next_delivery_ms().await.expect("a time"),
        Some(DUE + 200)
    );
    let second = claim(&rig, DUE + 200, 1, 1).await.remove(0);
    assert_eq!((second.attempts, second.last_status), (2, Some(500)));
    let done = result(&second, DeliveryState::Delivered, 200);
    assert!(rig.store.finish_delivery(done).await.expect("an answer"));
    assert_eq!(rig.store.next_delivery_ms().await.expect("a time"), None);
    let log = rig.store.delivery_log(&id).await.expect("a log");
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
        .deliveries(Some(&account), None, 0, 1)
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
        !rig.store.finish_delivery(late).await.expect("an answer"),
        "not the current try"
    );
    let current = result(&second, DeliveryState::Delivered, 200);
    assert!(
        rig.store
            .finish_delivery(current.clone())
            .await
            .expect("an answer")
    );
    assert!(
        !rig.store.finish_delivery(current).await.expect("an answer"),
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
}

async fn a_given_up_delivery_can_be_made_due_again(rig: Rig) {
    let account = rig.account(1, 100).await;
    let other = rig.account(1, 100).await;
    let id = owed(&rig, &account, "a.example").await;
    owed(&rig, &account, "b.example").await;
    let claimed = claim(&rig, DUE, 10, 10).await;
    assert!(
        !rig.store
            .redeliver(&account, &id, DUE)
            .await
            .expect("an answer"),
        "being sent"
    );
    for (one, state) in claimed
        .iter()
        .zip([DeliveryState::Exhausted, DeliveryState::Stopped])
    {
        rig.store
            .finish_delivery(result(one, state, 500))
            .await
            .expect("an answer");
    }
    assert!(
        claim(&rig, DUE + 1_000, 10, 10).await.is_empty(),
        "given up"
    );
    assert!(
        !rig.store
            .redeliver(&other, &id, DUE)
            .await
            .expect("an answer"),
        "not theirs"
    );
    assert!(
        rig.store
            .redeliver(&account, &id, DUE + 5)
            .await
            .expect("an answer")
    );
    let again = claim(&rig, DUE + 5, 10, 10).await;
    assert_eq!(
        (again.len(), again[0].attempts),
        (1, 2),
        "the count goes on"
    );
    let failed = async |since_ms| {
        rig.store
            .redeliver_failed(&account, since_ms, DUE + 6)
            .await
            .expect("a count")
    };
    assert_eq!(failed(DUE + 1).await, 0);
    assert_eq!(failed(DUE).await, 1);
}

async fn deliveries_are_listed_by_account_and_state(rig: Rig) {
    let (mine, theirs) = (rig.account(1, 100).await, rig.account(1, 100).await);
    let first = owed(&rig, &mine, "a.example").await;
    let second = owed(&rig, &mine, "a.example").await;
    owed(&rig, &theirs, "a.example").await;
    let (page, total) = rig
        .store
        .deliveries(Some(&mine), Some("due"), 0, 10)
        .await
        .expect("a page");
    let page: Vec<&str> = page.iter().map(|one| &*one.id).collect();
    assert_eq!((page, total), (vec![&*second, &*first], 2));
    assert_eq!(
        rig.store
            .deliveries(None, None, 0, 1)
            .await
            .expect("a page")
            .1,
        3
    );
    assert_eq!(
        rig.store
            .deliveries(None, Some("sending"), 0, 9)
            .await
            .expect("a page")
            .1,
        0
    );
}
