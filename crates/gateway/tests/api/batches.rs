//! Many requests in one call, and the stream of all jobs of an account.

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::gateway::{Account, Answer, Gateway, Options, send};

/// The events of a stream until one is the last that is waited for.
pub(crate) async fn until(
    response: &mut Response,
    last: impl Fn(&str, &Value) -> bool,
) -> Vec<(i64, Value)> {
    let (mut text, mut found) = (String::new(), Vec::new());
    let read = async {
        while let Some(more) = response.chunk().await.expect("a stream") {
            text.push_str(&String::from_utf8_lossy(&more));
            while let Some((block, rest)) = text.split_once("\n\n") {
                let line = |name: &str| {
                    let found = block.lines().find_map(|line| line.strip_prefix(name));
                    found.unwrap_or_default().to_owned()
                };
                let (kind, id, data) = (line("event: "), line("id: "), line("data: "));
                let rest = rest.to_owned();
                text = rest;
                if kind.is_empty() {
                    continue;
                }
                let data: Value = serde_json::from_str(&data).expect("JSON");
                let over = last(&kind, &data);
                found.push((id.parse().expect("a number"), data));
                if over {
                    return;
                }
            }
        }
    };
    timeout(Duration::from_mins(2), read)
        .await
        .expect("in time");
    found
}

pub(crate) async fn open(gateway: &Gateway, key: &str, path: &str, last: Option<i64>) -> Response {
    let mut request = gateway
        .request(Method::GET, path)
        .header("SVC-API-KEY", key);
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last.to_string());
    }
    request.send().await.expect("an answer")
}

/// An account whose queues hold many jobs.
async fn account(gateway: &Gateway, balance: u32, max_queue: u32) -> Account {
    let account = gateway.account(balance).await;
    let path = format!("/admin/v1/accounts/{}", account.id);
    let wish = json!({ "max_queue": max_queue });
    let changed = gateway.operate(Method::PATCH, &path, Some(wish)).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    account
}

pub(crate) async fn submit(
    gateway: &Gateway,
    key: &str,
    body: &Value,
    name: Option<&str>,
) -> Answer {
    let mut request = gateway.request(Method::POST, "/jobs/v1/batch");
    request = request.header("SVC-API-KEY", key).json(body);
    if let Some(name) = name {
        request = request.header("Idempotency-Key", name);
    }
    send(request).await
}

pub(crate) fn imagine(prompt: &str) -> Value {
    json!({ "operation": "artgen.imagine", "request": { "prompt": prompt } })
}

#[tokio::test]
async fn a_thousand_requests_hold_exactly_their_price_and_a_repetition_holds_nothing() {
    let gateway = Options::default()
        .set("STUDIO_PACE", "realistic")
        .set("LIMITS_SUBMITS_PER_SECOND", "0")
        .spawn()
        .await;
    let caller = account(&gateway, 4010, 1000).await;
    let requests: Vec<Value> = (0..1000)
        .map(|n| imagine(&format!("[[stall]] {n}")))
        .collect();
    let body = json!({ "requests": requests });
    let first = submit(&gateway, &caller.key, &body, Some("the-one")).await;
    assert_eq!(first.status, 200, "{}", first.json);
    let data = &first.json["data"];
    assert_eq!(
        (&data["accepted"], &data["refused"]),
        (&json!(1000), &json!(0))
    );
    assert_eq!(data["answers"][999]["status"], "SUCCESS");
    assert_eq!(gateway.balance(&caller.key).await, (10.0, 4000.0));
    let again = submit(&gateway, &caller.key, &body, Some("the-one")).await;
    assert_eq!(again.json, first.json);
    assert_eq!(gateway.balance(&caller.key).await, (10.0, 4000.0));
    let other = json!({ "requests": [imagine("a lake")] });
    let other = submit(&gateway, &caller.key, &other, Some("the-one")).await;
    other.assert_refused(422, "idempotency_mismatch");
    let path = format!(
        "/jobs/v1/batch/{}",
        data["batchId"].as_str().expect("an id")
    );
    let shown = gateway.get(&caller.key, &path).await.json["data"].clone();
    assert_eq!(shown["held"], 4000);
    assert_eq!(shown["counts"]["total"], 1000);
    let open = &shown["counts"];
    let open = open["waiting"].as_i64().zip(open["running"].as_i64());
    assert_eq!(open.map(|(one, two)| one + two), Some(1000));
    let too_many: Vec<Value> = (0..1001).map(|_| imagine("a")).collect();
    let too_many = json!({ "requests": too_many });
    let refused = submit(&gateway, &caller.key, &too_many, None).await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "requests");
}

#[tokio::test]
async fn requests_of_a_batch_count_against_the_rate_of_submits() {
    let gateway = Options::default()
        .set("LIMITS_SUBMITS_PER_SECOND", "1")
        .set("LIMITS_SUBMITS_BURST", "5")
        .spawn()
        .await;
    let caller = account(&gateway, 100, 100).await;
    let requests: Vec<Value> = (0..20)
        .map(|n| imagine(&format!("[[stall]] {n}")))
        .collect();
    let body = json!({ "requests": requests });
    let begun = Instant::now();
    let told = submit(&gateway, &caller.key, &body, Some("the-one")).await;
    assert_eq!(told.status, 200, "{}", told.json);
    let data = &told.json["data"];
    let accepted = data["accepted"].as_i64().expect("a number");
    // Each second allows one more.
    let most = 6 + begun.elapsed().as_secs() as i64;
    assert!((5..=most).contains(&accepted), "{data}");
    assert_eq!(data["answers"][19]["code"], "rate_limited", "{data}");
    let held = gateway.balance(&caller.key).await.1;
    assert!((held - 4.0 * accepted as f64).abs() < 0.001, "{held} held");
    // A single submit finds nothing left, or what a second brought.
    let body = json!({ "requests": [imagine("a lake")] });
    let mut all = accepted;
    let single = loop {
        let single = submit(&gateway, &caller.key, &body, None).await;
        if single.status != 200 {
            break single;
        }
        all += 1;
        let most = 6 + begun.elapsed().as_secs() as i64;
        assert!(all <= most, "{all} of {most} were accepted");
    };
    single.assert_refused(429, "rate_limited");
}

#[tokio::test]
async fn each_request_of_a_batch_is_told_what_its_own_submit_would_have_been_told() {
    let gateway = Gateway::spawn().await;
    let caller = account(&gateway, 10, 2).await;
    let motion = json!({ "operation": "motion.generations", "request": {} });
    let body = json!({ "requests": [
        imagine("a lake [[stall]]"),
        { "operation": "design.generations", "request": { "prompt": "a", "stream": true } },
        { "operation": "imgmodel.edits", "request": {} },
        { "operation": "no.such", "request": {} },
        imagine("a porn"),
        motion,
        imagine("a tree [[stall]]"),
        imagine("one too many"),
        { "operation": "vidgen.generations", "request": { "model": "video-2", "prompt": "a wave" } },
    ] });
    let answer = submit(&gateway, &caller.key, &body, None).await;
    let answers = answer.json["data"]["answers"].as_array().expect("answers");
    let told: Vec<&str> = answers
        .iter()
        .map(|one| {
            one["code"]
                .as_str()
                .unwrap_or_else(|| one["status"].as_str().expect("a status"))
        })
        .collect();
    let expected = [
        "SUCCESS",
        "invalid_parameter",
        "missing_parameter",
        "invalid_parameter",
        "banned_prompt",
        "missing_parameter",
        "SUCCESS",
        "queue_full",
        "insufficient_quota",
    ];
    assert_eq!(told, expected);
    assert_eq!(answers[5]["data"], json!({}), "as motion says it");
    let single = gateway
        .post(&caller.key, "/motion/v1/generations", json!({}))
        .await;
    assert_eq!(single.json, answers[5]);
    assert_eq!(gateway.balance(&caller.key).await, (2.0, 8.0));
}

#[tokio::test]
async fn the_stream_of_an_account_tells_of_every_job_and_goes_on_where_it_was_left() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (account(&gateway, 100, 20).await, gateway.account(100).await);
    let early = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let mut stream = open(&gateway, &caller.key, "/jobs/v1/events", None).await;
    let theirs = gateway.imagine(&other.key, "a wood").await;
    let body = json!({ "requests": [imagine("a hill"), imagine("a fox"), imagine("porn")] });
    let batch = submit(&gateway, &caller.key, &body, None).await;
    let data = &batch.json["data"];
    let ended = |id: &Value| {
        let id = id.as_str().expect("an id").to_owned();
        move |_: &str, data: &Value| data["jobId"] == *id && data["status"] == "SUCCESS"
    };
    let (first, second) = (
        &data["answers"][0]["data"]["jobId"],
        &data["answers"][1]["data"]["jobId"],
    );
    let mut seen = until(&mut stream, ended(first)).await;
    let done = |id: &Value, seen: &[(i64, Value)]| seen.iter().any(|(_, one)| ended(id)("", one));
    if !done(second, &seen) {
        seen.extend(until(&mut stream, ended(second)).await);
    }
    assert_eq!(
        seen[0].1["jobId"], early,
        "it opens with what is unfinished"
    );
    assert!(
        seen.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "ids grow"
    );
    assert!(
        seen.iter()
            .all(|(_, job)| job["jobId"] != theirs && job.get("request").is_none())
    );
    assert_eq!(
        seen.last().expect("an event").1["files"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    drop(stream);

    // What ends while nobody listens is told afterwards.
    let last = seen.last().expect("an event").0;
    let cancel = format!("/jobs/v1/{early}/cancel");
    let cancelled = gateway.post(&caller.key, &cancel, json!({})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
    let mut stream = open(&gateway, &caller.key, "/jobs/v1/events", Some(last)).await;
    until(&mut stream, |_, job| {
        job["jobId"] == early && job["status"] == "FAILED"
    })
    .await;

    // The stream of a batch ends with its last job and says how it stands.
    let path = format!(
        "/jobs/v1/batch/{}/events",
        data["batchId"].as_str().expect("an id")
    );
    let mut stream = open(&gateway, &caller.key, &path, None).await;
    let told = until(&mut stream, |_, _| false).await;
    let (last, end) = told.last().expect("an end");
    assert_eq!(
        (
            &end["done"],
            &end["counts"]["succeeded"],
            &end["counts"]["refused"]
        ),
        (&json!(true), &json!(2), &json!(1))
    );
    // The look that told of the end may have begun before it; an event of a time to come would not say what was seen.
    let over = until_over(&gateway, &caller.key, &path, last + 900_000);
    let over = timeout(Duration::from_mins(1), over).await;
    over.expect("nothing is left to tell");
}

/// Until a stream that goes on after an event has nothing left to tell.
async fn until_over(gateway: &Gateway, key: &str, path: &str, after: i64) {
    while open(gateway, key, path, Some(after)).await.status() != 204 {}
}
