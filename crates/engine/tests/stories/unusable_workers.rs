//! A node leaves alone what it merely cannot serve: jobs wait for the node that can, or for their deadline.

use atelier_contract::{JobId, JobState};
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

/// A follow-up of a grid, which has to wait where the grid was made.
async fn follow_up(rig: &Rig, caller: &atelier_engine::Caller, parent: &JobId) -> JobId {
    let body = json!({ "jobId": parent.as_str(), "action": "upsample1" });
    let accepted = rig.call(caller, "artgen.action", body, false).await;
    accepted.expect("accepted")
}

#[tokio::test]
async fn a_node_without_the_engine_inside_leaves_its_jobs_to_one_that_has_it() {
    let rig = Rig::with(1, atelier_backends::backend::LostSubmit::Repeat).await;
    let caller = rig.account(100).await;
    let parent = rig.imagine(&caller, "grid").await.expect("accepted");
    rig.until_final(&caller, &parent).await;
    let blocker = rig.imagine(&caller, "hang").await.expect("accepted");
    rig.until_busy(1).await;
    let waiting = follow_up(&rig, &caller, &parent).await;
    let bare = rig.bare_node();
    bare.runner().pool_step().await.expect("a look at the pool");
    bare.runner().sweep_step().await.expect("swept");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Waiting);
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &blocker).await;
    cancelled.expect("cancelled");
    rig.until_final(&caller, &waiting).await;
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Succeeded);
    rig.check_books().await;
}

#[tokio::test]
async fn a_node_that_cannot_build_a_worker_account_leaves_its_jobs_to_one_that_can() {
    let (_stage, rig) = (Stage::named("unbuilt"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "unbuilt", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let parent = rig.imagine(&caller, "plain").await.expect("accepted");
    rig.until_final(&caller, &parent).await;
    let one = worker(&json!({ "concurrency": 1 }));
    let change = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], one);
    change.await.expect("it takes one");
    rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    let waiting = follow_up(&rig, &caller, &parent).await;
    Stage::close("unbuilt");
    let other = rig.second_node();
    other
        .runner()
        .pool_step()
        .await
        .expect("a look at the pool");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Waiting);
    // Its deadline ends it all the same.
    rig.clock.advance(1_300_000);
    other.runner().sweep_step().await.expect("swept");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Failed);
    rig.check_books().await;
}

#[tokio::test]
async fn jobs_of_a_worker_account_that_is_gone_for_good_are_ended() {
    let (_stage, rig) = (Stage::named("removed"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "removed", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let parent = rig.imagine(&caller, "plain").await.expect("accepted");
    rig.until_final(&caller, &parent).await;
    let one = worker(&json!({ "concurrency": 1 }));
    let change = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], one);
    change.await.expect("it takes one");
    let blocker = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    let waiting = follow_up(&rig, &caller, &parent).await;
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &blocker).await;
    cancelled.expect("cancelled");
    rig.engine.runner().poll_step();
    rig.until_quiet().await;
    let removed = rig
        .engine
        .admin()
        .backends()
        .remove_worker("root", &backend, &workers[0]);
    removed.await.expect("removed");
    rig.engine
        .runner()
        .pool_step()
        .await
        .expect("a look at the pool");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Failed);
    rig.check_books().await;
}
