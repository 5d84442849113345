//! What the service says of itself in numbers, while it works.

use std::collections::BTreeSet;
use std::time::Duration;

use atelier_contract::metrics::METRICS;
use reqwest::Method;
use serde_json::json;
use tokio::time::Instant;

use crate::gateway::{Gateway, send};
use crate::outside::Mailbox;

const PATIENCE: Duration = Duration::from_mins(1);

async fn scraped(gateway: &Gateway) -> String {
    let answer = send(gateway.request(Method::GET, "/metrics")).await;
    assert_eq!(answer.status, 200);
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// The value of a row; 0 when it is not there.
fn value(text: &str, row: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(row));
    line.map_or(0.0, |value| value.trim().parse().expect("a number"))
}

/// Waits until a row is at least so large, and gives all that was read then.
async fn at_least(gateway: &Gateway, row: &str, least: f64) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = scraped(gateway).await;
        if value(&text, row) >= least {
            return text;
        }
        assert!(
            Instant::now() < deadline,
            "{row} stays below {least}: {text}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The promise: the table is what is served, no more and no less, and one job leaves its traces in every stage.
#[tokio::test]
async fn one_job_is_counted_at_every_stage_under_the_names_of_the_table() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(1000).await;
    let mailbox = Mailbox::start();
    let body = json!({ "prompt": "a lighthouse", "hookUrl": mailbox.url() });
    let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
    let id = answer.json["data"]["jobId"].as_str().expect("a job id");
    let text = at_least(&gateway, "atelier_callback_lag_seconds_count", 1.0).await;
    let fetched = gateway
        .post(&account.key, "/artgen/v1/fetch", json!({ "jobId": id }))
        .await;
    assert_eq!(fetched.json["status"], "SUCCESS", "{}", fetched.json);
    let later = scraped(&gateway).await;

    let served: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let table: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(served, table);

    for row in [
        "atelier_http_request_duration_seconds_count{route=\"submit\",family=\"artgen\"}",
        "atelier_job_duration_seconds_count{family=\"artgen\",outcome=\"succeeded\"}",
        "atelier_job_wait_seconds_count{family=\"artgen\"}",
        "atelier_vendor_job_duration_seconds_count{vendor=\"embedded\"}",
        "atelier_vendor_call_duration_seconds_count{vendor=\"embedded\",call=\"start\"}",
        "atelier_callback_tries_total{outcome=\"delivered\"}",
        "atelier_callback_duration_seconds_count",
    ] {
        assert_eq!(value(&text, row) as i64, 1, "{row} in {text}");
    }
    let fetches = "atelier_http_request_duration_seconds_count{route=\"fetch\",family=\"artgen\"}";
    assert_eq!(value(&later, fetches) as i64, 1, "{later}");
    for row in [
        "atelier_commit_duration_seconds_count",
        "atelier_commit_batch_changes_count",
        "atelier_file_store_duration_seconds_count",
        "atelier_stored_bytes",
        "atelier_disk_free_bytes",
        "process_resident_memory_bytes",
        "atelier_store_up",
    ] {
        assert!(value(&text, row) >= 1.0, "{row} in {text}");
    }
    assert!(!text.contains(account.id.as_str()), "no account is named");
}

/// The promise: what is held is seen, with its age, and is gone when the job is over.
#[tokio::test]
async fn held_quota_and_its_age_are_shown_while_a_job_is_unfinished() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(1000).await;
    let id = gateway.imagine(&account.key, "a boat [[stall]]").await;
    let text = at_least(&gateway, "atelier_hold_oldest_seconds", 0.1).await;
    assert!(value(&text, "atelier_held_quota") >= 1.0, "{text}");
    assert_eq!(value(&text, "atelier_ledger_drift_accounts") as i64, 0);
    let path = format!("/admin/v1/jobs/{id}/cancel");
    assert_eq!(gateway.operate(Method::POST, &path, None).await.status, 200);
    let text = scraped(&gateway).await;
    assert!(value(&text, "atelier_held_quota").abs() < 0.001, "{text}");
    let failed = "atelier_job_duration_seconds_count{family=\"artgen\",outcome=\"failed\"}";
    assert_eq!(value(&text, failed) as i64, 1, "{text}");
}
