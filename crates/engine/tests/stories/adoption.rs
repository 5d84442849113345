//! Jobs of a node that went silent are taken up by another one, whatever else lies there that cannot be.

use std::time::Duration;

use atelier_contract::JobState;
use futures_util::future::join_all;
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

#[tokio::test]
async fn jobs_that_only_another_node_can_take_up_hide_no_others() {
    let (left, _right) = (Stage::named("adopt left"), Stage::named("adopt right"));
    let rig = Rig::with_vendors().await;
    let caller = rig.account(10_000).await;
    let (backend, workers) = cast(&rig, "adopt left", "unknown", &["one"]).await;
    let many = worker(&json!({ "concurrency": 300 }));
    let changed = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], many)
        .await;
    changed.expect("it takes many");
    let calls = (0..300).map(|_| rig.imagine(&caller, "limbo"));
    for accepted in join_all(calls).await {
        accepted.expect("accepted");
    }
    while left.taken("limbo") < 300 {
        rig.until_quiet().await;
    }
    // The next job is at another vendor, and its lease ends later than all of those.
    let rest = worker(&json!({ "state": "paused" }));
    let changed = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], rest)
        .await;
    changed.expect("it rests");
    cast(&rig, "adopt right", "unknown", &["two"]).await;
    rig.clock.advance(5_000);
    let id = rig.imagine(&caller, "fox").await.expect("accepted");
    rig.until_quiet().await;
    // The node goes silent; the next one has never heard of the first vendor.
    Stage::close("adopt left");
    let second = rig.second_node();
    rig.clock.advance(40_000);
    // On a busy machine the work of a moment takes many.
    for step in 0..10_000 {
        second.runner().sweep_step().await.expect("swept");
        second.runner().poll_step();
        tokio::time::sleep(Duration::from_millis(5)).await;
        rig.clock.advance(if step < 100 { 100 } else { 0 });
        if rig.state(&caller, &id).await.is_final() {
            break;
        }
    }
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    assert_eq!(left.books().cancelled.len(), 0, "the others are let be");
}
