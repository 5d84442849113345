//! `Idempotency-Key`: the same call again is the same job and costs nothing more.

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Answer, Gateway, send, swap_body};

async fn swap(gateway: &Gateway, key: &str, name: &str, body: Value) -> Answer {
    let request = gateway
        .request(Method::POST, "/facegen/v1/swap")
        .header("SVC-API-KEY", key);
    send(request.header("Idempotency-Key", name).json(&body)).await
}

#[tokio::test]
async fn the_same_call_again_is_the_same_job() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let first = swap(&gateway, &caller.key, "one", swap_body()).await;
    let again = swap(&gateway, &caller.key, "one", swap_body()).await;
    assert_eq!(first.status, 200, "{}", first.json);
    assert_eq!(first.bytes, again.bytes);
    let list = gateway.get(&caller.key, "/jobs/v1").await;
    assert_eq!(list.json["total"], 1);
    let ledger = gateway
        .get(&caller.key, "/account/v1/ledger?limit=100")
        .await;
    let holds = ledger.json["data"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["kind"] == "hold")
        .count();
    assert_eq!(holds, 1, "{}", ledger.json);
}

#[tokio::test]
async fn the_order_of_fields_does_not_matter_but_their_values_do() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let first = swap(&gateway, &caller.key, "one", swap_body()).await;
    let request = gateway
        .request(Method::POST, "/facegen/v1/swap")
        .header("SVC-API-KEY", &caller.key);
    let other_order = r#"{ "swapImage" : "https://example.com/b.png", "targetImage" : "https://example.com/a.png" }"#;
    let again = send(request.header("Idempotency-Key", "one").body(other_order)).await;
    assert_eq!(first.bytes, again.bytes);
    let other = json!({ "targetImage": "https://example.com/c.png", "swapImage": "https://example.com/b.png" });
    swap(&gateway, &caller.key, "one", other)
        .await
        .assert_refused(422, "idempotency_mismatch");
}

#[tokio::test]
async fn keys_of_two_accounts_have_nothing_to_do_with_each_other() {
    let gateway = Gateway::spawn().await;
    let (one, other) = (gateway.account(100).await, gateway.account(100).await);
    let first = swap(&gateway, &one.key, "same", swap_body()).await;
    let second = swap(&gateway, &other.key, "same", swap_body()).await;
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (200, 200));
    assert_ne!(first.json["data"]["jobId"], second.json["data"]["jobId"]);
}

#[tokio::test]
async fn a_refused_call_may_be_tried_again_with_the_same_key() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(0).await;
    swap(&gateway, &caller.key, "one", swap_body())
        .await
        .assert_refused(400, "insufficient_quota");
    let path = format!("/admin/v1/accounts/{}/credit", caller.id);
    let credit = json!({ "amount": 10, "reason": "top up" });
    assert_eq!(
        gateway
            .operate(Method::POST, &path, Some(credit))
            .await
            .status,
        200
    );
    assert_eq!(
        swap(&gateway, &caller.key, "one", swap_body()).await.status,
        200
    );
}

#[tokio::test]
async fn parallel_calls_with_one_key_make_one_job() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let calls = (0..8).map(|_| swap(&gateway, &caller.key, "race", swap_body()));
    let answers = futures_util::future::join_all(calls).await;
    let mut ids: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.json["data"]["jobId"].to_string())
        .collect();
    assert!(!ids.is_empty());
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer.status.as_u16(), 200 | 409))
    );
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(gateway.get(&caller.key, "/jobs/v1").await.json["total"], 1);
}

#[tokio::test]
async fn a_key_that_is_no_key_is_refused() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    for name in ["", "two words", &"k".repeat(256)] {
        let answer = swap(&gateway, &caller.key, name, swap_body()).await;
        answer.assert_refused(400, "invalid_parameter");
        assert_eq!(answer.json["param"], "Idempotency-Key");
    }
    assert_eq!(
        swap(&gateway, &caller.key, &"k".repeat(255), swap_body())
            .await
            .status,
        200
    );
}
