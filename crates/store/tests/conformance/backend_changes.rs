//! Changes of back ends together with their worker accounts: made whole or not at all, and on top of what was seen.

use atelier_contract::fields::Count;
use atelier_contract::pages::workers::WorkerState;
use atelier_store::{AuditRow, BackendChange, BackendChangeOutcome, BackendRow, ExpectedRevision};

use crate::rig::{NOW, Rig};
use crate::workers::{backend, begin, put, put_backend, put_worker, worker};

each_db!(
    an_arrangement_is_made_whole_or_not_at_all,
    two_changes_of_what_was_seen_do_not_overwrite_each_other,
    what_an_operator_switched_outlasts_a_declaration,
    what_leaves_with_jobs_in_hand_is_switched_off_first,
);

async fn an_arrangement_is_made_whole_or_not_at_all(rig: Rig) {
    let act = |id: &str| AuditRow {
        id: id.into(),
        time_ms: NOW,
        actor: "root".into(),
        action: "test".into(),
        target: String::new(),
        detail: String::new(),
        account_id: None,
    };
    let both = |backend_id: &str, at: &str| BackendChange {
        backends: vec![backend(backend_id, None)],
        workers: vec![put(worker("w", at, None))],
        ..BackendChange::default()
    };
    let astray = rig
        .store
        .workers()
        .apply_backend_change(both("b", "x"), Some(act("a")))
        .await;
    assert_eq!(astray.expect("an answer"), BackendChangeOutcome::NoBackend);
    assert!(
        rig.store
            .workers()
            .backends()
            .await
            .expect("a list")
            .is_empty()
    );
    let done = rig
        .store
        .workers()
        .apply_backend_change(both("b", "b"), Some(act("a")))
        .await;
    assert_eq!(done.expect("an answer"), BackendChangeOutcome::Done);
    // A row that cannot be written undoes the change it tells of.
    let mut off = backend("b", None);
    off.spec.enabled = false.into();
    let change = BackendChange {
        backends: vec![off],
        ..BackendChange::default()
    };
    assert!(
        rig.store
            .workers()
            .apply_backend_change(change, Some(act("a")))
            .await
            .is_err()
    );
    let removed = rig.store.workers().remove(None, "w", Some(act("a"))).await;
    assert!(removed.is_err());
    let removed = rig
        .store
        .workers()
        .remove_backend(None, "b", Some(act("a")))
        .await;
    assert!(removed.is_err());
    let (backends, workers) = (
        rig.store.workers().backends().await.expect("a list"),
        rig.store.workers().list().await.expect("a list"),
    );
    assert!(backends[0].in_use());
    assert_eq!(workers.len(), 1);
    assert_eq!(
        rig.store.admin().audit_rows(0, 9).await.expect("a page").1,
        1
    );
}

async fn two_changes_of_what_was_seen_do_not_overwrite_each_other(rig: Rig) {
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    let change = |weight: i64, seen: Vec<ExpectedRevision>| {
        let mut row = worker("w", "b", None);
        row.spec.weight = Count::clamped(weight);
        let arrangement = BackendChange {
            workers: vec![put(row)],
            seen,
            ..BackendChange::default()
        };
        rig.store.workers().apply_backend_change(arrangement, None)
    };
    let seen = || {
        vec![
            ExpectedRevision::Backend("b".into(), 1),
            ExpectedRevision::Worker("w".into(), 1),
        ]
    };
    let (first, second) = tokio::join!(change(7, seen()), change(8, seen()));
    let mut both = [first.expect("an answer"), second.expect("an answer")];
    both.sort_by_key(|one| *one == BackendChangeOutcome::Crossed);
    assert_eq!(
        both,
        [BackendChangeOutcome::Done, BackendChangeOutcome::Crossed]
    );
    let gone = vec![ExpectedRevision::Worker("gone".into(), 1)];
    let crossed = change(9, gone).await.expect("an answer");
    assert_eq!(crossed, BackendChangeOutcome::Crossed);
    let stored = rig.store.workers().list().await.expect("a list").remove(0);
    assert_eq!(stored.revision, 2, "changed once");
    assert!(stored.spec.weight.get() < 9);
}

async fn what_an_operator_switched_outlasts_a_declaration(rig: Rig) {
    let declared = || BackendChange {
        backends: vec![BackendRow {
            declared: true,
            ..backend("b", None)
        }],
        workers: vec![put(worker("w", "b", None))],
        keeps_switches: true,
        ..BackendChange::default()
    };
    rig.store
        .workers()
        .apply_backend_change(declared(), None)
        .await
        .expect("declared");
    let mut switched = declared();
    switched.keeps_switches = false;
    switched.backends[0].switched_off = true;
    switched.workers[0].row.spec.state = WorkerState::Paused;
    rig.store
        .workers()
        .apply_backend_change(switched, None)
        .await
        .expect("switched");
    let mut again = declared();
    again.workers[0].row.spec.concurrency = Count::clamped(7);
    rig.store
        .workers()
        .apply_backend_change(again, None)
        .await
        .expect("declared");
    let (backends, workers) = (
        rig.store.workers().backends().await.expect("a list"),
        rig.store.workers().list().await.expect("a list"),
    );
    assert!(!backends[0].in_use() && backends[0].spec.enabled.on());
    assert_eq!(workers[0].spec.state, WorkerState::Paused);
    assert_eq!(workers[0].spec.concurrency.get(), 7);
}

async fn what_leaves_with_jobs_in_hand_is_switched_off_first(rig: Rig) {
    let account = rig.account(10, 10).await;
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    put_worker(&rig, worker("idle", "b", None)).await;
    let job = rig.running(&account, 1).await;
    begin(&rig, &job, "t", "b/w", NOW).await;
    let leaving = || BackendChange {
        leaving_workers: vec!["w".into(), "idle".into()],
        ..BackendChange::default()
    };
    rig.store
        .workers()
        .apply_backend_change(leaving(), None)
        .await
        .expect("left");
    let workers = rig.store.workers().list().await.expect("a list");
    assert_eq!(workers.len(), 1);
    assert!(workers[0].retired);
    let all = || BackendChange {
        leaving_backends: vec!["b".into()],
        ..BackendChange::default()
    };
    rig.store
        .workers()
        .apply_backend_change(all(), None)
        .await
        .expect("left");
    assert!(!rig.store.workers().backends().await.expect("a list")[0].in_use());
    rig.settle(rig.failure(&job, atelier_store::Guard::Unfinished))
        .await;
    rig.store
        .workers()
        .apply_backend_change(all(), None)
        .await
        .expect("left");
    assert!(
        rig.store
            .workers()
            .backends()
            .await
            .expect("a list")
            .is_empty()
    );
}
