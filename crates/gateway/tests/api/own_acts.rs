//! What callers do to their own accounts: a list of the account, with a rate, and nothing in the operators' list. Sessions of
//! the console are such acts with a rate of each key's; they are calls like any other, and few live at once.

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Account, Answer, Gateway, Options, send};

async fn issue(gateway: &Gateway, caller: &Account) -> Answer {
    gateway
        .post(&caller.key, "/account/v1/keys", json!({ "name": "one" }))
        .await
}

async fn sign_in(gateway: &Gateway, secret: &str) -> Answer {
    let request = gateway.request(Method::POST, "/console/session");
    send(request.json(&json!({ "secret": secret }))).await
}

/// The cookie of a session.
fn cookie(answer: &Answer) -> String {
    let line = answer.header("set-cookie");
    line.split(';').next().unwrap_or_default().to_owned()
}

async fn is_signed_in(gateway: &Gateway, cookie: &str) -> bool {
    let request = gateway.request(Method::GET, "/console/session");
    let shown = send(request.header("Cookie", cookie)).await;
    assert_eq!(shown.status, 200, "{}", shown.json);
    shown.json["data"].is_object()
}

fn actions(answer: &Answer) -> Vec<String> {
    let rows = answer.json["data"].as_array().expect("rows");
    let word = |row: &Value| row["action"].as_str().unwrap_or_default().to_owned();
    rows.iter().map(word).collect()
}

#[tokio::test]
async fn acts_of_callers_stand_in_their_own_list_alone() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(10).await, gateway.account(10).await);
    let audited = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    let before = audited.json["total"].clone();
    let key = issue(&gateway, &caller).await.json["data"]["id"].clone();
    let key = key.as_str().expect("an id");
    let revoke = gateway.request(Method::DELETE, &format!("/account/v1/keys/{key}"));
    let revoked = send(revoke.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    let secret = "/account/v1/callbacks/secret";
    let rotated = gateway.post(&caller.key, secret, json!({})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.json);
    let new = json!({ "vendor": "relay", "base_url": "http://127.0.0.1:9", "credential": "x" });
    let hosted = gateway.post(&caller.key, "/custody/v1/accounts", new).await;
    assert_eq!(hosted.status, 200, "{}", hosted.json);
    let id = hosted.json["data"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let probe = format!("/custody/v1/accounts/{id}/probe");
    gateway.post(&caller.key, &probe, json!({})).await;
    assert_eq!(sign_in(&gateway, &caller.key).await.status, 200);

    let acts = gateway.get(&caller.key, "/account/v1/acts").await;
    let told = [
        "session.open",
        "custody.probe",
        "custody.create",
        "secret.rotate",
        "key.revoke",
        "key.issue",
    ];
    assert_eq!(actions(&acts), told, "{}", acts.json);
    assert_eq!(acts.json["total"], 6);
    assert_eq!(acts.json["data"][5]["target"], key);
    assert!(acts.json["data"][5]["keyId"].is_string(), "{}", acts.json);
    let none = gateway.get(&other.key, "/account/v1/acts").await;
    assert_eq!(none.json["total"], 0);
    let audited = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    assert_eq!(audited.json["total"], before, "{}", audited.json);
    // What an operator does to an account is the operator's act.
    let keys = format!("/admin/v1/accounts/{}/keys", caller.id);
    gateway.operate(Method::POST, &keys, Some(json!({}))).await;
    let audited = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    assert_eq!(actions(&audited)[0], "key.issue");
}

#[tokio::test]
async fn acts_of_callers_have_a_rate_that_never_keeps_a_key_alive() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(10).await, gateway.account(10).await);
    let mut last = Value::Null;
    for _ in 0..20 {
        let issued = issue(&gateway, &caller).await;
        assert_eq!(issued.status, 200, "{}", issued.json);
        last = issued.json["data"]["id"].clone();
    }
    let refused = issue(&gateway, &caller).await;
    refused.assert_refused(429, "rate_limited");
    assert!(!refused.header("retry-after").is_empty());
    // What keys open is counted by key.
    let opened = sign_in(&gateway, &caller.key).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    let path = format!("/account/v1/keys/{}", last.as_str().expect("an id"));
    let revoke = gateway.request(Method::DELETE, &path);
    let revoked = send(revoke.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    assert_eq!(issue(&gateway, &other).await.status, 200);
}

#[tokio::test]
async fn few_sessions_of_one_key_live_at_once() {
    let gateway = Options::default()
        .set("LIMITS_ACTS_PER_HOUR", "0")
        .spawn()
        .await;
    let (caller, other) = (gateway.account(10).await, gateway.account(10).await);
    let others = cookie(&sign_in(&gateway, &other.key).await);
    let mut cookies = Vec::new();
    for _ in 0..25 {
        let opened = sign_in(&gateway, &caller.key).await;
        assert_eq!(opened.status, 200, "{}", opened.json);
        cookies.push(cookie(&opened));
    }
    let mut live = 0;
    for cookie in &cookies {
        live += usize::from(is_signed_in(&gateway, cookie).await);
    }
    assert_eq!(live, 20);
    assert!(is_signed_in(&gateway, &cookies[24]).await);
    assert!(is_signed_in(&gateway, &others).await);
}

#[tokio::test]
async fn signing_in_counts_as_a_call_of_the_account() {
    let gateway = Options::default()
        .set("LIMITS_ACTS_PER_HOUR", "0")
        .set("LIMITS_CALLS_PER_SECOND", "1")
        .set("LIMITS_CALLS_BURST", "5")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let mut refused = 0;
    for _ in 0..20 {
        let opened = sign_in(&gateway, &caller.key).await;
        match opened.status.as_u16() {
            200 => {}
            429 => refused += 1,
            other => panic!("{other}: {}", opened.json),
        }
    }
    assert!((5..=15).contains(&refused), "{refused} of 20 were refused");
}

/// The promise: a key that may only read cannot keep its account from changing itself by signing in, and neither can bodies
/// that describe nothing.
#[tokio::test]
async fn what_changes_nothing_uses_up_no_acts_of_the_account() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let wish = json!({ "scopes": ["read"] });
    let issued = gateway.post(&caller.key, "/account/v1/keys", wish).await;
    let read = issued.json["data"]["api_key"].as_str().expect("a key");
    let mut refused = 0;
    for _ in 0..25 {
        let opened = sign_in(&gateway, read).await;
        match opened.status.as_u16() {
            200 => {}
            429 => refused += 1,
            other => panic!("{other}: {}", opened.json),
        }
    }
    assert!((1..=5).contains(&refused), "{refused} of 25 were refused");
    let rotate = async || {
        let secret = "/account/v1/callbacks/secret";
        let rotated = gateway.post(&caller.key, secret, json!({})).await;
        assert_eq!(rotated.status, 200, "{}", rotated.json);
    };
    rotate().await;
    let nothing = json!({ "vendor": "relay", "base_url": "ftp://x/", "credential": "x" });
    for _ in 0..25 {
        let path = "/custody/v1/accounts";
        let wrong = gateway.post(&caller.key, path, nothing.clone()).await;
        assert_eq!(wrong.status, 400, "{}", wrong.json);
    }
    rotate().await;
}

/// The promise: sessions are acts of the account too, however many keys it has, and one key does not use up what others have.
#[tokio::test]
async fn many_keys_together_open_no_more_sessions_than_their_account_may() {
    let gateway = Options::default()
        .set("LIMITS_ACTS_BURST", "2")
        .spawn()
        .await;
    let (caller, other) = (gateway.account(10).await, gateway.account(10).await);
    let mut keys = vec![caller.key.clone()];
    for _ in 0..7 {
        let path = format!("/admin/v1/accounts/{}/keys", caller.id);
        let issued = gateway.operate(Method::POST, &path, Some(json!({}))).await;
        let key = issued.json["data"]["api_key"].as_str();
        keys.push(key.expect("a key").to_owned());
    }
    // One that is refused for its own sake leaves the account what it has.
    for _ in 0..12 {
        sign_in(&gateway, &keys[0]).await;
    }
    let mut opened = 0;
    for key in &keys[1..] {
        for _ in 0..2 {
            let answer = sign_in(&gateway, key).await;
            match answer.status.as_u16() {
                200 => opened += 1,
                429 => assert!(!answer.header("retry-after").is_empty()),
                other => panic!("{other}: {}", answer.json),
            }
        }
    }
    // Ten at once in all, of which the first key had two; another comes every 36 seconds.
    assert!((8..=9).contains(&opened), "{opened} of 14 were opened");
    assert_eq!(sign_in(&gateway, &other.key).await.status, 200);
}

/// The promise: what is refused for another reason than the rate uses up nothing of it.
#[tokio::test]
async fn an_act_counts_once_nothing_else_speaks_against_it() {
    let gateway = Options::default()
        .set("LIMITS_KEYS_PER_ACCOUNT", "2")
        .spawn()
        .await;
    let caller = gateway.account(10).await;
    let issued = issue(&gateway, &caller).await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let secret = "/account/v1/callbacks/secret";
    let rotate = async || gateway.post(&caller.key, secret, json!({})).await;
    for _ in 0..8 {
        let rotated = rotate().await;
        assert_eq!(rotated.status, 200, "{}", rotated.json);
    }
    for _ in 0..25 {
        let unknown = "/custody/v1/accounts/no-such/probe";
        let probed = gateway.post(&caller.key, unknown, json!({})).await;
        assert_eq!(probed.status, 404, "{}", probed.json);
    }
    for _ in 0..25 {
        let third = issue(&gateway, &caller).await;
        assert_eq!(third.status, 409, "{}", third.json);
    }
    for _ in 0..15 {
        rotate().await.assert_refused(429, "rate_limited");
    }
    // Nine acts so far of the twenty that may come at once.
    let new = json!({ "vendor": "relay", "base_url": "http://127.0.0.1:9", "credential": "x" });
    for _ in 0..11 {
        let path = "/custody/v1/accounts";
        let hosted = gateway.post(&caller.key, path, new.clone()).await;
        assert_eq!(hosted.status, 200, "{}", hosted.json);
    }
}
