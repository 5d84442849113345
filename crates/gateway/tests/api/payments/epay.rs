//! A gateway that speaks the epay protocol.

use std::fmt::Write as _;

use futures_util::future::join_all;
use md5::{Digest as _, Md5};
use reqwest::{Method, Url};
use serde_json::json;

use super::{PAYMENTS, balance, begin, id_of, product, state};
use crate::gateway::{Account, Answer, Gateway, Options, send};

const KEY: &str = "a-key-that-nobody-may-read";

async fn gateway() -> Gateway {
    let options = Options::default()
        .set("PAYMENTS_EPAY_BASE_URL", "https://pay.example.com/")
        .set("PAYMENTS_EPAY_MERCHANT", "1001")
        .set("PAYMENTS_EPAY_KEY", KEY);
    options.spawn().await
}

fn sign(fields: &[(String, String)]) -> String {
    let mut said: Vec<_> = fields
        .iter()
        .filter(|(name, value)| !value.is_empty() && name != "sign" && name != "sign_type")
        .collect();
    said.sort();
    let said: Vec<String> = said
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let digest = Md5::digest(format!("{}{KEY}", said.join("&")).as_bytes());
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text takes everything");
        text
    })
}

/// What the gateway says of a payment, signed.
fn notice(payment: &str, account: &Account, trade: &str) -> Vec<(String, String)> {
    let fields = [
        ("pid", "1001"),
        ("trade_no", trade),
        ("out_trade_no", payment),
        ("type", "alipay"),
        ("name", "ten"),
        ("money", "3.00"),
        ("trade_status", "TRADE_SUCCESS"),
        ("param", &account.id),
        ("sign_type", "MD5"),
    ];
    signed(
        fields
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    )
}

fn signed(mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
    fields.retain(|(name, _)| name != "sign");
    let signature = sign(&fields);
    fields.push(("sign".into(), signature));
    fields
}

fn with(mut fields: Vec<(String, String)>, name: &str, value: &str) -> Vec<(String, String)> {
    for field in fields.iter_mut().filter(|field| field.0 == name) {
        value.clone_into(&mut field.1);
    }
    signed(fields)
}

async fn tell(gateway: &Gateway, fields: &[(String, String)]) -> Answer {
    let path = format!("/hooks/pay/epay?{}", encoded(fields));
    send(gateway.request(Method::GET, &path)).await
}

fn encoded(fields: &[(String, String)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.finish()
}

fn said(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

#[tokio::test]
async fn a_notice_credits_once_and_is_answered_with_success() {
    let gateway = gateway().await;
    let caller = gateway.account(0).await;
    product(&gateway, "CNY").await;
    let begun = begin(&gateway, &caller).await;
    let pay_at = Url::parse(begun["payAt"].as_str().expect("an address")).expect("an address");
    assert_eq!(pay_at.host_str(), Some("pay.example.com"));
    assert_eq!(pay_at.path(), "/submit.php");
    let fields: Vec<(String, String)> = pay_at.query_pairs().into_owned().collect();
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    };
    assert_eq!(
        field("sign"),
        Some(sign(&fields)),
        "as the gateway computes it"
    );
    assert_eq!(field("money").as_deref(), Some("3.00"));
    assert_eq!(field("out_trade_no").as_deref(), begun["id"].as_str());
    assert_eq!(
        field("notify_url"),
        Some(format!("{}/hooks/pay/epay", gateway.base_url))
    );
    let id = id_of(&begun);
    let good = notice(&id, &caller, "T1");
    let closed = tell(
        &gateway,
        &with(good.clone(), "trade_status", "TRADE_CLOSED"),
    )
    .await;
    assert_eq!(
        (
            said(&closed).as_str(),
            state(&gateway, &caller, &id).await.as_str()
        ),
        ("success", "pending")
    );
    let all = join_all((0..20).map(|_| tell(&gateway, &good))).await;
    for one in all {
        assert_eq!((one.status.as_u16(), said(&one).as_str()), (200, "success"));
        assert!(one.header("content-type").starts_with("text/plain"));
    }
    assert!((balance(&gateway, &caller).await - 10.0).abs() < 0.0001);
    // The same payment by another way of asking, and a second one for the same.
    let form = gateway
        .request(Method::POST, "/hooks/pay/epay")
        .body(encoded(&good));
    assert_eq!(said(&send(form).await), "success");
    let twice = tell(&gateway, &notice(&id, &caller, "T2")).await;
    assert_eq!(said(&twice), "success", "it is kept, and not told again");
    assert!((balance(&gateway, &caller).await - 10.0).abs() < 0.0001);
    let kept = gateway
        .operate(Method::GET, "/admin/v1/payment-mismatches", None)
        .await;
    assert_eq!(kept.json["data"][0]["event_id"], "T2", "{}", kept.json);
    assert!(!kept.json.to_string().contains("sign="), "{}", kept.json);
}

#[tokio::test]
async fn forged_notices_and_wrong_amounts_credit_nothing() {
    let gateway = gateway().await;
    let (caller, other) = (gateway.account(0).await, gateway.account(0).await);
    product(&gateway, "CNY").await;
    let id = id_of(&begin(&gateway, &caller).await);
    let good = notice(&id, &caller, "T1");
    for place in 0..good.len() {
        let mut forged = good.clone();
        if forged[place].0 == "sign_type" {
            continue;
        }
        forged[place].1.push('0');
        tell(&gateway, &forged)
            .await
            .assert_refused(403, "forbidden");
    }
    tell(&gateway, &[]).await.assert_refused(403, "forbidden");
    let merchant = with(good.clone(), "pid", "1002");
    tell(&gateway, &merchant)
        .await
        .assert_refused(403, "forbidden");
    assert_eq!(state(&gateway, &caller, &id).await, "pending");
    for (name, value) in [
        ("money", "2.99"),
        ("money", "3.000001"),
        ("money", "much"),
        ("param", &other.id),
    ] {
        let id = id_of(&begin(&gateway, &caller).await);
        let wrong = with(notice(&id, &caller, &format!("T-{id}")), name, value);
        assert_eq!(said(&tell(&gateway, &wrong).await), "success");
        assert_eq!(
            state(&gateway, &caller, &id).await,
            "mismatch",
            "{name} {value}"
        );
    }
    assert!(balance(&gateway, &caller).await.abs() < 0.0001);
    assert!(balance(&gateway, &other).await.abs() < 0.0001);
    let listed = gateway
        .operate(Method::GET, "/admin/v1/payments?state=mismatch", None)
        .await;
    assert_eq!(listed.json["total"], 4, "{}", listed.json);
    let printed = gateway.printed();
    assert!(!printed.contains(KEY), "{printed}");
    let euro = json!({ "name": "euro", "money": 300, "currency": "EUR", "quota": 10 });
    super::operate(&gateway, Method::POST, "products", euro).await;
    let refused = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "euro" }))
        .await;
    refused.assert_refused(400, "invalid_parameter");
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    let euros = listed.json["data"].as_array().expect("payments").iter();
    assert_eq!(
        euros.filter(|one| one["currency"] == "EUR").count(),
        0,
        "what epay does not take leaves no payment behind"
    );
}

/// The URL that a payer is sent to is signed as a notification is: it must never pass for one.
#[tokio::test]
async fn what_a_payer_is_sent_to_is_no_notification() {
    let gateway = gateway().await;
    let caller = gateway.account(0).await;
    product(&gateway, "CNY").await;
    let forged = "/console/&trade_no=T9&trade_status=TRADE_SUCCESS";
    for url in [forged, "/console/?paid=1", "/console/?a&b"] {
        let body = json!({ "product": "ten", "returnUrl": url });
        let refused = gateway.post(&caller.key, PAYMENTS, body).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], "returnUrl", "{url}");
    }
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    assert_eq!(listed.json["total"], 0, "{}", listed.json);
    // The console sends payers back to an address that can be taken.
    let console = include_str!("../../../console/pages/account/buy.js");
    let back = console
        .split_once("RETURN_URL = \"")
        .expect("its address")
        .1;
    let back = back.split('"').next();
    let body = json!({ "product": "ten", "returnUrl": back });
    let taken = gateway.post(&caller.key, PAYMENTS, body).await;
    assert_eq!(taken.status, 200, "{back:?}: {}", taken.json);
    let id = id_of(&begin(&gateway, &caller).await);
    for name in ["return_url", "notify_url"] {
        let mut fields = notice(&id, &caller, "T9");
        fields.push((name.into(), "https://example.com/".into()));
        let refused = tell(&gateway, &signed(fields)).await;
        refused.assert_refused(403, "forbidden");
    }
    assert_eq!(state(&gateway, &caller, &id).await, "pending");
}
