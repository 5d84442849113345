//! Answers that are streamed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use super::{EDITS, GENERATIONS, answered, call, jobs, path_of, small, streamable, with};
use crate::gateway::{Answer, Gateway, Options, send};

/// The events of a stream that was read to its end.
fn events(answer: &Answer) -> Vec<(String, Value)> {
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(text.ends_with("\n\n"), "the last event is whole");
    let blocks = text.split("\n\n");
    let blocks = blocks.filter(|block| !block.is_empty() && !block.starts_with(':'));
    let event = |block: &str| {
        let (name, data) = block.split_once('\n').expect("two lines");
        let name = name.strip_prefix("event: ").expect("a name").to_owned();
        let data = data.strip_prefix("data: ").expect("data");
        (name, serde_json::from_str(data).expect("JSON"))
    };
    blocks.map(event).collect()
}

/// Everything that the vendor's own interface promises of a finished image.
fn is_image(event: &(String, Value), name: &str) {
    let (named, data) = event;
    assert_eq!((named.as_str(), &data["type"]), (name, &json!(name)));
    let bytes = STANDARD.decode(data["b64_json"].as_str().expect("base64"));
    assert_eq!(&bytes.expect("base64")[8..12], b"WEBP");
    assert!(
        data["created_at"]
            .as_i64()
            .is_some_and(|s| s > 1_700_000_000)
    );
    assert_eq!(data["size"], "1024x1024");
    assert_eq!(data["quality"], "low");
    assert_eq!(data["background"], "opaque");
    assert_eq!(data["output_format"], "webp");
    let usage = &data["usage"];
    let sum = usage["input_tokens"].as_u64().expect("a number")
        + usage["output_tokens"].as_u64().expect("a number");
    assert_eq!(usage["total_tokens"], sum);
    assert!(usage["input_tokens_details"]["text_tokens"].is_u64());
}

/// The promise: a stream brings every image, is the same job under the same key, and its bytes are those of the answer.
#[tokio::test]
async fn a_stream_ends_with_its_images() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    let plain = with(streamable("a fox"), "n", 2);
    let body = with(with(plain.clone(), "stream", true), "partial_images", 2);
    let streamed = call(&gateway, &caller.key, GENERATIONS, "one", &body).await;
    let seen = events(&streamed);
    assert_eq!(seen.len(), 2, "one for each image");
    for event in &seen {
        is_image(event, "image_generation.completed");
    }
    let (count, id) = jobs(&gateway, &caller.key).await;
    assert_eq!(streamed.header("x-atelier-job-id"), id);
    // The same key finds the same job in every other way.
    let at_once = call(&gateway, &caller.key, GENERATIONS, "one", &plain).await;
    assert_eq!(at_once.json["data"][1]["b64_json"], seen[1].1["b64_json"]);
    let later = with(plain, "async", true);
    let later = call(&gateway, &caller.key, GENERATIONS, "one", &later).await;
    assert_eq!(
        (later.status.as_u16(), &later.json["id"]),
        (202, &json!(id))
    );
    let again = call(&gateway, &caller.key, GENERATIONS, "one", &body).await;
    assert_eq!(events(&again), seen);
    assert_eq!((count, jobs(&gateway, &caller.key).await.0), (1, 1));

    let picture = at_once.json["data"][0]["b64_json"].clone();
    let edit = with(
        with(streamable("at night"), "image", picture),
        "stream",
        true,
    );
    let edited = gateway.post(&caller.key, EDITS, edit).await;
    let seen = events(&edited);
    assert_eq!(seen.len(), 1);
    is_image(&seen[0], "image_edit.completed");
}

/// The promise: a failure ends a stream with the object that the vendor's client libraries throw, and costs nothing.
#[tokio::test]
async fn a_failure_ends_a_stream_and_a_refusal_begins_none() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let body = with(streamable("[[fail: no more paint]]"), "stream", true);
    let seen = events(&call(&gateway, &caller.key, GENERATIONS, "fails", &body).await);
    assert_eq!(seen.len(), 1);
    let (name, data) = &seen[0];
    assert_eq!((name.as_str(), &data["type"]), ("error", &json!("error")));
    assert_eq!(data["code"], "backend_failed");
    let told = data["error"]["message"].as_str().expect("a message");
    assert!(told.contains("no more paint"), "{told}");
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
    let (_, id) = jobs(&gateway, &caller.key).await;
    let later = answered(&gateway, &caller.key, &path_of(&id)).await;
    later.assert_refused(502, "backend_failed");

    // A key that stands for a picture of another model finds no stream.
    let made = call(
        &gateway,
        &caller.key,
        GENERATIONS,
        "small",
        &small("a boat"),
    )
    .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let body = with(small("a boat"), "stream", true);
    let refused = call(&gateway, &caller.key, GENERATIONS, "small", &body).await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "stream");
    let poor = gateway.account(0).await;
    let body = with(streamable("a fox"), "stream", true);
    let refused = gateway.post(&poor.key, GENERATIONS, body).await;
    refused.assert_refused(400, "insufficient_quota");
}

/// The promise: a stream says every 15 seconds that it is alive.
#[tokio::test]
async fn a_silent_stream_says_that_it_is_alive() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let body = with(streamable("a fox [[delay 16s]]"), "stream", true);
    let answer = gateway.post(&caller.key, GENERATIONS, body).await;
    assert_eq!(events(&answer).len(), 1);
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    assert!(text.starts_with(": "), "a comment comes first");
}

/// The promise: whoever has as many streams as it may is told so before a job is accepted, and others find a place.
#[tokio::test]
async fn a_stream_needs_a_place_before_anything_is_accepted() {
    let gateway = Options::default()
        .set("LIMITS_EVENT_STREAMS", "8")
        .spawn()
        .await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    let body = with(streamable("a fox [[delay 3s]]"), "stream", true);
    let open = |key: &str| {
        let request = gateway.request(Method::POST, GENERATIONS);
        request.header("SVC-API-KEY", key).json(&body)
    };
    let first = open(&caller.key).send().await.expect("a stream");
    assert_eq!(first.status(), 200);
    let second = send(open(&caller.key)).await;
    second.assert_refused(429, "rate_limited");
    assert_eq!(jobs(&gateway, &caller.key).await.0, 1);
    let theirs = open(&other.key).send().await.expect("a stream");
    assert_eq!(theirs.status(), 200);
    let text = first.text().await.expect("the end");
    assert!(text.contains("image_generation.completed"));
    // With the first one over, there is a place again.
    let third = send(open(&caller.key)).await;
    assert_eq!(events(&third).len(), 1);
}
