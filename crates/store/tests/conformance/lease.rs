//! Leases: turns, fences, expiry.

use std::time::Duration;

use atelier_contract::{JobState, Speed};
use atelier_store::{Guard, LeaseRequest, SettleOutcome, read_work_kind, work_kind};

use crate::fill::Fill;
use crate::rig::{NOW, Rig};
use crate::stopwatch::Stopwatch;

each_db!(
    turbo_comes_before_fast_before_relax,
    an_account_with_many_jobs_lets_others_go_first,
    relax_does_not_wait_for_ever,
    a_leased_job_is_leased_once_and_its_fence_rises,
    only_asked_for_operations_are_leased,
    a_job_past_its_deadline_is_overdue_and_not_leased,
    a_lease_is_renewed_only_by_its_owner,
    a_lease_is_renewed_only_by_its_fence,
    many_leases_are_renewed,
    a_backlog_in_one_lane_does_not_delay_others,
    an_expired_lease_is_adopted_once,
    voided_leases_are_expired_at_once,
    it_is_known_without_a_lease_whether_anything_waits,
    what_waits_too_long_is_found_by_its_kind,
);

async fn of_speed(rig: &Rig, account_id: &str, speed: Speed, created_ms: i64) -> String {
    let mut accept = rig.accept(account_id, 0);
    accept.job.speed = speed;
    accept.job.turn_delay_ms = match speed {
        Speed::Turbo => 0,
        Speed::Fast => 10_000,
        Speed::Relax => 60_000,
    };
    accept.job.created_ms = created_ms;
    accept.job.deadline_ms = created_ms + 1_000_000;
    let id = accept.job.id.clone();
    rig.take(accept).await;
    id
}

async fn order(rig: &Rig, now_ms: i64) -> Vec<String> {
    rig.lease("node", now_ms, 100)
        .await
        .into_iter()
        .map(|job| job.id)
        .collect()
}

async fn what_waits_too_long_is_found_by_its_kind(rig: Rig) {
    let account = rig.account(10, 10).await;
    let turbo = of_speed(&rig, &account, Speed::Turbo, NOW).await;
    let late = of_speed(&rig, &account, Speed::Relax, NOW).await;
    // Earlier by more than what waits already puts a turn off.
    let soon = of_speed(&rig, &account, Speed::Relax, NOW - 100_000).await;
    let found = async |speed, deadline_ms, limit| {
        let kind = work_kind("artgen.imagine", speed, "");
        rig.store
            .queue()
            .waiting_of_kind(&kind, deadline_ms, limit)
            .await
            .expect("a read")
            .into_iter()
            .map(|row| row.id)
            .collect::<Vec<_>>()
    };
    let end = NOW + 1_000_000;
    assert_eq!(
        found(Speed::Relax, end, 10).await,
        [soon.clone(), late.clone()]
    );
    assert_eq!(
        found(Speed::Relax, end, 1).await,
        std::slice::from_ref(&soon)
    );
    assert_eq!(found(Speed::Relax, end - 1, 10).await, [soon]);
    assert_eq!(found(Speed::Turbo, end, 10).await, [turbo]);
    assert_eq!(order(&rig, NOW + 100_000).await.len(), 3);
    assert!(found(Speed::Relax, end, 10).await.is_empty(), "they run");
}

async fn it_is_known_without_a_lease_whether_anything_waits(rig: Rig) {
    let waits = async || rig.store.queue().waiting_kinds().await.expect("a read");
    assert!(waits().await.is_empty());
    let account = rig.account(1, 10).await;
    of_speed(&rig, &account, Speed::Relax, NOW).await;
    let kind = work_kind("artgen.imagine", Speed::Relax, "");
    assert_eq!(waits().await, [kind.as_str()]);
    let read = read_work_kind(&kind);
    assert_eq!(read, Some(("artgen.imagine", Speed::Relax, "")));
    assert_eq!(order(&rig, NOW).await.len(), 1);
    assert!(
        waits().await.is_empty(),
        "what somebody has in hand waits for nobody"
    );
}

async fn turbo_comes_before_fast_before_relax(rig: Rig) {
    let mut expected = Vec::new();
    for (speed, place) in [(Speed::Relax, 2), (Speed::Turbo, 0), (Speed::Fast, 1)] {
        let account = rig.account(1, 10).await;
        expected.push((place, of_speed(&rig, &account, speed, NOW).await));
    }
    expected.sort();
    let expected: Vec<String> = expected.into_iter().map(|(_, id)| id).collect();
    assert_eq!(order(&rig, NOW).await, expected);
}

async fn an_account_with_many_jobs_lets_others_go_first(rig: Rig) {
    let busy = rig.account(1, 100).await;
    let mut jobs = Vec::new();
    for _ in 0..20 {
        jobs.push(of_speed(&rig, &busy, Speed::Fast, NOW).await);
    }
    let quiet = rig.account(1, 100).await;
    let late = of_speed(&rig, &quiet, Speed::Fast, NOW + 6_000).await;
    let leased = order(&rig, NOW + 6_000).await;
    assert_eq!(
        leased.iter().position(|id| *id == late),
        Some(2),
        "before the third of the busy one"
    );
    assert_eq!(leased.len(), 21);
}

async fn relax_does_not_wait_for_ever(rig: Rig) {
    let patient = rig.account(1, 10).await;
    let relaxed = of_speed(&rig, &patient, Speed::Relax, NOW).await;
    let hasty = rig.account(1, 10).await;
    let turbo = of_speed(&rig, &hasty, Speed::Turbo, NOW + 61_000).await;
    assert_eq!(order(&rig, NOW + 61_000).await, [relaxed, turbo]);
}

async fn a_leased_job_is_leased_once_and_its_fence_rises(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.waiting(&account, 1).await;
    let before = rig.job(&id).await;
    let leased = rig.lease("node", NOW + 5, 10).await;
    assert_eq!(leased.len(), 1);
    let job = &leased[0];
    assert_eq!(
        (job.state, job.fence, job.started_ms),
        (JobState::Running, 1, None)
    );
    assert_eq!(
        (job.lease_owner.as_deref(), job.lease_until_ms),
        (Some("node"), Some(NOW + 30_005))
    );
    assert_eq!(
        (job.shown_state(), job.revision),
        (JobState::Waiting, before.revision),
        "callers see no change until somebody works on it"
    );
    assert_eq!(
        *job,
        rig.job(&id).await,
        "what was answered is what is stored"
    );
    assert!(rig.lease("node", NOW + 5, 10).await.is_empty());
}

async fn only_asked_for_operations_are_leased(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.waiting(&account, 1).await;
    let mut request = LeaseRequest {
        owner: "node".into(),
        until_ms: NOW + 30_000,
        now_ms: NOW,
        ahead_ms: 0,
        kinds: vec![
            work_kind("motion.extend", Speed::Fast, ""),
            work_kind("artgen.imagine", Speed::Relax, ""),
            work_kind("artgen.imagine", Speed::Fast, "own:somebody"),
        ],
        narrow: Vec::new(),
        limit: 10,
    };
    assert!(
        rig.store
            .queue()
            .lease_next(request.clone())
            .await
            .expect("leases")
            .is_empty()
    );
    request
        .kinds
        .push(work_kind("artgen.imagine", Speed::Fast, ""));
    assert_eq!(
        rig.store.queue().lease_next(request).await.expect("leases")[0].id,
        id
    );
}

async fn a_job_past_its_deadline_is_overdue_and_not_leased(rig: Rig) {
    let account = rig.account(10, 10).await;
    let waiting = rig.waiting(&account, 1).await;
    let running = rig.running(&account, 1).await;
    let end = NOW + 300_000;
    assert!(
        rig.store
            .queue()
            .overdue(end - 1, 10)
            .await
            .expect("ids")
            .is_empty()
    );
    let mut overdue = rig.store.queue().overdue(end, 10).await.expect("ids");
    overdue.sort();
    assert_eq!(overdue, [waiting.clone(), running.clone()]);
    assert_eq!(
        rig.store.queue().overdue(end, 1).await.expect("ids").len(),
        1
    );
    assert!(rig.lease("node", end, 10).await.is_empty());
    for id in [waiting, running] {
        rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    }
    assert!(
        rig.store
            .queue()
            .overdue(end + 1, 10)
            .await
            .expect("ids")
            .is_empty()
    );
}

async fn a_lease_is_renewed_only_by_its_owner(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    let done = rig.running(&account, 1).await;
    rig.settle(rig.failure(&done, Guard::Fence(1))).await;
    let ids = [(id.clone(), 1), (done, 1), ("unknown".into(), 1)];
    let theirs = rig
        .store
        .queue()
        .renew_leases("other", &ids, NOW + 90_000)
        .await
        .expect("ids");
    assert!(theirs.is_empty());
    let ours = rig
        .store
        .queue()
        .renew_leases("node", &ids, NOW + 90_000)
        .await
        .expect("ids");
    assert_eq!(ours, std::slice::from_ref(&id));
    assert_eq!(rig.job(&id).await.lease_until_ms, Some(NOW + 90_000));
}

/// The promise: whoever lost a job and works on under the old fence learns of it, though the job is its node's again.
async fn a_lease_is_renewed_only_by_its_fence(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    let late = NOW + 30_001;
    let taken = rig
        .store
        .queue()
        .take_lease(&id, 1, "node", late + 30_000, late);
    assert_eq!(taken.await.expect("an answer").expect("taken").fence, 2);
    for (fence, renewed) in [(1, 0), (2, 1)] {
        let held = [(id.clone(), fence)];
        let ours = rig
            .store
            .queue()
            .renew_leases("node", &held, late + 40_000)
            .await;
        assert_eq!(ours.expect("ids").len(), renewed, "fence {fence}");
    }
}

/// The promise: renewing many leases is many short commits.
async fn many_leases_are_renewed(rig: Rig) {
    let account = rig.account(10, 10_000).await;
    let fill = Fill {
        account_id: &account,
        name: "held",
        jobs: 1_200,
        state: 1,
        lane: "",
        apart_ms: 1_000,
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    let held: Vec<(String, i64)> = (1..=1_201).map(|i| (format!("held-{i:08}"), 1)).collect();
    let ours = rig
        .store
        .queue()
        .renew_leases("node", &held, NOW + 90_000)
        .await;
    assert_eq!(ours.expect("ids").len(), 1_200);
}

/// The promise: what waits for a place that is closed delays nobody else, however much it is.
async fn a_backlog_in_one_lane_does_not_delay_others(rig: Rig) {
    let usual = fastest_lease(&rig).await;
    let busy = rig.account(10, 1_000_000).await;
    let fill = Fill {
        account_id: &busy,
        name: "stuck",
        jobs: 40_000,
        state: 0,
        lane: "backend:paused",
        apart_ms: 1_000,
        ..Fill::default()
    };
    fill.into(&rig.url).await;
    let behind = fastest_lease(&rig).await;
    let most = usual * 3 + Duration::from_millis(30);
    assert!(behind < most, "{behind:?}, usually {usual:?}");
}

/// How long the fastest of ten leases takes: what the machine does beside them only adds to some.
async fn fastest_lease(rig: &Rig) -> Duration {
    let quiet = rig.account(10, 10).await;
    let mut took = Vec::new();
    for round in 0..10 {
        let id = rig.waiting(&quiet, 0).await;
        let start = Stopwatch::start();
        let leased = rig.lease("node", NOW + round, 8).await;
        took.push(start.elapsed());
        assert_eq!(leased.len(), 1);
        assert_eq!(leased[0].id, id);
        rig.settle(rig.failure(&id, Guard::Unfinished)).await;
    }
    took.into_iter().min().expect("some")
}

async fn an_expired_lease_is_adopted_once(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert!(rig.begin(&id, 1, "attempt-a").await);
    let ticket = rig
        .store
        .attempts()
        .record_ticket(&id, 1, "attempt-a", "{\"n\":1}", NOW)
        .await;
    assert!(ticket.expect("an answer"));
    let end = NOW + 30_000;
    assert!(
        rig.store
            .queue()
            .expired_leases(end, None, 10)
            .await
            .expect("rows")
            .is_empty()
    );
    let early = rig
        .store
        .queue()
        .take_lease(&id, 1, "other", end + 9, end)
        .await
        .expect("an answer");
    assert_eq!(early, None, "it has not run out");
    let expired = rig
        .store
        .queue()
        .expired_leases(end + 1, None, 10)
        .await
        .expect("rows");
    assert_eq!(expired.len(), 1);
    assert_eq!(expired[0].fence, 1);
    let until = end + 30_001;
    let taken = rig
        .store
        .queue()
        .take_lease(&id, 1, "other", until, end + 1)
        .await
        .expect("an answer");
    let taken = taken.expect("adopted");
    assert_eq!(
        (taken.fence, taken.lease_owner.as_deref()),
        (2, Some("other"))
    );
    assert_eq!(
        (taken.ticket.as_deref(), taken.tries),
        (Some("{\"n\":1}"), 1)
    );
    assert_eq!(taken.attempt_id.as_deref(), Some("attempt-a"));
    let again = rig
        .store
        .queue()
        .take_lease(&id, 1, "third", until, end + 1)
        .await
        .expect("an answer");
    assert_eq!(again, None, "the fence moved on");
    assert_eq!(
        rig.settle(rig.success(&id, Guard::Fence(1), 1)).await,
        SettleOutcome::Lost
    );
    assert!(matches!(
        rig.settle(rig.success(&id, Guard::Fence(2), 1)).await,
        SettleOutcome::Done(_)
    ));
}

async fn voided_leases_are_expired_at_once(rig: Rig) {
    let account = rig.account(10, 10).await;
    let id = rig.running(&account, 1).await;
    assert_eq!(
        rig.store
            .queue()
            .void_leases(Some("other"), &[], NOW)
            .await
            .expect("a count"),
        0
    );
    assert_eq!(
        rig.store
            .queue()
            .void_leases(Some("node"), &[], NOW)
            .await
            .expect("a count"),
        1
    );
    assert_eq!(
        rig.store
            .queue()
            .expired_leases(NOW, None, 10)
            .await
            .expect("rows")[0]
            .id,
        id
    );
    rig.running(&account, 1).await;
    assert_eq!(
        rig.store
            .queue()
            .void_leases(None, &[], NOW)
            .await
            .expect("a count"),
        1
    );
    assert_eq!(
        rig.store
            .queue()
            .expired_leases(NOW, None, 10)
            .await
            .expect("rows")
            .len(),
        2
    );
}
