//! What happened to a job, as somebody who collects traces and reads logs sees it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backends::connect;
use crate::gateway::{Gateway, Options, send};
use crate::outside::{Mailbox, Outside, answer, read};

const PATIENCE: Duration = Duration::from_mins(1);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A collector that speaks OTLP over HTTP as JSON.
struct Collector {
    outside: Outside,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Self {
        let spans: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = spans.clone();
        let outside = Outside::start(move |mut stream| {
            let Some(request) = read(&mut stream) else {
                return;
            };
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            for resource in body["resourceSpans"].as_array().into_iter().flatten() {
                let scopes = resource["scopeSpans"].as_array().into_iter().flatten();
                let spans =
                    scopes.flat_map(|scope| scope["spans"].as_array().into_iter().flatten());
                let node = &resource["resource"]["attributes"][2]["value"]["stringValue"];
                let mut kept = kept.lock().expect("no panic under the lock");
                kept.extend(spans.map(|span| {
                    let mut span = span.clone();
                    span["node"] = node.clone();
                    span
                }));
            }
            answer(&mut stream, "200 OK", "", b"{}");
        });
        Self { outside, spans }
    }

    fn options(&self) -> Options {
        Options::default().set("TELEMETRY_OTLP_ENDPOINT", &self.outside.url(""))
    }

    /// The spans of a trace, once they have all these names.
    async fn spans(&self, trace: &str, names: &[&str]) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let spans = self.spans.lock().expect("no panic under the lock").clone();
            let of = |span: &&Value| span["traceId"] == trace;
            let spans: Vec<Value> = spans.iter().filter(of).cloned().collect();
            let has = |name: &&str| spans.iter().any(|span| span["name"] == **name);
            if names.iter().all(has) {
                return spans;
            }
            assert!(Instant::now() < deadline, "{names:?} in {spans:#?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("{name} in {spans:#?}"))
}

async fn imagine(gateway: &Gateway, key: &str, body: &Value) -> Value {
    let request = gateway
        .request(Method::POST, "/artgen/v1/imagine")
        .header("SVC-API-KEY", key)
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .header("x-request-id", "the-request")
        .json(body);
    let answer = send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    answer.json["data"]["jobId"].clone()
}

/// The promise: one job is one trace, from the caller's own span to the callback, with every stage in its place.
#[tokio::test]
async fn one_job_is_one_trace_with_all_its_spans() {
    let collector = Collector::start();
    let gateway = collector.options().spawn().await;
    let account = gateway.account(1000).await;
    let mailbox = Mailbox::start();
    let body = json!({ "prompt": "a lighthouse", "hookUrl": mailbox.url() });
    let id = imagine(&gateway, &account.key, &body).await;
    let server = "POST /artgen/v1/imagine";
    let below = ["commit", "lease", "start", "storage", "settle", "callback"];
    let all: Vec<&str> = below.into_iter().chain([server, "job"]).collect();
    let spans = collector.spans(TRACE, &all).await;
    assert_eq!(spans.len(), all.len(), "{spans:#?}");
    assert_eq!(named(&spans, server)["parentSpanId"], CALLER);
    let job = named(&spans, "job");
    assert_eq!(job["parentSpanId"], named(&spans, server)["spanId"]);
    let told = job["attributes"].to_string();
    assert!(told.contains(id.as_str().expect("an id")), "{told}");
    let time = |span: &Value, name: &str| -> u64 {
        let text = span[name].as_str().expect("a time");
        text.parse().expect("a number")
    };
    for name in below {
        let span = named(&spans, name);
        assert_eq!(span["parentSpanId"], job["spanId"], "{name}");
        let (start, end) = (
            time(span, "startTimeUnixNano"),
            time(span, "endTimeUnixNano"),
        );
        assert!(start <= end, "{name}");
        assert!(span.get("status").is_none(), "{span}");
    }
    // What the collector never hears of is nobody's trace.
    let request = json!({ "jobId": id });
    gateway
        .post(&account.key, "/artgen/v1/fetch", request)
        .await;
    let shown = gateway.get(&account.key, "/jobs/v1").await.json.to_string();
    assert!(
        !shown.contains("traceparent") && !shown.contains(TRACE),
        "{shown}"
    );
}

/// The promise: a vendor is told the trace, so that what it does there is part of it.
#[tokio::test]
async fn a_trace_goes_on_at_the_vendor() {
    let collector = Collector::start();
    let back = collector.options().spawn().await;
    let upstream = back.account(1000).await;
    let front = collector.options().spawn().await;
    connect(&front, &back.base_url, &upstream.key).await;
    let account = front.account(1000).await;
    imagine(&front, &account.key, &json!({ "prompt": "a boat" })).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let spans = collector.spans(TRACE, &["job", "question", "start"]).await;
        // Both services begin something under this trace; this one's vendor is the other service.
        let start = spans.iter().find(|span| {
            span["name"] == "start" && span["attributes"].to_string().contains("relay")
        });
        let there = spans
            .iter()
            .find(|span| start.is_some_and(|start| span["parentSpanId"] == start["spanId"]));
        if let (Some(start), Some(there)) = (start, there) {
            assert_eq!(there["name"], "POST /artgen/v1/imagine");
            assert_ne!(there["node"], start["node"], "another process tells of it");
            return;
        }
        assert!(Instant::now() < deadline, "{spans:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The promise: a trace outlives its process. What the next one does for the job is told under the same trace, below the
/// same span.
#[tokio::test]
async fn a_trace_goes_on_after_a_kill() {
    let collector = Collector::start();
    let options = || {
        let hurried = collector.options().set("JOBS_LEASE_S", "3");
        hurried.set("JOBS_RENEW_S", "1")
    };
    let gateway = options().spawn().await;
    let account = gateway.account(1000).await;
    let body = json!({ "prompt": "a lighthouse [[delay 4s]]" });
    let id = imagine(&gateway, &account.key, &body).await;
    // It is being worked on, and what was told until now has been sent.
    let before = collector.spans(TRACE, &["commit", "lease"]).await;
    assert!(before.iter().all(|span| span["name"] != "job"));
    let first = named(&before, "commit")["node"].clone();
    let gateway = gateway.restart(options());
    let after = ["start", "storage", "settle", "job"];
    let spans = collector.spans(TRACE, &after).await;
    let job = named(&spans, "job");
    let told = job["attributes"].to_string();
    assert!(told.contains(id.as_str().expect("an id")), "{told}");
    assert_ne!(job["node"], first, "another process tells of it");
    assert_eq!(named(&spans, "commit")["parentSpanId"], job["spanId"]);
    for name in ["start", "storage", "settle"] {
        let span = spans
            .iter()
            .find(|span| span["name"] == name && span["node"] == job["node"]);
        let span = span.unwrap_or_else(|| panic!("{name} in {spans:#?}"));
        assert_eq!(span["parentSpanId"], job["spanId"], "{name}");
    }
    drop(gateway);
}

/// The promise: the commit that accepts a batch is a span of the caller's trace, and every job of it belongs to the trace.
#[tokio::test]
async fn a_batch_is_accepted_within_its_callers_trace() {
    let collector = Collector::start();
    let gateway = collector.options().spawn().await;
    let account = gateway.account(1000).await;
    let one = json!({ "operation": "artgen.imagine", "request": { "prompt": "a boat" } });
    let request = gateway
        .request(Method::POST, "/jobs/v1/batch")
        .header("SVC-API-KEY", &account.key)
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .json(&json!({ "requests": [one, one] }));
    let answer = send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    let deadline = Instant::now() + PATIENCE;
    let spans = loop {
        let spans = collector
            .spans(TRACE, &["commit", "job", "POST page"])
            .await;
        if spans.iter().filter(|span| span["name"] == "job").count() == 2 {
            break spans;
        }
        assert!(Instant::now() < deadline, "{spans:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let request = named(&spans, "POST page");
    assert_eq!(request["parentSpanId"], CALLER);
    let commits: Vec<_> = spans
        .iter()
        .filter(|span| span["name"] == "commit")
        .collect();
    assert_eq!(commits.len(), 1, "{commits:#?}");
    assert_eq!(commits[0]["parentSpanId"], request["spanId"]);
    for job in spans.iter().filter(|span| span["name"] == "job") {
        assert_eq!(job["parentSpanId"], request["spanId"]);
    }
}

/// The promise: a collector that does not answer costs spans and nothing else.
#[tokio::test]
async fn a_collector_that_is_away_delays_nobody() {
    let options = Options::default().set("TELEMETRY_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let gateway = options.spawn().await;
    let account = gateway.account(1000).await;
    let id = gateway.imagine(&account.key, "a boat").await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let request = json!({ "jobId": id });
        let job = gateway
            .post(&account.key, "/artgen/v1/fetch", request)
            .await;
        let metrics = send(gateway.request(Method::GET, "/metrics")).await;
        let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
        let dropped = metrics.lines().find_map(|line| {
            let count = line.strip_prefix("atelier_spans_total{outcome=\"dropped\"} ")?;
            count.parse::<u32>().ok()
        });
        if job.json["status"] == "SUCCESS" && dropped.is_some_and(|count| count > 0) {
            return;
        }
        assert!(Instant::now() < deadline, "{metrics}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The promise: the log says of a line which request, job and trace it belongs to.
#[tokio::test]
async fn lines_of_the_log_name_request_job_and_trace() {
    let collector = Collector::start();
    let options = collector.options().set("LOG_FORMAT", "json");
    let gateway = options.set("LOG_REQUESTS", "true").spawn().await;
    let account = gateway.account(1000).await;
    let body = json!({ "prompt": "[[fail: no more paint]]" });
    let id = imagine(&gateway, &account.key, &body).await;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let printed = gateway.printed();
        let lines = printed
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_default());
        let lines: Vec<Value> = lines.collect();
        let job = lines
            .iter()
            .any(|line| line["span"]["job"] == id && line["span"]["trace"] == TRACE);
        let request = lines.iter().any(|line| {
            line["fields"]["request"] == "the-request"
                && line["fields"]["path"] == "/artgen/v1/imagine"
        });
        if job && request {
            return;
        }
        assert!(Instant::now() < deadline, "{printed}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The promise: the access log is in the format that log readers know, and a slow request says where its time went.
#[tokio::test]
async fn requests_are_written_to_the_access_log_and_slow_ones_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("access.log");
    let options = Options::default().set("LOG_ACCESS", &file.to_string_lossy());
    let gateway = options.set("LOG_SLOW_MS", "200").spawn().await;
    let account = gateway.account(1000).await;
    let body = json!({ "model": "art-3", "prompt": "a boat [[delay 300ms]]" });
    let made = gateway
        .post(&account.key, "/v1/images/generations", body)
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let line = text
            .lines()
            .find(|line| line.contains("/v1/images/generations"));
        let printed = gateway.printed();
        // On a busy machine other requests are slow too.
        let mut slow = printed.lines().filter(|line| line.contains("slow request"));
        let slow = slow.find(|line| line.contains("/v1/images/generations"));
        if let (Some(line), Some(slow)) = (line, slow) {
            assert!(line.starts_with("127.0.0.1 - "), "{line}");
            assert!(
                line.contains("\"POST /v1/images/generations HTTP/1.1\" 200 "),
                "{line}"
            );
            assert!(line.contains(account.id.as_str()), "{line}");
            let words = ["admitted", "body", "accepted", "made", "answered"];
            assert!(words.iter().all(|word| slow.contains(word)), "{slow}");
            return;
        }
        assert!(Instant::now() < deadline, "{text} {printed}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
