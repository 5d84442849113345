//! The order of the queue: fair between accounts, faster speeds first, nobody starves.

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn one_job_of_a_small_account_does_not_wait_for_a_hundred_of_a_large_one() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let (large, small) = (rig.account(10_000).await, rig.account(10).await);
    let blocker = rig.imagine(&large, "hang 0").await.expect("accepted");
    for number in 1..=100 {
        rig.imagine(&large, &format!("large {number}"))
            .await
            .expect("accepted");
    }
    rig.imagine(&small, "small").await.expect("accepted");
    rig.engine
        .jobs()
        .cancel(&large.account_id, &blocker)
        .await
        .expect("cancelled");
    rig.settle_down().await;
    let place = rig
        .backend
        .starts()
        .iter()
        .position(|prompt| prompt == "small")
        .expect("it ran");
    assert!(place <= 3, "it ran as number {place}");
    rig.check_books().await;
}

/// The promise: the slots of the embedded engine are never all one account's, and its own jobs keep their order.
#[tokio::test]
async fn a_spare_slot_is_for_an_account_that_has_no_job_in_hand() {
    let rig = Rig::with(8, LostSubmit::Repeat).await;
    let (large, small) = (rig.account(10_000).await, rig.account(10).await);
    let mut crowd = Vec::new();
    for number in 0..10 {
        let job = rig.imagine(&large, &format!("hang {number}")).await;
        crowd.push(job.expect("accepted"));
    }
    let began = rig.imagine(&small, "hang small").await.expect("accepted");
    let waits = rig.imagine(&small, "a second one").await.expect("accepted");
    assert_eq!(rig.state(&small, &began).await, JobState::Running);
    assert_eq!(rig.state(&small, &waits).await, JobState::Waiting);
    for (number, job) in crowd.iter().enumerate() {
        let expected = if number < 8 {
            JobState::Running
        } else {
            JobState::Waiting
        };
        assert_eq!(rig.state(&large, job).await, expected, "number {number}");
    }
}

#[tokio::test]
async fn turbo_goes_before_fast_before_relax_but_relax_does_not_starve() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let blocked = rig.account(100).await;
    let blocker = rig.imagine(&blocked, "hang 0").await.expect("accepted");
    for mode in ["relax", "fast", "turbo"] {
        let caller = rig.account(100).await;
        let body = json!({ "prompt": mode, "mode": mode, "timeout": 1200 });
        rig.submit(&caller, body, None).await.expect("accepted");
    }
    rig.clock.advance(61_000);
    let late = rig.account(100).await;
    let body = json!({ "prompt": "late turbo", "mode": "turbo" });
    rig.submit(&late, body, None).await.expect("accepted");
    rig.engine
        .jobs()
        .cancel(&blocked.account_id, &blocker)
        .await
        .expect("cancelled");
    rig.settle_down().await;
    assert_eq!(
        rig.backend.starts()[1..],
        ["turbo", "fast", "relax", "late turbo"]
    );
    rig.check_books().await;
}
