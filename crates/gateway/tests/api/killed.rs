//! kill -9 of a real process while it works with a vendor, at every point of the way and for every vendor's format: what
//! could be kept is kept, nothing is ordered twice, and the ledger is right.

use std::time::Duration;

use atelier_backends::backend::LostSubmit;
use atelier_contract::family::AnswerMode;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::crash::lively;
use crate::formats::FORMATS;
use crate::gateway::{Account, Gateway, Options};
use crate::local::{Format, Local, Silent, request};
use crate::stand::worker;

needs!(proofs: kill_nine_at_any_point_of_an_order_at_every_vendor_orders_nothing_twice);

pub(crate) const UNKNOWN: &str = "[Internal error] the outcome at the back end is unknown";
/// The short form looks at these.
const SHORT: &[&str] = &["xai", "comfyui"];
/// An order that may still be on its way is not repeated for as long as that vendor's submits may take, and half a minute.
const ENDS_WITHIN: Duration = Duration::from_mins(4);

/// Where the process is when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The job is accepted and nobody has been told.
    Accepted,
    /// The intent is written down and nothing is sent.
    BeforeOrder,
    /// The vendor has taken the order, and its answer has not come.
    Ordered,
    /// The vendor is asked how far it is.
    Asking,
    /// The file of the result is on its way.
    Copying,
    /// The file is stored, and nothing is settled.
    BeforeSettlement,
}

const POINTS: &[Point] = &[
    Point::Accepted,
    Point::BeforeOrder,
    Point::Ordered,
    Point::Asking,
    Point::Copying,
    Point::BeforeSettlement,
];

impl Point {
    /// Has the process stand still there, or the vendor say nothing.
    fn arm(self, local: &Local, options: Options) -> Options {
        match self {
            Self::Accepted => options.set("STALL_AT", "submit.accepted"),
            Self::BeforeOrder => options.set("STALL_AT", "runner.before_start"),
            Self::BeforeSettlement => options.set("STALL_AT", "runner.before_settle"),
            Self::Ordered => silent(local, Silent::Order, options),
            Self::Asking => silent(local, Silent::Question, options),
            Self::Copying => silent(local, Silent::File, options),
        }
    }

    /// Whether nobody can tell what became of the order. With an acceptance whose caller `waits` the intent is written down as
    /// well; a job that was only accepted is begun by whoever comes next.
    fn forlorn(self, lost: LostSubmit, was_asked: bool, waits: bool) -> bool {
        lost == LostSubmit::Unknown
            && match self {
                Self::Accepted => waits,
                Self::BeforeOrder => true,
                // What comes within the call has no ticket.
                Self::Ordered | Self::Copying | Self::BeforeSettlement => !was_asked,
                Self::Asking => false,
            }
    }
}

fn silent(local: &Local, at: Silent, options: Options) -> Options {
    local.be_silent(at);
    options
}

/// Settings under which questions come quickly, where the vendor has such.
pub(crate) fn quick(format: &Format) -> Value {
    let settings = (format.settings)();
    let mut quicker = settings.clone();
    quicker["poll_seconds"] = json!(1);
    quicker["timeout_seconds"] = json!(30);
    match worker(format.vendor, "http://127.0.0.1:9", quicker.clone()) {
        Ok(_) => quicker,
        Err(_) => settings,
    }
}

/// A value as a configuration has it.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let pair = |(name, value): (&String, &Value)| format!("{name:?} = {}", inline(value));
            let pairs: Vec<String> = fields.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(list) => {
            let items: Vec<String> = list.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => format!("{text:?}"),
        plain => plain.to_string(),
    }
}

/// A service with one back end at the vendor's local server.
pub(crate) fn configuration(format: &Format, local: &Local, settings: &Value) -> String {
    format!(
        "[[backends]]\nname = \"the-one\"\nvendor = {:?}\nbase_url = {:?}\noperations = [{:?}]\nsettings = {}\n\
         [[backends.accounts]]\nname = \"main\"\ncredential = \"sk-very-secret\"\n",
        format.vendor,
        local.stand.url("/v1"),
        format.operation,
        inline(settings),
    )
}

/// The jobs of an account.
async fn jobs(gateway: &Gateway, account: &Account) -> Vec<Value> {
    let answer = gateway.get(&account.key, "/jobs/v1?limit=100").await;
    answer.json["data"].as_array().cloned().unwrap_or_default()
}

fn is_final(job: &Value) -> bool {
    matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED"))
}

/// Every address of the service in a document.
fn addresses(value: &Value, base: &str, all: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with(base) => all.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|one| addresses(one, base, all)),
        Value::Object(fields) => fields.values().for_each(|one| addresses(one, base, all)),
        _ => {}
    }
}

/// The one job of an account, once it is final.
async fn ended_job(gateway: &Gateway, account: &Account, label: &str) -> Value {
    let deadline = Instant::now() + ENDS_WITHIN;
    loop {
        let all = jobs(gateway, account).await;
        assert!(all.len() < 2, "{label}: one call, one job");
        if let Some(job) = all.into_iter().find(is_final) {
            return job;
        }
        assert!(
            Instant::now() < deadline,
            "{label}: never ends\n{}",
            gateway.printed()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The result was copied, and is handed out.
async fn delivered(gateway: &Gateway, job: &Value, label: &str) {
    let mut files = Vec::new();
    addresses(job, &gateway.base_url, &mut files);
    let first = files.first().unwrap_or_else(|| panic!("{label}: {job}"));
    let path = first.strip_prefix(&*gateway.base_url).unwrap_or_default();
    let file = gateway.request(Method::GET, path).send().await;
    let file = file.expect("an answer");
    assert_eq!(file.status(), 200, "{label}: {first}");
    assert!(!file.bytes().await.expect("a file").is_empty(), "{label}");
}

/// Until the process or the vendor stands still, or the job has ended because there is no such point.
async fn arrived(gateway: &Gateway, account: &Account, local: &Local, label: &str) {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        let stalled = gateway.printed().contains("is halted");
        if stalled || local.silences() > 0 || jobs(gateway, account).await.iter().any(is_final) {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "{label}: never there\n{}",
            gateway.printed()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn killed(format: &'static Format, point: Point) {
    let label = format!("{} {} at {point:?}", format.vendor, format.dialect);
    let local = Local::speaking(format);
    let settings = quick(format);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atelier.toml");
    std::fs::write(&file, configuration(format, &local, &settings)).expect("written");
    let path = file.display().to_string();
    let options = move || lively().set("CONFIG", &path);
    let gateway = point.arm(&local, options()).spawn().await;
    let account = gateway.account(1_000).await;
    let (_, submit) = atelier_contract::operation(format.operation).expect("in the table");
    let body = request(format.operation, &local.stand.url("/made.png"));
    let call = gateway
        .request(Method::POST, submit.path)
        .header("SVC-API-KEY", &account.key)
        .json(&body);
    // Some callers are answered when the job ends, which this process will not see.
    let mut calls = JoinSet::new();
    calls.spawn(call.send());
    arrived(&gateway, &account, &local, &label).await;
    let ended = jobs(&gateway, &account).await.iter().any(is_final);
    let lost = worker(format.vendor, &local.stand.url("/v1"), settings).expect("an account");
    let lost = lost.lost_submit();
    let waits = matches!(submit.answers_with, AnswerMode::Answer(_));
    let forlorn = !ended && point.forlorn(lost, local.was_asked(), waits);
    let gateway = tokio::task::spawn_blocking(move || gateway.restart(options())).await;
    let gateway = gateway.expect("a gateway");
    calls.shutdown().await;
    local.be_silent(Silent::Never);
    let job = ended_job(&gateway, &account, &label).await;
    let id = job["jobId"].as_str().expect("an id");
    let seen = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
    let seen = &seen.json["data"];
    let taken = local.taken();
    if forlorn {
        assert_eq!(seen["status"], "FAILED", "{label}: {seen}");
        assert!(seen.to_string().contains(UNKNOWN), "{label}: {seen}");
        let sent = ![Point::Accepted, Point::BeforeOrder].contains(&point);
        let least = usize::from(sent);
        assert_eq!(taken, least, "{label}");
    } else {
        assert_eq!(seen["status"], "SUCCESS", "{label}: {seen}");
        // Where repeating is harmless, the new process may repeat it into the silence, which ends only after its start.
        let most = if lost == LostSubmit::Repeat { 3 } else { 1 };
        assert!((1..=most).contains(&taken), "{label}: {taken} orders");
        delivered(&gateway, seen, &label).await;
    }
    let (free, held) = gateway.balance(&account.key).await;
    let spent = seen["quota"].as_f64().unwrap_or_default();
    assert_eq!(spent > 0.0, !forlorn, "{label}: {seen}");
    assert!(
        (free + spent - 1_000.0).abs() < 0.0005,
        "{label}: {free} + {spent}"
    );
    assert!(held.abs() < 0.0005, "{label}: {held} is still held");
    gateway.command(&["audit", "--live"]);
}

/// Every point of one vendor at once, each in a process of its own.
async fn everywhere(format: &'static Format, points: &[Point]) {
    let points = points.iter().filter(|point| {
        // The picture of a face is read from the same server.
        format.operation != "facegen.swap" || **point != Point::Copying
    });
    join_all(points.map(|point| killed(format, *point))).await;
}

#[tokio::test]
async fn kill_nine_at_any_point_of_an_order_orders_nothing_twice_and_settles_once() {
    for format in FORMATS.iter().filter(|one| SHORT.contains(&one.vendor)) {
        // What a vendor can be asked about, and has not got, is waited for before it is ordered again.
        let waited = [Point::Accepted, Point::BeforeOrder];
        let points = POINTS.iter().copied();
        let points = points.filter(|point| format.vendor != "comfyui" || !waited.contains(point));
        everywhere(format, &points.collect::<Vec<_>>()).await;
    }
}

async fn kill_nine_at_any_point_of_an_order_at_every_vendor_orders_nothing_twice() {
    for format in FORMATS {
        everywhere(format, POINTS).await;
    }
}

/// How long the vendor takes to enter what it took, after the process has come back: longer than two questions apart.
const ENTERS_AFTER: Duration = Duration::from_secs(15);

#[tokio::test]
async fn kill_nine_while_a_slow_vendor_enters_an_order_orders_nothing_twice() {
    let mut all = FORMATS.iter();
    let format = all.find(|one| one.vendor == "midjourney-proxy");
    let format = format.expect("in the table");
    let local = Local::speaking(format);
    local.be_slow();
    local.be_silent(Silent::Order);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atelier.toml");
    std::fs::write(&file, configuration(format, &local, &quick(format))).expect("written");
    let path = file.display().to_string();
    let options = move || lively().set("CONFIG", &path);
    let gateway = options().spawn().await;
    let account = gateway.account(1_000).await;
    let body = request(format.operation, &local.stand.url("/made.png"));
    let accepted = gateway
        .request(Method::POST, "/artgen/v1/imagine")
        .header("SVC-API-KEY", &account.key)
        .json(&body)
        .send()
        .await;
    assert_eq!(accepted.expect("an answer").status(), 200);
    arrived(&gateway, &account, &local, "ordered").await;
    let gateway = tokio::task::spawn_blocking(move || gateway.restart(options())).await;
    let gateway = gateway.expect("a gateway");
    local.be_silent(Silent::Never);
    let until = Instant::now() + ENTERS_AFTER;
    while Instant::now() < until {
        assert_eq!(local.taken(), 1, "ordered again\n{}", gateway.printed());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    local.catch_up();
    let job = ended_job(&gateway, &account, "entered").await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    assert_eq!(local.taken(), 1, "ordered once");
    gateway.command(&["audit", "--live"]);
}
