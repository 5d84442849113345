//! A job that nobody in the fleet can begin before its deadline ends at once and says so; what this node merely does not know is
//! left to the others.

use atelier_contract::{Code, JobId, JobState};
use atelier_engine::Caller;
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

const NOBODY: &str = "[Internal error] no back end available";

/// A job ended without a result, at once and for nothing.
async fn ended(rig: &Rig, caller: &Caller, id: &JobId) {
    let job = rig.job(caller, id).await;
    let told = (job.state, job.message.as_deref());
    assert_eq!(told, (JobState::Failed, Some(NOBODY)));
    assert_eq!(job.quota.to_string(), "0");
}

#[tokio::test]
async fn a_job_whose_only_account_says_that_it_is_out_ends_at_once() {
    for (prompt, stage) in [("broke", "poor-house"), ("banned", "closed-house")] {
        let (_stage, rig) = (Stage::named(stage), Rig::with_vendors().await);
        cast(&rig, stage, "unknown", &["one"]).await;
        let caller = rig.account(100).await;
        let id = rig.imagine(&caller, prompt).await.expect("accepted");
        rig.until_final(&caller, &id).await;
        ended(&rig, &caller, &id).await;
        let refused = rig.imagine(&caller, "plain").await.expect_err("refused");
        assert_eq!(refused.code, Code::NoAvailableAccount, "{prompt}");
        rig.check_books().await;
    }
}

#[tokio::test]
async fn jobs_that_wait_for_an_account_that_is_out_now_end_with_the_next_look() {
    let (_stage, rig) = (Stage::named("queue"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "queue", "unknown", &["one"]).await;
    let one = worker(&json!({ "concurrency": 1 }));
    let backends = rig.engine.admin().backends();
    let changed = backends.change_worker("root", &backend, &workers[0], one);
    changed.await.expect("it takes one");
    let caller = rig.account(100).await;
    let blocker = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    let broke = rig.imagine(&caller, "broke").await.expect("accepted");
    let waiting = rig.imagine(&caller, "plain").await.expect("accepted");
    let cancelled = rig.engine.jobs().cancel(&caller.account_id, &blocker).await;
    cancelled.expect("cancelled");
    rig.until_final(&caller, &broke).await;
    rig.engine.runner().pool_step().await.expect("a look");
    ended(&rig, &caller, &broke).await;
    ended(&rig, &caller, &waiting).await;
    rig.check_books().await;
}

#[tokio::test]
async fn a_job_waits_for_an_account_that_comes_back_before_its_deadline() {
    let (stage, rig) = (Stage::named("minute"), Rig::with_vendors().await);
    cast(&rig, "minute", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig
        .imagine(&caller, "throttled-briefly")
        .await
        .expect("accepted");
    rig.rest().await;
    rig.engine.runner().pool_step().await.expect("a look");
    assert_eq!(rig.state(&caller, &id).await, JobState::Waiting);
    assert_eq!(stage.books().arrived.len(), 1);
    rig.check_books().await;
}

#[tokio::test]
async fn a_job_waits_for_a_node_that_may_have_somebody_inside_for_it() {
    // What another node says of itself, and what an older build says.
    let told = [
        json!({ "inside": ["artgen.imagine"] }),
        json!({ "version": "0" }),
    ];
    for (number, detail) in told.iter().enumerate() {
        let name = format!("fleet-{number}");
        let (_stage, rig) = (Stage::named(&name), Rig::with_vendors().await);
        cast(&rig, &name, "unknown", &["one"]).await;
        let (now_ms, said) = (rig.clock.steady_ms(), detail.to_string());
        let nodes = rig.store.nodes();
        let beat = nodes.beat("other", now_ms, now_ms, &said);
        beat.await.expect("another node");
        let caller = rig.account(100).await;
        let id = rig.imagine(&caller, "broke").await.expect("accepted");
        rig.rest().await;
        rig.engine.runner().pool_step().await.expect("a look");
        assert_eq!(rig.state(&caller, &id).await, JobState::Waiting, "{detail}");
        // The other node is gone, and with it the hope.
        rig.store.nodes().forget("other").await.expect("gone");
        rig.engine.runner().pool_step().await.expect("a look");
        ended(&rig, &caller, &id).await;
        rig.check_books().await;
    }
}

#[tokio::test]
async fn a_paused_account_is_waited_for() {
    let (_stage, rig) = (Stage::named("pause"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "pause", "unknown", &["one"]).await;
    let backends = rig.engine.admin().backends();
    let said = async |said: serde_json::Value| {
        let changed = backends.change_worker("root", &backend, &workers[0], worker(&said));
        changed.await.expect("changed");
    };
    said(json!({ "concurrency": 1 })).await;
    let caller = rig.account(100).await;
    rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    let waiting = rig.imagine(&caller, "plain").await.expect("accepted");
    said(json!({ "state": "paused" })).await;
    rig.engine.runner().pool_step().await.expect("a look");
    assert_eq!(rig.state(&caller, &waiting).await, JobState::Waiting);
    rig.check_books().await;
}
