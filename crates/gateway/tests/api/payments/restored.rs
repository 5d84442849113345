//! What is left of payments and receipts after a restore, with the master key and without it.

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use super::{PAYMENTS, balance, begin, id_of, operate, picture, product, state};
use crate::gateway::{Account, Gateway, Options, send};

fn options() -> Options {
    Options::default()
        .set("PAYMENTS_MANUAL_ENABLED", "true")
        .set("RECEIPTS_ENABLED", "true")
}

fn atelier(words: &[&str]) -> (bool, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_atelier"))
        .args(words)
        .output()
        .expect("the binary starts");
    let text = [ran.stdout, ran.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (ran.status.success(), text)
}

async fn confirm(gateway: &Gateway, id: &str) -> Value {
    let path = format!("payments/{id}/confirm");
    let confirmed = operate(gateway, Method::POST, &path, json!({})).await;
    assert_eq!(confirmed.status, 200, "{}", confirmed.json);
    confirmed.json["data"].clone()
}

/// Makes an image; its receipt.
async fn receipt(gateway: &Gateway, caller: &Account) -> Value {
    let made = gateway
        .post(&caller.key, "/v1/images/generations", picture())
        .await;
    assert_eq!(made.status, 200, "{}", made.json);
    let listed = gateway.get(&caller.key, "/account/v1/receipts").await;
    listed.json["data"][0].clone()
}

async fn keys(gateway: &Gateway) -> Vec<String> {
    let found = send(gateway.request(Method::GET, "/.well-known/atelier-receipts")).await;
    let keys = found.json["keys"].as_array().cloned().unwrap_or_default();
    keys.iter()
        .filter_map(|key| key["kid"].as_str().map(str::to_owned))
        .collect()
}

/// The promise: what was bought, what is owed and what was signed is there again, and nothing counts twice; without the master key a new one
/// signs, and what was signed before can still be checked.
#[tokio::test]
async fn payments_and_receipts_are_there_after_a_restore_also_without_the_master_key() {
    let gateway = options().spawn().await;
    if gateway.database().starts_with("postgres") {
        return;
    }
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let (paid, open) = (
        id_of(&begin(&gateway, &caller).await),
        id_of(&begin(&gateway, &caller).await),
    );
    confirm(&gateway, &paid).await;
    let refund = json!({ "money": 30, "idempotency_key": "ticket" });
    let path = format!("payments/{paid}/refund");
    operate(&gateway, Method::POST, &path, refund.clone()).await;
    let first = receipt(&gateway, &caller).await;
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name).display().to_string();
    let own = gateway.folder.path().display().to_string();
    let kept = at("kept");
    let (fine, text) = atelier(&["backup", "--to", &kept, "--data-dir", &own]);
    assert!(fine, "{text}");
    drop(gateway);
    for with_key in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let fresh = folder.path().display().to_string();
        let (fine, text) = atelier(&["restore", "--from", &kept, "--data-dir", &fresh]);
        assert!(fine, "{text}");
        if !with_key {
            std::fs::remove_file(folder.path().join("master.key")).expect("lost");
            let (fine, text) = atelier(&["doctor", "--data-dir", &fresh]);
            assert!(!fine && text.contains("another master key"), "{text}");
            let _ = std::fs::remove_file(folder.path().join("master.key"));
            let abandon = ["local", "abandon-master-key", "--data-dir", &fresh];
            let (fine, text) = atelier(&abandon);
            assert!(fine, "{text}");
        }
        let (fine, text) = atelier(&["audit", "--data-dir", &fresh]);
        assert!(fine, "{text}");
        let again = options().spawn_on(folder).await;
        assert!((balance(&again, &caller).await - 8.0).abs() < 0.0001);
        // What was confirmed and refunded is so; what was open is confirmed now.
        confirm(&again, &paid).await;
        let repeated = operate(&again, Method::POST, &path, refund.clone()).await;
        assert_eq!(repeated.json["data"]["refunded"], 30, "{}", repeated.json);
        assert!((balance(&again, &caller).await - 8.0).abs() < 0.0001);
        assert_eq!(state(&again, &caller, &open).await, "pending");
        confirm(&again, &open).await;
        assert!((balance(&again, &caller).await - 18.0).abs() < 0.0001);
        let listed = again.get(&caller.key, PAYMENTS).await;
        assert_eq!(listed.json["total"], 2, "{}", listed.json);
        // The chain goes on, and the key that signed before is public.
        let next = receipt(&again, &caller).await;
        assert_eq!(next["previous"], first["hash"], "{next}");
        assert_eq!(next["kid"] == first["kid"], with_key);
        let keys = keys(&again).await;
        assert!(keys.contains(&first["kid"].as_str().expect("a key").to_owned()));
        let home = tempfile::tempdir().expect("a folder");
        let file = home.path().join("receipts.jws");
        let lines = [&first, &next].map(|one| one["signed"].as_str().expect("signed"));
        std::fs::write(&file, lines.join("\n")).expect("written");
        let url = format!("{}/.well-known/atelier-receipts", again.base_url);
        let file = file.display().to_string();
        let verify = ["verify", "receipt", &file, "--keys", &url];
        let (fine, text) = atelier(&verify);
        assert!(fine && text.contains("an unbroken chain"), "{text}");
    }
}
