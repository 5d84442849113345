//! Worker accounts: who gets follow-ups, how they are drained, paced and changed, and what survives a restart.

use atelier_contract::JobState;
use atelier_engine::Caller;
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::{cast, conditions};

#[tokio::test]
async fn a_job_at_the_vendor_goes_on_with_a_credential_that_was_changed() {
    let (stage, rig) = (Stage::named("changed"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "changed", "unknown", &["old"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "timed 10").await.expect("accepted");
    while stage.books().asked_at.is_empty() {
        rig.rest().await;
    }
    let change = worker(&json!({ "credential": "new" }));
    let changed = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], change)
        .await;
    changed.expect("changed");
    stage.books().release_ms = Some(0);
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
    let asked = stage.books().asked_at.last().expect("a question").0.clone();
    assert_eq!(asked, "new");
    rig.check_books().await;
}

/// The worker that took each prompt.
fn takers(stage: &Stage) -> Vec<String> {
    stage
        .books()
        .taken
        .iter()
        .map(|(worker, _)| worker.clone())
        .collect()
}

async fn upsample(
    rig: &Rig,
    caller: &Caller,
    parent: &atelier_contract::JobId,
) -> Result<atelier_contract::JobId, atelier_contract::Refusal> {
    let body = json!({ "jobId": parent.as_str(), "action": "upsample1" });
    rig.call(caller, "artgen.action", body, false).await
}

#[tokio::test]
async fn a_follow_up_goes_to_the_worker_that_made_its_parent() {
    let (stage, rig) = (Stage::named("follow"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "follow", "unknown", &["one", "two", "three"]).await;
    let caller = rig.account(1_000).await;
    let mut parents = Vec::new();
    for number in 0..3 {
        let id = rig
            .imagine(&caller, &format!("plain {number}"))
            .await
            .expect("accepted");
        parents.push(id);
    }
    for id in &parents {
        rig.until_final(&caller, id).await;
    }
    let makers = takers(&stage);
    for (parent, maker) in parents.iter().zip(&makers) {
        for _ in 0..3 {
            let id = upsample(&rig, &caller, parent).await.expect("accepted");
            rig.until_final(&caller, &id).await;
            assert_eq!(rig.state(&caller, &id).await, JobState::Succeeded);
            assert_eq!(takers(&stage).last(), Some(maker));
        }
    }
    for worker in &workers {
        rig.engine
            .admin()
            .backends()
            .remove_worker("root", &backend, worker)
            .await
            .expect("removed");
    }
    let refused = upsample(&rig, &caller, &parents[0])
        .await
        .expect_err("nobody left");
    assert_eq!(refused.code, atelier_contract::Code::NoAvailableAccount);
    rig.check_books().await;
}

/// The promise: of two changes of one worker account at once, neither is lost.
#[tokio::test]
async fn two_changes_at_once_are_both_kept() {
    let (_stage, rig) = (Stage::named("crossed"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "crossed", "unknown", &["one"]).await;
    let backends = rig.engine.admin().backends();
    let change = |body: serde_json::Value| {
        backends.change_worker("root", &backend, &workers[0], worker(&body))
    };
    for round in 2..12 {
        let (first, second, third) = tokio::join!(
            change(json!({ "weight": round })),
            change(json!({ "concurrency": round })),
            change(json!({ "per_minute": round })),
        );
        for changed in [first, second, third] {
            changed.expect("changed");
        }
        let spec = backends.worker(&backend, &workers[0]).await;
        let spec = spec.expect("it is there").spec;
        let kept = [
            spec.weight.get(),
            spec.concurrency.get(),
            spec.per_minute.get(),
        ];
        assert_eq!(kept, [round; 3]);
    }
}

#[tokio::test]
async fn a_worker_with_jobs_in_hand_is_drained_before_it_goes() {
    let (_stage, rig) = (Stage::named("drain"), Rig::with_vendors().await);
    let (backend, workers) = cast(&rig, "drain", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "limbo").await.expect("accepted");
    rig.rest().await;
    let busy = rig
        .engine
        .admin()
        .backends()
        .remove_worker("root", &backend, &workers[0])
        .await
        .expect_err("busy");
    assert_eq!(busy.code, atelier_contract::Code::Conflict);
    let drain = worker(&json!({ "state": "draining" }));
    rig.engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], drain)
        .await
        .expect("changed");
    let refused = rig
        .imagine(&caller, "plain")
        .await
        .expect_err("it takes nothing new");
    assert_eq!(refused.code, atelier_contract::Code::NoAvailableAccount);
    rig.engine
        .jobs()
        .cancel(&caller.account_id, &id)
        .await
        .expect("cancelled");
    rig.rest().await;
    rig.engine
        .admin()
        .backends()
        .remove_worker("root", &backend, &workers[0])
        .await
        .expect("removed");
    rig.check_books().await;
}

#[tokio::test]
async fn pace_is_kept_across_a_restart() {
    let stage = Stage::named("pace");
    let mut rig = Rig::with_vendors().await;
    let (backend, workers) = cast(&rig, "pace", "unknown", &["one"]).await;
    let slow = worker(&json!({ "per_minute": 2 }));
    rig.engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], slow)
        .await
        .expect("changed");
    let caller = rig.account(1_000).await;
    for number in 0..5 {
        rig.imagine(&caller, &format!("at-once {number}"))
            .await
            .expect("accepted");
    }
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 2);
    rig.restart().await;
    rig.engine.runner().workers().load().await.expect("loaded");
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 2, "a restart is no excuse");
    rig.clock.advance(61_000);
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 4);
    rig.clock.advance(61_000);
    rig.rest().await;
    assert_eq!(stage.books().arrived.len(), 5);
    rig.check_books().await;
}

#[tokio::test]
async fn health_and_spending_survive_a_restart() {
    let _stage = Stage::named("evidence");
    let mut rig = Rig::with_vendors().await;
    let (backend, _) = cast(&rig, "evidence", "unknown", &["one"]).await;
    let caller = rig.account(100).await;
    let id = rig.imagine(&caller, "plain").await.expect("accepted");
    rig.until_final(&caller, &id).await;
    rig.imagine(&caller, "banned").await.expect("accepted");
    rig.rest().await;
    rig.engine.runner().pool_step().await.expect("written");
    rig.restart().await;
    rig.engine.runner().workers().load().await.expect("loaded");
    assert_eq!(
        conditions(&rig, &backend).await,
        [("one".into(), "banned".into())]
    );
    let shown = rig
        .engine
        .admin()
        .backends()
        .one(&backend)
        .await
        .expect("shown");
    assert_eq!(shown.accounts[0].spent.to_string(), "4");
    let errors = &shown.accounts[0].health.last_errors;
    assert_eq!(errors[0].outcome, "dead", "{errors:?}");
    rig.clock.advance(300_000);
    rig.engine.runner().sweep_step().await.expect("swept");
    rig.check_books().await;
}

#[tokio::test]
async fn a_credential_never_comes_back_and_a_probe_says_how_it_is() {
    let _stage = Stage::named("sealed");
    let rig = Rig::with_vendors().await;
    let (backend, workers) = cast(&rig, "sealed", "unknown", &["broken"]).await;
    let probed = rig
        .engine
        .admin()
        .backends()
        .probe("root", &backend, Some(&workers[0]))
        .await
        .expect_err("it is not well");
    assert_eq!(probed.code, atelier_contract::Code::BackendFailed);
    assert!(probed.message.starts_with("broken: dead: "), "{probed}");
    assert_eq!(
        conditions(&rig, &backend).await,
        [("broken".into(), "banned".into())]
    );
    for shown in [
        json!(rig.engine.admin().backends().list().await.expect("a list")),
        json!(rig.engine.admin().reports().stats().await.expect("stats")),
        json!(format!(
            "{:?}",
            rig.store.workers().list().await.expect("rows")
        )),
    ] {
        let text = shown.to_string().replace("\"name\":\"broken\"", "");
        assert!(!text.contains("\"credential\":\"broken\""), "{text}");
    }
    let rows = rig.store.workers().list().await.expect("rows");
    assert!(rows[0].credential.starts_with("v1:"), "sealed at rest");
    let other = worker(&json!({ "credential": "fine" }));
    let shown = rig
        .engine
        .admin()
        .backends()
        .change_worker("root", &backend, &workers[0], other)
        .await
        .expect("changed");
    let condition = shown.health.condition.word();
    assert_eq!(condition, "untested", "another chance");
    let well = rig
        .engine
        .admin()
        .backends()
        .probe("root", &backend, Some(&workers[0]))
        .await
        .expect("it is well");
    assert_eq!(well.accounts.len(), 1);
}
