//! Answers that are not waited for.

use reqwest::Method;
use serde_json::{Value, json};

use super::{DESIGN, EDITS, GENERATIONS, answered, call, jobs, path_of, small, streamable, with};
use crate::batches;
use crate::gateway::{Answer, Gateway, Options, send};

/// The identifier in an answer that only says where another one will be, after a look at everything it says.
fn pending(gateway: &Gateway, answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{}", answer.json);
    let id = answer.json["id"].as_str().expect("an id").to_owned();
    let poll = format!("{}{}", gateway.base_url, path_of(&id));
    assert_eq!(answer.json["poll"], poll);
    assert_eq!(
        answer.json["events"],
        format!("{}/jobs/v1/{id}/events", gateway.base_url)
    );
    let status = answer.json["status"].as_str().expect("a word");
    assert!(["queued", "in_progress"].contains(&status), "{status}");
    assert!(answer.json["progress"].is_u64(), "{}", answer.json);
    assert_eq!(answer.header("location"), poll);
    assert_eq!(answer.header("preference-applied"), "respond-async");
    assert_eq!(answer.header("x-atelier-job-id"), id);
    let again: u32 = answer.header("retry-after").parse().expect("seconds");
    assert!((1..=10).contains(&again), "{again}");
    id
}

/// The promise: what is answered later is what would have been answered at once, to the byte, and one key finds it either way.
#[tokio::test]
async fn a_call_that_is_not_waited_for_is_answered_later_as_it_would_have_been() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    let edit = json!({ "model": "art-2", "prompt": "a balloon", "size": "256x256", "image": picture(&gateway, &caller.key).await });
    let calls = [
        (GENERATIONS, small("a boat")),
        (GENERATIONS, streamable("a fox")),
        (EDITS, edit),
        (DESIGN, json!({ "prompt": "a logo" })),
    ];
    let (before, _) = jobs(&gateway, &caller.key).await;
    for (number, (path, body)) in calls.iter().enumerate() {
        let name = format!("call-{number}");
        let asked = with(body.clone(), "async", true);
        let first = call(&gateway, &caller.key, path, &name, &asked).await;
        let id = pending(&gateway, &first);
        let later = answered(&gateway, &caller.key, &path_of(&id)).await;
        assert_eq!(later.status, 200, "{path}: {}", later.json);
        assert_eq!(later.header("x-atelier-job-id"), id);
        let at_once = call(&gateway, &caller.key, path, &name, body).await;
        assert_eq!(at_once.status, 200, "{path}: {}", at_once.json);
        assert_eq!(at_once.bytes, later.bytes, "{path}");
        assert_eq!(at_once.header("x-atelier-job-id"), "", "as ever");
        // Asked for once more without waiting, it says where its answer is.
        let again = call(&gateway, &caller.key, path, &name, &asked).await;
        assert_eq!(pending(&gateway, &again), id);
        assert_eq!(again.json["progress"], 100);
    }
    let (after, _) = jobs(&gateway, &caller.key).await;
    assert_eq!(after - before, 4, "each call is one job");
}

/// A square picture as base64, from the service itself.
async fn picture(gateway: &Gateway, key: &str) -> Value {
    let body = with(small("a square"), "response_format", "b64_json");
    let made = gateway.post(key, GENERATIONS, body).await;
    let bytes = made.json["data"][0]["b64_json"].clone();
    assert!(bytes.is_string(), "{}", made.json);
    bytes
}

#[tokio::test]
async fn a_preference_of_the_head_means_the_same_and_pictures_have_a_path_of_their_own() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    let prefer = |path: &str, body: Value| {
        let request = gateway.request(Method::POST, path);
        let request = request.header("Prefer", "wait=1, respond-async");
        send(request.header("SVC-API-KEY", &caller.key).json(&body))
    };
    let id = pending(&gateway, &prefer(GENERATIONS, small("a boat")).await);
    let own = format!("/v1/images/{id}");
    let answer = answered(&gateway, &caller.key, &own).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(answer.header("x-atelier-job-id"), id);
    let usual = gateway.get(&caller.key, &path_of(&id)).await;
    assert_eq!(answer.bytes, usual.bytes);
    // The body has the last word.
    let body = with(small("a boat"), "async", false);
    assert_eq!(prefer(GENERATIONS, body).await.status, 200);
    // Of another family, there is no such picture.
    let id = pending(
        &gateway,
        &prefer(DESIGN, json!({ "prompt": "a logo" })).await,
    );
    let other = gateway.get(&caller.key, &format!("/v1/images/{id}")).await;
    other.assert_refused(400, "job_not_found");
    // An operation that answers with a job does that as ever, and has no other answer.
    let job = prefer("/artgen/v1/imagine", json!({ "prompt": "a lake" })).await;
    assert_eq!(job.status, 200, "{}", job.json);
    let id = job.json["data"]["jobId"].as_str().expect("an id");
    let none = gateway.get(&caller.key, &path_of(id)).await;
    none.assert_refused(400, "action_not_available");
    let stranger = gateway.account(1).await;
    let hidden = gateway.get(&stranger.key, &path_of(id)).await;
    hidden.assert_refused(400, "job_not_found");
}

/// The promise: a failure is told later as it would have been told at once, in the shape of its own path.
#[tokio::test]
async fn a_failure_is_told_later_as_it_would_have_been() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    for (path, body, status, code) in [
        (
            GENERATIONS,
            small("[[fail: no more paint]]"),
            502,
            "backend_failed",
        ),
        (
            GENERATIONS,
            streamable("[[reject]]"),
            400,
            "content_rejected",
        ),
        (
            DESIGN,
            json!({ "prompt": "[[fail: no more paint]]" }),
            502,
            "backend_failed",
        ),
    ] {
        let asked = with(body.clone(), "async", true);
        let name = format!("{path} {code}").replace(' ', "-");
        let first = call(&gateway, &caller.key, path, &name, &asked).await;
        let id = pending(&gateway, &first);
        let later = answered(&gateway, &caller.key, &path_of(&id)).await;
        later.assert_refused(status, code);
        assert_eq!(later.header("x-atelier-job-id"), id);
        let at_once = call(&gateway, &caller.key, path, &name, &body).await;
        at_once.assert_refused(status, code);
        assert_eq!(at_once.bytes, later.bytes, "{path}");
        assert_eq!(later.json["error"].is_object(), path.starts_with("/v1/"));
    }
    assert_eq!(gateway.balance(&caller.key).await, (1000.0, 0.0));
}

#[tokio::test]
async fn an_answer_is_gone_with_its_files() {
    let gateway = Options::default()
        .set("RETENTION_ANSWER_MINUTES", "0")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    for body in [small("a boat"), streamable("a fox")] {
        let asked = with(body, "async", true);
        let first = gateway.post(&caller.key, GENERATIONS, asked).await;
        let id = pending(&gateway, &first);
        let gone = answered(&gateway, &caller.key, &path_of(&id)).await;
        gone.assert_refused(410, "expired");
        assert!(gone.json["error"].is_object(), "{}", gone.json);
    }
}

#[tokio::test]
async fn what_cannot_be_answered_so_is_refused_by_name_and_costs_nothing() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    for (body, field) in [
        (with(small("a boat"), "async", "yes"), "async"),
        (with(small("a boat"), "stream", true), "stream"),
        (
            with(with(streamable("a fox"), "stream", true), "async", true),
            "stream",
        ),
        (
            with(
                with(streamable("a fox"), "stream", true),
                "partial_images",
                4,
            ),
            "partial_images",
        ),
        (
            with(small("a boat"), "hookUrl", "ftp://example.com"),
            "hookUrl",
        ),
    ] {
        let refused = gateway.post(&caller.key, GENERATIONS, body).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{}", refused.json);
    }
    assert_eq!(jobs(&gateway, &caller.key).await.0, 0);
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
}

/// The promise: what answers with its result may be submitted together with others, and is answered later.
#[tokio::test]
async fn a_batch_takes_operations_that_answer_with_their_result() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    let edit = json!({ "model": "art-2", "prompt": "a balloon", "size": "256x256", "image": picture(&gateway, &caller.key).await });
    let one =
        |operation: &str, request: Value| json!({ "operation": operation, "request": request });
    let body = json!({ "requests": [
        one("imgmodel.generations", streamable("a fox")),
        one("imgmodel.edits", edit),
        one("design.generations", json!({ "prompt": "a logo" })),
        one("imgmodel.generations", small("[[fail: no more paint]]")),
        one("imgmodel.generations", with(streamable("a fox"), "stream", true)),
    ] });
    let told = batches::submit(&gateway, &caller.key, &body, None).await;
    assert_eq!(told.status, 200, "{}", told.json);
    let answers = told.json["data"]["answers"].as_array().expect("answers");
    for (place, status) in [200, 200, 200, 502].into_iter().enumerate() {
        let id = answers[place]["data"]["jobId"].as_str();
        let id = id.unwrap_or_else(|| panic!("{}", answers[place]));
        let answer = answered(&gateway, &caller.key, &path_of(id)).await;
        assert_eq!(answer.status, status, "{}", answer.json);
    }
    assert_eq!(answers[4]["code"], "invalid_parameter", "{}", answers[4]);
    assert_eq!(answers[4]["param"], "stream", "{}", answers[4]);
}
