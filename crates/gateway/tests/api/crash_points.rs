//! A crash at every named point loses nothing and charges nothing twice. The points are the engine's own list: a new one is
//! swept without a change here, and one that no scenario reaches fails.

use std::collections::HashSet;
use std::time::Duration;

use atelier_contract::month::Month;
use atelier_engine::crash::POINTS;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::clocks::shifted_clock;
use crate::crash::{Receiver, lively, roomy_account, settled, until_heard};
use crate::formats::FORMATS;
use crate::gateway::{ADMIN_TOKEN, Account, Gateway, Options, send};
use crate::killed::{UNKNOWN, configuration, quick};
use crate::local::Local;
use crate::notices::Inbox;

needs!(
    sqlite:
    a_crash_at_any_point_of_a_close_makes_every_statement_once,
);

/// A process that is still there by then never came by its point.
const REACHED: Duration = Duration::from_mins(2);
/// Jobs of a process that died are taken up and finished by then.
const ENDED: Duration = Duration::from_mins(3);

/// What brings a process to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scenario {
    /// An image of the embedded engine, with a callback.
    Image,
    /// An image that waits for a slot.
    Waiting,
    /// A video that its vendor makes in two passes.
    Passes,
    /// A file that expires.
    Expiry,
    /// An operator's act.
    Operator,
    /// A payment, which `payments/crashes.rs` brings about.
    Payment,
    /// An export of the day before.
    Export,
    /// A month that is closed.
    Close,
    /// A notice that somebody subscribed to.
    Notice,
}

impl Scenario {
    /// A point that is not named here is expected on the way of an image.
    fn of(point: &str) -> Self {
        match point {
            "runner.leased" => Self::Waiting,
            "runner.ticket_recorded" | "runner.before_step" | "runner.step_taken" => Self::Passes,
            "sweeper.before_forget" => Self::Expiry,
            "admin.acted" => Self::Operator,
            point if point.starts_with("payment.") => Self::Payment,
            "exports.written" => Self::Export,
            "statements.made" => Self::Close,
            "notices.claimed" | "notices.posted" => Self::Notice,
            _ => Self::Image,
        }
    }

    /// The points that it brings a process to.
    fn points(self) -> Vec<&'static str> {
        let all = POINTS.iter().copied();
        let points: Vec<_> = all.filter(|point| Self::of(point) == self).collect();
        assert!(!points.is_empty(), "{self:?}");
        points
    }
}

/// Waits for the crash: the process ends by a signal, not by itself.
fn crashed(gateway: &mut Gateway, point: &str) {
    let code = gateway.ended(REACHED);
    assert_eq!(code, None, "{point}: it ended by itself");
}

/// A submit that may be repeated.
fn submit(
    gateway: &Gateway,
    account: &Account,
    path: &str,
    key: &str,
    body: &Value,
) -> RequestBuilder {
    gateway
        .request(Method::POST, path)
        .header("SVC-API-KEY", &account.key)
        .header("Idempotency-Key", key)
        .json(body)
}

fn job_id(answer: &Value) -> String {
    let id = answer["data"]["jobId"].as_str();
    id.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The job of an identifier, once every job of the account is final and the ledger is right.
async fn settled_job(gateway: &Gateway, account: &Account, id: &str) -> Value {
    let jobs = settled(gateway, account, ENDED).await;
    let job = jobs.into_iter().find(|job| job["jobId"] == id);
    job.expect("the job")
}

/// Ends by itself, so that everything it has in hand is written down.
fn stopped(mut gateway: Gateway) -> Gateway {
    gateway.signal("TERM");
    gateway.ended(Duration::from_mins(2));
    gateway
}

#[tokio::test]
async fn a_crash_at_any_point_of_an_image_loses_nothing_and_charges_nothing_twice() {
    let mut gateway = lively().spawn().await;
    let account = roomy_account(&gateway).await;
    let receiver = Receiver::start();
    let points = Scenario::Image.points();
    for point in &points {
        gateway = gateway.restart(lively().set("CRASH_AT", point));
        let body = json!({ "prompt": "a boat --ar 1:1", "hookUrl": receiver.url });
        let call =
            |gateway: &Gateway| submit(gateway, &account, "/artgen/v1/imagine", point, &body);
        let first = call(&gateway).send().await;
        crashed(&mut gateway, point);
        gateway = gateway.restart(lively());
        let again = send(call(&gateway)).await;
        assert_eq!(again.status, 200, "{point}: {}", again.json);
        let id = job_id(&again.json);
        if let Ok(first) = first
            && let Ok(first) = first.json::<Value>().await
        {
            assert_eq!(job_id(&first), id, "{point}: one key, one job");
        }
        let job = settled_job(&gateway, &account, &id).await;
        assert_eq!(job["status"], "SUCCESS", "{point}: {job}");
        // A claim of the dead node on a shared database runs out after thirty seconds.
        until_heard(&receiver, &HashSet::from([id]), Duration::from_mins(2)).await;
        // Else the next process would send the callback again, and crash of it before it listens.
        gateway = stopped(gateway);
    }
    gateway = gateway.restart(lively());
    let jobs = settled(&gateway, &account, ENDED).await;
    assert_eq!(jobs.len(), points.len(), "one job per key");
    gateway.command(&["audit", "--live"]);
}

#[tokio::test]
async fn a_crash_at_any_point_of_a_lease_loses_nothing_and_charges_nothing_twice() {
    const TOGETHER: usize = 4;
    let alone = || lively().set("STUDIO_SLOTS", "1");
    let mut gateway = alone().spawn().await;
    let account = roomy_account(&gateway).await;
    let request =
        json!({ "operation": "artgen.imagine", "request": { "prompt": "a boat --ar 1:1" } });
    let body = json!({ "requests": vec![request; TOGETHER] });
    for (before, point) in Scenario::Waiting.points().into_iter().enumerate() {
        gateway = gateway.restart(alone().set("CRASH_AT", point));
        let call = |gateway: &Gateway| submit(gateway, &account, "/jobs/v1/batch", point, &body);
        // More than there are slots for, so that most of them wait and are leased.
        drop(call(&gateway).send().await);
        crashed(&mut gateway, point);
        gateway = gateway.restart(alone());
        let again = send(call(&gateway)).await;
        assert_eq!(again.status, 200, "{point}: {}", again.json);
        let jobs = settled(&gateway, &account, ENDED).await;
        assert_eq!(jobs.len(), (before + 1) * TOGETHER, "{point}: one batch");
        assert!(jobs.iter().all(|job| job["status"] == "SUCCESS"), "{point}");
        gateway = stopped(gateway);
    }
    let gateway = gateway.restart(alone());
    gateway.command(&["audit", "--live"]);
}

#[tokio::test]
async fn a_crash_at_any_point_of_a_pass_orders_nothing_twice_and_charges_nothing_twice() {
    let format = FORMATS.iter().find(|one| one.vendor == "xai");
    let format = format.expect("in the table");
    let local = Local::speaking(format);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atelier.toml");
    std::fs::write(&file, configuration(format, &local, &quick(format))).expect("written");
    let options = || lively().set("CONFIG", &file.to_string_lossy());
    let mut gateway = options().spawn().await;
    let account = roomy_account(&gateway).await;
    let (_, operation) = atelier_contract::operation(format.operation).expect("in the table");
    let body = json!({ "prompt": "a wave", "video_length": "25" });
    for point in Scenario::Passes.points() {
        gateway = gateway.restart(options().set("CRASH_AT", point));
        let before = local.taken();
        let call = |gateway: &Gateway| submit(gateway, &account, operation.path, point, &body);
        drop(call(&gateway).send().await);
        crashed(&mut gateway, point);
        let ordered = local.taken() - before;
        gateway = gateway.restart(options());
        let again = send(call(&gateway)).await;
        let job = settled_job(&gateway, &account, &job_id(&again.json)).await;
        if point == "runner.ticket_recorded" {
            assert_eq!(job["status"], "SUCCESS", "{point}: {job}");
            assert_eq!((ordered, local.taken() - before), (1, 2), "{point}: orders");
        } else {
            // Nobody can tell whether the second pass was ordered, so nobody orders it again.
            let id = job["jobId"].as_str().expect("an id");
            let seen = gateway.get(&account.key, &format!("/jobs/v1/{id}")).await;
            assert_eq!(job["status"], "FAILED", "{point}: {job}");
            assert!(seen.json.to_string().contains(UNKNOWN), "{point}: {job}");
            assert_eq!(job["quota"], 0.0, "{point}: {job}");
            assert_eq!(local.taken() - before, ordered, "{point}: orders");
        }
        gateway = stopped(gateway);
    }
    let gateway = gateway.restart(options());
    gateway.command(&["audit", "--live"]);
}

#[tokio::test]
async fn a_crash_at_any_point_of_an_expiry_loses_nothing_and_charges_nothing_twice() {
    let at_once = || {
        lively()
            .set("RETENTION_ANSWER_MINUTES", "0")
            .set("JOBS_SWEEP_MS", "200")
    };
    let mut gateway = at_once().spawn().await;
    let account = roomy_account(&gateway).await;
    let body = json!({ "model": "art-2", "prompt": "a boat", "size": "256x256" });
    for (before, point) in Scenario::Expiry.points().into_iter().enumerate() {
        gateway = gateway.restart(at_once().set("CRASH_AT", point));
        let path = "/v1/images/generations";
        drop(submit(&gateway, &account, path, point, &body).send().await);
        crashed(&mut gateway, point);
        gateway = gateway.restart(at_once());
        let again = send(submit(&gateway, &account, path, point, &body)).await;
        assert_eq!(again.status, 200, "{point}: {}", again.json);
        let jobs = settled(&gateway, &account, ENDED).await;
        assert!(jobs.iter().all(|job| job["status"] == "SUCCESS"), "{point}");
        assert_eq!(jobs.len(), before + 1, "{point}: one job per key");
        gateway = stopped(gateway);
    }
    let gateway = gateway.restart(at_once());
    gateway.command(&["audit", "--live"]);
}

/// Yesterday's exports are due at once.
fn exporting() -> Options {
    lively().set("EXPORTS_SCHEDULE", "00:00")
}

#[tokio::test]
async fn a_crash_at_any_point_of_an_export_leaves_nothing_out_and_nothing_twice() {
    for point in Scenario::Export.points() {
        let mut gateway = lively().spawn().await;
        gateway = gateway.restart(exporting().set("CRASH_AT", point));
        crashed(&mut gateway, point);
        let gateway = gateway.restart(exporting());
        let rows = until_listed(&gateway, "/admin/v1/exports", |rows| {
            rows.len() == 3 && rows.iter().all(|row| row["finished_at"].is_string())
        });
        for row in rows.await {
            let files = row["files"].as_array().expect("files");
            assert_eq!(files.len(), 1, "{point}: {row}");
            let file = &files[0];
            let path = gateway.folder.path().join("assets");
            let bytes = std::fs::read(path.join(file["name"].as_str().expect("a name")));
            let hash = atelier_contract::hex(&Sha256::digest(bytes.expect("the file")));
            assert_eq!(file["sha256"], hash, "{point}");
        }
    }
}

/// The rows of an operators' list once they are as they have to be.
async fn until_listed(
    gateway: &Gateway,
    path: &str,
    are_so: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let deadline = tokio::time::Instant::now() + ENDED;
    loop {
        let listed = gateway.operate(Method::GET, path, None).await.json;
        let rows = listed["data"].as_array().cloned().unwrap_or_default();
        if are_so(&rows) {
            return rows;
        }
        assert!(tokio::time::Instant::now() < deadline, "{listed}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_crash_at_any_point_of_a_notice_tells_of_it_all_the_same() {
    for point in Scenario::Notice.points() {
        let mut gateway = lively().spawn().await;
        let (account, inbox) = (roomy_account(&gateway).await, Inbox::start());
        let keys = "/account/v1/keys";
        let limits = json!({ "limits": [{ "window": "day", "quota": 4 }] });
        let issued = gateway.post(&account.key, keys, limits).await;
        let key = issued.json["data"]["api_key"]
            .as_str()
            .expect("a key")
            .to_owned();
        let wish =
            json!({ "kind": "limit_80", "channel": "webhook", "address": inbox.outside.url("/") });
        let path = "/account/v1/notices/subscriptions";
        let made = gateway.post(&account.key, path, wish).await;
        assert_eq!(made.status, 200, "{}", made.json);
        gateway = gateway.restart(lively().set("CRASH_AT", point));
        gateway.imagine(&key, "a fox").await;
        crashed(&mut gateway, point);
        let gateway = gateway.restart(lively());
        inbox.until(1).await;
        // Whoever posted and died did not write it down: as with callbacks, it comes again, and says that it is the same.
        let posts = inbox.posts("/");
        let ids: HashSet<&str> = posts
            .iter()
            .map(|post| post.told["id"].as_str().expect("an id"))
            .collect();
        assert_eq!(ids.len(), 1, "{point}: {posts:?}");
        settled(&gateway, &account, ENDED).await;
        gateway.command(&["audit", "--live"]);
    }
}

/// A month that is over is one that the clock of the process was put back to: on SQLite, which goes by it.
async fn a_crash_at_any_point_of_a_close_makes_every_statement_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = shifted_clock(folder.path());
    let now_ms = crate::statements::now_ms();
    let month = Month::at(now_ms).previous();
    let shift = (month.from_ms() + 86_400_000 - now_ms) / 1_000;
    for point in Scenario::Close.points() {
        let then = lively().set("TEST_CLOCK_SHIFT", &shift.to_string());
        let gateway = then.preload(&library).spawn().await;
        for _ in 0..3 {
            gateway.account(10).await;
        }
        let mut gateway = gateway.restart(lively().set("CRASH_AT", point));
        let close = gateway.request(Method::POST, "/admin/v1/statements");
        let close = close
            .bearer_auth(ADMIN_TOKEN)
            .json(&json!({ "month": month }));
        // It may die before it has answered.
        drop(close.send().await);
        crashed(&mut gateway, point);
        let gateway = gateway.restart(lively());
        until_listed(&gateway, "/admin/v1/statements", |rows| {
            rows.iter().any(|row| {
                row["month"] == month.to_string()
                    && row["finished_at"].is_string()
                    && row["closed"] == 3
            })
        })
        .await;
        gateway.command(&["audit", "--live"]);
    }
}

#[tokio::test]
async fn a_crash_at_any_point_of_an_operators_act_does_it_once() {
    let mut gateway = Gateway::spawn().await;
    let account = gateway.account(10).await;
    let credit = format!("/admin/v1/accounts/{}/credit", account.id);
    for (number, point) in Scenario::Operator.points().into_iter().enumerate() {
        gateway = gateway.restart(Options::default().set("CRASH_AT", point));
        let act = gateway.request(Method::POST, &credit);
        let act = act.bearer_auth(ADMIN_TOKEN).json(&json!({ "amount": 2 }));
        assert!(act.send().await.is_err(), "{point}: it lives");
        crashed(&mut gateway, point);
        gateway = gateway.restart(Options::default());
        let expected = 10.0 + 2.0 * (number + 1) as f64;
        assert_eq!(
            gateway.balance(&account.key).await,
            (expected, 0.0),
            "{point}"
        );
    }
    gateway.command(&["audit", "--live"]);
}
