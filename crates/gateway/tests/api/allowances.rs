//! What an operator gives one account of what all share, at run time, and what an account may keep.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Duration, sleep, timeout};

use crate::backends::finished;
use crate::files::png;
use crate::gateway::{Account, Answer, Gateway, Options, send};

async fn change(gateway: &Gateway, account: &Account, wish: Value) -> Value {
    let path = format!("/admin/v1/accounts/{}", account.id);
    let changed = gateway.operate(Method::PATCH, &path, Some(wish)).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    changed.json["data"].clone()
}

/// The promise: rates are an operator's to change while the service runs, one account at a time, and the act is written
/// down with its operator.
#[tokio::test]
async fn an_operator_changes_the_rates_of_one_account_while_the_service_runs() {
    let limited = || {
        Options::default()
            .set("LIMITS_CALLS_PER_SECOND", "200")
            .set("LIMITS_CALLS_BURST", "1000")
    };
    let gateway = limited().spawn().await;
    let second = limited().beside(&gateway);
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    let policy = async |at: &Gateway, account: &Account| {
        let info = at.get(&account.key, "/artgen/v1/info").await;
        (
            info.status.as_u16(),
            info.header("ratelimit-policy").to_owned(),
        )
    };
    let usual = (200, "\"calls\";q=1000;w=5".to_owned());
    assert_eq!(policy(&gateway, &caller).await, usual);
    let changed = change(
        &gateway,
        &caller,
        json!({ "calls_per_second": 1, "share_percent": 50 }),
    )
    .await;
    assert_eq!(
        (&changed["calls_per_second"], &changed["share_percent"]),
        (&json!(1), &json!(50))
    );
    assert_eq!(changed["submits_per_second"], 0, "as configured");
    let own = "\"calls\";q=5;w=5".to_owned();
    assert_eq!(policy(&gateway, &caller).await, (200, own.clone()));
    let refused = async || {
        for _ in 0..20 {
            if policy(&gateway, &caller).await.0 == 429 {
                return true;
            }
        }
        false
    };
    assert!(refused().await, "five at once, and one a second");
    assert_eq!(policy(&gateway, &other).await, usual);
    if let Some(second) = second {
        let second = second.spawn().await;
        assert_eq!(policy(&second, &caller).await.1, own);
        change(&second, &caller, json!({ "calls_per_second": 2 })).await;
        let heard = async {
            while policy(&gateway, &caller).await.1 != "\"calls\";q=10;w=5" {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let heard = timeout(Duration::from_secs(30), heard).await;
        heard.expect("the other node has heard of it");
    }
    change(&gateway, &caller, json!({ "calls_per_second": 0 })).await;
    assert_eq!(policy(&gateway, &caller).await, usual);
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    let acts = audit.json["data"].as_array().expect("acts").clone();
    let acts = acts.iter().filter(|act| act["action"] == "account.change");
    assert!(acts.clone().count() >= 2);
    let told = "calls_per_second=1 share_percent=50";
    assert!(acts.clone().any(|act| act["detail"] == told));
    assert!(acts.clone().all(|act| act["actor"] == "root"));
}

/// The promise: who may have more of what is shared has more at once, and operators see who has what.
#[tokio::test]
async fn a_larger_share_holds_at_once_and_is_shown() {
    let gateway = Options::default()
        .set("LIMITS_EVENT_STREAMS", "16")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let path = format!("/jobs/v1/{id}/events");
    let mut streams = Vec::new();
    let mut open = async |most: usize| {
        for _ in 0..20 {
            let request = gateway.request(Method::GET, &path);
            let answer = request.header("SVC-API-KEY", &caller.key).send().await;
            let answer = answer.expect("an answer");
            if answer.status() != 200 {
                assert_eq!(answer.status(), 429);
                break;
            }
            streams.push(answer);
        }
        assert_eq!(streams.len(), most);
    };
    open(2).await;
    change(&gateway, &caller, json!({ "share_percent": 50 })).await;
    open(8).await;
    let stats = gateway.operate(Method::GET, "/admin/v1/stats", None).await;
    let shares = stats.json["data"]["shares"]
        .as_array()
        .expect("shares")
        .clone();
    let streams = shares.iter().find(|one| one["of"] == "event_streams");
    let holder = &streams.expect("event streams")["holders"][0];
    assert_eq!(
        *holder,
        json!({ "who": caller.id, "amount": 8, "share": 8 })
    );
}

async fn upload(gateway: &Gateway, account: &Account) -> Answer {
    let part = reqwest::multipart::Part::bytes(png(64, 48));
    let form = reqwest::multipart::Form::new().part("file", part.file_name("a.png"));
    let request = gateway.request(Method::POST, "/files/v1").multipart(form);
    send(request.header("SVC-API-KEY", &account.key)).await
}

/// The promise: an account keeps so many bytes and not more; results of what was accepted are kept all the same.
#[tokio::test]
async fn storage_is_bounded_for_each_account() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(100).await, gateway.account(100).await);
    change(&gateway, &caller, json!({ "max_storage": 1 })).await;
    let id = gateway.imagine(&caller.key, "a hill").await;
    finished(&gateway, &caller.key, &id).await;
    let path = format!("/admin/v1/accounts/{}", caller.id);
    let shown = gateway.operate(Method::GET, &path, None).await;
    assert!(
        shown.json["data"]["stored_bytes"].as_i64() > Some(1),
        "{}",
        shown.json
    );
    let again = gateway
        .post(
            &caller.key,
            "/artgen/v1/imagine",
            json!({ "prompt": "a lake" }),
        )
        .await;
    again.assert_refused(400, "storage_full");
    upload(&gateway, &caller)
        .await
        .assert_refused(400, "storage_full");
    let requests = json!({ "requests": [{ "operation": "artgen.imagine", "request": { "prompt": "a lake" } }] });
    let batch = gateway.post(&caller.key, "/jobs/v1/batch", requests).await;
    assert_eq!(
        batch.json["data"]["answers"][0]["code"], "storage_full",
        "{}",
        batch.json
    );
    gateway.imagine(&other.key, "a lake").await;
    // Deleting makes room again.
    let request = gateway.request(Method::DELETE, &format!("/jobs/v1/{id}"));
    let deleted = send(request.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(deleted.status, 200, "{}", deleted.json);
}

/// The promise: a disk that is nearly full takes no work, says so to whoever sends work, and answers everything else.
#[tokio::test]
async fn a_disk_that_is_nearly_full_takes_no_work() {
    let gateway = Options::default()
        .set("LIMITS_DISK_FREE_MIB", "1000000000")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let refused = gateway
        .post(
            &caller.key,
            "/artgen/v1/imagine",
            json!({ "prompt": "a lake" }),
        )
        .await;
    refused.assert_refused(503, "overloaded");
    upload(&gateway, &caller)
        .await
        .assert_refused(503, "overloaded");
    let info = gateway.get(&caller.key, "/artgen/v1/info").await;
    assert_eq!(info.status, 200);
    let ready = gateway.get(&caller.key, "/readyz").await;
    ready.assert_refused(503, "overloaded");
    assert_eq!(gateway.get(&caller.key, "/healthz").await.status, 200);
}
