//! Back ends and worker accounts: kept apart by owner, never removed with work in hand, resealed all or none.

use atelier_contract::Speed;
use atelier_contract::fields::{Count, Text};
use atelier_contract::pages::backends::BackendSpec;
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::hours::Hours;
use atelier_contract::pages::name::Name;
use atelier_contract::pages::workers::{WorkerSpec, WorkerState};
use atelier_store::{
    Attempt, AttemptStart, BackendChange, BackendChangeOutcome, BackendRow, RemoveOutcome,
    StartLimits, WorkerNote, WorkerRow, WorkerUpsert,
};

use crate::rig::{NOW, Rig, quota};

each_db!(
    a_back_end_is_made_and_changed,
    two_back_ends_of_the_operator_have_two_names,
    a_worker_keeps_what_it_spent_when_it_is_changed,
    an_older_note_does_not_replace_a_newer_one,
    a_worker_with_work_in_hand_is_not_removed,
    nobody_removes_or_fills_what_is_anothers,
    a_caller_reads_only_what_is_its_own,
    starts_and_live_attempts_are_counted_by_worker,
    sealed_values_are_replaced_together,
);

pub(crate) fn backend(id: &str, owner: Option<&str>) -> BackendRow {
    BackendRow {
        id: id.into(),
        owner: owner.map(str::to_owned),
        spec: BackendSpec {
            name: Name::kept(&format!("name of {id}")),
            vendor: Text::cut("relay"),
            base_url: Text::cut("http://127.0.0.1:9/"),
            settings: serde_json::Map::new(),
            operations: vec!["artgen".into()],
            rank: Count::clamped(10),
            enabled: true.into(),
            shadow: None,
        },
        declared: false,
        switched_off: false,
        created_ms: NOW,
        revision: 1,
    }
}

pub(crate) fn worker(id: &str, backend_id: &str, owner: Option<&str>) -> WorkerRow {
    WorkerRow {
        id: id.into(),
        backend_id: backend_id.into(),
        owner: owner.map(str::to_owned),
        spec: WorkerSpec {
            name: Name::kept("first"),
            per_minute: Count::clamped(10),
            per_hour: Count::clamped(100),
            modes: vec![Speed::Fast],
            hours: Hours::parse("08:00-20:00").expect("hours"),
            spend_cap: Some(quota(50)),
            cost_cap: Some(Amount::from_micros(2_500_000)),
            ..WorkerSpec::default()
        },
        credential: "v1:1:sealed".into(),
        spent: quota(0),
        costs: Vec::new(),
        health: String::new(),
        health_ms: 0,
        retired: false,
        created_ms: NOW,
        revision: 1,
    }
}

pub(crate) fn put(row: WorkerRow) -> WorkerUpsert {
    WorkerUpsert {
        row,
        clear_spent: false,
        health: None,
    }
}

pub(crate) async fn put_backend(rig: &Rig, row: BackendRow) -> BackendChangeOutcome {
    let arrangement = BackendChange {
        backends: vec![row],
        ..BackendChange::default()
    };
    let arranged = rig
        .store
        .workers()
        .apply_backend_change(arrangement, None)
        .await;
    arranged.expect("an answer")
}

pub(crate) async fn put_worker(rig: &Rig, row: WorkerRow) -> BackendChangeOutcome {
    let arrangement = BackendChange {
        workers: vec![put(row)],
        ..BackendChange::default()
    };
    let arranged = rig
        .store
        .workers()
        .apply_backend_change(arrangement, None)
        .await;
    arranged.expect("an answer")
}

async fn a_back_end_is_made_and_changed(rig: Rig) {
    let mut row = backend("b", None);
    put_backend(&rig, row.clone()).await;
    let mut first = backend("a", None);
    first.spec.rank = Count::clamped(5);
    put_backend(&rig, first.clone()).await;
    assert_eq!(
        rig.store.workers().backends().await.expect("a list"),
        [first.clone(), row.clone()],
        "in the order of fall-back"
    );
    row.spec.rank = Count::clamped(1);
    row.spec.enabled = false.into();
    put_backend(&rig, row.clone()).await;
    row.revision = 2;
    assert_eq!(
        rig.store.workers().backends().await.expect("a list"),
        [row, first]
    );
}

async fn two_back_ends_of_the_operator_have_two_names(rig: Rig) {
    let account = rig.account(0, 1).await;
    put_backend(&rig, backend("a", None)).await;
    let mut twin = backend("b", None);
    twin.spec.name = Name::kept("name of a");
    assert_eq!(
        put_backend(&rig, twin.clone()).await,
        BackendChangeOutcome::NameTaken
    );
    twin.owner = Some(account);
    put_backend(&rig, twin).await;
}

async fn a_worker_keeps_what_it_spent_when_it_is_changed(rig: Rig) {
    let mut row = worker("w", "b", None);
    let nowhere = put_worker(&rig, row.clone()).await;
    assert_eq!(nowhere, BackendChangeOutcome::NoBackend);
    put_backend(&rig, backend("b", None)).await;
    assert_eq!(
        put_worker(&rig, row.clone()).await,
        BackendChangeOutcome::Done
    );
    let note = WorkerNote {
        id: "w".into(),
        spent: quota(7),
        health: "{\"state\":\"well\"}".into(),
        health_ms: NOW + 1,
    };
    rig.store
        .workers()
        .note(
            vec![
                note.clone(),
                WorkerNote {
                    id: "x".into(),
                    ..note
                },
            ],
            None,
        )
        .await
        .expect("noted");
    row.spec.state = WorkerState::Draining;
    row.spec.concurrency = Count::clamped(9);
    put_worker(&rig, row.clone()).await;
    let found = rig.store.workers().list().await.expect("a list");
    row.spent = quota(7);
    row.health = "{\"state\":\"well\"}".into();
    row.health_ms = NOW + 1;
    row.revision = 2;
    assert_eq!(found, [row]);
    let cleared = WorkerUpsert {
        clear_spent: true,
        health: Some(("well".into(), NOW + 2)),
        ..put(found[0].clone())
    };
    let arrangement = BackendChange {
        workers: vec![cleared],
        ..BackendChange::default()
    };
    let done = rig
        .store
        .workers()
        .apply_backend_change(arrangement, None)
        .await;
    assert_eq!(done.expect("an answer"), BackendChangeOutcome::Done);
    let found = rig.store.workers().list().await.expect("a list");
    assert_eq!((found[0].spent, found[0].revision), (quota(0), 3));
    assert_eq!(
        (found[0].health.as_str(), found[0].health_ms),
        ("well", NOW + 2)
    );
}

async fn an_older_note_does_not_replace_a_newer_one(rig: Rig) {
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    for (health, health_ms) in [("newer", NOW + 2), ("older", NOW + 1)] {
        let note = WorkerNote {
            id: "w".into(),
            spent: quota(1),
            health: health.into(),
            health_ms,
        };
        rig.store
            .workers()
            .note(vec![note], None)
            .await
            .expect("noted");
    }
    let found = rig.store.workers().list().await.expect("a list");
    assert_eq!(
        (found[0].health.as_str(), found[0].health_ms),
        ("newer", NOW + 2)
    );
    assert_eq!(found[0].spent, quota(2), "both spent");
}

pub(crate) async fn begin(rig: &Rig, job_id: &str, id: &str, worker: &str, now_ms: i64) {
    let attempt = Attempt {
        id: id.into(),
        job_id: job_id.into(),
        fence: 1,
        worker: worker.into(),
        limits: StartLimits::default(),
        now_ms,
    };
    let began = rig.store.attempts().begin(attempt).await.expect("begun");
    assert_eq!(began, AttemptStart::Yes);
}

async fn a_worker_with_work_in_hand_is_not_removed(rig: Rig) {
    let account = rig.account(10, 10).await;
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    let job = rig.running(&account, 1).await;
    begin(&rig, &job, "t", "b/w", NOW).await;
    assert_eq!(
        rig.store
            .workers()
            .remove(None, "w", None)
            .await
            .expect("asked"),
        RemoveOutcome::Busy(1)
    );
    assert_eq!(
        rig.store
            .workers()
            .remove_backend(None, "b", None)
            .await
            .expect("asked"),
        RemoveOutcome::Busy(1)
    );
    rig.settle(rig.failure(&job, atelier_store::Guard::Unfinished))
        .await;
    assert_eq!(
        rig.store
            .workers()
            .remove(None, "w", None)
            .await
            .expect("asked"),
        RemoveOutcome::Done
    );
    assert_eq!(
        rig.store
            .workers()
            .remove(None, "w", None)
            .await
            .expect("asked"),
        RemoveOutcome::Absent
    );
    put_worker(&rig, worker("v", "b", None)).await;
    assert_eq!(
        rig.store
            .workers()
            .remove_backend(None, "b", None)
            .await
            .expect("asked"),
        RemoveOutcome::Done
    );
    assert!(rig.store.workers().list().await.expect("a list").is_empty());
}

async fn nobody_removes_or_fills_what_is_anothers(rig: Rig) {
    let (owner, other) = (rig.account(0, 1).await, rig.account(0, 1).await);
    put_backend(&rig, backend("b", Some(&owner))).await;
    for stranger in [None, Some(other.as_str())] {
        let refused = put_worker(&rig, worker("w", "b", stranger)).await;
        assert_eq!(refused, BackendChangeOutcome::NoBackend);
        let refused = rig
            .store
            .workers()
            .remove_backend(stranger, "b", None)
            .await;
        assert_eq!(refused.expect("an answer"), RemoveOutcome::Absent);
    }
    let own = put_worker(&rig, worker("w", "b", Some(&owner))).await;
    assert_eq!(own, BackendChangeOutcome::Done);
    for stranger in [None, Some(other.as_str())] {
        let refused = rig.store.workers().remove(stranger, "w", None).await;
        assert_eq!(refused.expect("an answer"), RemoveOutcome::Absent);
    }
}

async fn starts_and_live_attempts_are_counted_by_worker(rig: Rig) {
    let account = rig.account(10, 10).await;
    for (number, at) in [(1, "b/w"), (2, "b/w"), (3, "b/v")] {
        let job = rig.running(&account, 1).await;
        begin(&rig, &job, &format!("t{number}"), at, NOW + number).await;
    }
    let starts = rig
        .store
        .attempts()
        .recent_starts(NOW + 2)
        .await
        .expect("a list");
    assert_eq!(starts, [("b/w".into(), NOW + 2), ("b/v".into(), NOW + 3)]);
    let first = rig.running(&account, 1).await;
    let never = rig.running(&account, 1).await;
    begin(&rig, &first, "t4", "b/w", NOW).await;
    let asked = rig.store.attempts().asked_workers(&[&first, &never]).await;
    assert_eq!(asked.expect("a list"), [(first.clone(), "b/w".into())]);
    rig.settle(rig.failure(&first, atelier_store::Guard::Unfinished))
        .await;
    let live = rig.store.attempts().live_by_worker().await.expect("a list");
    assert_eq!(live, [("b/v".into(), 1), ("b/w".into(), 2)]);
}

async fn sealed_values_are_replaced_together(rig: Rig) {
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    rig.store
        .settings()
        .put("secret", "old")
        .await
        .expect("put");
    rig.store
        .settings()
        .put("other", "same")
        .await
        .expect("put");
    rig.store
        .workers()
        .reseal(
            vec![("w".into(), "v1:2:again".into())],
            vec![("secret".into(), "new".into())],
            None,
        )
        .await
        .expect("resealed");
    let workers = rig.store.workers().list().await.expect("a list");
    assert_eq!(
        (workers[0].credential.as_str(), workers[0].revision),
        ("v1:2:again", 2)
    );
    let settings = rig.store.settings().list("").await.expect("a list");
    assert_eq!(
        settings,
        [
            ("other".into(), "same".into()),
            ("secret".into(), "new".into())
        ]
    );
}

async fn a_caller_reads_only_what_is_its_own(rig: Rig) {
    let (one, other) = (rig.account(0, 1).await, rig.account(0, 1).await);
    put_backend(&rig, backend("b", None)).await;
    put_worker(&rig, worker("w", "b", None)).await;
    for (id, owner) in [("x", &one), ("y", &other), ("z", &one)] {
        put_backend(&rig, backend(id, Some(owner))).await;
        put_worker(&rig, worker(id, id, Some(owner))).await;
    }
    let workers = rig.store.workers().of_owner(&one).await.expect("a list");
    let (x, z) = (
        worker("x", "x", Some(one.as_str())),
        worker("z", "z", Some(one.as_str())),
    );
    assert_eq!(workers, [x, z], "oldest first");
    let backends = rig.store.workers().backends_of_owner(&one).await;
    let (x, z) = (
        backend("x", Some(one.as_str())),
        backend("z", Some(one.as_str())),
    );
    assert_eq!(backends.expect("a list"), [x, z]);
    let nobody = rig.store.workers().of_owner("nobody").await;
    assert!(nobody.expect("a list").is_empty());
    let nobody = rig.store.workers().backends_of_owner("nobody").await;
    assert!(nobody.expect("a list").is_empty());
}
