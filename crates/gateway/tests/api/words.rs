//! Words and parameters of jobs are stored bytes like files: they count for the account, and those of failed jobs go.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::backends::finished;
use crate::gateway::{Options, send};

/// A prompt of 128 kB in 32,000 characters.
fn long() -> String {
    format!("[[fail: no]] {}", "\u{1f30a}".repeat(31_900))
}

#[tokio::test]
async fn words_of_refunded_jobs_fill_the_storage_of_their_account() {
    let gateway = Options::default()
        .set("LIMITS_STORAGE_MIB", "1")
        .spawn()
        .await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    let (mut taken, mut id) = (0, String::new());
    let refused = loop {
        let body = json!({ "prompt": long() });
        let answer = gateway.post(&caller.key, "/artgen/v1/imagine", body).await;
        if answer.status != 200 {
            break answer;
        }
        id = answer.json["data"]["jobId"]
            .as_str()
            .expect("an id")
            .to_owned();
        let job = finished(&gateway, &caller.key, &id).await;
        assert_eq!(job["status"], "FAILED", "{job}");
        taken += 1;
        assert!(taken < 20, "nothing is counted");
    };
    refused.assert_refused(400, "storage_full");
    assert!(
        (8..=9).contains(&taken),
        "{taken} prompts of 128 kB in 1 MiB"
    );
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
    gateway.imagine(&other.key, "a lake").await;
    // Deleting one makes room for another.
    let request = gateway.request(Method::DELETE, &format!("/jobs/v1/{id}"));
    let deleted = send(request.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(deleted.status, 200, "{}", deleted.json);
    gateway.imagine(&caller.key, "a lake").await;
}

#[tokio::test]
async fn words_of_failed_jobs_are_removed_and_the_jobs_stay() {
    let gateway = Options::default()
        .set("RETENTION_FAILED_DAYS", "0")
        .set("JOBS_TIDY_S", "1")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let kept = gateway.imagine(&caller.key, "a lake").await;
    let id = gateway.imagine(&caller.key, "a harbour [[fail: no]]").await;
    finished(&gateway, &caller.key, &kept).await;
    let failed = finished(&gateway, &caller.key, &id).await;
    let message = failed["message"].clone();
    assert!(message.is_string(), "{failed}");
    let deadline = Instant::now() + Duration::from_secs(20);
    let path = format!("/jobs/v1/{id}");
    let shown = loop {
        let shown = gateway.get(&caller.key, &path).await.json["data"].clone();
        if shown["request"]["prompt"] == "" {
            break shown;
        }
        assert!(Instant::now() < deadline, "{shown}");
        sleep(Duration::from_millis(200)).await;
    };
    assert_eq!(shown["status"], "FAILED", "{shown}");
    assert_eq!(shown["message"], message, "{shown}");
    let others = gateway.get(&caller.key, &format!("/jobs/v1/{kept}")).await;
    assert_eq!(others.json["data"]["request"]["prompt"], "a lake");
    let ledger = gateway.get(&caller.key, "/account/v1/ledger").await;
    let of_job = ledger.json["data"].as_array().expect("rows").iter();
    assert_eq!(of_job.filter(|row| row["jobId"] == id.as_str()).count(), 2);
}
