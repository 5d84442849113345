//! Payments from outside: what providers tell is believed once and only if they signed it, in whatever order it comes.

mod crashes;
mod epay;
mod manual;
mod restored;
mod stripe;

use reqwest::Method;
use serde_json::{Value, json};

use crate::gateway::{Account, Answer, Gateway};

const PAYMENTS: &str = "/account/v1/payments";

async fn operate(gateway: &Gateway, method: Method, path: &str, body: Value) -> Answer {
    let path = format!("/admin/v1/{path}");
    gateway.operate(method, &path, Some(body)).await
}

/// Ten quota for 3.00 of a currency.
async fn product(gateway: &Gateway, currency: &str) {
    let ten = json!({ "name": "ten", "money": 300, "currency": currency, "quota": 10 });
    let made = operate(gateway, Method::POST, "products", ten).await;
    assert_eq!(made.status, 200, "{}", made.json);
}

/// Begins a payment for ten quota.
async fn begin(gateway: &Gateway, caller: &Account) -> Value {
    let body = json!({ "product": "ten" });
    let begun = gateway.post(&caller.key, PAYMENTS, body).await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    begun.json["data"].clone()
}

fn id_of(payment: &Value) -> String {
    payment["id"].as_str().expect("an id").to_owned()
}

/// How a payment is, as the account sees it.
async fn state(gateway: &Gateway, caller: &Account, id: &str) -> String {
    let found = gateway.get(&caller.key, &format!("{PAYMENTS}/{id}")).await;
    assert_eq!(found.status, 200, "{}", found.json);
    found.json["data"]["state"]
        .as_str()
        .expect("a state")
        .to_owned()
}

async fn balance(gateway: &Gateway, caller: &Account) -> f64 {
    gateway.balance(&caller.key).await.0
}

/// Something that costs 1.
fn picture() -> Value {
    json!({ "prompt": "a fox", "model": "image-1", "quality": "low" })
}
