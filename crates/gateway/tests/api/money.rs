//! Quota and queues under pressure, and jobs that end without a result.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::gateway::{Gateway, Options};
use crate::stopwatch::Stopwatch;

async fn wait_for_end(gateway: &Gateway, key: &str, id: &str, within: Duration) -> Value {
    let begun = Stopwatch::start();
    loop {
        let job = gateway.get(key, &format!("/jobs/v1/{id}")).await.json["data"].clone();
        if matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED")) {
            return job;
        }
        assert!(begun.elapsed() < within, "{job}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn sixty_four_submits_at_once_against_quota_for_fifty_accept_exactly_fifty() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(200).await;
    let patch = json!({ "max_queue": 1000 });
    gateway
        .operate(
            Method::PATCH,
            &format!("/admin/v1/accounts/{}", account.id),
            Some(patch),
        )
        .await;
    let body = json!({ "prompt": "a fox [[stall]]" });
    let answers =
        join_all((0..64).map(|_| gateway.post(&account.key, "/artgen/v1/imagine", body.clone())))
            .await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(accepted, 50);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.assert_refused(400, "insufficient_quota");
    }
    assert_eq!(gateway.balance(&account.key).await, (0.0, 200.0));
}

#[tokio::test]
async fn the_queue_holds_max_queue_unfinished_jobs_and_not_one_more() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(1000).await;
    let body = json!({ "prompt": "a fox [[stall]]" });
    let answers =
        join_all((0..12).map(|_| gateway.post(&account.key, "/artgen/v1/imagine", body.clone())))
            .await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        10
    );
    let refused = answers
        .iter()
        .find(|answer| answer.status != 200)
        .expect("two are too many");
    refused.assert_refused(400, "queue_full");

    let first = answers
        .iter()
        .find(|answer| answer.status == 200)
        .expect("ten fit");
    let id = first.json["data"]["jobId"].as_str().expect("an id");
    let cancelled = gateway
        .post(&account.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
        .await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
    let job = wait_for_end(&gateway, &account.key, id, Duration::from_secs(30)).await;
    assert!(
        job["message"]
            .as_str()
            .expect("a reason")
            .starts_with("[Cancelled]"),
        "{job}"
    );
    assert_eq!(
        gateway.balance(&account.key).await,
        (964.0, 36.0),
        "its quota is back"
    );
    let again = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
    assert_eq!(again.status, 200, "and so is its place");
    let twice = gateway
        .post(&account.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
        .await;
    twice.assert_refused(400, "already_finished");
}

#[tokio::test]
async fn a_job_that_outlives_its_time_out_fails_with_its_quota_back() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let parent = gateway.imagine(&account.key, "a fox").await;
    wait_for_end(&gateway, &account.key, &parent, Duration::from_mins(1)).await;
    // Ten seconds is the shortest time limit there is; the repaint stalls.
    let info = gateway
        .get(&account.key, &format!("/jobs/v1/{parent}"))
        .await
        .json["data"]["files"][0]
        .clone();
    let side = |name: &str| info[name].as_u64().expect("a size") as u32;
    let mask = atelier_media::Picture::filled(side("width"), side("height"), [255; 4]);
    let mask = atelier_media::encode(&mask, atelier_media::Encoding::Png, None);
    let mask = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, mask);
    let begin = Instant::now();
    let body =
        json!({ "jobId": parent, "mask": mask, "prompt": "an owl [[stall]]", "timeout": 10 });
    let answer = gateway.post(&account.key, "/artgen/v1/inpaint", body).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let id = answer.json["data"]["jobId"].as_str().expect("an id");
    let job = wait_for_end(&gateway, &account.key, id, Duration::from_secs(15)).await;
    assert!(begin.elapsed() >= Duration::from_secs(10), "not early");
    assert_eq!(
        (&job["status"], &job["message"], &job["quota"]),
        (&json!("FAILED"), &json!("Job Timeout"), &json!(0))
    );
    assert_eq!(
        gateway.balance(&account.key).await,
        (96.0, 0.0),
        "only the first picture was paid for"
    );
}

#[tokio::test]
async fn sandbox_words_fail_reject_and_name_the_reason() {
    let gateway = Options::default().spawn().await;
    let account = gateway.account(100).await;
    for (words, message) in [
        ("[[fail: no more paint]]", "no more paint"),
        ("[[reject]]", "[Image denied]"),
    ] {
        let body = json!({ "prompt": format!("a fox {words}") });
        let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
        let id = answer.json["data"]["jobId"].as_str().expect("an id");
        let job = wait_for_end(&gateway, &account.key, id, Duration::from_secs(20)).await;
        assert_eq!(job["status"], "FAILED");
        assert!(
            job["message"].as_str().expect("a reason").contains(message),
            "{job}"
        );
    }
    assert_eq!(gateway.balance(&account.key).await, (100.0, 0.0));
}
