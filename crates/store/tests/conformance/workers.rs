//! Back ends and worker accounts: kept apart by owner, never removed with work in hand, resealed all or none.

use atelier_contract::Speed;
use atelier_store::{
    Attempt, BackendRow, Began, Error, LeaseRequest, Removed, StartLimits, WorkerNote, WorkerRow,
    lane,
};

use crate::rig::{NOW, Rig, quota};

each_db!(
    a_back_end_is_made_and_changed,
    two_back_ends_of_the_operator_have_two_names,
    a_worker_keeps_what_it_spent_when_it_is_changed,
    an_older_note_does_not_replace_a_newer_one,
    a_worker_with_work_in_hand_is_not_removed,
    nobody_removes_or_fills_what_is_anothers,
    starts_and_live_attempts_are_counted_by_worker,
    waiting_jobs_are_counted_by_lane,
    a_lane_is_leased_only_when_it_is_asked_for,
    a_lease_that_was_no_try_is_not_counted,
    sealed_values_are_replaced_together,
);

fn backend(id: &str, owner: Option<&str>) -> BackendRow {
    BackendRow {
        id: id.into(),
        owner: owner.map(str::to_owned),
        name: format!("name of {id}"),
        vendor: "relay".into(),
        base_url: "http://127.0.0.1:9/".into(),
        settings: "{}".into(),
        operations: "[]".into(),
        rank: 10,
        enabled: true,
        declared: false,
        created_ms: NOW,
        revision: 1,
    }
}

fn worker(id: &str, backend_id: &str, owner: Option<&str>) -> WorkerRow {
    WorkerRow {
        id: id.into(),
        backend_id: backend_id.into(),
        owner: owner.map(str::to_owned),
        name: "first".into(),
        credential: "v1:1:sealed".into(),
        concurrency: 3,
        per_minute: 10,
        per_hour: 100,
        polls_per_minute: 600,
        weight: 1,
        models: "[]".into(),
        modes: "[\"fast\"]".into(),
        hours: String::new(),
        spend_cap: Some(quota(50)),
        spent: quota(0),
        state: "active".into(),
        health: String::new(),
        health_ms: 0,
        created_ms: NOW,
        revision: 1,
    }
}

async fn a_back_end_is_made_and_changed(rig: Rig) {
    let mut row = backend("b", None);
    rig.store.put_backend(row.clone()).await.expect("made");
    let mut first = backend("a", None);
    first.rank = 5;
    rig.store.put_backend(first.clone()).await.expect("made");
    assert_eq!(
        rig.store.backends().await.expect("a list"),
        [first.clone(), row.clone()],
        "in the order of fall-back"
    );
    row.rank = 1;
    row.enabled = false;
    rig.store.put_backend(row.clone()).await.expect("changed");
    row.revision = 2;
    assert_eq!(rig.store.backends().await.expect("a list"), [row, first]);
}

async fn two_back_ends_of_the_operator_have_two_names(rig: Rig) {
    let account = rig.account(0, 1).await;
    rig.store
        .put_backend(backend("a", None))
        .await
        .expect("made");
    let mut twin = backend("b", None);
    twin.name = "name of a".into();
    let refused = rig.store.put_backend(twin.clone()).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    twin.owner = Some(account);
    rig.store.put_backend(twin).await.expect("a caller's own");
}

async fn a_worker_keeps_what_it_spent_when_it_is_changed(rig: Rig) {
    let mut row = worker("w", "b", None);
    let nowhere = rig.store.put_worker(row.clone()).await.expect("an answer");
    assert!(!nowhere, "its back end is not there");
    rig.store
        .put_backend(backend("b", None))
        .await
        .expect("made");
    assert!(rig.store.put_worker(row.clone()).await.expect("made"));
    let note = WorkerNote {
        id: "w".into(),
        spent: quota(7),
        health: "{\"state\":\"well\"}".into(),
        health_ms: NOW + 1,
    };
    rig.store
        .note_workers(vec![
            note.clone(),
            WorkerNote {
                id: "x".into(),
                ..note
            },
        ])
        .await
        .expect("noted");
    row.state = "draining".into();
    row.concurrency = 9;
    rig.store.put_worker(row.clone()).await.expect("changed");
    let found = rig.store.workers().await.expect("a list");
    row.spent = quota(7);
    row.health = "{\"state\":\"well\"}".into();
    row.health_ms = NOW + 1;
    row.revision = 2;
    assert_eq!(found, [row]);
    rig.store.clear_spent("w").await.expect("cleared");
    let found = rig.store.workers().await.expect("a list");
    assert_eq!((found[0].spent, found[0].revision), (quota(0), 3));
}

async fn an_older_note_does_not_replace_a_newer_one(rig: Rig) {
    rig.store
        .put_backend(backend("b", None))
        .await
        .expect("made");
    rig.store
        .put_worker(worker("w", "b", None))
        .await
        .expect("made");
    for (health, health_ms) in [("newer", NOW + 2), ("older", NOW + 1)] {
        let note = WorkerNote {
            id: "w".into(),
            spent: quota(1),
            health: health.into(),
            health_ms,
        };
        rig.store.note_workers(vec![note]).await.expect("noted");
    }
    let found = rig.store.workers().await.expect("a list");
    assert_eq!(
        (found[0].health.as_str(), found[0].health_ms),
        ("newer", NOW + 2)
    );
    assert_eq!(found[0].spent, quota(2), "both spent");
}

async fn begin(rig: &Rig, job_id: &str, id: &str, worker: &str, now_ms: i64) {
    let attempt = Attempt {
        id: id.into(),
        job_id: job_id.into(),
        fence: 1,
        worker: worker.into(),
        limits: StartLimits::default(),
        now_ms,
    };
    let began = rig.store.begin_attempt(attempt).await.expect("begun");
    assert_eq!(began, Began::Yes);
}

async fn a_worker_with_work_in_hand_is_not_removed(rig: Rig) {
    let account = rig.account(10, 10).await;
    rig.store
        .put_backend(backend("b", None))
        .await
        .expect("made");
    rig.store
        .put_worker(worker("w", "b", None))
        .await
        .expect("made");
    let job = rig.running(&account, 1).await;
    begin(&rig, &job, "t", "b/w", NOW).await;
    assert_eq!(
        rig.store.remove_worker(None, "w").await.expect("asked"),
        Removed::Busy(1)
    );
    assert_eq!(
        rig.store.remove_backend(None, "b").await.expect("asked"),
        Removed::Busy(1)
    );
    rig.settle(rig.failure(&job, atelier_store::Guard::Unfinished))
        .await;
    assert_eq!(
        rig.store.remove_worker(None, "w").await.expect("asked"),
        Removed::Done
    );
    assert_eq!(
        rig.store.remove_worker(None, "w").await.expect("asked"),
        Removed::Absent
    );
    rig.store
        .put_worker(worker("v", "b", None))
        .await
        .expect("made");
    assert_eq!(
        rig.store.remove_backend(None, "b").await.expect("asked"),
        Removed::Done
    );
    assert!(rig.store.workers().await.expect("a list").is_empty());
}

async fn nobody_removes_or_fills_what_is_anothers(rig: Rig) {
    let (owner, other) = (rig.account(0, 1).await, rig.account(0, 1).await);
    rig.store
        .put_backend(backend("b", Some(&owner)))
        .await
        .expect("made");
    for stranger in [None, Some(other.as_str())] {
        let refused = rig.store.put_worker(worker("w", "b", stranger)).await;
        assert!(!refused.expect("an answer"));
        let refused = rig.store.remove_backend(stranger, "b").await;
        assert_eq!(refused.expect("an answer"), Removed::Absent);
    }
    let own = rig.store.put_worker(worker("w", "b", Some(&owner))).await;
    assert!(own.expect("an answer"));
    for stranger in [None, Some(other.as_str())] {
        let refused = rig.store.remove_worker(stranger, "w").await;
        assert_eq!(refused.expect("an answer"), Removed::Absent);
    }
}

async fn starts_and_live_attempts_are_counted_by_worker(rig: Rig) {
    let account = rig.account(10, 10).await;
    for (number, at) in [(1, "b/w"), (2, "b/w"), (3, "b/v")] {
        let job = rig.running(&account, 1).await;
        begin(&rig, &job, &format!("t{number}"), at, NOW + number).await;
    }
    let starts = rig.store.recent_starts(NOW + 2).await.expect("a list");
    assert_eq!(starts, [("b/w".into(), NOW + 2), ("b/v".into(), NOW + 3)]);
    let live = rig.store.live_attempts().await.expect("a list");
    assert_eq!(live, [("b/v".into(), 1), ("b/w".into(), 2)]);
}

async fn waiting_jobs_are_counted_by_lane(rig: Rig) {
    let account = rig.account(10, 10).await;
    rig.waiting(&account, 1).await;
    for _ in 0..2 {
        let mut accept = rig.accept(&account, 1);
        accept.job.lane = "at:b".into();
        rig.take(accept).await;
    }
    let lanes = rig.store.waiting_by_lane().await.expect("a list");
    assert_eq!(lanes, [(String::new(), 1), ("at:b".into(), 2)]);
    let ids = rig.store.waiting_in_lane("at:b", 10).await.expect("ids");
    assert_eq!(ids.len(), 2);
}

async fn a_lane_is_leased_only_when_it_is_asked_for(rig: Rig) {
    let account = rig.account(10, 10).await;
    let mut accept = rig.accept(&account, 1);
    accept.job.lane = "at:b".into();
    accept.job.follows = Some("b/w".into());
    accept.job.speed = Speed::Turbo;
    let id = accept.job.id.clone();
    rig.take(accept).await;
    assert!(rig.lease("node", NOW, 10).await.is_empty());
    let request = LeaseRequest {
        owner: "node".into(),
        until_ms: NOW + 30_000,
        now_ms: NOW,
        lanes: vec![lane("artgen.imagine", Speed::Turbo, "at:b")],
        limit: 10,
    };
    let leased = rig.store.lease_next(request).await.expect("leases");
    assert_eq!(leased[0].id, id);
    assert_eq!(
        (leased[0].lane.as_str(), leased[0].follows.as_deref()),
        ("at:b", Some("b/w"))
    );
}

async fn a_lease_that_was_no_try_is_not_counted(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    for (fence, counts, begun) in [(1, false, 0), (2, true, 1), (3, false, 1)] {
        let requeue = atelier_store::Requeue {
            job_id: id.clone(),
            fence,
            not_before_ms: 0,
            why: "no slot was free".into(),
            now_ms: NOW,
            attempt_state: "lost",
            counts,
        };
        assert!(rig.store.requeue(requeue).await.expect("given back"));
        assert_eq!(rig.job(&id).await.begun(), begun);
        rig.lease("node", NOW, 1).await;
        assert_eq!(rig.job(&id).await.begun(), begun + 1);
    }
}

async fn sealed_values_are_replaced_together(rig: Rig) {
    rig.store
        .put_backend(backend("b", None))
        .await
        .expect("made");
    rig.store
        .put_worker(worker("w", "b", None))
        .await
        .expect("made");
    rig.store.put_setting("secret", "old").await.expect("put");
    rig.store.put_setting("other", "same").await.expect("put");
    rig.store
        .reseal(
            vec![("w".into(), "v1:2:again".into())],
            vec![("secret".into(), "new".into())],
            None,
        )
        .await
        .expect("resealed");
    let workers = rig.store.workers().await.expect("a list");
    assert_eq!(
        (workers[0].credential.as_str(), workers[0].revision),
        ("v1:2:again", 2)
    );
    let settings = rig.store.settings("").await.expect("a list");
    assert_eq!(
        settings,
        [
            ("other".into(), "same".into()),
            ("secret".into(), "new".into())
        ]
    );
}
