//! Short work has room beside long work of the same account, also inside the process.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::{Account, Gateway, Options};
use crate::stopwatch::Stopwatch;

/// How much longer a picture may take beside long work than alone.
const TIMES: u32 = 4;
/// Pictures of each kind: a machine that stands still delays one or two of them.
const PICTURES: usize = 5;

/// A synchronous picture; how long it took.
async fn picture(gateway: &Gateway, caller: &Account) -> Duration {
    let began = Stopwatch::start();
    let body = json!({ "model": "image-1", "prompt": "a small red boat", "size": "1024x1024" });
    let path = "/v1/images/generations";
    let answer = gateway.post(&caller.key, path, body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    began.elapsed()
}

/// The middle one of several that come one after the other.
async fn usual_picture(gateway: &Gateway, caller: &Account) -> Duration {
    let mut took = Vec::new();
    for _ in 0..PICTURES {
        took.push(picture(gateway, caller).await);
    }
    took.sort_unstable();
    took[PICTURES / 2]
}

async fn statuses(gateway: &Gateway, caller: &Account) -> Vec<Value> {
    let path = "/jobs/v1?makes=video";
    let answer = gateway.get(&caller.key, path).await;
    let items = answer.json["data"].as_array();
    items.expect("jobs").clone()
}

/// The promise: ten videos of an account do not keep its own synchronous pictures waiting until one of them is done.
#[tokio::test]
async fn a_synchronous_picture_does_not_wait_for_videos_of_its_account() {
    let options = Options::default().set("STUDIO_SLOTS", "4");
    let gateway = options.spawn().await;
    let caller = gateway.account(10_000).await;
    picture(&gateway, &caller).await;
    let idle = usual_picture(&gateway, &caller).await;
    for number in 0..10 {
        let body = json!({ "prompt": format!("waves, number {number}"), "model": "video-2", "seconds": 12, "size": "1280x720" });
        let path = "/vidgen-partner/generations";
        let answer = gateway.post(&caller.key, path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
    let beside = usual_picture(&gateway, &caller).await;
    let videos = statuses(&gateway, &caller).await;
    assert_eq!(videos.len(), 10);
    for video in &videos {
        let open = ["ON_QUEUE", "PENDING_QUEUE"].map(Value::from);
        assert!(
            open.contains(&video["status"]),
            "{video} ({idle:?}, {beside:?})"
        );
    }
    assert!(
        beside <= TIMES * idle,
        "idle {idle:?}, beside ten videos {beside:?}"
    );
    eprintln!("idle {idle:?}, beside ten videos {beside:?}");
}
