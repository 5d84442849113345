//! What an account may take: its queue and its quota, also when many calls come at once.

use futures_util::future::join_all;

use crate::gateway::{Gateway, swap_body};

#[tokio::test]
async fn parallel_submits_never_spend_more_than_there_is() {
    let gateway = crate::gateway::Options::default()
        .set("JOBS_MAX_QUEUE", "1000")
        .spawn()
        .await;
    // A swap costs 2; ten of them are paid for.
    let caller = gateway.account(20).await;
    let calls = (0..32).map(|_| gateway.post(&caller.key, "/facegen/v1/swap", swap_body()));
    let answers = join_all(calls).await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers
        .iter()
        .filter(|answer| answer.json["code"] == "insufficient_quota")
        .count();
    // A job that fails at once gives its quota back, and somebody else may then take it.
    assert!(accepted >= 10, "{accepted} accepted");
    assert_eq!(accepted + refused, 32);
    let (balance, held) = gateway.balance(&caller.key).await;
    assert!(
        balance >= 0.0 && held >= 0.0 && balance + held <= 20.0,
        "{balance} {held}"
    );
}

#[tokio::test]
async fn a_full_queue_is_refused_by_name() {
    let gateway = Gateway::spawn().await;
    let made = gateway
        .operate(
            reqwest::Method::POST,
            "/admin/v1/accounts",
            Some(serde_json::json!({ "email": "small@example.com", "balance": 1000, "max_queue": 2 })),
        )
        .await;
    let key = made.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let prompt = serde_json::json!({ "prompt": "a lake [[stall]]" });
    for _ in 0..2 {
        let answer = gateway
            .post(&key, "/artgen/v1/imagine", prompt.clone())
            .await;
        assert_eq!(answer.status, 200, "{}", answer.json);
    }
    let answer = gateway.post(&key, "/artgen/v1/imagine", prompt).await;
    answer.assert_refused(400, "queue_full");
    // Another family has a queue of its own.
    assert_eq!(
        gateway
            .post(&key, "/facegen/v1/swap", swap_body())
            .await
            .status,
        200
    );
}
