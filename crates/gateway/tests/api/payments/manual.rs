//! Products, payments that an operator confirms, and what an account owes.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::{PAYMENTS, balance, begin, id_of, operate, picture, product, state};
use crate::gateway::{Account, Answer, Gateway, Options};

async fn gateway() -> Gateway {
    let options = Options::default().set("PAYMENTS_MANUAL_ENABLED", "true");
    options.spawn().await
}

#[tokio::test]
async fn products_are_refused_for_what_they_are() {
    let gateway = gateway().await;
    for (field, wrong) in [
        ("name", json!("a b")),
        ("money", json!(0)),
        ("money", json!("12.5")),
        ("currency", json!("EURO")),
        ("quota", json!(0)),
        ("plan", json!("studio")),
        ("credit_days", json!(0)),
    ] {
        let mut body = json!({ "name": "ten", "money": 300, "currency": "eur", "quota": 10 });
        body[field] = wrong.clone();
        let refused = operate(&gateway, Method::POST, "products", body).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field, "{wrong}");
    }
    let nothing = json!({ "name": "ten", "money": 300, "currency": "EUR" });
    let refused = operate(&gateway, Method::POST, "products", nothing).await;
    refused.assert_refused(400, "missing_parameter");
    let planned = json!({ "name": "ten", "money": 300, "currency": "EUR", "plan": "studio" });
    let refused = operate(&gateway, Method::POST, "products", planned.clone()).await;
    refused.assert_refused(400, "invalid_parameter");
    let plan = json!({ "name": "studio", "every": "month", "quota": 40 });
    assert_eq!(
        operate(&gateway, Method::POST, "plans", plan).await.status,
        200
    );
    let made = operate(&gateway, Method::POST, "products", planned.clone()).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let again = operate(&gateway, Method::POST, "products", planned).await;
    again.assert_refused(409, "conflict");
    // What was a plan becomes quota, and is on sale no more at last.
    let change = json!({ "plan": null, "quota": 5, "credit_days": 30, "revision": 1 });
    let changed = operate(&gateway, Method::PATCH, "products/ten", change).await;
    assert_eq!(changed.json["data"]["quota"], 5, "{}", changed.json);
    assert_eq!(changed.json["data"]["revision"], 2);
    let late = json!({ "money": 1, "revision": 1 });
    let refused = operate(&gateway, Method::PATCH, "products/ten", late).await;
    refused.assert_refused(409, "conflict");
    let removed = gateway
        .operate(Method::DELETE, "/admin/v1/products/ten", None)
        .await;
    assert_eq!(removed.status, 200, "{}", removed.json);
    let caller = gateway.account(0).await;
    let refused = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "ten" }))
        .await;
    refused.assert_refused(400, "invalid_parameter");
    let shop = gateway.get(&caller.key, "/account/v1/products").await;
    assert_eq!(
        shop.json["data"],
        json!({ "products": [], "providers": ["manual"] })
    );
}

#[tokio::test]
async fn an_operator_confirms_once_whoever_else_does_at_the_same_time() {
    let gateway = gateway().await;
    let (caller, other) = (gateway.account(0).await, gateway.account(0).await);
    product(&gateway, "EUR").await;
    let begun = begin(&gateway, &caller).await;
    assert_eq!(
        (&begun["state"], &begun["payAt"]),
        (&json!("pending"), &json!(null))
    );
    let id = id_of(&begun);
    let path = format!("payments/{id}/confirm");
    let confirmed =
        join_all((0..12).map(|_| operate(&gateway, Method::POST, &path, json!({})))).await;
    for one in confirmed {
        assert_eq!(one.status, 200, "{}", one.json);
        assert_eq!(one.json["data"]["state"], "paid");
    }
    assert!((balance(&gateway, &caller).await - 10.0).abs() < 0.0001);
    let audit = gateway.operate(Method::GET, "/admin/v1/audit", None).await;
    let acts = audit.json["data"].as_array().expect("acts");
    let confirmations = acts.iter().filter(|act| act["action"] == "payment.confirm");
    assert_eq!(confirmations.count(), 1, "{}", audit.json);
    let foreign = gateway.get(&other.key, &format!("{PAYMENTS}/{id}")).await;
    foreign.assert_refused(404, "not_found");
    let listed = gateway.get(&other.key, PAYMENTS).await;
    assert_eq!(listed.json["total"], 0, "{}", listed.json);
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    assert_eq!(listed.json["data"][0]["id"], json!(id), "{}", listed.json);
}

async fn confirm(gateway: &Gateway, id: &str) {
    let path = format!("payments/{id}/confirm");
    let confirmed = operate(gateway, Method::POST, &path, json!({})).await;
    assert_eq!(confirmed.status, 200, "{}", confirmed.json);
}

async fn refund(gateway: &Gateway, id: &str, body: Value) -> Answer {
    let path = format!("payments/{id}/refund");
    operate(gateway, Method::POST, &path, body).await
}

async fn image(gateway: &Gateway, caller: &Account) -> Answer {
    let path = "/v1/images/generations";
    gateway.post(&caller.key, path, picture()).await
}

#[tokio::test]
async fn what_was_spent_is_owed_and_nothing_is_submitted_meanwhile() {
    let gateway = gateway().await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let id = id_of(&begin(&gateway, &caller).await);
    let early = refund(&gateway, &id, json!({})).await;
    early.assert_refused(409, "conflict");
    confirm(&gateway, &id).await;
    assert_eq!(image(&gateway, &caller).await.status, 200);
    for (money, status) in [(100, 200), (201, 409), (0, 400), (-5, 400)] {
        let refunded = refund(&gateway, &id, json!({ "money": money })).await;
        assert_eq!(refunded.status, status, "{money}: {}", refunded.json);
    }
    assert!((balance(&gateway, &caller).await - 5.667).abs() < 0.0001);
    let rest = refund(&gateway, &id, json!({})).await;
    assert_eq!(rest.json["data"]["state"], "refunded", "{}", rest.json);
    assert_eq!(rest.json["data"]["taken_back"], 10);
    let path = format!("/admin/v1/accounts/{}", caller.id);
    let account = gateway.operate(Method::GET, &path, None).await;
    assert_eq!(account.json["data"]["debt"], 1, "{}", account.json);
    let refused = image(&gateway, &caller).await;
    assert_eq!(refused.status, 400, "{}", refused.json);
    assert_eq!(refused.json["error"]["code"], "debt", "{}", refused.json);
    let body = json!({ "requests": [{ "operation": "artgen.imagine", "request": { "prompt": "a fox" } }] });
    let batch = gateway.post(&caller.key, "/jobs/v1/batch", body).await;
    assert!(batch.json.to_string().contains("debt"), "{}", batch.json);
    let credit = json!({ "amount": 3, "reason": "sorry" });
    let path = format!("accounts/{}/credit", caller.id);
    operate(&gateway, Method::POST, &path, credit).await;
    let left = balance(&gateway, &caller).await;
    assert!((left - 2.0).abs() < 0.0001, "one was owed: {left}");
    let ledger = "/account/v1/ledger?limit=50";
    let ledger = gateway.get(&caller.key, ledger).await;
    let rows = ledger.json["data"].as_array().expect("rows");
    let kinds: Vec<&str> = rows.iter().filter_map(|row| row["kind"].as_str()).collect();
    let latest = ["debt", "grant", "refund", "debt"];
    assert_eq!(kinds[..4], latest, "{}", ledger.json);
    assert_eq!(image(&gateway, &caller).await.status, 200);
}

#[tokio::test]
async fn nobody_is_led_elsewhere_and_strangers_are_told_nothing() {
    let options = Options::default()
        .set("PAYMENTS_MANUAL_ENABLED", "true")
        .set("PAYMENTS_RETURN_ORIGINS", "[\"https://shop.example.com\"]");
    let gateway = options.spawn().await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    for url in [
        "//evil.example.com",
        "https://evil.example.com/",
        "/\\evil.example.com",
        "javascript:alert(1)",
    ] {
        let body = json!({ "product": "ten", "returnUrl": url });
        let refused = gateway.post(&caller.key, PAYMENTS, body).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], "returnUrl", "{url}");
    }
    for url in ["/console/paid", "https://shop.example.com/thanks"] {
        let body = json!({ "product": "TEN", "returnUrl": url, "provider": "manual" });
        let begun = gateway.post(&caller.key, PAYMENTS, body).await;
        assert_eq!(begun.status, 200, "{}", begun.json);
        assert_eq!(
            state(&gateway, &caller, &id_of(&begun.json["data"])).await,
            "pending"
        );
    }
    let body = json!({ "product": "ten", "provider": "stripe" });
    let refused = gateway.post(&caller.key, PAYMENTS, body).await;
    refused.assert_refused(400, "invalid_parameter");
    for path in ["manual", "stripe", "epay", "nobody"] {
        let path = format!("/hooks/pay/{path}");
        let post = gateway.request(Method::POST, &path).body("{}");
        let told = crate::gateway::send(post).await;
        told.assert_refused(404, "not_found");
    }
    let large = gateway
        .request(Method::POST, "/hooks/pay/stripe")
        .body(vec![b' '; 300 * 1024]);
    crate::gateway::send(large)
        .await
        .assert_refused(413, "payload_too_large");
}

/// A plan that was given by the operator is the operator's to end; one that was bought is its buyer's.
#[tokio::test]
async fn an_account_ends_the_plan_that_it_has_bought() {
    let gateway = gateway().await;
    let (caller, given) = (gateway.account(0).await, gateway.account(0).await);
    let plan = json!({ "name": "studio", "every": "month", "quota": 40 });
    operate(&gateway, Method::POST, "plans", plan).await;
    let sold = json!({ "name": "ten", "money": 300, "currency": "EUR", "plan": "studio" });
    operate(&gateway, Method::POST, "products", sold).await;
    let end = async |key: &str| {
        let request = gateway.request(Method::DELETE, "/account/v1/plan");
        crate::gateway::send(request.header("SVC-API-KEY", key)).await
    };
    end(&caller.key).await.assert_refused(404, "not_found");
    for _ in 0..2 {
        confirm(&gateway, &id_of(&begin(&gateway, &caller).await)).await;
    }
    let shown = gateway.get(&caller.key, "/account/v1/plan").await;
    let shown = &shown.json["data"];
    assert_eq!(
        (&shown["byPayment"], &shown["paidAhead"], &shown["ends"]),
        (&json!(true), &json!(1), &json!(false)),
        "{shown}"
    );
    let ended = end(&caller.key).await;
    assert_eq!(ended.json["data"]["ends"], true, "{}", ended.json);
    let path = format!("accounts/{}/plan", given.id);
    operate(&gateway, Method::PUT, &path, json!({ "plan": "studio" })).await;
    end(&given.key).await.assert_refused(409, "conflict");
}

/// A customer who is invoiced works on credit, as far as the limit goes; what is paid in settles it first.
#[tokio::test]
async fn an_account_may_owe_as_much_as_its_credit_limit() {
    let gateway = gateway().await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let image = async || {
        gateway
            .post(&caller.key, "/v1/images/generations", picture())
            .await
    };
    assert_eq!(image().await.status, 400);
    let path = format!("accounts/{}", caller.id);
    for wrong in [json!(-1), json!("much")] {
        let refused = operate(
            &gateway,
            Method::PATCH,
            &path,
            json!({ "credit_limit": wrong }),
        )
        .await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], "credit_limit", "{}", refused.json);
    }
    let changed = operate(&gateway, Method::PATCH, &path, json!({ "credit_limit": 2 })).await;
    assert_eq!(changed.json["data"]["credit_limit"], 2, "{}", changed.json);
    for _ in 0..2 {
        assert_eq!(image().await.status, 200);
    }
    let refused = image().await;
    assert_eq!(
        refused.json["error"]["code"], "insufficient_quota",
        "{}",
        refused.json
    );
    let credits = gateway.get(&caller.key, "/account/v1/credits").await;
    let credits = &credits.json["data"];
    assert_eq!(
        (&credits["debt"], &credits["creditLimit"], &credits["base"]),
        (&json!(2), &json!(2), &json!(0)),
        "{credits}"
    );
    let id = id_of(&begin(&gateway, &caller).await);
    operate(
        &gateway,
        Method::POST,
        &format!("payments/{id}/confirm"),
        json!({}),
    )
    .await;
    assert!((balance(&gateway, &caller).await - 8.0).abs() < 0.0001);
    let changed = operate(&gateway, Method::PATCH, &path, json!({ "credit_limit": 0 })).await;
    assert_eq!(changed.json["data"]["debt"], 0, "{}", changed.json);
}
