//! Named operators and viewers: how they are made and revoked, what they may do, and that the audit list names them.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::gateway::{Answer, Gateway, send};

const OPERATORS: &str = "/admin/v1/operators";

/// An operator with its token.
struct Operator {
    id: String,
    token: String,
}

async fn make(gateway: &Gateway, name: &str, role: &str) -> Operator {
    let body = json!({ "name": name, "role": role });
    let made = gateway.operate(Method::POST, OPERATORS, Some(body)).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.json);
    let text = |field: &str| {
        let text = made.json["data"][field].as_str();
        text.expect("a text").to_owned()
    };
    Operator {
        id: text("id"),
        token: text("token"),
    }
}

async fn call(
    gateway: &Gateway,
    token: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Answer {
    let request = gateway.request(method, path).bearer_auth(token);
    send(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

#[tokio::test]
async fn operators_are_made_listed_and_revoked() {
    let gateway = Gateway::spawn().await;
    let ada = make(&gateway, "ada", "operator").await;
    let accounts = "/admin/v1/accounts";
    let look = || call(&gateway, &ada.token, Method::GET, accounts, None);
    assert_eq!(look().await.status, 200);

    let listed = gateway.operate(Method::GET, OPERATORS, None).await;
    let rows = listed.json["data"].as_array().expect("a list");
    let names: Vec<&Value> = rows.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["root", "ada"]);
    assert_eq!(rows[1]["role"], "operator");
    assert!(!String::from_utf8_lossy(&listed.bytes).contains(&ada.token));

    for (name, role, status, code) in [
        ("ada", "viewer", 409, "conflict"),
        ("root", "viewer", 400, "invalid_parameter"),
        ("Two Words", "viewer", 400, "invalid_parameter"),
        ("ben", "owner", 400, "invalid_parameter"),
    ] {
        let body = json!({ "name": name, "role": role });
        let refused = gateway.operate(Method::POST, OPERATORS, Some(body)).await;
        refused.assert_refused(status, code);
    }

    let path = format!("{OPERATORS}/{}", ada.id);
    let revoked = gateway.operate(Method::DELETE, &path, None).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
    look().await.assert_refused(401, "unauthorized");
    let again = gateway.operate(Method::DELETE, &path, None).await;
    again.assert_refused(404, "not_found");
    // The name stays taken, so that the audit list cannot be misread.
    let body = json!({ "name": "ada", "role": "operator" });
    let refused = gateway.operate(Method::POST, OPERATORS, Some(body)).await;
    refused.assert_refused(409, "conflict");
}

#[tokio::test]
async fn the_operator_of_the_configuration_cannot_be_revoked() {
    let gateway = Gateway::spawn().await;
    let ada = make(&gateway, "ada", "operator").await;
    let root = format!("{OPERATORS}/root");
    let refused = call(&gateway, &ada.token, Method::DELETE, &root, None).await;
    refused.assert_refused(409, "conflict");
    let looked = gateway.operate(Method::GET, OPERATORS, None).await;
    assert_eq!(looked.status, 200);
}

#[tokio::test]
async fn a_viewer_looks_and_changes_nothing() {
    let gateway = Gateway::spawn().await;
    let viewer = make(&gateway, "eve", "viewer").await;
    let caller = gateway.account(5).await;
    let account = format!("/admin/v1/accounts/{}", caller.id);
    for path in [OPERATORS, "/admin/v1/stats", "/admin/v1/audit", &account] {
        let looked = call(&gateway, &viewer.token, Method::GET, path, None).await;
        assert_eq!(looked.status, 200, "{path}: {}", looked.json);
    }
    let credit = format!("{account}/credit");
    for (method, path, body) in [
        (
            Method::POST,
            credit.as_str(),
            json!({ "amount": 5, "reason": "gift" }),
        ),
        (Method::PATCH, account.as_str(), json!({ "disabled": true })),
        (Method::PUT, "/admin/v1/prices", json!({})),
        (
            Method::POST,
            OPERATORS,
            json!({ "name": "eve2", "role": "operator" }),
        ),
    ] {
        let refused = call(&gateway, &viewer.token, method, path, Some(body)).await;
        refused.assert_refused(403, "forbidden");
    }
    assert_eq!(gateway.balance(&caller.key).await, (5.0, 0.0));
}

#[tokio::test]
async fn every_audit_row_names_who_acted() {
    let gateway = Gateway::spawn().await;
    let ada = make(&gateway, "ada", "operator").await;
    let caller = gateway.account(1).await;
    let account = format!("/admin/v1/accounts/{}", caller.id);
    let by_ada = async |method: Method, path: &str, body: Value| {
        let done = call(&gateway, &ada.token, method, path, Some(body)).await;
        assert_eq!(done.status, 200, "{path}: {}", done.json);
        done
    };
    let credit = json!({ "amount": 5, "reason": "gift" });
    by_ada(Method::POST, &format!("{account}/credit"), credit).await;
    by_ada(Method::PATCH, &account, json!({ "max_queue": 3 })).await;
    by_ada(
        Method::PUT,
        "/admin/v1/prices",
        json!({ "facegen.swap": 3 }),
    )
    .await;
    let keys = format!("{account}/keys");
    let issued = by_ada(Method::POST, &keys, json!({})).await;
    let key_id = issued.json["data"]["id"].as_str().expect("an id");
    by_ada(Method::DELETE, &format!("{keys}/{key_id}"), json!({})).await;
    let viewer = json!({ "name": "eve", "role": "viewer" });
    let made = by_ada(Method::POST, OPERATORS, viewer).await;
    let eve = made.json["data"]["id"].as_str().expect("an id");
    by_ada(Method::DELETE, &format!("{OPERATORS}/{eve}"), json!({})).await;
    let backend =
        json!({ "vendor": "relay", "name": "up", "base_url": "https://media.example.com" });
    let made = by_ada(Method::POST, "/admin/v1/backends", backend).await;
    let backend = made.json["data"]["id"].as_str().expect("an id");
    by_ada(
        Method::DELETE,
        &format!("/admin/v1/backends/{backend}"),
        json!({}),
    )
    .await;

    let audit = gateway
        .operate(Method::GET, "/admin/v1/audit?limit=100", None)
        .await;
    let rows = audit.json["data"].as_array().expect("a list");
    let actions = |actor: &str| {
        let by = rows.iter().filter(|row| row["actor"] == actor);
        let mut actions: Vec<&str> = by.filter_map(|row| row["action"].as_str()).collect();
        actions.sort_unstable();
        actions
    };
    assert_eq!(
        actions("ada"),
        [
            "account.change",
            "account.credit",
            "backend.create",
            "backend.remove",
            "key.issue",
            "key.revoke",
            "operator.create",
            "operator.revoke",
            "prices.change"
        ]
    );
    assert_eq!(actions("root"), ["account.create", "operator.create"]);
    assert_eq!(actions("first start"), ["account.create"]);
    assert_eq!(rows.len(), 12, "nobody else acted: {}", audit.json);
}
