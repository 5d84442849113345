//! Old rows go when nothing needs them any more, some at a time; whatever is still needed stays.

use atelier_store::{AuditRow, Claim, DeliveryResult, DeliveryState, Guard};

use crate::rig::{NOW, Rig};

each_db!(
    tries_of_finished_deliveries_are_forgotten,
    attempts_of_final_jobs_are_forgotten,
    acts_and_nodes_are_forgotten_by_age,
);

const DUE: i64 = NOW + 5_000;

/// A job that owes a result, and one try made of it; the delivery's id.
async fn tried(rig: &Rig, account_id: &str, state: DeliveryState, at_ms: i64) -> String {
    let mut accept = rig.accept(account_id, 0);
    accept.job.hook_url = Some("https://a.example/".into());
    let id = accept.job.id.clone();
    rig.take(accept).await;
    rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    let claim = Claim {
        now_ms: DUE,
        for_ms: 1,
        limit: 1,
        per_route: 1,
        routes: Vec::new(),
        per_account: 1,
        accounts: Vec::new(),
    };
    let claimed = rig.store.deliveries().claim(&claim, || DUE).await;
    let claimed = claimed.expect("claimed");
    let result = DeliveryResult {
        id: claimed[0].id.clone(),
        attempts: claimed[0].attempts,
        state,
        failures: 1,
        status: Some(500),
        error: None,
        duration_ms: 1,
        answer_start: String::new(),
        now_ms: at_ms,
    };
    assert!(
        rig.store
            .deliveries()
            .finish(result)
            .await
            .expect("recorded")
    );
    format!("cb_{id}")
}

async fn tries_of_finished_deliveries_are_forgotten(rig: Rig) {
    let account = rig.account(1, 100).await;
    let old = tried(&rig, &account, DeliveryState::Delivered, DUE + 10).await;
    let older = tried(&rig, &account, DeliveryState::Exhausted, DUE + 9).await;
    let fresh = tried(&rig, &account, DeliveryState::Stopped, DUE + 20).await;
    let again = DeliveryState::Due { next_ms: DUE + 99 };
    let open = tried(&rig, &account, again, DUE + 1).await;
    let forget = async |limit| {
        let gone = rig.store.retention().forget_tries(DUE + 20, limit).await;
        gone.expect("a count")
    };
    let left = async |id: &str| {
        let log = rig.store.deliveries().log(&account, id).await;
        log.expect("a log").len()
    };
    assert_eq!(forget(1).await, 1);
    assert_eq!(
        (left(&older).await, left(&old).await),
        (0, 1),
        "oldest first"
    );
    assert_eq!(forget(10).await, 1);
    assert_eq!(forget(10).await, 0);
    assert_eq!(left(&old).await, 0);
    assert_eq!(left(&fresh).await, 1, "too young");
    assert_eq!(left(&open).await, 1, "not over");
    let job = rig.job(old.strip_prefix("cb_").expect("a job")).await;
    assert_eq!(job.hook_times, 1, "the count of tries stays");
}

async fn attempts_of_final_jobs_are_forgotten(rig: Rig) {
    let account = rig.account(1, 100).await;
    let done = rig.running(&account, 0).await;
    let running = rig.running(&account, 0).await;
    assert!(rig.begin(&done, 1, "done-1").await);
    // The running job has an attempt that ended, and a live one.
    assert!(rig.begin(&running, 1, "running-1").await);
    assert!(rig.begin(&running, 1, "running-2").await);
    rig.settle(rig.failure(&done, Guard::Fence(1))).await;
    let forget = async |before_ms| {
        let gone = rig.store.retention().forget_attempts(before_ms, 10).await;
        gone.expect("a count")
    };
    assert_eq!(forget(NOW).await, 0, "too young");
    assert_eq!(forget(NOW + 1_000_000).await, 1, "only of the final job");
    assert_eq!(forget(NOW + 1_000_000).await, 0);
}

async fn acts_and_nodes_are_forgotten_by_age(rig: Rig) {
    for (id, time_ms) in [("a", NOW), ("b", NOW + 1), ("c", NOW + 2)] {
        let row = AuditRow {
            id: id.into(),
            time_ms,
            actor: "operator".into(),
            action: "credit".into(),
            target: "account".into(),
            detail: String::new(),
            account_id: None,
        };
        rig.store
            .settings()
            .put_all(Vec::new(), Some(row))
            .await
            .expect("added");
        rig.store
            .nodes()
            .beat(id, NOW, time_ms, "")
            .await
            .expect("noted");
    }
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 2, 1)
            .await
            .expect("a count"),
        1
    );
    let (acts, _) = rig.store.admin().audit_rows(0, 10).await.expect("a page");
    let acts: Vec<&str> = acts.iter().map(|row| &*row.id).collect();
    assert_eq!(acts, ["c", "b"], "the oldest went");
    assert_eq!(
        rig.store
            .retention()
            .forget_audit(NOW + 2, 9)
            .await
            .expect("a count"),
        1
    );
    assert_eq!(
        rig.store
            .retention()
            .forget_nodes(NOW + 2)
            .await
            .expect("a count"),
        2
    );
    assert_eq!(rig.store.nodes().list(0).await.expect("a list")[0].id, "c");
}
