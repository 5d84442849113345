//! vidgen as its callers call it: parameters in the query and the body, in both spellings, and pictures in every form.

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::files::png;
use crate::gateway::{Account, Answer, Gateway, send};

/// Calls a path with a query and, perhaps, a body.
async fn call(gateway: &Gateway, caller: &Account, path: &str, body: Option<Value>) -> Answer {
    let request = gateway
        .request(Method::POST, path)
        .header("SVC-API-KEY", &caller.key);
    send(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

/// What is kept of an accepted request.
async fn kept(gateway: &Gateway, caller: &Account, answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.json);
    let id = answer.json["data"]["jobId"].as_str().expect("a job id");
    let job = gateway.get(&caller.key, &format!("/jobs/v1/{id}")).await;
    job.json["data"]["request"].clone()
}

/// The promise: the page of the interface that tells of query parameters and the one that tells of a body are both right.
#[tokio::test]
async fn characters_and_no_watermark_read_query_and_body_and_the_body_wins() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let path = "/vidgen/characters?character_url=https%3A%2F%2Fexample.com%2Fq.mp4&timestamps=1%2C3\
        &hookUrl=https%3A%2F%2Fexample.com%2Fhook";
    let answer = call(&gateway, &caller, path, None).await;
    let request = kept(&gateway, &caller, &answer).await;
    assert_eq!(request["url"], "https://example.com/q.mp4");
    assert_eq!(request["timestamps"], "1,3");
    assert_eq!(request["hookUrl"], "https://example.com/hook");
    // A body in the other spelling wins all the same; what it leaves out or empty is the query's.
    let body = json!({ "url": "https://example.com/b.mp4", "hook_url": "https://example.com/own", "timestamps": "" });
    let answer = call(&gateway, &caller, path, Some(body)).await;
    let request = kept(&gateway, &caller, &answer).await;
    assert_eq!(request["url"], "https://example.com/b.mp4");
    assert_eq!(request["timestamps"], "1,3");
    assert_eq!(request["hookUrl"], "https://example.com/own");
    let body =
        json!({ "character_url": "https://example.com/c.mp4", "character_timestamps": "0,2" });
    let answer = call(&gateway, &caller, "/vidgen/characters", Some(body)).await;
    let request = kept(&gateway, &caller, &answer).await;
    assert_eq!(request["timestamps"], "0,2");
    let answer = call(&gateway, &caller, "/vidgen/characters?url=x", None).await;
    answer.assert_refused(400, "invalid_parameter");
    assert_eq!(answer.json["param"], "url");

    let path = "/vidgen/no-watermark?url=https%3A%2F%2Fexample.com%2Fq.mp4";
    let answer = call(&gateway, &caller, path, None).await;
    let request = kept(&gateway, &caller, &answer).await;
    assert_eq!(request["url"], "https://example.com/q.mp4");
    for path in [
        "/vidgen/no-watermark?job_id=none",
        "/vidgen/no-watermark?jobId=none",
    ] {
        let answer = call(&gateway, &caller, path, None).await;
        answer.assert_refused(400, "job_not_found");
    }
    // Elsewhere a query is no place for parameters.
    let path = "/vidgen/generations?model=video-2&prompt=x";
    let answer = call(&gateway, &caller, path, None).await;
    answer.assert_refused(400, "missing_parameter");
}

/// The promise: pictures come to a video as they come everywhere else, and a word after an at sign is a word.
#[tokio::test]
async fn a_video_takes_pictures_in_base64_and_words_after_at_signs() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let picture = base64::engine::general_purpose::STANDARD.encode(png(64, 64));
    let body = json!({ "model": "video-2", "prompt": "[[stall]] a fox for @nobody",
        "referImages": [picture, format!("data:image/png;base64,{picture}")] });
    let answer = gateway.post(&caller.key, "/vidgen/generations", body).await;
    let request = kept(&gateway, &caller, &answer).await;
    let images = request["referImages"].as_array().expect("a list");
    assert_eq!(images.len(), 2);
    for image in images {
        assert!(
            image.as_str().expect("a name").starts_with("inline:"),
            "{image}"
        );
    }
}
