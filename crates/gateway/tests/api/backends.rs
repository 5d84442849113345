//! Back ends and worker accounts through the operator API, custody through the callers': the relay vendor against a
//! second gateway, so that everything is real.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::crash::lively;
use crate::gateway::{Account, Gateway, Options, send};

/// A gateway whose work is done by another one, through an account there.
pub(crate) struct Chain {
    pub(crate) front: Gateway,
    pub(crate) back: Gateway,
    pub(crate) upstream: Account,
    pub(crate) backend: String,
    pub(crate) worker: String,
}

pub(crate) async fn chain(options: Options) -> Chain {
    let back = Gateway::spawn().await;
    let upstream = back.account(1_000).await;
    back.operate(
        Method::PATCH,
        &format!("/admin/v1/accounts/{}", upstream.id),
        Some(json!({ "max_queue": 1000 })),
    )
    .await;
    let front = options.spawn().await;
    let (backend, worker) = connect(&front, &back.base_url, &upstream.key).await;
    Chain {
        front,
        back,
        upstream,
        backend,
        worker,
    }
}

/// Sets a back end with one worker account up; their identifiers.
pub(crate) async fn connect(front: &Gateway, base_url: &str, key: &str) -> (String, String) {
    let body = json!({ "vendor": "relay", "name": "upstream", "base_url": base_url, "rank": 10 });
    let made = front
        .operate(Method::POST, "/admin/v1/backends", Some(body))
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let backend = made.json["data"]["id"].as_str().expect("an id").to_owned();
    let path = format!("/admin/v1/backends/{backend}/accounts");
    let body = json!({ "name": "first", "credential": key, "concurrency": 20 });
    let made = front.operate(Method::POST, &path, Some(body)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    assert!(!made.json.to_string().contains(key), "{}", made.json);
    let worker = made.json["data"]["id"].as_str().expect("an id").to_owned();
    (backend, worker)
}

pub(crate) async fn finished(gateway: &Gateway, key: &str, id: &str) -> Value {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let answer = gateway.get(key, &format!("/jobs/v1/{id}")).await;
        let job = answer.json["data"].clone();
        if matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED")) {
            return job;
        }
        assert!(Instant::now() < deadline, "{job}\n{}", gateway.printed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

pub(crate) async fn imagine(gateway: &Gateway, key: &str, prompt: &str) -> String {
    let answer = gateway
        .post(key, "/artgen/v1/imagine", json!({ "prompt": prompt }))
        .await;
    let id = answer.json["data"]["jobId"].as_str();
    id.unwrap_or_else(|| panic!("{}", answer.json)).to_owned()
}

#[tokio::test]
async fn an_operator_sees_what_a_vendor_took_against_what_callers_paid() {
    let chain = chain(Options::default().set("PRICES_QUOTA_USD", "0.5")).await;
    let front = &chain.front;
    let caller = front.account(100).await;
    let id = imagine(front, &caller.key, "a lighthouse").await;
    finished(front, &caller.key, &id).await;
    let cost = json!({ "currency": "quota", "amount": 4 });
    let path = format!("/admin/v1/jobs/{id}/trail");
    let trail = front.operate(Method::GET, &path, None).await.json;
    assert_eq!(trail["data"]["attempts"][0]["cost"], cost, "{trail}");
    let trail = front
        .get(&caller.key, &format!("/jobs/v1/{id}/trail"))
        .await;
    let own = &trail.json["data"]["attempts"][0];
    assert!(own["state"] == "done" && own.get("cost").is_none(), "{own}");
    let path = format!("/admin/v1/backends/{}", chain.backend);
    let shown = front.operate(Method::GET, &path, None).await.json;
    assert_eq!(
        shown["data"]["accounts"][0]["costs"],
        json!([cost]),
        "{shown}"
    );
    let stats = front.operate(Method::GET, "/admin/v1/stats", None).await;
    let margins = &stats.json["data"]["margins"];
    let expected = json!([{ "vendor": "relay", "backend": "upstream", "family": "artgen", "model": "7", "jobs": 1,
        "quota": 4, "currency": "quota", "cost": 4, "costPerQuota": 1.0, "marginUsd": null }]);
    assert_eq!(*margins, expected, "{margins}");
    let page = front.operate(Method::GET, "/admin/v1/overview", None).await;
    let page = &page.json["data"];
    assert_eq!(
        (&page["unknownCosts"], &page["losses"]),
        (margins, &json!([])),
        "it is not in dollars"
    );

    // The cap is in what the vendor counts in: all of it is gone, so the next job waits for another.
    let account = format!("{path}/accounts/{}", chain.worker);
    let cap = front.operate(Method::PATCH, &account, Some(json!({ "cost_cap": 4 })));
    assert_eq!(cap.await.json["data"]["cost_cap"], 4);
    let refused = front.post(&caller.key, "/artgen/v1/imagine", json!({ "prompt": "x" }));
    refused.await.assert_refused(400, "no_available_account");
    let wrong = front.operate(Method::PATCH, &account, Some(json!({ "cost_cap": -1 })));
    wrong.await.assert_refused(400, "invalid_parameter");
}

#[tokio::test]
async fn work_goes_to_the_back_end_and_every_change_applies_at_once() {
    let chain = chain(Options::default()).await;
    let (front, path) = (
        &chain.front,
        format!("/admin/v1/backends/{}", chain.backend),
    );
    let caller = front.account(100).await;
    let id = imagine(front, &caller.key, "a lighthouse").await;
    let job = finished(front, &caller.key, &id).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    assert_eq!(front.balance(&caller.key).await, (96.0, 0.0));
    assert_eq!(chain.back.balance(&chain.upstream.key).await, (996.0, 0.0));

    let shown = front.operate(Method::GET, &path, None).await.json;
    let account = &shown["data"]["accounts"][0];
    assert_eq!(account["health"]["condition"], "well", "{shown}");
    assert_eq!(account["health"]["recent"][0]["outcome"], "good");
    assert_eq!(account["has_credential"], true);
    let metrics = send(front.request(Method::GET, "/metrics")).await;
    let metrics = String::from_utf8_lossy(&metrics.bytes).into_owned();
    let line = format!(
        "atelier_worker_usable{{worker=\"{}/{}\"}} 1",
        chain.backend, chain.worker
    );
    assert!(metrics.contains(&line), "{metrics}");

    // A wrong credential is found out by a probe, and a right one is another chance.
    let account = format!("{path}/accounts/{}", chain.worker);
    let wrong = json!({ "credential": "at_wrong" });
    front.operate(Method::PATCH, &account, Some(wrong)).await;
    let probed = front
        .operate(Method::POST, &format!("{account}/probe"), None)
        .await;
    probed.assert_refused(502, "backend_failed");
    let message = probed.json["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("first: dead: "), "{message}");
    let shown = front.operate(Method::GET, &account, None).await.json;
    assert_eq!(shown["data"]["health"]["condition"], "banned", "{shown}");
    let refused = front
        .post(&caller.key, "/artgen/v1/imagine", json!({ "prompt": "x" }))
        .await;
    refused.assert_refused(400, "no_available_account");
    let right = json!({ "credential": chain.upstream.key });
    front.operate(Method::PATCH, &account, Some(right)).await;
    imagine(front, &caller.key, "a second lighthouse").await;

    let unknown = json!({ "operations": ["no.such"] });
    front
        .operate(Method::PATCH, &path, Some(unknown))
        .await
        .assert_refused(400, "invalid_parameter");
    let disabled = json!({ "enabled": false });
    front.operate(Method::PATCH, &path, Some(disabled)).await;
    let refused = front
        .post(&caller.key, "/artgen/v1/imagine", json!({ "prompt": "x" }))
        .await;
    assert_eq!(
        refused.status, 200,
        "the embedded engine serves what no other does"
    );

    let audit = front
        .operate(Method::GET, "/admin/v1/audit", None)
        .await
        .json;
    let text = audit.to_string();
    for action in [
        "backend.create",
        "worker.create",
        "worker.change",
        "backend.probe",
    ] {
        assert!(text.contains(action), "{action}: {text}");
    }
    assert!(!text.contains(&chain.upstream.key) && !text.contains("at_wrong"));
}

#[tokio::test]
async fn the_operator_sees_who_served_a_job_and_callers_do_not() {
    let chain = chain(Options::default()).await;
    let front = &chain.front;
    let caller = front.account(100).await;
    let id = imagine(front, &caller.key, "a lighthouse").await;
    let job = finished(front, &caller.key, &id).await;
    assert_eq!(job["status"], "SUCCESS", "{job}");
    let jobs = front
        .operate(Method::GET, "/admin/v1/jobs", None)
        .await
        .json;
    let served = &jobs["data"][0];
    assert_eq!(served["backend"], chain.backend.as_str(), "{served}");
    assert_eq!(served["worker"], chain.worker.as_str(), "{served}");
    let own = chain
        .back
        .operate(Method::GET, "/admin/v1/jobs", None)
        .await;
    let served = &own.json["data"][0];
    assert_eq!(served["backend"], "embedded", "{served}");
    let seen = front.get(&caller.key, &format!("/jobs/v1/{id}")).await;
    assert!(
        seen.json["data"].get("backend").is_none(),
        "not for callers"
    );
}

#[tokio::test]
async fn a_back_end_with_jobs_in_hand_stays_until_they_have_ended() {
    let chain = chain(Options::default()).await;
    let front = &chain.front;
    let caller = front.account(100).await;
    let id = imagine(front, &caller.key, "a boat [[delay 8s]]").await;
    let path = format!("/admin/v1/backends/{}", chain.backend);
    let there = |stats: &Value| stats["atVendors"] == 1;
    front.until_stats("the job is at the vendor", there).await;
    front
        .operate(Method::DELETE, &path, None)
        .await
        .assert_refused(409, "conflict");
    assert_eq!(finished(front, &caller.key, &id).await["status"], "SUCCESS");
    let removed = front.operate(Method::DELETE, &path, None).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    front
        .operate(Method::GET, &path, None)
        .await
        .assert_refused(404, "not_found");
    let follow = json!({ "jobId": id, "action": "upsample1" });
    front
        .post(&caller.key, "/artgen/v1/action", follow)
        .await
        .assert_refused(400, "no_available_account");
}

#[tokio::test]
async fn custody_runs_on_the_callers_own_account_and_nowhere_else() {
    let back = Gateway::spawn().await;
    let upstream = back.account(100).await;
    // A name of this machine's, so that callers may register the neighbour on it.
    let listeners = r#"[{ host = "custody.localhost", role = "custody" }]"#;
    let front = Options::default().set("LISTENERS", listeners).spawn().await;
    let (owner, stranger) = (front.account(50).await, front.account(50).await);
    let submit = async |key: &str| {
        let request = front
            .request(Method::POST, "/artgen/v1/imagine")
            .header("Host", "custody.localhost")
            .header("SVC-API-KEY", key);
        send(request.json(&json!({ "prompt": "a fox" }))).await
    };
    for (host, quota) in [("custody.localhost", 0.0), ("other.localhost", 4.0)] {
        let question = json!({ "operation": "artgen.imagine", "request": { "prompt": "a fox" } });
        let request = front
            .request(Method::POST, "/account/v1/quote")
            .header("Host", host)
            .header("SVC-API-KEY", &owner.key);
        let quoted = send(request.json(&question)).await;
        assert_eq!(
            quoted.json["data"]["quota"], quota,
            "{host}: {}",
            quoted.json
        );
    }
    let none = submit(&owner.key).await;
    none.assert_refused(400, "no_available_account");
    assert_eq!(none.json["message"], "No available accounts");

    let vendors = front.get(&owner.key, "/custody/v1/vendors").await.json;
    let vendors = vendors["data"].as_array().expect("a list of vendors");
    let relay = vendors.iter().find(|one| one["name"] == "relay");
    let relay = relay.expect("a vendor that can be registered is in the list");
    assert!(relay["settings"].is_object(), "a form can be made of it");

    let register = json!({ "vendor": "relay", "base_url": back.base_url, "name": "mine", "credential": upstream.key });
    let made = front
        .post(&owner.key, "/custody/v1/accounts", register.clone())
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    assert!(!made.json.to_string().contains(&upstream.key));
    let id = made.json["data"]["id"].as_str().expect("an id").to_owned();
    let listed = front.get(&owner.key, "/custody/v1/accounts").await.json;
    assert_eq!(listed["data"][0]["id"], id.as_str());
    assert!(!listed.to_string().contains(&upstream.key));

    let accepted = submit(&owner.key).await;
    let job = accepted.json["data"]["jobId"].as_str().expect("a job");
    assert_eq!(finished(&front, &owner.key, job).await["status"], "SUCCESS");
    assert_eq!(front.balance(&owner.key).await, (50.0, 0.0), "free here");
    assert_eq!(back.balance(&upstream.key).await, (96.0, 0.0), "paid there");

    submit(&stranger.key)
        .await
        .assert_refused(400, "no_available_account");
    let path = format!("/custody/v1/accounts/{id}");
    let foreign = front.request(Method::DELETE, &path);
    send(foreign.header("SVC-API-KEY", &stranger.key))
        .await
        .assert_refused(404, "not_found");
    let foreign = front
        .request(Method::PATCH, &path)
        .json(&json!({ "state": "paused" }));
    send(foreign.header("SVC-API-KEY", &stranger.key))
        .await
        .assert_refused(404, "not_found");
    let removed = front.request(Method::DELETE, &path);
    let removed = send(removed.header("SVC-API-KEY", &owner.key)).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    submit(&owner.key)
        .await
        .assert_refused(400, "no_available_account");
}

#[tokio::test]
async fn a_probe_of_a_back_end_that_is_down_says_so() {
    let front = Gateway::spawn().await;
    let (backend, worker) = connect(&front, "http://127.0.0.1:9", "at_nobody").await;
    let path = format!("/admin/v1/backends/{backend}");
    for probe in [
        format!("{path}/probe"),
        format!("{path}/accounts/{worker}/probe"),
    ] {
        let answer = front.operate(Method::POST, &probe, None).await;
        answer.assert_refused(502, "backend_failed");
        let message = answer.json["message"].as_str().unwrap_or_default();
        assert!(message.starts_with("first: retry: "), "{message}");
    }
    let shown = front.operate(Method::GET, &path, None).await.json;
    let errors = &shown["data"]["accounts"][0]["health"]["last_errors"];
    assert_eq!(errors[0]["outcome"], "retry", "{shown}");
}

#[tokio::test]
async fn a_vendors_post_is_believed_only_with_the_word_it_was_given() {
    let gateway = Gateway::spawn().await;
    for path in [
        "/hooks/v1/embedded/x",
        "/hooks/v1/a/b-1.00",
        "/hooks/v1/a/.",
        "/hooks/v1/a",
    ] {
        let answer = send(gateway.request(Method::POST, path)).await;
        answer.assert_refused(404, "not_found");
    }
}

#[tokio::test]
async fn a_new_master_key_opens_everything_the_old_one_sealed() {
    let chain = chain(Options::default()).await;
    let mut front = chain.front;
    let caller = front.account(50).await;
    let secret = front
        .get(&caller.key, "/account/v1/callbacks/secret")
        .await
        .json["data"]["secret"]
        .clone();
    let before = imagine(&front, &caller.key, "a stork").await;
    let job = finished(&front, &caller.key, &before).await;
    let address = job["files"][0]["url"].as_str().expect("an address");
    let address = address.split_once("/assets/").expect("a path").1;
    let address = format!("/assets/{address}");
    front.kill();
    let key = front.folder.path().join("master.key");
    let old = std::fs::read_to_string(&key).ok();
    let rotated = front.command(&["local", "rotate-master-key"]);
    assert!(rotated.contains("encrypted 2 secrets"), "{rotated}");
    assert!(old.is_none() || std::fs::read_to_string(&key).ok() != old);
    let front = front.restart(Options::default());
    let again = front.get(&caller.key, "/account/v1/callbacks/secret").await;
    assert_eq!(again.json["data"]["secret"], secret);
    let file = send(front.request(Method::GET, &address)).await;
    assert_eq!(file.status, 200, "an address given out before");
    let id = imagine(&front, &caller.key, "a heron").await;
    assert_eq!(
        finished(&front, &caller.key, &id).await["status"],
        "SUCCESS"
    );
    assert_eq!(chain.back.balance(&chain.upstream.key).await, (992.0, 0.0));
}

#[tokio::test]
async fn a_crash_at_any_point_of_an_attempt_submits_once_and_loses_nothing() {
    let points = [
        "runner.before_start",
        "runner.started",
        "runner.ticket_recorded",
        "runner.made",
        "runner.file_stored",
        "runner.before_settle",
        "settle.done",
    ];
    let chain = chain(lively()).await;
    let mut front = chain.front;
    let caller = front.account(1_000).await;
    for (number, point) in points.iter().enumerate() {
        front = front.restart(lively().set("CRASH_AT", point));
        let body = json!({ "prompt": format!("a boat {number}") });
        let call = |gateway: &Gateway| {
            gateway
                .request(Method::POST, "/artgen/v1/imagine")
                .header("SVC-API-KEY", &caller.key)
                .header("Idempotency-Key", *point)
                .json(&body)
        };
        let _ = call(&front).send().await;
        front.ended(Duration::from_mins(1));
        front = front.restart(lively());
        let again = send(call(&front)).await;
        let id = again.json["data"]["jobId"].as_str().expect("a job");
        let job = finished(&front, &caller.key, id).await;
        assert_eq!(job["status"], "SUCCESS", "{point}: {job}");
        let upstream = chain.back.get(&chain.upstream.key, "/jobs/v1").await.json;
        assert_eq!(upstream["total"], number + 1, "{point}: {upstream}");
    }
    let spent = 4.0 * points.len() as f64;
    assert_eq!(front.balance(&caller.key).await, (1_000.0 - spent, 0.0));
    let upstream = chain.back.balance(&chain.upstream.key).await;
    assert_eq!(upstream, (1_000.0 - spent, 0.0), "paid once each");
}
