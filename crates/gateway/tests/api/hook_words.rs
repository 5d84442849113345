//! The word in the address that a vendor may post to is a secret: it is written to no log, whoever says it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backends::finished;
use crate::gateway::{Gateway, Options, send};
use crate::local::request;
use crate::outside::{Outside, answer, read};
use crate::stand::{RecordedRequest, Reply, Stand, status};

const PATIENCE: Duration = Duration::from_secs(30);
/// A word that nobody was given.
const GUESSED: &str = "a-word-of-another-kind";

/// A vendor, what it is asked for, and how it says the address again when it refuses the work.
struct Vendor {
    name: &'static str,
    settings: fn() -> Value,
    operation: &'static str,
    hook: fn(&RecordedRequest) -> Option<String>,
}

/// The address in a query, as it was sent: with every slash written as `%2F`.
fn in_query(seen: &RecordedRequest) -> Option<String> {
    let (_, rest) = seen.line.split_once("fal_webhook=")?;
    rest.split([' ', '&']).next().map(str::to_owned)
}

fn in_body(seen: &RecordedRequest) -> Option<String> {
    seen.json()["webhook"].as_str().map(str::to_owned)
}

const VENDORS: &[Vendor] = &[
    Vendor {
        name: "replicate",
        settings: || json!({}),
        operation: "clipgen.generations",
        hook: in_body,
    },
    Vendor {
        name: "fal",
        settings: || json!({ "schema_url": "" }),
        operation: "imgmodel.chat",
        hook: in_query,
    },
];

async fn connect(gateway: &Gateway, vendor: &Vendor, base_url: &str) {
    let body = json!({ "vendor": vendor.name, "name": vendor.name, "base_url": base_url,
        "settings": (vendor.settings)(), "operations": [vendor.operation] });
    let made = gateway
        .operate(Method::POST, "/admin/v1/backends", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let backend = made.json["data"]["id"].as_str().expect("an id");
    let path = format!("/admin/v1/backends/{backend}/accounts");
    let body = json!({ "name": "first", "credential": "a-credential" });
    let made = gateway.operate(Method::POST, &path, Some(body)).await;
    assert_eq!(made.status, 200, "{}", made.json);
}

/// A collector of traces, and all that it was sent.
struct Collector {
    outside: Outside,
    sent: Arc<Mutex<String>>,
}

impl Collector {
    fn start() -> Self {
        let sent: Arc<Mutex<String>> = Arc::default();
        let kept = Arc::clone(&sent);
        let outside = Outside::start(move |mut stream| {
            if let Some(request) = read(&mut stream) {
                let text = String::from_utf8_lossy(&request.body).into_owned();
                kept.lock()
                    .expect("no panic under the lock")
                    .push_str(&text);
            }
            answer(&mut stream, "200 OK", "", b"{}");
        });
        Self { outside, sent }
    }

    fn sent(&self) -> String {
        self.sent.lock().expect("no panic under the lock").clone()
    }
}

/// Has a vendor refuse a job in words that repeat the address; the address, and everything that is told of the job.
async fn refused(gateway: &Gateway, vendor: &Vendor) -> (String, Vec<(&'static str, String)>) {
    let said = vendor.hook;
    let stand = Stand::new(move |seen: &RecordedRequest| match said(seen) {
        Some(hook) => {
            let words = format!("the address {hook} cannot be reached, says {hook}");
            status(
                422,
                &json!({ "detail": words, "error": { "message": words } }),
            )
        }
        None => Reply::Cut,
    });
    connect(gateway, vendor, &stand.url("/v1")).await;
    let caller = gateway.account(1_000).await;
    let (_, submit) = atelier_contract::operation(vendor.operation).expect("in the table");
    let body = request(vendor.operation, &stand.url("/made.png"));
    let accepted = gateway.post(&caller.key, submit.path, body).await;
    let id = accepted.json["data"]["jobId"].as_str();
    let id = id.unwrap_or_else(|| panic!("{}", accepted.json)).to_owned();
    let job = finished(gateway, &caller.key, &id).await;
    assert_eq!(job["status"], "FAILED", "{job}");
    let asked = stand.seen();
    let hook = asked.iter().find_map(said).expect("an address");
    let trail = format!("/admin/v1/jobs/{id}/trail");
    let trail = gateway.operate(Method::GET, &trail, None).await;
    let backends = gateway
        .operate(Method::GET, "/admin/v1/backends", None)
        .await;
    let told = vec![
        ("the job", job.to_string()),
        ("the trail", trail.json.to_string()),
        ("the health of the back end", backends.json.to_string()),
    ];
    (hook.replace("%3A", ":").replace("%2F", "/"), told)
}

/// The vendor posts, also as vendors do who tidy addresses, and somebody who guesses.
async fn post(gateway: &Gateway, hook: &str) {
    let (_, path) = hook.split_once("/hooks/").expect("a path");
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for wrong in ["", "/", "/more?x=1", "?said=again"] {
        let posted = gateway.request(Method::POST, &format!("/hooks/{path}{wrong}"));
        let posted = posted
            .header("referer", format!("{hook}{wrong}"))
            .header("traceparent", trace);
        send(posted.body("{}")).await;
    }
    let (_, word) = path.split_once('/').expect("a back end and a word");
    for misspelt in ["/HOOKS/v1", "/%68ooks/v1", "/Hooks/%561", "/hook/v1"] {
        let posted = gateway.request(Method::POST, &format!("{misspelt}/{word}"));
        send(posted.body("{}")).await;
    }
    let unknown = gateway.request(Method::POST, &format!("/hooks/v1/nobody/{GUESSED}"));
    send(unknown).await.assert_refused(404, "not_found");
}

#[tokio::test]
async fn the_word_of_a_vendors_hook_is_in_no_log() {
    let collector = Collector::start();
    for vendor in VENDORS {
        let folder = tempfile::tempdir().expect("a folder");
        let access = folder.path().join("access.log");
        let gateway = Options::default()
            .set("LOG_LEVEL", "trace")
            .set("HOOK_BASE_URL", "https://hooks.example.com")
            .set("LOG_REQUESTS", "true")
            .set("LOG_SLOW_MS", "1")
            .set("LOG_ACCESS", &access.to_string_lossy())
            .set("TELEMETRY_OTLP_ENDPOINT", &collector.outside.url(""))
            .spawn()
            .await;
        let (hook, mut told) = refused(&gateway, vendor).await;
        let (_, secret) = hook.rsplit_once('.').expect("a word");
        assert_eq!(secret.len(), 32, "{hook}");
        post(&gateway, &hook).await;
        let deadline = Instant::now() + PATIENCE;
        let written = loop {
            let text = std::fs::read_to_string(&access).unwrap_or_default();
            if text.contains("/hooks/v1/nobody/") && collector.sent().contains("POST page") {
                break text;
            }
            assert!(Instant::now() < deadline, "{text}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let printed = gateway.printed();
        // What is left says where it went.
        assert!(printed.contains("/hooks/v1/"), "nothing was written");
        told.push(("the log", printed));
        told.push(("the access log", written));
        told.push(("the traces", collector.sent()));
        for (place, text) in told {
            for word in [secret, GUESSED] {
                let line = text.lines().find(|line| line.contains(word));
                let line = line.unwrap_or_default();
                assert!(line.is_empty(), "{}, {place}: {line}", vendor.name);
            }
        }
    }
}
