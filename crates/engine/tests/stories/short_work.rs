//! Short work has room beside long work of the same account.

use atelier_contract::{JobId, JobState};
use atelier_engine::Caller;
use serde_json::json;

use crate::rig::{Rig, worker};
use crate::stage::Stage;
use crate::vendors::cast;

/// Orders a video.
async fn video(rig: &Rig, caller: &Caller, prompt: &str) -> JobId {
    let body = json!({ "prompt": prompt, "model": "video-2", "seconds": 4, "size": "720x1280" });
    let ordered = rig.call(caller, "vidgen_partner.generations", body, false);
    ordered.await.expect("accepted")
}

/// Orders videos that never end.
async fn videos(rig: &Rig, caller: &Caller, count: usize) -> Vec<JobId> {
    let mut jobs = Vec::new();
    for number in 0..count {
        jobs.push(video(rig, caller, &format!("limbo {number}")).await);
    }
    rig.rest().await;
    jobs
}

/// How many of the videos the vendor has taken so far.
fn begun(stage: &Stage) -> usize {
    (0..10)
        .map(|number| stage.taken(&format!("limbo {number}")))
        .sum()
}

async fn cancel(rig: &Rig, caller: &Caller, id: &JobId) {
    let jobs = rig.engine.jobs();
    jobs.cancel(&caller.account_id, id)
        .await
        .expect("cancelled");
    rig.rest().await;
}

/// Lets so many seconds pass without a lease running out.
async fn pass(rig: &Rig, seconds: i64) {
    for _ in 0..seconds / 20 {
        rig.clock.advance(20_000);
        rig.engine.renew_step().await.expect("renewed");
    }
    rig.rest().await;
}

/// The promise: long work leaves one of a vendor's slots free while short work of the same account came in the last minute.
#[tokio::test]
async fn videos_leave_a_slot_to_pictures_that_came_lately() {
    let rig = Rig::with_vendors().await;
    let stage = Stage::named("short lately");
    cast(&rig, "short lately", "unknown", &["one"]).await;
    let (caller, other) = (rig.account(10_000).await, rig.account(10_000).await);
    let first = rig.imagine(&caller, "plain").await.expect("accepted");
    rig.until_final(&caller, &first).await;
    videos(&rig, &caller, 10).await;
    assert_eq!(begun(&stage), 3, "one of four slots is left free");
    let picture = rig.imagine(&caller, "limbo picture").await;
    let picture = picture.expect("accepted");
    rig.until_quiet().await;
    assert_eq!(stage.taken("limbo picture"), 1, "it begins at once");
    // Whoever has no short work is not kept from the slot.
    cancel(&rig, &caller, &picture).await;
    assert_eq!(begun(&stage), 3);
    let others = video(&rig, &other, "limbo other").await;
    rig.rest().await;
    assert_eq!(stage.taken("limbo other"), 1);
    cancel(&rig, &other, &others).await;
    assert_eq!(begun(&stage), 3, "short work came a moment ago");
    pass(&rig, 60).await;
    assert_eq!(begun(&stage), 4, "no short work came for a minute");
}

/// The promise: the next free slot is the short work's, whatever waits before it of the same account.
#[tokio::test]
async fn a_picture_that_waits_goes_before_videos_of_its_account() {
    let rig = Rig::with_vendors().await;
    let stage = Stage::named("short waits");
    cast(&rig, "short waits", "unknown", &["one"]).await;
    let caller = rig.account(10_000).await;
    let videos = videos(&rig, &caller, 8).await;
    assert_eq!(begun(&stage), 4, "nothing short is there");
    let picture = rig.imagine(&caller, "limbo picture").await;
    let picture = picture.expect("accepted");
    assert_eq!(rig.state(&caller, &picture).await, JobState::Waiting);
    cancel(&rig, &caller, &videos[0]).await;
    assert_eq!(stage.taken("limbo picture"), 1);
    assert_eq!(begun(&stage), 4);
    cancel(&rig, &caller, &videos[1]).await;
    assert_eq!(begun(&stage), 4, "one slot is left free");
    cancel(&rig, &caller, &videos[2]).await;
    assert_eq!(begun(&stage), 5, "no more than one is");
}

/// The promise: where there is one slot, short work that waits has it first, and long work is not kept from it for ever.
#[tokio::test]
async fn a_single_slot_is_left_to_short_work_that_waits_alone() {
    let rig = Rig::with_vendors().await;
    let stage = Stage::named("short single");
    let (backend, ids) = cast(&rig, "short single", "unknown", &["one"]).await;
    let one = worker(&json!({ "concurrency": 1 }));
    let admin = rig.engine.admin();
    let changed = admin
        .backends()
        .change_worker("root", &backend, &ids[0], one);
    changed.await.expect("changed");
    let caller = rig.account(10_000).await;
    let videos = videos(&rig, &caller, 2).await;
    assert_eq!(begun(&stage), 1);
    let picture = rig.imagine(&caller, "plain").await.expect("accepted");
    cancel(&rig, &caller, &videos[0]).await;
    rig.until_final(&caller, &picture).await;
    assert_eq!(stage.taken("plain"), 1);
    rig.rest().await;
    assert_eq!(begun(&stage), 2, "the slot is for long work as well");
}
