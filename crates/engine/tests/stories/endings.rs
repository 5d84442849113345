//! Every way a job can end.

use atelier_contract::{Code, JobState};

use crate::rig::Rig;

#[tokio::test]
async fn a_job_that_outlives_its_time_limit_fails_with_its_quota_back() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "hang a fox").await.expect("accepted");
    rig.clock.advance(299_000);
    rig.engine.runner().sweep_step().await.expect("swept");
    assert_eq!(
        rig.state(&caller, &id).await,
        JobState::Running,
        "not a second early"
    );
    rig.clock.advance(1_000);
    rig.engine.runner().sweep_step().await.expect("swept");
    let job = rig.job(&caller, &id).await;
    assert_eq!(
        (job.state, job.message.as_deref()),
        (JobState::Failed, Some("Job Timeout"))
    );
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.settle_down().await;
    rig.check_books().await;
}

#[tokio::test]
async fn a_waiting_job_can_be_cancelled_and_a_finished_one_cannot() {
    let rig = Rig::with(1, atelier_backends::backend::LostSubmit::Repeat).await;
    let caller = rig.account(100).await;
    let running = rig.imagine(&caller, "hang 1").await.expect("accepted");
    let waiting = rig.imagine(&caller, "an owl").await.expect("accepted");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Waiting);
    let job = rig
        .engine
        .jobs()
        .cancel(&caller.account_id, &waiting)
        .await
        .expect("cancelled");
    assert_eq!(
        job.message.as_deref(),
        Some("[Cancelled] the job was cancelled")
    );
    let again = rig
        .engine
        .jobs()
        .cancel(&caller.account_id, &waiting)
        .await
        .expect_err("finished");
    assert_eq!(again.code, Code::AlreadyFinished);
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &running)
        .await
        .expect("cancelled");
    rig.settle_down().await;
    assert_eq!(
        rig.backend.starts(),
        ["hang 1"],
        "the cancelled job never ran"
    );
    rig.check_books().await;
}

#[tokio::test]
async fn another_accounts_job_is_as_unknown_as_none() {
    let rig = Rig::new().await;
    let (owner, stranger) = (rig.account(10).await, rig.account(10).await);
    let id = rig.imagine(&owner, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let foreign = rig
        .engine
        .jobs()
        .job(&stranger.account_id, &id)
        .await
        .expect_err("not theirs");
    let missing = atelier_contract::JobId::new("01a2b3c4-0000-7000-8000-000000000000");
    let missing = rig
        .engine
        .jobs()
        .job(&stranger.account_id, &missing)
        .await
        .expect_err("no such job");
    assert_eq!(foreign, missing);
}

#[tokio::test]
async fn a_passing_fault_is_tried_again_and_then_succeeds() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "flaky fox").await.expect("accepted");
    for _ in 0..4 {
        rig.settle_down().await;
        rig.clock.advance(10_000);
    }
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(rig.backend.starts().len(), 3);
    rig.check_books().await;
}

#[tokio::test]
async fn a_late_result_is_discarded_without_charge() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig
        .imagine(&caller, "ticket for ever")
        .await
        .expect("accepted");
    rig.until_busy(1).await;
    rig.clock.advance(300_000);
    rig.engine.runner().sweep_step().await.expect("swept");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(
        (job.state, job.message.as_deref()),
        (JobState::Failed, Some("Job Timeout"))
    );
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.check_books().await;
}
