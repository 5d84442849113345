//! Lanes: waiting jobs are counted and leased by lane, and a lease that was no try is none.

use atelier_contract::Speed;
use atelier_store::{LeaseRequest, RequeueRequest, work_kind};

use crate::rig::{NOW, Rig};

each_db!(
    waiting_jobs_are_counted_by_lane,
    a_lane_is_leased_only_when_it_is_asked_for,
    a_lease_that_was_no_try_is_not_counted,
);

async fn waiting_jobs_are_counted_by_lane(rig: Rig) {
    let account = rig.account(10, 10).await;
    rig.waiting(&account, 1).await;
    for _ in 0..2 {
        let mut accept = rig.accept(&account, 1);
        accept.job.lane = "at:b".into();
        rig.take(accept).await;
    }
    let lanes = rig.store.queue().waiting_by_lane().await.expect("a list");
    assert_eq!(lanes, [(String::new(), 1), ("at:b".into(), 2)]);
    let ids = rig
        .store
        .queue()
        .waiting_in_lane("at:b", 10)
        .await
        .expect("ids");
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
        ahead_ms: 0,
        kinds: vec![work_kind("artgen.imagine", Speed::Turbo, "at:b")],
        narrow: Vec::new(),
        limit: 10,
    };
    let leased = rig.store.queue().lease_next(request).await.expect("leases");
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
        let requeue = RequeueRequest {
            job_id: id.clone(),
            fence,
            not_before_ms: 0,
            why: "no slot was free".into(),
            now_ms: NOW,
            attempt_state: "lost",
            counts,
        };
        assert!(
            rig.store
                .attempts()
                .requeue(requeue)
                .await
                .expect("given back")
        );
        assert_eq!(rig.job(&id).await.begun(), begun);
        rig.lease("node", NOW, 1).await;
        assert_eq!(rig.job(&id).await.begun(), begun + 1);
    }
}
