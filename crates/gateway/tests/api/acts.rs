//! kill -9 during an act of an operator: the act and the line that tells of it are both there afterwards, or neither.

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{ADMIN_TOKEN, Gateway, Options};

/// Does something that kills the process before it answers, and starts it again.
async fn dies_at(gateway: Gateway, method: Method, path: &str, body: Value) -> Gateway {
    let mut gateway = gateway.restart(Options::default().set("CRASH_AT", "admin.acted"));
    let request = gateway
        .request(method, path)
        .bearer_auth(ADMIN_TOKEN)
        .json(&body);
    assert!(request.send().await.is_err(), "{path}: it lives");
    gateway.kill();
    gateway.restart(Options::default())
}

async fn told(gateway: &Gateway, action: &str) -> usize {
    let audit = gateway
        .operate(Method::GET, "/admin/v1/audit?limit=100", None)
        .await;
    let rows = audit.json["data"].as_array().expect("rows").clone();
    // The demo account is made by the first start, not by an operator.
    rows.iter()
        .filter(|row| row["actor"] == "root" && row["action"] == action)
        .count()
}

#[tokio::test]
async fn an_act_that_was_cut_off_is_written_down_if_it_happened() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(5).await;
    assert_eq!(told(&gateway, "account.create").await, 1);
    let account = format!("/admin/v1/accounts/{}", caller.id);
    let new = json!({ "email": "cut@example.com", "balance": 3 });
    let gateway = dies_at(gateway, Method::POST, "/admin/v1/accounts", new).await;
    assert_eq!(told(&gateway, "account.create").await, 2);

    let credit = format!("{account}/credit");
    let gateway = dies_at(gateway, Method::POST, &credit, json!({ "amount": 2 })).await;
    assert_eq!(gateway.balance(&caller.key).await, (7.0, 0.0));
    assert_eq!(told(&gateway, "account.credit").await, 1);

    let prices = json!({ "facegen.swap": 2.5, "artgen.imagine.fast": 9 });
    let gateway = dies_at(gateway, Method::PUT, "/admin/v1/prices", prices).await;
    let shown = gateway.operate(Method::GET, "/admin/v1/prices", None).await;
    assert_eq!(shown.json["data"]["facegen.swap"], 2.5);
    assert_eq!(shown.json["data"]["artgen.imagine.fast"], 9);
    assert_eq!(told(&gateway, "prices.change").await, 1);

    let keys = format!("{account}/keys");
    let gateway = dies_at(gateway, Method::POST, &keys, json!({})).await;
    let listed = gateway.operate(Method::GET, &keys, None).await;
    assert_eq!(listed.json["data"].as_array().map(Vec::len), Some(2));
    assert_eq!(told(&gateway, "key.issue").await, 1);
}

#[tokio::test]
async fn a_back_end_and_its_accounts_are_changed_in_one_commit_each() {
    let gateway = Gateway::spawn().await;
    let new = json!({ "vendor": "relay", "name": "up", "base_url": "http://127.0.0.1:9" });
    let gateway = dies_at(gateway, Method::POST, "/admin/v1/backends", new).await;
    assert_eq!(told(&gateway, "backend.create").await, 1);
    let listed = gateway
        .operate(Method::GET, "/admin/v1/backends", None)
        .await;
    let backends = listed.json["data"].as_array().expect("a list").clone();
    let up = backends.iter().find(|one| one["name"] == "up");
    let id = up.and_then(|one| one["id"].as_str()).expect("it is there");

    let accounts = format!("/admin/v1/backends/{id}/accounts");
    let new = json!({ "name": "first", "credential": "at_x" });
    let gateway = dies_at(gateway, Method::POST, &accounts, new).await;
    assert_eq!(told(&gateway, "worker.create").await, 1);
    let listed = gateway.operate(Method::GET, &accounts, None).await;
    let worker = listed.json["data"][0]["id"].as_str().expect("it is there");

    let account = format!("{accounts}/{worker}");
    let change = json!({ "concurrency": 9, "clear_spent": true, "clear_health": true });
    let gateway = dies_at(gateway, Method::PATCH, &account, change).await;
    let shown = gateway.operate(Method::GET, &account, None).await;
    assert_eq!(shown.json["data"]["concurrency"], 9);
    assert_eq!(told(&gateway, "worker.change").await, 1);

    let gateway = dies_at(gateway, Method::DELETE, &account, json!({})).await;
    let shown = gateway.operate(Method::GET, &account, None).await;
    shown.assert_refused(404, "not_found");
    assert_eq!(told(&gateway, "worker.remove").await, 1);
}
