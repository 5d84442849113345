//! What a caller reads of a job follows what is done for it: it waits until a thread paints it, whoever has leased it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::gateway::{Account, Gateway, Options};

const PATIENCE: Duration = Duration::from_mins(2);

/// Pictures that take a while.
async fn crowd(gateway: &Gateway, caller: &Account, count: usize) -> Vec<String> {
    let mut jobs = Vec::new();
    for number in 0..count {
        let prompt = format!("a crowded harbour with ships, number {number}");
        let body = json!({ "prompt": prompt, "timeout": 600 });
        let answer = gateway.post(&caller.key, "/artgen/v1/imagine", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let id = answer.json["data"]["jobId"].as_str();
        jobs.push(id.expect("a job id").to_owned());
    }
    jobs
}

async fn fetched(gateway: &Gateway, caller: &Account, id: &str) -> Value {
    let path = format!("/artgen/v1/fetch?jobId={id}");
    gateway.get(&caller.key, &path).await.json
}

/// How many jobs a list has in a state.
async fn listed(gateway: &Gateway, caller: &Account, state: &str) -> u64 {
    let path = format!("/jobs/v1?status={state}");
    let answer = gateway.get(&caller.key, &path).await;
    answer.json["total"].as_u64().expect("a total")
}

/// Videos that take the only thread for long.
async fn videos(gateway: &Gateway, caller: &Account, count: usize) {
    for number in 0..count {
        let body = json!({ "prompt": format!("waves, number {number}"), "model": "video-2", "seconds": 12, "size": "1280x720" });
        let path = "/vidgen-partner/generations";
        let answer = gateway.post(&caller.key, path, body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
}

/// The promise: PENDING_QUEUE is waiting, ON_QUEUE is being worked on; lists and single jobs say the same.
#[tokio::test]
async fn a_job_that_no_thread_paints_is_pending() {
    let options = Options::default().set("STUDIO_THREADS", "1");
    let gateway = options.spawn().await;
    let caller = gateway.account(1_000).await;
    videos(&gateway, &caller, 3).await;
    // One is painted; the others have been leased, and wait for its thread.
    assert_eq!(listed(&gateway, &caller, "ON_QUEUE").await, 1);
    assert_eq!(listed(&gateway, &caller, "PENDING_QUEUE").await, 2);
    let jobs = crowd(&gateway, &caller, 6).await;
    let mut seen = Vec::new();
    for id in &jobs {
        seen.push(fetched(&gateway, &caller, id).await);
    }
    let is = |word: &str| seen.iter().filter(|job| job["status"] == word).count();
    assert!(is("ON_QUEUE") <= 1, "{seen:?}");
    assert!(is("PENDING_QUEUE") >= 2, "{seen:?}");
    let deadline = Instant::now() + PATIENCE;
    while listed(&gateway, &caller, "SUCCESS").await < 6 {
        assert!(Instant::now() < deadline, "they end");
        sleep(Duration::from_millis(50)).await;
    }
}
