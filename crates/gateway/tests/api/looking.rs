//! What the console looks at: small pictures, jobs by their words, what happened to one, samples of callbacks, the last hour,
//! what other prices would have cost, and an operator's look at an account.

use std::io::Write as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::backends::finished;
use crate::gateway::{ADMIN_TOKEN, Gateway, send};
use crate::outside::{Outside, read};

async fn made(gateway: &Gateway, key: &str, prompt: &str) -> Value {
    let id = gateway.imagine(key, prompt).await;
    finished(gateway, key, &id).await
}

fn first_file(job: &Value) -> String {
    let url = job["files"][0]["url"].as_str().expect("an address");
    let (_, path) = url.split_once("/assets/").expect("a signed address");
    path.to_owned()
}

/// The promise: a result has a small picture behind its own signature, and nobody gets one without it.
#[tokio::test]
async fn a_result_has_a_small_picture_behind_the_same_address() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let path = first_file(&made(&gateway, &account.key, "a lighthouse").await);
    let ask = async |path: &str| send(gateway.request(Method::GET, path)).await;
    let whole = ask(&format!("/assets/{path}")).await;
    for _ in 0..2 {
        let small = ask(&format!("/thumbs/{path}")).await;
        assert_eq!(small.status, 200, "{}", small.json);
        assert_eq!(small.header("content-type"), "image/webp");
        assert!(small.header("cache-control").contains("immutable"));
        assert!(small.bytes.len() < 40_000, "{} bytes", small.bytes.len());
        assert!(small.bytes.len() < whole.bytes.len() / 4);
        let known = gateway
            .request(Method::GET, &format!("/thumbs/{path}"))
            .header("if-none-match", small.header("etag"));
        assert_eq!(send(known).await.status, 304);
    }
    let small = ask(&format!("/thumbs/{path}&size=small")).await;
    let medium = ask(&format!("/thumbs/{path}&size=medium")).await;
    assert_eq!(medium.header("content-type"), "image/webp");
    assert_ne!(medium.header("etag"), small.header("etag"));
    let (low, high) = (small.bytes.len(), whole.bytes.len());
    assert!((low + 1..high).contains(&medium.bytes.len()));
    let refused = ask(&format!("/thumbs/{path}&size=huge")).await;
    refused.assert_refused(400, "invalid_parameter");
    let forged = path.replace("&s=", "&s=x");
    for forged in [forged.clone(), format!("{forged}&size=medium")] {
        let refused = ask(&format!("/thumbs/{forged}")).await;
        refused.assert_refused(403, "forbidden");
    }
}

#[tokio::test]
async fn jobs_are_found_by_their_words_and_by_what_they_make() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    made(&gateway, &account.key, "a red fox").await;
    made(&gateway, &account.key, "a blue whale").await;
    let count = async |query: &str| {
        let answer = gateway
            .get(&account.key, &format!("/jobs/v1?{query}"))
            .await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.json);
        answer.json["total"].as_i64().expect("a number")
    };
    assert_eq!(count("q=FOX").await, 1);
    assert_eq!(count("q=a%20").await, 2);
    assert_eq!(count("q=%25").await, 0);
    assert_eq!(count("makes=video").await, 0);
    assert_eq!(count("makes=picture&unfinished=true").await, 0);
    assert_eq!(count("since=2020-01-01").await, 2);
    assert_eq!(count("family=motion&makes=picture").await, 0);
}

/// The promise: a caller learns what happened to its job and not who was asked; an operator learns both.
#[tokio::test]
async fn a_job_tells_what_happened_to_it() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let receiver = Outside::start(|mut stream| {
        read(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    });
    let body = json!({ "prompt": "a lake", "hookUrl": receiver.url("/hook") });
    let answer = gateway.post(&account.key, "/artgen/v1/imagine", body).await;
    let id = answer.json["data"]["jobId"].as_str().expect("an id");
    let path = format!("/jobs/v1/{id}/trail");
    let mut trail = Value::Null;
    for _ in 0..100 {
        trail = gateway.get(&account.key, &path).await.json;
        if trail["data"]["deliveredAt"].is_string() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(trail["data"]["deliveredAt"].is_string(), "{trail}");
    assert_eq!(trail["data"]["callback"]["log"][0]["status"], 200);
    let stranger = gateway.account(1).await;
    let hidden = gateway.get(&stranger.key, &path).await;
    hidden.assert_refused(400, "job_not_found");
    let operators_view = format!("/admin/v1/jobs/{id}/trail");
    let shown = gateway.operate(Method::GET, &operators_view, None).await;
    assert_eq!(shown.status, 200, "{}", shown.json);
}

#[tokio::test]
async fn a_sample_callback_is_signed_and_its_answer_is_told() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(1).await;
    let receiver = Outside::start(|mut stream| {
        read(&mut stream);
        let answer = "HTTP/1.1 418 I am a teapot\r\ncontent-length: 9\r\n\r\nno coffee";
        let _ = stream.write_all(answer.as_bytes());
    });
    let path = "/account/v1/callbacks/sample";
    let body = json!({ "url": receiver.url("/hook") });
    let sample = gateway.post(&account.key, path, body).await;
    let data = &sample.json["data"];
    assert_eq!(data["status"], 418, "{}", sample.json);
    assert_eq!(data["delivered"], false);
    assert_eq!(data["answer"], "no coffee");
    let signature = data["headers"]["webhook-signature"].as_str();
    assert!(signature.is_some_and(|text| text.starts_with("v1,")));
    let inside = json!({ "url": "http://169.254.169.254/latest" });
    let refused = gateway.post(&account.key, path, inside).await;
    refused.assert_refused(400, "address_not_allowed");
}

#[tokio::test]
async fn the_last_hour_and_other_prices_are_told_to_operators() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    let job = made(&gateway, &account.key, "a harbour").await;
    let charged = job["quota"].as_f64().expect("a price");
    let overview = gateway.operate(Method::GET, "/admin/v1/overview", None);
    let overview = overview.await.json;
    assert_eq!(overview["data"]["families"][0]["jobs"], 1, "{overview}");
    assert_eq!(
        overview["data"]["minutes"].as_array().map(Vec::len),
        Some(60)
    );
    assert!(overview["data"]["diskFreeBytes"].as_u64() > Some(0));
    let body = json!({ "artgen.imagine.fast": charged * 3.0 });
    let path = "/admin/v1/prices/preview";
    let preview = gateway.operate(Method::POST, path, Some(body)).await.json;
    assert_eq!(preview["data"]["was"].as_f64(), Some(charged), "{preview}");
    assert_eq!(preview["data"]["wouldBe"].as_f64(), Some(charged * 3.0));
    let wrong = json!({ "no.such.price": 1 });
    let refused = gateway.operate(Method::POST, path, Some(wrong)).await;
    refused.assert_refused(400, "invalid_parameter");
    let prices = gateway.operate(Method::GET, "/admin/v1/prices", None).await;
    assert_eq!(
        prices.json["data"]["artgen.imagine.fast"].as_f64(),
        Some(charged)
    );
}

/// The promise: an operator who looks at an account sees what it sees and can change nothing of it.
#[tokio::test]
async fn an_operator_looks_at_an_account_and_changes_nothing() {
    let gateway = Gateway::spawn().await;
    let account = gateway.account(100).await;
    made(&gateway, &account.key, "a harbour").await;
    let sign_in = gateway
        .request(Method::POST, "/console/session")
        .json(&json!({ "secret": ADMIN_TOKEN }));
    let first = send(sign_in).await;
    let with = |method: Method, path: &str, answer: &crate::gateway::Answer| {
        let cookie = answer.header("set-cookie").split(';').next();
        gateway
            .request(method, path)
            .header("cookie", cookie.expect("a cookie"))
            .header(
                "x-csrf-token",
                answer.json["data"]["csrf"].as_str().expect("a proof"),
            )
    };
    let path = format!("/admin/v1/accounts/{}/visit", account.id);
    let visit = send(with(Method::POST, &path, &first)).await;
    assert_eq!(visit.status, 200, "{}", visit.json);
    assert_eq!(visit.json["data"]["looking"], true);
    let jobs = send(with(Method::GET, "/jobs/v1", &visit)).await;
    assert_eq!(jobs.json["total"], 1, "{}", jobs.json);
    let body = json!({ "prompt": "mine now" });
    let submit = with(Method::POST, "/artgen/v1/imagine", &visit).json(&body);
    send(submit).await.assert_refused(403, "forbidden");
    let keys = send(with(Method::GET, "/account/v1/keys", &visit)).await;
    keys.assert_refused(403, "forbidden");
    let keys = gateway.get(&account.key, "/account/v1/keys").await.json;
    let keys = keys["data"].as_array().expect("a list of keys");
    assert_eq!(keys.len(), 1, "a visit is no key of the account: {keys:?}");
    let overview = send(with(Method::GET, "/admin/v1/overview", &visit)).await;
    assert_eq!(overview.status, 200, "{}", overview.json);
    let end = send(with(Method::DELETE, "/console/session?visit=true", &visit)).await;
    assert_eq!(end.status, 200, "{}", end.json);
    let cookie = end.header("set-cookie").split(';').next();
    let left = gateway
        .request(Method::GET, "/console/session")
        .header("cookie", cookie.expect("a cookie"));
    let left = send(left).await.json;
    assert!(left["data"]["account"].is_null(), "{left}");
    assert!(left["data"]["operator"].is_object(), "{left}");
}
