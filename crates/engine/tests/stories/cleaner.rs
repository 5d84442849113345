//! The slow round: a crash leaves no file for ever, what is known stays, and logs are kept as long as they should be.

use std::sync::Arc;

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use atelier_engine::Engine;
use bytes::Bytes;
use serde_json::json;

use crate::receiver::{Receiver, deliver};
use crate::rig::Rig;

const DAY_MS: i64 = 24 * 3_600_000;

#[tokio::test]
async fn files_that_a_crash_left_behind_are_deleted_and_no_others() {
    let rig = Rig::new().await;
    let caller = rig.account(100).await;
    rig.read_machine_clock();
    rig.imagine(&caller, "a fox").await.expect("accepted");
    rig.settle_down().await;
    let kept = rig.stored().await;
    assert_eq!(kept.len(), 1);
    for number in 0..3 {
        let key = format!("out/lost/1-{number}.png");
        rig.files
            .put(&key, Bytes::from_static(b"x"))
            .await
            .expect("stored");
    }
    assert_eq!(
        rig.engine.tidy().step().await.expect("tidied"),
        0,
        "too young: they may belong to a job about to settle"
    );
    rig.clock.advance(2 * 3_600_000);
    assert_eq!(rig.engine.tidy().step().await.expect("tidied"), 3);
    rig.engine.assets().expire_step().await.expect("deleted");
    assert_eq!(rig.stored().await, kept, "a known file stays");
    assert_eq!(rig.engine.tidy().step().await.expect("tidied"), 0);
    rig.clock.advance(2 * DAY_MS);
    rig.engine.assets().expire_step().await.expect("deleted");
    assert!(rig.stored().await.is_empty(), "until it expires");
}

#[tokio::test]
async fn tries_and_attempts_go_after_a_month_while_the_job_and_its_count_stay() {
    let story = async {
        let rig = Rig::with(4, LostSubmit::Unknown).await;
        let caller = rig.account(100).await;
        let receiver = Receiver::answering(&[200]).await;
        let body = json!({ "prompt": "ticket fox", "hookUrl": receiver.url });
        let id = rig.submit(&caller, body, None).await.expect("accepted");
        rig.settle_down().await;
        deliver(&rig, &receiver, 1).await;
        let callback = format!("cb_{id}");
        let log = async || {
            let shown = rig
                .engine
                .callbacks()
                .callback(&caller.account_id, &callback)
                .await;
            shown.expect("shown").1.len()
        };
        rig.engine.tidy().step().await.expect("tidied");
        assert_eq!(log().await, 1, "too young");
        rig.clock.advance(31 * DAY_MS);
        // One try and one attempt; the file has no row any more once it is swept.
        rig.engine.assets().expire_step().await.expect("deleted");
        assert_eq!(rig.engine.tidy().step().await.expect("tidied"), 2);
        assert_eq!(log().await, 0);
        assert_eq!(rig.job(&caller, &id).await.hook_times, 1);
        rig.check_books().await;
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

/// The promise: words of a job that failed are gone from every answer after `failed_days`, also where it was fetched before.
#[tokio::test]
async fn words_of_a_failed_job_are_in_no_fetch_after_their_time() {
    let rig = Rig::new().await;
    let (caller, other_node) = (rig.account(100).await, rig.second_node());
    let id = rig.imagine(&caller, "fail secretly").await;
    let id = id.expect("accepted");
    rig.until_final(&caller, &id).await;
    assert_eq!(rig.state(&caller, &id).await, JobState::Failed);
    let (family, _) = atelier_contract::operation("artgen.imagine").expect("in the table");
    let fetched = async |node: &Arc<Engine>| {
        let body = node.jobs().fetch_body(&caller.account_id, family, &id);
        String::from_utf8_lossy(&body.await.expect("fetched")).into_owned()
    };
    for node in [&rig.engine, &other_node] {
        let before = fetched(node).await;
        assert!(before.contains("fail secretly"), "{before}");
    }
    rig.clock.advance(8 * DAY_MS);
    rig.engine.tidy().step().await.expect("tidied");
    for node in [&rig.engine, &other_node] {
        let after = fetched(node).await;
        assert!(after.contains(&*id), "it is still there: {after}");
        assert!(!after.contains("secretly"), "{after}");
    }
}
