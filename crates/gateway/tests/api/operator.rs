//! The operator API: accounts, keys, credit, prices and the views, behind its own token.

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{ADMIN_TOKEN, Gateway, Options, send, swap_body};

#[tokio::test]
async fn only_the_token_opens_it() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let list = || gateway.request(Method::GET, "/admin/v1/accounts");
    assert_eq!(send(list().bearer_auth(ADMIN_TOKEN)).await.status, 200);
    for request in [
        list(),
        list().bearer_auth("wrong"),
        list().bearer_auth(&caller.key),
        list().header("SVC-API-KEY", ADMIN_TOKEN),
        gateway.request(
            Method::GET,
            &format!("/admin/v1/accounts?token={ADMIN_TOKEN}"),
        ),
    ] {
        send(request).await.assert_refused(401, "unauthorized");
    }
    // And the token is no key.
    gateway
        .get(ADMIN_TOKEN, "/artgen/v1/info")
        .await
        .assert_refused(401, "unauthorized");
}

#[tokio::test]
async fn an_account_is_made_shown_changed_and_closed() {
    let gateway = Gateway::spawn().await;
    let body = json!({ "email": "a@example.com", "balance": 12.5, "max_queue": 3 });
    let made = gateway
        .operate(Method::POST, "/admin/v1/accounts", Some(body.clone()))
        .await;
    let data = &made.json["data"];
    assert_eq!(
        (&data["email"], &data["balance"], &data["max_queue"]),
        (&json!("a@example.com"), &json!(12.5), &json!(3))
    );
    let (id, key) = (
        data["id"].as_str().expect("an id"),
        data["api_key"].as_str().expect("a key"),
    );
    assert_eq!(gateway.balance(key).await, (12.5, 0.0));
    let again = gateway
        .operate(Method::POST, "/admin/v1/accounts", Some(body))
        .await;
    again.assert_refused(409, "conflict");
    let path = format!("/admin/v1/accounts/{id}");
    let shown = gateway.operate(Method::GET, &path, None).await;
    assert_eq!(shown.json["data"]["email"], "a@example.com");
    assert!(shown.json["data"].get("api_key").is_none());
    let changed = gateway
        .operate(
            Method::PATCH,
            &path,
            Some(json!({ "max_queue": 7, "disabled": true })),
        )
        .await;
    assert_eq!(changed.json["data"]["max_queue"], 7);
    gateway
        .get(key, "/artgen/v1/info")
        .await
        .assert_refused(401, "unauthorized");
    gateway
        .operate(Method::PATCH, &path, Some(json!({ "disabled": false })))
        .await;
    assert_eq!(gateway.get(key, "/artgen/v1/info").await.status, 200);
    let wrong = [
        json!({}),
        json!({ "email": "x", "balance": 1 }),
        json!({ "email": "b@example.com", "balance": -1 }),
    ];
    for body in wrong {
        let answer = gateway
            .operate(Method::POST, "/admin/v1/accounts", Some(body))
            .await;
        assert_eq!(answer.status, 400, "{}", answer.json);
    }
    assert!(
        gateway
            .operate(Method::GET, "/admin/v1/accounts/nobody", None)
            .await
            .status
            .is_client_error()
    );
}

#[tokio::test]
async fn credit_is_granted_once_per_idempotency_key() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let path = format!("/admin/v1/accounts/{}/credit", caller.id);
    let body = json!({ "amount": 5, "reason": "invoice 7", "idempotency_key": "invoice-7" });
    for _ in 0..2 {
        let answer = gateway
            .operate(Method::POST, &path, Some(body.clone()))
            .await;
        assert_eq!(answer.json["data"]["balance"], 6, "{}", answer.json);
    }
    for other in [
        json!({ "amount": 6, "reason": "invoice 7", "idempotency_key": "invoice-7" }),
        json!({ "amount": 5, "reason": "invoice 8", "idempotency_key": "invoice-7" }),
    ] {
        let answer = gateway.operate(Method::POST, &path, Some(other)).await;
        answer.assert_refused(409, "conflict");
    }
    let taken = gateway
        .operate(
            Method::POST,
            &path,
            Some(json!({ "amount": -4, "reason": "refund" })),
        )
        .await;
    assert_eq!(taken.json["data"]["balance"], 2);
    let too_much = gateway
        .operate(Method::POST, &path, Some(json!({ "amount": -4 })))
        .await;
    too_much.assert_refused(400, "invalid_parameter");
    let ledger = gateway.get(&caller.key, "/account/v1/ledger").await;
    let rows = ledger.json["data"].as_array().expect("rows");
    assert!(
        rows.iter()
            .any(|row| row["reason"] == "invoice 7" && row["amount"] == 5),
        "{}",
        ledger.json
    );
    assert_eq!(ledger.json["total"], 3);
}

#[tokio::test]
async fn keys_are_issued_and_revoked_for_an_account() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    let path = format!("/admin/v1/accounts/{}/keys", caller.id);
    let issued = gateway
        .operate(Method::POST, &path, Some(json!({ "name": "second" })))
        .await;
    let key = issued.json["data"]["api_key"]
        .as_str()
        .expect("a key")
        .to_owned();
    let id = issued.json["data"]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(gateway.get(&key, "/artgen/v1/info").await.status, 200);
    assert_eq!(
        gateway
            .operate(Method::DELETE, &format!("{path}/{id}"), None)
            .await
            .status,
        200
    );
    gateway
        .get(&key, "/artgen/v1/info")
        .await
        .assert_refused(401, "unauthorized");
    gateway
        .operate(Method::DELETE, &format!("{path}/{id}"), None)
        .await
        .assert_refused(404, "not_found");
}

#[tokio::test]
async fn prices_change_for_the_next_request() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let quote = json!({ "operation": "facegen.swap", "request": swap_body() });
    let before = gateway
        .post(&caller.key, "/account/v1/quote", quote.clone())
        .await;
    assert_eq!(
        before.json["data"],
        json!({ "operation": "facegen.swap", "quota": 2 }),
        "{}",
        before.json
    );
    let prices = gateway
        .operate(
            Method::PUT,
            "/admin/v1/prices",
            Some(json!({ "facegen.swap": 2.5 })),
        )
        .await;
    assert_eq!(prices.json["data"]["facegen.swap"], 2.5, "{}", prices.json);
    let after = gateway.post(&caller.key, "/account/v1/quote", quote).await;
    assert_eq!(after.json["data"]["quota"], 2.5);
    let wrong = gateway
        .operate(
            Method::PUT,
            "/admin/v1/prices",
            Some(json!({ "cheese": 1 })),
        )
        .await;
    wrong.assert_refused(400, "invalid_parameter");
    let wrong = gateway
        .operate(
            Method::PUT,
            "/admin/v1/prices",
            Some(json!({ "facegen.swap": -1 })),
        )
        .await;
    wrong.assert_refused(400, "invalid_parameter");
}

/// The promise: what could be made instead is priced in the same question, and what would be refused has no price.
#[tokio::test]
async fn other_submits_are_priced_in_one_question() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let words = json!({ "prompt": "a fox" });
    let question = json!({
        "operation": "facegen.swap",
        "request": swap_body(),
        "others": [
            { "operation": "artgen.imagine", "request": words },
            { "operation": "artgen.imagine", "request": {} },
            { "operation": "nothing.like_it", "request": {} },
        ],
    });
    let answer = gateway
        .post(&caller.key, "/account/v1/quote", question)
        .await;
    assert_eq!(answer.json["data"]["quota"], 2, "{}", answer.json);
    let alone = json!({ "operation": "artgen.imagine", "request": words });
    let alone = gateway.post(&caller.key, "/account/v1/quote", alone).await;
    let price = alone.json["data"]["quota"].clone();
    assert!(price.is_number());
    assert_eq!(answer.json["data"]["others"], json!([price, null, null]));
}

#[tokio::test]
async fn banned_words_are_edited_for_the_next_request_and_survive_a_restart() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let words = "/admin/v1/banned";
    let before = gateway.operate(Method::GET, words, None).await;
    let list = before.json["data"]["words"].as_array().expect("a list");
    assert!(list.iter().any(|word| word == "gore"), "{}", before.json);
    let asks = async |gateway: &Gateway, prompt: &str| {
        let body = json!({ "prompt": prompt });
        gateway
            .post(&caller.key, "/artgen/v1/promptCheck", body)
            .await
    };
    let new = json!({ "words": ["Purple  Cheese", "purple cheese", " ", "moon"] });
    let edited = gateway.operate(Method::PUT, words, Some(new)).await;
    assert_eq!(
        edited.json["data"]["words"],
        json!(["purple cheese", "moon"]),
        "{}",
        edited.json
    );
    let refused = asks(&gateway, "a MOON over hills").await;
    refused.assert_refused(400, "banned_prompt");
    assert_eq!(asks(&gateway, "gore, a village").await.status, 200);
    let long = json!({ "words": ["x".repeat(101)] });
    let wrong = gateway.operate(Method::PUT, words, Some(long)).await;
    wrong.assert_refused(400, "invalid_parameter");
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    assert_eq!(audit.json["data"][0]["action"], "banned.change");
    let detail = audit.json["data"][0]["detail"].as_str().expect("a text");
    assert!(detail.contains("+moon") && detail.contains("-gore"));
    let gateway = gateway.restart(Options::default());
    let refused = asks(&gateway, "a moon").await;
    refused.assert_refused(400, "banned_prompt");
}

#[tokio::test]
async fn every_vendor_describes_its_settings_for_a_form() {
    let gateway = Gateway::spawn().await;
    let vendors = gateway
        .operate(Method::GET, "/admin/v1/vendors", None)
        .await;
    let rows = vendors.json["data"].as_array().expect("a list");
    assert!(rows.len() > 15);
    for row in rows {
        let name = &row["name"];
        let fields = row["settings"]["properties"].as_object();
        assert!(fields.is_some_and(|fields| !fields.is_empty()), "{name}");
        assert_eq!(row["settings"]["additionalProperties"], false, "{name}");
    }
    let fal = rows.iter().find(|row| row["name"] == "fal").expect("fal");
    assert_eq!(fal["address"], "https://queue.fal.run");
    let ready = fal["mappings"].as_array().expect("ready mappings");
    assert!(
        ready
            .iter()
            .all(|one| one["model"].is_string() && one["input"].is_object())
    );
}

#[tokio::test]
async fn the_operator_sees_everything_and_leaves_a_trace() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let id = gateway.swap(&caller.key).await;
    let jobs = gateway.operate(Method::GET, "/admin/v1/jobs", None).await;
    assert_eq!(jobs.json["data"][0]["jobId"], id, "{}", jobs.json);
    assert_eq!(jobs.json["data"][0]["accountId"], caller.id);
    let other = gateway.account(100).await;
    let theirs = gateway.swap(&other.key).await;
    let of_one = format!("/admin/v1/jobs?accountId={}", caller.id);
    let jobs = gateway.operate(Method::GET, &of_one, None).await;
    assert_eq!(jobs.json["total"], 1, "{}", jobs.json);
    assert_eq!(jobs.json["data"][0]["jobId"], id);
    // A caller sees its own jobs alone, whatever it asks for.
    let named = format!("/jobs/v1?accountId={}", caller.id);
    let jobs = gateway.get(&other.key, &named).await;
    assert_eq!(jobs.json["data"][0]["jobId"], theirs, "{}", jobs.json);
    assert_eq!(jobs.json["total"], 1);
    let ledger = gateway.operate(Method::GET, "/admin/v1/ledger", None).await;
    assert!(
        ledger.json["data"]
            .as_array()
            .is_some_and(|rows| rows.iter().any(|row| row["accountId"] == caller.id))
    );
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    let rows = audit.json["data"].as_array().expect("rows");
    assert!(
        rows.iter()
            .any(|row| row["action"] == "account.create" && row["target"] == caller.id),
        "{}",
        audit.json
    );
    assert!(!String::from_utf8_lossy(&audit.bytes).contains(&caller.key));
    let total = async |path: &str| {
        let answer = gateway.operate(Method::GET, path, None).await;
        answer.json["total"].as_i64().expect("a number")
    };
    let all = total("/admin/v1/audit?from=2001-01-01").await;
    assert!(all > 0);
    assert_eq!(total("/admin/v1/audit?to=2001-01-01").await, 0);
    assert_eq!(total("/admin/v1/callbacks?to=2001-01-01").await, 0);
    for path in [
        "/admin/v1/callbacks",
        "/admin/v1/stats",
        "/admin/v1/nodes",
        "/admin/v1/prices",
    ] {
        let answer = gateway.operate(Method::GET, path, None).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json["status"]),
            (200, &json!("SUCCESS")),
            "{path}"
        );
    }
}

/// The promise: operators note what they know of an account for one another; its caller and the record of acts, which is
/// kept for ever, do not have it.
#[tokio::test]
async fn operators_note_what_they_know_of_an_account() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let path = format!("/admin/v1/accounts/{}", caller.id);
    let note = async |notes: Value| {
        let wish = json!({ "notes": notes });
        let changed = gateway.operate(Method::PATCH, &path, Some(wish)).await;
        assert_eq!(changed.status, 200, "{}", changed.json);
        changed.json["data"]["notes"].clone()
    };
    assert_eq!(note(json!("pays by the year")).await, "pays by the year");
    // What says nothing of them leaves them.
    let wish = json!({ "max_queue": 7 });
    let changed = gateway.operate(Method::PATCH, &path, Some(wish)).await;
    assert_eq!(changed.json["data"]["notes"], "pays by the year");
    let own = gateway.get(&caller.key, "/artgen/v1/info").await;
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    for answer in [own, audit] {
        assert_eq!(answer.status, 200);
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("by the year"));
    }
    let wish = json!({ "notes": "x".repeat(2_001) });
    let refused = gateway.operate(Method::PATCH, &path, Some(wish)).await;
    refused.assert_refused(400, "invalid_parameter");
    assert_eq!(note(json!(" ")).await, Value::Null);
}
