//! Keys: where they are read, how they are issued and revoked, and what happens to wrong ones.

use std::time::Duration;

use atelier_contract::time::timestamp;
use atelier_engine::{Clock, key};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::gateway::{ADMIN_TOKEN, Gateway, Options, send};
use crate::stopwatch::Stopwatch;

const INFO: &str = "/artgen/v1/info";

#[tokio::test]
async fn a_key_is_read_from_its_header_or_as_bearer_and_nowhere_else() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let key = caller.key.as_str();
    let info = || gateway.request(Method::GET, INFO);
    assert_eq!(send(info().header("SVC-API-KEY", key)).await.status, 200);
    assert_eq!(
        send(info().header("Authorization", format!("Bearer {key}")))
            .await
            .status,
        200
    );
    assert_eq!(
        send(
            info()
                .header("Authorization", format!("bearer {key}"))
                .header("svc-api-key", key)
        )
        .await
        .status,
        200
    );
    let refused = [
        info().header("SVC-API-KEY", key).header("SVC-API-KEY", key),
        info()
            .header("SVC-API-KEY", key)
            .header("Authorization", "Bearer at_other"),
        info().header("Cookie", format!("SVC-API-KEY={key}")),
        info().header("Authorization", format!("Basic {key}")),
        gateway.request(Method::GET, &format!("{INFO}?SVC-API-KEY={key}")),
        gateway
            .request(Method::POST, INFO)
            .json(&json!({ "SVC-API-KEY": key })),
    ];
    for request in refused {
        send(request).await.assert_refused(401, "unauthorized");
    }
}

#[tokio::test]
async fn an_account_issues_and_revokes_its_own_keys() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let issued = gateway
        .post(&caller.key, "/account/v1/keys", json!({ "name": "laptop" }))
        .await;
    let (id, second) = (
        issued.json["data"]["id"].as_str(),
        issued.json["data"]["api_key"].as_str(),
    );
    let (id, second) = (id.expect("an id"), second.expect("a key"));
    assert_eq!(gateway.get(second, INFO).await.status, 200);
    let list = gateway.get(&caller.key, "/account/v1/keys").await;
    let rows = list.json["data"].as_array().expect("keys");
    assert!(
        rows.iter()
            .any(|row| row["name"] == "laptop" && row["id"] == id),
        "{}",
        list.json
    );
    assert!(!String::from_utf8_lossy(&list.bytes).contains(second));
    let stranger = gateway.account(1).await;
    let path = format!("/account/v1/keys/{id}");
    let foreign = send(
        gateway
            .request(Method::DELETE, &path)
            .header("SVC-API-KEY", &stranger.key),
    )
    .await;
    foreign.assert_refused(404, "not_found");
    let revoked = send(
        gateway
            .request(Method::DELETE, &path)
            .header("SVC-API-KEY", &caller.key),
    )
    .await;
    assert_eq!(revoked.status, 200);
    gateway
        .get(second, INFO)
        .await
        .assert_refused(401, "unauthorized");
}

/// Asks for the keys of an account on a connection that stays open; the whole answer.
async fn keys_over(stream: &mut TcpStream, key: &str) -> String {
    let head = format!("GET /account/v1/keys HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut text = Vec::new();
    loop {
        let read = timeout(Duration::from_secs(30), stream.read_buf(&mut text)).await;
        let size = read.expect("an answer").expect("a connection");
        let so_far = String::from_utf8_lossy(&text).into_owned();
        assert!(size > 0, "it was closed: {so_far}");
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .split_once("content-length: ")
            .and_then(|(_, rest)| rest.lines().next()?.parse().ok());
        if Some(body.len()) == length {
            return so_far;
        }
    }
}

#[tokio::test]
async fn a_connection_that_stays_open_believes_each_key_by_itself_and_none_that_was_revoked() {
    let gateway = Gateway::spawn().await;
    let (caller, other) = (gateway.account(1).await, gateway.account(1).await);
    let name = json!({ "name": "laptop" });
    let issued = gateway.post(&caller.key, "/account/v1/keys", name).await;
    let issued = &issued.json["data"];
    let (id, second) = (issued["id"].as_str(), issued["api_key"].as_str());
    let (id, second) = (id.expect("an id"), second.expect("a key"));
    let mut stream = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    for _ in 0..3 {
        let answer = keys_over(&mut stream, second).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("laptop"), "{answer}");
    }
    let answer = keys_over(&mut stream, &other.key).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(!answer.contains("laptop"), "{answer}");
    let longer = format!("{second}x");
    for wrong in [&second[..second.len() - 1], &longer, "at_"] {
        keys_over(&mut stream, second).await;
        let answer = keys_over(&mut stream, wrong).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
    keys_over(&mut stream, second).await;
    let revoke = gateway.request(Method::DELETE, &format!("/account/v1/keys/{id}"));
    let revoked = send(revoke.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    let answer = keys_over(&mut stream, second).await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    let answer = keys_over(&mut stream, &caller.key).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn wrong_keys_are_slowed_down_and_right_ones_are_not() {
    let gateway = Options::default()
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "5")
        .spawn()
        .await;
    let caller = gateway.account(1).await;
    assert_eq!(gateway.get(&caller.key, INFO).await.status, 200);
    for _ in 0..5 {
        gateway
            .get("at_guess", INFO)
            .await
            .assert_refused(401, "unauthorized");
    }
    let answer = gateway.get("at_guess", INFO).await;
    answer.assert_refused(429, "rate_limited");
    assert!(
        answer
            .header("retry-after")
            .parse::<u32>()
            .is_ok_and(|seconds| seconds >= 1)
    );
    assert_eq!(gateway.get(&caller.key, INFO).await.status, 200);
    // No key at all is no guess.
    send(gateway.request(Method::GET, INFO))
        .await
        .assert_refused(401, "unauthorized");
}

#[tokio::test]
async fn an_account_has_its_own_rate() {
    let limits = Options::default()
        .set("LIMITS_CALLS_PER_SECOND", "1")
        .set("LIMITS_CALLS_BURST", "3");
    let gateway = limits.spawn().await;
    let (busy, calm) = (gateway.account(1).await, gateway.account(1).await);
    // A second key of the same account is no second rate.
    let second = json!({ "name": "second" });
    let path = format!("/admin/v1/accounts/{}/keys", busy.id);
    let made = gateway.operate(Method::POST, &path, Some(second)).await;
    let key = made.json["data"]["api_key"].as_str().expect("a key");
    let began = Instant::now();
    let keys = [busy.key.as_str(), key];
    let answers = join_all((0..40).map(|n| gateway.get(keys[n % 2], INFO))).await;
    // On a busy machine the calls themselves take seconds, and each second allows one more.
    let most = 3 + began.elapsed().as_secs() as usize + 1;
    let mut refused = answers.iter().filter(|answer| answer.status == 429);
    assert!(refused.clone().all(|one| one.header("retry-after") == "1"));
    let allowed = answers.len() - refused.clone().count();
    assert!((3..=most).contains(&allowed), "{allowed} of 40");
    let answer = refused.next_back().expect("one that was refused");
    answer.assert_refused(429, "rate_limited");
    assert_eq!(answer.header("ratelimit-policy"), "\"calls\";q=3;w=3");
    assert!(answer.header("ratelimit").starts_with("\"calls\";r=0;t="));
    let calm_one = gateway.get(&calm.key, INFO).await;
    assert_eq!(calm_one.header("ratelimit"), "\"calls\";r=2;t=1");
    assert_eq!(gateway.get(&calm.key, INFO).await.status, 200);
}

/// The promise: once a network had too many wrong keys, its places bound how many reads a second more of them cost: each waits before
/// anybody is asked about a key, a token or a session that was not known lately. Those that were go on, and right ones get in.
#[tokio::test]
async fn a_network_that_guesses_too_much_waits_before_it_is_asked_about() {
    let gateway = Options::default()
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "2")
        .spawn()
        .await;
    let (known, fresh) = (gateway.account(1).await, gateway.account(1).await);
    let operator = async |name: &str| {
        let body = json!({ "name": name, "role": "viewer" });
        let path = "/admin/v1/operators";
        let made = gateway.operate(Method::POST, path, Some(body)).await;
        let token = made.json["data"]["token"].as_str();
        token.expect("a token").to_owned()
    };
    let (viewer, other) = (operator("known").await, operator("fresh").await);
    let stats = async |token: &str| {
        let request = gateway.request(Method::GET, "/admin/v1/stats");
        send(request.bearer_auth(token)).await
    };
    let jobs = async |session: &str| {
        let request = gateway.request(Method::GET, "/jobs/v1");
        send(request.header("cookie", format!("atelier_session={session}"))).await
    };
    assert_eq!(gateway.get(&known.key, INFO).await.status, 200);
    assert_eq!(stats(&viewer).await.status, 200);
    // Longer than a key is believed without a look.
    sleep(Duration::from_millis(1_200)).await;
    // A session that is made up is a guess like any other.
    let guess = gateway.get(&key::generate(), INFO).await;
    guess.assert_refused(401, "unauthorized");
    let guess = jobs(&key::generate_session()).await;
    guess.assert_refused(401, "unauthorized");
    for _ in 0..2 {
        let guess = gateway.get(&key::generate(), INFO).await;
        guess.assert_refused(429, "rate_limited");
        let guess = jobs(&key::generate_session()).await;
        guess.assert_refused(429, "rate_limited");
    }
    let has_waited = |begun: Instant| begun.elapsed() >= Duration::from_millis(500);
    let begun = Instant::now();
    assert_eq!(gateway.get(&fresh.key, INFO).await.status, 200);
    assert!(has_waited(begun));
    let begun = Instant::now();
    assert_eq!(stats(&other).await.status, 200);
    assert!(has_waited(begun));
    assert_eq!(gateway.get(&known.key, INFO).await.status, 200);
    assert_eq!(stats(&viewer).await.status, 200);
    assert_eq!(stats(ADMIN_TOKEN).await.status, 200);
}

/// The promise: who does not heed that it asks too much has no more of the service for it. Being told so takes a moment,
/// in which others are answered.
#[tokio::test]
async fn refusals_take_a_moment_and_others_do_not_wait_for_them() {
    let limits = Options::default()
        .set("LIMITS_CALLS_PER_SECOND", "50")
        .set("LIMITS_CALLS_BURST", "50");
    let gateway = limits.spawn().await;
    let (busy, calm) = (gateway.account(1).await, gateway.account(1).await);
    let began = Instant::now();
    let crowd = join_all((0..8).map(async |_| {
        let mut refused = 0;
        let within = |seconds| began.elapsed() < Duration::from_secs(seconds);
        while within(2) || (refused < 4 && within(30)) {
            let answer = gateway.get(&busy.key, INFO).await;
            refused += u32::from(answer.status == 429);
        }
        refused
    }));
    let others = async {
        sleep(Duration::from_millis(500)).await;
        let mut times = Vec::new();
        for _ in 0..10 {
            let asked = Stopwatch::start();
            assert_eq!(gateway.get(&calm.key, INFO).await.status, 200);
            times.push(asked.elapsed());
            sleep(Duration::from_millis(50)).await;
        }
        times.sort_unstable();
        times
    };
    let (refused, times) = tokio::join!(crowd, others);
    assert!(refused.iter().all(|one| *one >= 4), "{refused:?}");
    // Four a second for each of the eight, where there were thousands.
    let refused: u32 = refused.iter().sum();
    let most = 8 * (4.0 * began.elapsed().as_secs_f64()) as u32 + 8;
    assert!(refused <= most, "{refused} refusals");
    // A machine that stands still delays one or two of them.
    assert!(times[5] < Duration::from_millis(150), "{times:?}");
}

/// A key issued with another one.
async fn issue(gateway: &Gateway, key: &str, wish: Value) -> String {
    let issued = gateway.post(key, "/account/v1/keys", wish).await;
    assert_eq!(issued.status, 200, "{}", issued.json);
    let key = issued.json["data"]["api_key"].as_str();
    key.expect("a key").to_owned()
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say_and_no_more() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let with = |scope: &str| json!({ "name": scope, "scopes": [scope] });
    let submit = issue(&gateway, &caller.key, with("submit")).await;
    let read = issue(&gateway, &caller.key, with("read")).await;
    let account = issue(&gateway, &caller.key, with("account")).await;
    let id = gateway.imagine(&submit, "a lake").await;

    let fetch = format!("/artgen/v1/fetch?jobId={id}");
    assert_eq!(gateway.get(&read, &fetch).await.status, 200);
    let listed = async |key: &str| {
        let keys = gateway.get(key, "/account/v1/keys").await;
        let rows = keys.json["data"].as_array().expect("a list").clone();
        let scopes = rows.iter().map(|row| row["scopes"].clone());
        scopes.collect::<Vec<Value>>()
    };
    let all = [
        json!(["all"]),
        json!(["submit"]),
        json!(["read"]),
        json!(["account"]),
    ];
    assert_eq!(listed(&caller.key).await, all);
    // One that another key made sees itself and those below it.
    assert_eq!(listed(&account).await, all[3..]);

    let imagine = json!({ "prompt": "a lake" });
    for key in [&read, &account] {
        let refused = gateway
            .post(key, "/artgen/v1/imagine", imagine.clone())
            .await;
        refused.assert_refused(403, "forbidden");
    }
    for key in [&submit, &account] {
        gateway
            .get(key, &fetch)
            .await
            .assert_refused(403, "forbidden");
        gateway
            .get(key, INFO)
            .await
            .assert_refused(403, "forbidden");
    }
    for key in [&submit, &read] {
        let refused = gateway.get(key, "/account/v1/keys").await;
        refused.assert_refused(403, "forbidden");
        let refused = gateway.post(key, "/account/v1/keys", with("read")).await;
        refused.assert_refused(403, "forbidden");
    }
    let jobs = gateway.get(&read, "/jobs/v1").await;
    assert_eq!(jobs.json["total"], 1, "refused submits made no job");
}

#[tokio::test]
async fn no_key_issues_one_that_may_do_more() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let wish = json!({ "scopes": ["account", "read"] });
    let limited = issue(&gateway, &caller.key, wish).await;
    for scopes in [json!(["all"]), json!(["submit"]), json!(["read", "submit"])] {
        let wish = json!({ "scopes": scopes });
        let refused = gateway.post(&limited, "/account/v1/keys", wish).await;
        refused.assert_refused(403, "forbidden");
    }
    // Without a word about scopes all of them are meant.
    let refused = gateway.post(&limited, "/account/v1/keys", json!({})).await;
    refused.assert_refused(403, "forbidden");
    issue(&gateway, &limited, json!({ "scopes": ["read"] })).await;
    for wrong in [json!([]), json!(["everything"]), json!("read"), json!([1])] {
        let wish = json!({ "scopes": wrong });
        let refused = gateway.post(&caller.key, "/account/v1/keys", wish).await;
        refused.assert_refused(400, "invalid_parameter");
        let param = refused.json["param"].as_str().unwrap_or_default();
        assert!(param.starts_with("scopes"), "{}", refused.json);
    }
    let keys = format!("/admin/v1/accounts/{}/keys", caller.id);
    let wish = json!({ "scopes": ["submit"] });
    let issued = gateway.operate(Method::POST, &keys, Some(wish)).await;
    let key = issued.json["data"]["api_key"].as_str().expect("a key");
    gateway
        .get(key, INFO)
        .await
        .assert_refused(403, "forbidden");
}

#[tokio::test]
async fn an_account_has_only_so_many_keys_that_work() {
    let limits = Options::default().set("LIMITS_KEYS_PER_ACCOUNT", "3");
    let gateway = limits.spawn().await;
    let caller = gateway.account(1).await;
    issue(&gateway, &caller.key, json!({ "name": "second" })).await;
    issue(&gateway, &caller.key, json!({ "name": "third" })).await;
    let path = "/account/v1/keys";
    let refused = gateway.post(&caller.key, path, json!({})).await;
    refused.assert_refused(409, "conflict");
    let list = gateway.get(&caller.key, path).await;
    let last = list.json["data"][2]["id"].as_str().expect("an id");
    let revoke = gateway.request(Method::DELETE, &format!("{path}/{last}"));
    assert_eq!(
        send(revoke.header("SVC-API-KEY", &caller.key)).await.status,
        200
    );
    issue(&gateway, &caller.key, json!({})).await;
}

#[tokio::test]
async fn a_key_stops_working_when_it_expires() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let wish = json!({ "expiresAt": "2020-01-01" });
    let refused = gateway.post(&caller.key, "/account/v1/keys", wish).await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(refused.json["param"], "expiresAt", "{}", refused.json);

    let wish = json!({ "expiresAt": in_seconds(8) });
    let short = issue(&gateway, &caller.key, wish).await;
    assert_eq!(gateway.get(&short, INFO).await.status, 200);
    sleep(Duration::from_secs(9)).await;
    gateway
        .get(&short, INFO)
        .await
        .assert_refused(401, "unauthorized");
}

/// So many seconds from now, by the clock of this machine, which is the service's too.
pub(crate) fn in_seconds(seconds: i64) -> String {
    timestamp(Clock::System.now_ms() + seconds * 1000)
}
