//! Attempts, tickets, progress, and giving a job back.

use atelier_contract::JobState;
use atelier_store::{
    AcceptOutcome, Attempt, AttemptStart, Guard, Lease, ProgressNote, REJECTED, RequeueRequest,
    SettleOutcome, StartLimits, UNABLE,
};

use crate::rig::{NOW, Rig, number, sql};

each_db!(
    an_attempt_is_counted_once_and_names_its_worker,
    nothing_is_written_with_an_old_fence,
    progress_only_rises_and_counts_as_a_change,
    a_job_given_back_waits_until_its_time,
    a_second_attempt_ends_the_first,
    who_failed_at_a_job_is_remembered,
    a_worker_gets_no_more_than_it_may_have_whoever_gives_it,
    a_job_may_be_born_with_its_first_attempt,
    why_an_attempt_came_to_nothing_is_noted_by_its_fence,
);

async fn why_an_attempt_came_to_nothing_is_noted_by_its_fence(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert!(rig.begin(&id, 1, "attempt-a").await);
    let noted = async |fence: i64, why: &str| {
        rig.store
            .attempts()
            .explain(&id, fence, why)
            .await
            .expect("done");
        let text = format!("SELECT COUNT(*) FROM attempt WHERE id = 'attempt-a' AND why = '{why}'");
        number(&rig.url, &text).await
    };
    assert_eq!(noted(2, "a stale worker").await, 0);
    assert_eq!(noted(1, "the vendor said no").await, 1);
}

async fn an_attempt_is_counted_once_and_names_its_worker(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert!(rig.begin(&id, 1, "attempt-b").await);
    assert!(
        rig.begin(&id, 1, "attempt-b").await,
        "the same attempt again after a crash"
    );
    let began = rig.store.attempts().began_ms("attempt-b").await;
    assert_eq!(began.expect("an answer"), Some(NOW));
    let job = rig.job(&id).await;
    assert_eq!(
        (job.tries, job.worker.as_deref(), job.ticket),
        (1, Some("embedded"), None)
    );
    let other = rig
        .store
        .attempts()
        .record_ticket(&id, 1, "attempt-x", "{}", NOW)
        .await;
    assert!(!other.expect("an answer"), "no such attempt");
    assert!(
        rig.store
            .attempts()
            .record_ticket(&id, 1, "attempt-b", "{\"t\":1}", NOW)
            .await
            .expect("done")
    );
    assert_eq!(rig.job(&id).await.ticket.as_deref(), Some("{\"t\":1}"));
    let SettleOutcome::Done(row) = rig.settle(rig.success(&id, Guard::Fence(1), 1)).await else {
        panic!("it settles");
    };
    assert_eq!(
        row.worker.as_deref(),
        Some("embedded"),
        "follow-ups prefer who made it"
    );
    assert!(!rig.begin(&id, 1, "attempt-c").await, "it is final");
}

async fn nothing_is_written_with_an_old_fence(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert!(rig.begin(&id, 1, "attempt-d").await);
    rig.store
        .queue()
        .void_leases(None, &[], NOW)
        .await
        .expect("voided");
    rig.store
        .queue()
        .take_lease(&id, 1, "other", NOW + 9, NOW)
        .await
        .expect("done")
        .expect("adopted");
    let before = rig.job(&id).await;
    assert!(!rig.begin(&id, 1, "attempt-e").await);
    assert!(
        !rig.store
            .attempts()
            .record_ticket(&id, 1, "attempt-d", "{}", NOW)
            .await
            .expect("an answer")
    );
    let note = ProgressNote {
        job_id: id.clone(),
        fence: 1,
        progress: 50,
        began_ms: None,
    };
    rig.store
        .attempts()
        .write_progress(vec![note], NOW)
        .await
        .expect("done");
    assert!(
        !rig.store
            .attempts()
            .requeue(requeue(&id, 1))
            .await
            .expect("an answer")
    );
    assert_eq!(
        rig.settle(rig.failure(&id, Guard::Fence(1))).await,
        SettleOutcome::Lost
    );
    assert_eq!(rig.job(&id).await, before);
}

async fn progress_only_rises_and_counts_as_a_change(rig: Rig) {
    let account = rig.account(10, 10).await;
    let (one, two) = (
        rig.running(&account, 1).await,
        rig.running(&account, 1).await,
    );
    let note = |job_id: &str, progress| ProgressNote {
        job_id: job_id.into(),
        fence: 1,
        progress,
        began_ms: None,
    };
    let first = rig.job(&one).await.revision;
    let notes = vec![
        note(&one, 30),
        note(&two, 10),
        note(&one, 20),
        note("unknown", 5),
    ];
    rig.store
        .attempts()
        .write_progress(notes, NOW + 1)
        .await
        .expect("done");
    let job = rig.job(&one).await;
    assert_eq!(
        (job.progress, job.revision, job.updated_ms),
        (30, first + 1, NOW + 1)
    );
    assert_eq!(rig.job(&two).await.progress, 10);
    rig.store
        .attempts()
        .write_progress(vec![note(&one, 20)], NOW + 2)
        .await
        .expect("done");
    assert_eq!(rig.job(&one).await, job, "a lower number changes nothing");
    rig.store
        .attempts()
        .write_progress(Vec::new(), NOW)
        .await
        .expect("nothing to do");
}

fn requeue(job_id: &str, fence: i64) -> RequeueRequest {
    RequeueRequest {
        job_id: job_id.into(),
        fence,
        not_before_ms: NOW + 1_000,
        why: "vendor down".into(),
        now_ms: NOW + 10,
        attempt_state: REJECTED,
        counts: true,
    }
}

async fn a_job_given_back_waits_until_its_time(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    rig.begin(&id, 1, "attempt-f").await;
    rig.store
        .attempts()
        .record_ticket(&id, 1, "attempt-f", "{}", NOW)
        .await
        .expect("done");
    let before = rig.job(&id).await;
    assert!(
        rig.store
            .attempts()
            .requeue(requeue(&id, 1))
            .await
            .expect("an answer")
    );
    let job = rig.job(&id).await;
    assert_eq!(
        (job.state, job.progress, job.tries),
        (JobState::Waiting, 0, 1)
    );
    assert_eq!(
        (job.lease_owner, job.ticket, job.worker),
        (None, None, None)
    );
    assert!(job.revision > before.revision);
    assert_eq!(
        rig.settle(rig.success(&id, Guard::Fence(1), 1)).await,
        SettleOutcome::Lost
    );
    assert!(rig.lease("node", NOW + 999, 10).await.is_empty());
    let leased = rig.lease("node", NOW + 1_000, 10).await;
    assert_eq!(
        (leased[0].fence, leased[0].started_ms),
        (2, None),
        "a lease is no work, whatever was done before"
    );
    assert!(
        !rig.store
            .attempts()
            .requeue(requeue(&id, 1))
            .await
            .expect("an answer")
    );
}

async fn a_second_attempt_ends_the_first(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert!(rig.begin(&id, 1, "attempt-g").await);
    assert!(rig.begin(&id, 1, "attempt-h").await);
    let job = rig.job(&id).await;
    assert_eq!(
        (job.tries, job.attempt_id.as_deref()),
        (2, Some("attempt-h"))
    );
    assert!(
        !rig.store
            .attempts()
            .record_ticket(&id, 1, "attempt-g", "{}", NOW)
            .await
            .expect("an answer")
    );
    let forged = format!(
        "INSERT INTO attempt (id, job_id, worker, state, began_ms) VALUES ('x', '{id}', '', 'intent', 0)"
    );
    assert!(
        sql(&rig.url, &forged).await.is_err(),
        "one live attempt at most"
    );
}

async fn who_failed_at_a_job_is_remembered(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    rig.begin(&id, 1, "attempt-u").await;
    let worker = rig.job(&id).await.worker.expect("a worker");
    let failed = async || rig.store.attempts().failed(&id).await.expect("a list");
    assert!(failed().await.is_empty());
    for (fence, state) in [(1, UNABLE), (2, REJECTED), (3, "lost")] {
        if fence > 1 {
            rig.lease("node", NOW + 1_000, 10).await;
            rig.begin(&id, fence, &format!("attempt-{fence}")).await;
        }
        let given_back = RequeueRequest {
            attempt_state: state,
            ..requeue(&id, fence)
        };
        assert!(
            rig.store
                .attempts()
                .requeue(given_back)
                .await
                .expect("an answer")
        );
    }
    let expected = [REJECTED, UNABLE].map(|state| (worker.clone(), state.to_owned()));
    let mut found = failed().await;
    found.sort();
    assert_eq!(found, expected);
}

async fn a_worker_gets_no_more_than_it_may_have_whoever_gives_it(rig: Rig) {
    let account = rig.account(100, 100).await;
    let mut jobs = Vec::new();
    for _ in 0..8 {
        jobs.push(rig.running(&account, 1).await);
    }
    let limits = |concurrency, per_minute| StartLimits {
        concurrency,
        per_minute,
        per_hour: 0,
    };
    let begin = async |number: usize, limits: StartLimits, now_ms: i64| {
        let attempt = Attempt {
            id: format!("attempt-{number}-{now_ms}"),
            job_id: jobs[number].clone(),
            fence: 1,
            worker: "b/w".into(),
            limits,
            now_ms,
        };
        rig.store
            .attempts()
            .begin(attempt)
            .await
            .expect("an answer")
    };
    // All at the same time, as several nodes would: two may begin.
    let together = (0..5).map(|number| begin(number, limits(2, 0), NOW));
    let began = futures_util::future::join_all(together).await;
    let count = |wanted| began.iter().filter(|one| **one == wanted).count();
    assert_eq!(
        (count(AttemptStart::Yes), count(AttemptStart::Full)),
        (2, 3)
    );
    let first = began
        .iter()
        .position(|one| *one == AttemptStart::Yes)
        .expect("one");
    assert!(
        rig.store
            .attempts()
            .requeue(requeue(&jobs[first], 1))
            .await
            .expect("done")
    );
    assert_eq!(
        begin(5, limits(2, 0), NOW).await,
        AttemptStart::Yes,
        "a place is free"
    );
    assert_eq!(
        begin(6, limits(9, 3), NOW + 59_999).await,
        AttemptStart::Full,
        "three a minute"
    );
    assert_eq!(
        begin(6, limits(9, 3), NOW + 60_000).await,
        AttemptStart::Yes
    );
    let wrong = Attempt {
        id: "attempt-old".into(),
        job_id: jobs[7].clone(),
        fence: 0,
        worker: "b/w".into(),
        limits: StartLimits::default(),
        now_ms: NOW,
    };
    let began = rig.store.attempts().begin(wrong).await;
    assert_eq!(began.expect("an answer"), AttemptStart::Lost);
}

/// One commit less before a vendor is asked, and still no more than its worker may have, in one batch or another.
async fn a_job_may_be_born_with_its_first_attempt(rig: Rig) {
    let account = rig.account(100, 100).await;
    let born = async |number: usize| {
        let mut accept = rig.accept(&account, 1);
        let job_id = accept.job.id.clone();
        accept.lease = Some(Lease {
            owner: "node".into(),
            until_ms: NOW + 30_000,
        });
        accept.attempt = Some(Attempt {
            id: format!("attempt-{number}"),
            job_id: job_id.clone(),
            fence: 1,
            worker: "b/w".into(),
            limits: StartLimits {
                concurrency: 2,
                ..StartLimits::default()
            },
            now_ms: NOW,
        });
        let AcceptOutcome::New { fence: 1, begun } = rig.take(accept).await else {
            panic!("it is accepted and leased, whatever its worker has");
        };
        (job_id, begun)
    };
    let jobs = futures_util::future::join_all((0..5).map(&born)).await;
    let (begun, left): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|(_, begun)| *begun);
    assert_eq!((begun.len(), left.len()), (2, 3));
    for (job_id, _) in &begun {
        let job = rig.job(job_id).await;
        assert_eq!((job.tries, job.worker.as_deref()), (1, Some("b/w")));
        let attempt = job.attempt_id.expect("an attempt");
        let ticket = rig
            .store
            .attempts()
            .record_ticket(job_id, 1, &attempt, "{}", NOW);
        assert!(ticket.await.expect("an answer"), "its row is there");
        assert!(rig.begin(job_id, 1, &attempt).await, "the same again");
        assert_eq!(rig.job(job_id).await.tries, 1);
    }
    for (job_id, _) in &left {
        let job = rig.job(job_id).await;
        assert_eq!((job.tries, job.worker, job.attempt_id), (0, None, None));
        assert_eq!(job.state, JobState::Running);
    }
    let settled = rig.settle(rig.success(&begun[0].0, Guard::Fence(1), 1));
    assert!(matches!(settled.await, SettleOutcome::Done(_)));
    assert!(born(5).await.1, "a place is free");
}
