//! A process may die at any instant: nothing is lost and nothing happens twice.

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;

use crate::rig::Rig;

#[tokio::test]
async fn a_job_in_hand_when_the_process_dies_is_finished_by_the_next() {
    let mut rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig
        .imagine(&caller, "ticket for ever")
        .await
        .expect("accepted");
    rig.until_busy(1).await;
    rig.restart().await;
    rig.engine.runner().sweep_step().await.expect("swept");
    assert_eq!(
        rig.state(&caller, &id).await,
        JobState::Waiting,
        "it is free again"
    );
    rig.clock.advance(300_000);
    rig.engine.runner().sweep_step().await.expect("swept");
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_careful_back_end_is_never_submitted_to_twice() {
    let mut rig = Rig::with(2, LostSubmit::Unknown).await;
    let caller = rig.account(10).await;
    let id = rig
        .imagine(&caller, "hang before its ticket")
        .await
        .expect("accepted");
    rig.until_busy(1).await;
    rig.restart().await;
    rig.engine.runner().sweep_step().await.expect("swept");
    rig.settle_down().await;
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(
        job.message.as_deref(),
        Some("[Internal error] the outcome at the back end is unknown")
    );
    assert_eq!(rig.backend.starts().len(), 1, "submitted once");
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.check_books().await;
}

#[tokio::test]
async fn a_recorded_ticket_is_polled_on_by_the_next_process() {
    let mut rig = Rig::with(2, LostSubmit::Unknown).await;
    let caller = rig.account(10).await;
    let id = rig.imagine(&caller, "ticket fox").await.expect("accepted");
    rig.settle_down().await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);

    let id = rig
        .imagine(&caller, "ticket for ever")
        .await
        .expect("accepted");
    rig.until_busy(1).await;
    rig.until_quiet().await;
    rig.restart().await;
    rig.engine.runner().sweep_step().await.expect("swept");
    assert_eq!(
        rig.state(&caller, &id).await,
        JobState::Running,
        "taken up where it was"
    );
    assert_eq!(rig.backend.starts().len(), 2, "not submitted again");
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    rig.settle_down().await;
    rig.check_books().await;
}

#[tokio::test]
async fn two_nodes_never_run_a_job_twice() {
    let rig = Rig::with(1, LostSubmit::Repeat).await;
    let caller = rig.account(1_000).await;
    let blocker = rig.imagine(&caller, "hang 0").await.expect("accepted");
    for number in 0..40 {
        rig.imagine(&caller, &format!("job {number}"))
            .await
            .expect("accepted");
    }
    let second = rig.second_node();
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &blocker)
        .await
        .expect("cancelled");
    for _ in 0..15_000 {
        let (one, two) = tokio::join!(rig.engine.runner().run_step(), second.runner().run_step());
        let counts = rig.store.statistics().counts().await.expect("counted");
        if one.expect("step") + two.expect("step") == 0 && counts.waiting + counts.running == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let mut starts = rig.backend.starts();
    let all = starts.len();
    starts.sort();
    starts.dedup();
    assert_eq!((starts.len(), all), (41, 41));
    rig.check_books().await;
}

#[tokio::test]
async fn a_job_that_is_begun_too_often_is_given_up() {
    let mut rig = Rig::new().await;
    let caller = rig.account(10).await;
    let id = rig
        .imagine(&caller, "hang and crash")
        .await
        .expect("accepted");
    for _ in 0..10 {
        rig.engine.runner().run_step().await.expect("a step");
        rig.restart().await;
        rig.engine.runner().sweep_step().await.expect("swept");
        if rig.state(&caller, &id).await == JobState::Failed {
            break;
        }
    }
    let job = rig.job(&caller, &id).await;
    assert_eq!(job.state, JobState::Failed);
    assert!(job.message.expect("a reason").contains("begun too often"));
    assert_eq!(rig.purse(&caller).await, ("10".into(), "0".into()));
    rig.check_books().await;
}
