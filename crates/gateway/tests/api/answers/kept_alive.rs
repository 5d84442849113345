//! Answers that begin with white space because their result takes long.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{DESIGN, GENERATIONS, small, streamable, with};
use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

async fn lively() -> Gateway {
    Options::default()
        .set("ANSWERS_KEEP_ALIVE_S", "2")
        .spawn()
        .await
}

/// How many bytes of white space an answer begins with, and what follows.
fn unwrapped(text: &str) -> (usize, Value) {
    let body = text.trim_start();
    let json = serde_json::from_str(text).expect("JSON, white space and all");
    (text.len() - body.len(), json)
}

/// The promise: a call that takes long is answered before its result is there, and its body is the usual one.
#[tokio::test]
async fn a_long_call_is_kept_alive_and_a_short_one_is_as_ever() {
    let gateway = lively().await;
    let caller = gateway.account(1000).await;
    for body in [
        small("a boat [[delay 6s]]"),
        streamable("a fox [[delay 6s]]"),
    ] {
        let request = gateway.request(Method::POST, GENERATIONS);
        let request = request.header("SVC-API-KEY", &caller.key).json(&body);
        let begun = Stopwatch::start();
        let answer = request.send().await.expect("an answer");
        assert!(begun.elapsed() < Duration::from_secs(5), "it begins early");
        assert_eq!(answer.status(), 200);
        assert_eq!(
            answer.headers()["content-type"],
            "application/json; charset=utf-8"
        );
        let (spaces, json) = unwrapped(&answer.text().await.expect("a body"));
        assert!(spaces >= 2, "{spaces}");
        assert!(json["data"][0].is_object(), "{json}");
    }
    let short = gateway
        .post(&caller.key, GENERATIONS, small("a lake"))
        .await;
    assert_eq!(short.status, 200, "{}", short.json);
    assert_eq!(short.bytes[0], b'{');
    assert_eq!(
        short.header("content-length"),
        short.bytes.len().to_string()
    );
}

/// The promise: a failure that comes late is told in the body of an answer that has begun well, as it is told otherwise.
#[tokio::test]
async fn a_late_failure_is_told_in_the_body() {
    let gateway = lively().await;
    let caller = gateway.account(1000).await;
    for path in [GENERATIONS, DESIGN] {
        let late = json!({ "prompt": "[[delay 3s]] [[fail: no more paint]]" });
        let late = gateway.post(&caller.key, path, late).await;
        assert_eq!(late.status, 200, "{path}");
        let (spaces, told) = unwrapped(&String::from_utf8_lossy(&late.bytes));
        assert!(spaces >= 1, "{path}");
        assert_eq!(
            (&told["status"], &told["code"]),
            (&json!("FAILED"), &json!("backend_failed"))
        );
        assert_eq!(told["error"].is_object(), path == GENERATIONS, "{told}");
        let early = json!({ "prompt": "[[fail: no more paint]]" });
        let early = gateway.post(&caller.key, path, early).await;
        early.assert_refused(502, "backend_failed");
    }
    assert_eq!(gateway.balance(&caller.key).await, (1000.0, 0.0));
}

/// The promise: whoever waits this way takes a place as whoever waits in silence does, and gives it back with the answer.
#[tokio::test]
async fn an_answer_that_is_kept_alive_has_its_place_until_it_is_made() {
    let gateway = Options::default()
        .set("ANSWERS_KEEP_ALIVE_S", "2")
        .set("LIMITS_REQUESTS", "8")
        .spawn()
        .await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    let body = small("a boat [[delay 5s]]");
    let request = gateway.request(Method::POST, GENERATIONS);
    let request = request.header("SVC-API-KEY", &caller.key).json(&body);
    let answer = request.send().await.expect("an answer");
    let refused = gateway.get(&caller.key, "/jobs/v1").await;
    refused.assert_refused(429, "rate_limited");
    assert_eq!(gateway.get(&other.key, "/jobs/v1").await.status, 200);
    let (_, json) = unwrapped(&answer.text().await.expect("a body"));
    assert!(json["data"][0]["url"].is_string(), "{json}");
    let again = gateway.request(Method::GET, "/jobs/v1");
    assert_eq!(
        send(again.header("SVC-API-KEY", &caller.key)).await.status,
        200
    );
    let quick = with(small("a lake"), "n", 2);
    assert_eq!(
        gateway.post(&caller.key, GENERATIONS, quick).await.status,
        200
    );
}
