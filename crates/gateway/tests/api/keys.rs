//! Keys: where they are read, how they are issued and revoked, and what happens to wrong ones.

use reqwest::Method;
use serde_json::json;

use crate::gateway::{Gateway, Options, send};

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

#[tokio::test]
async fn wrong_keys_are_slowed_down_and_right_ones_are_not() {
    let gateway = Options::default()
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "5")
        .spawn()
        .await;
    let caller = gateway.account(1).await;
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
    let mut refused = 0;
    for _ in 0..10 {
        let answer = gateway.get(&busy.key, INFO).await;
        if answer.status == 429 {
            assert_eq!(answer.header("retry-after"), "1");
            refused += 1;
        }
    }
    assert!(refused >= 5, "{refused} of 10 refused");
    // A second key of the same account is no second rate.
    let second = json!({ "name": "second" });
    let path = format!("/admin/v1/accounts/{}/keys", busy.id);
    let made = gateway.operate(Method::POST, &path, Some(second)).await;
    let key = made.json["data"]["api_key"].as_str().expect("a key");
    let answer = gateway.get(key, INFO).await;
    answer.assert_refused(429, "rate_limited");
    assert_eq!(answer.header("ratelimit-policy"), "\"calls\";q=3;w=3");
    assert!(answer.header("ratelimit").starts_with("\"calls\";r=0;t="));
    let calm_one = gateway.get(&calm.key, INFO).await;
    assert_eq!(calm_one.header("ratelimit"), "\"calls\";r=2;t=1");
    assert_eq!(gateway.get(&calm.key, INFO).await.status, 200);
}
