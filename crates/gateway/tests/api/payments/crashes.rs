//! A crash at every named point of a payment: what was paid gives once, money goes back once, and a subscription that is to end ends.

use std::collections::HashSet;
use std::time::Duration;

use atelier_engine::crash::POINTS;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::stripe::{
    SECRET, StripeCalls, asked_at, completed, event, key_of, now_s, options, session, signature,
    stripe,
};
use super::{PAYMENTS, balance, operate, product};
use crate::gateway::{ADMIN_TOKEN, Account, Gateway};

/// A process that is still there by then never came by its point.
const REACHED: Duration = Duration::from_mins(1);

/// A caller's request.
fn own(gateway: &Gateway, caller: &Account, method: Method, path: &str) -> RequestBuilder {
    let request = gateway.request(method, path);
    request.header("SVC-API-KEY", &caller.key)
}

/// What Stripe posts.
fn hook(gateway: &Gateway, event: &Value) -> RequestBuilder {
    let body = event.to_string();
    let signed = signature(SECRET, now_s(), &body);
    let request = gateway.request(Method::POST, "/hooks/pay/stripe");
    request.header("stripe-signature", signed).body(body)
}

/// The payments of a caller, the latest first.
async fn payments(gateway: &Gateway, caller: &Account) -> Vec<Value> {
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    listed.json["data"].as_array().expect("payments").clone()
}

/// The payment of a caller, who begins one where there is none; none where no one answers.
async fn bought(gateway: &Gateway, caller: &Account, product: &str) -> Option<String> {
    for _ in 0..2 {
        let listed = own(gateway, caller, Method::GET, PAYMENTS).send().await;
        let listed: Value = listed.ok()?.json().await.ok()?;
        if let Some(oldest) = listed["data"].as_array()?.last() {
            return oldest["id"].as_str().map(str::to_owned);
        }
        let body = json!({ "product": product, "save": product == "ten" });
        let begun = own(gateway, caller, Method::POST, PAYMENTS).json(&body);
        begun.send().await.ok()?;
    }
    None
}

/// Buys, pays, takes the money back, has the balance topped up and ends a subscription, as far as someone answers. Each step may be repeated.
async fn everything(gateway: &Gateway, callers: [&Account; 2], point: &str) -> Option<()> {
    let [buyer, subscriber] = callers;
    let id = bought(gateway, buyer, "ten").await?;
    let mut paid = completed(&format!("evt_{point}"), &id, buyer);
    paid["data"]["object"]["customer"] = json!(format!("cus_{point}"));
    for _ in 0..2 {
        hook(gateway, &paid).send().await.ok()?;
    }
    let refund = format!("/admin/v1/payments/{id}/refund");
    let refund = gateway.request(Method::POST, &refund);
    let body = json!({ "idempotency_key": point });
    let refund = refund.bearer_auth(ADMIN_TOKEN).json(&body);
    refund.send().await.ok()?;
    let topup = own(gateway, buyer, Method::PUT, "/account/v1/topup");
    let wish = json!({ "product": "ten", "threshold": 5, "monthlyCap": 599 });
    topup.json(&wish).send().await.ok()?;
    let first = bought(gateway, subscriber, "month").await?;
    let mut subscribed = session(&first, subscriber);
    subscribed["subscription"] = json!(format!("sub_{point}"));
    let name = format!("evt_sub_{point}");
    let subscribed = event(&name, "checkout.session.completed", subscribed);
    hook(gateway, &subscribed).send().await.ok()?;
    let end = own(gateway, subscriber, Method::DELETE, "/account/v1/plan");
    end.send().await.ok().map(|_| ())
}

/// Waits until Stripe has ended the subscription of a point.
async fn ended(asked: &StripeCalls, point: &str) {
    for _ in 0..1_800 {
        if !asked_at(asked, &format!("/v1/subscriptions/sub_{point}")).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{point}: the subscription was never ended");
}

/// Waits until a purchase of a top-up is paid.
async fn topped_up(gateway: &Gateway, buyer: &Account, point: &str) {
    for _ in 0..1_800 {
        if (balance(gateway, buyer).await - 10.0).abs() < 0.0001 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{point}: the balance was never topped up");
}

#[tokio::test]
async fn a_crash_at_any_point_of_a_payment_gives_and_takes_once() {
    let (outside, asked) = stripe();
    let mut gateway = options(&outside).spawn().await;
    product(&gateway, "EUR").await;
    let plan = json!({ "name": "month", "every": "month", "quota": 40 });
    operate(&gateway, Method::POST, "plans", plan).await;
    let sold = json!({ "name": "month", "money": 300, "currency": "EUR", "plan": "month" });
    operate(&gateway, Method::POST, "products", sold).await;
    let points = POINTS.iter().filter(|point| point.starts_with("payment."));
    let points: Vec<&str> = points.copied().collect();
    assert!(points.len() >= 5, "{points:?}");
    for point in &points {
        let (buyer, subscriber) = (gateway.account(0).await, gateway.account(0).await);
        let callers = [&buyer, &subscriber];
        gateway = gateway.restart(options(&outside).set("CRASH_AT", point));
        let _ = everything(&gateway, callers, point).await;
        let code = gateway.ended(REACHED);
        assert_eq!(code, None, "{point}: it ended by itself");
        gateway = gateway.restart(options(&outside));
        let done = everything(&gateway, callers, point).await;
        assert!(done.is_some(), "{point}: someone answers");
        ended(&asked, point).await;
        topped_up(&gateway, &buyer, point).await;
        let bought = payments(&gateway, &buyer).await;
        let [bought_by_itself, one] = &bought[..] else {
            panic!("{point}: {bought:?}");
        };
        assert_eq!(
            (&one["state"], &one["takenBack"], &bought_by_itself["topup"]),
            (&json!("refunded"), &json!(10), &json!(true)),
            "{point}: {bought:?}"
        );
        let subscribed = payments(&gateway, &subscriber).await;
        assert_eq!(subscribed[0]["state"], "paid", "{point}: {subscribed:?}");
        assert!(
            (balance(&gateway, &subscriber).await - 40.0).abs() < 0.0001,
            "{point}"
        );
        let plan = gateway.get(&subscriber.key, "/account/v1/plan").await;
        assert_eq!(plan.json["data"]["ends"], true, "{point}: {}", plan.json);
    }
    // However often a refund was sent, it was one for each payment.
    let sent = asked_at(&asked, "/v1/refunds ");
    let keys: HashSet<&str> = sent.iter().map(|one| key_of(&one.0)).collect();
    let intents: HashSet<&str> = sent.iter().map(|one| &*one.1).map(intent_of).collect();
    assert_eq!(keys.len(), intents.len(), "{sent:?}");
    // And a customer was charged once for each purchase.
    let sent = asked_at(&asked, "/v1/payment_intents ");
    let keys: HashSet<&str> = sent.iter().map(|one| key_of(&one.0)).collect();
    assert_eq!(keys.len(), points.len(), "{sent:?}");
    gateway.command(&["audit", "--live"]);
}

/// The charge that a refund is of.
fn intent_of(body: &str) -> &str {
    let mut fields = body.split('&');
    let found = fields.find_map(|field| field.strip_prefix("payment_intent="));
    found.expect("a charge")
}
