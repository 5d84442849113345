//! Stripe: sessions that are asked for, and events that are signed.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use futures_util::future::join_all;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{PAYMENTS, balance, begin, id_of, operate, product, state};
use crate::gateway::{Account, Answer, Gateway, Options, send};
use crate::outside::{Outside, answer, read};

pub(super) const SECRET: &str = "whsec_nobody_may_read_this";
const API_KEY: &str = "sk_test_nobody_may_read_this";

pub(super) type StripeCalls = Arc<Mutex<Vec<(String, String)>>>;

/// A Stripe that opens sessions, gives money back and ends subscriptions; heads and bodies of what it was asked. It loses its first answer to
/// a refund of 77, and refuses one of 13.
pub(super) fn stripe() -> (Outside, StripeCalls) {
    let asked: StripeCalls = Arc::default();
    let kept = asked.clone();
    let outside = Outside::start(move |mut stream| {
        let Some(request) = read(&mut stream) else {
            return;
        };
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let (number, again) = {
            let mut kept = kept.lock().expect("no panic under the lock");
            let again = kept.iter().any(|one| one.1 == body);
            kept.push((request.head.clone(), body.clone()));
            (kept.len(), again)
        };
        let is_lost = body.contains("amount=77") && !again;
        let says = match request.path() {
            path if path.starts_with("/v1/refunds?") => json!({ "data": [] }),
            "/v1/refunds" => {
                json!({ "id": "re_1", "charge": { "id": "ch_1", "amount_refunded": 300 } })
            }
            path if path.starts_with("/v1/subscriptions/") => json!({ "id": "sub_1" }),
            path if path.ends_with("/payment_methods?limit=1") => {
                json!({ "data": [{ "id": "pm_1" }] })
            }
            path if path.starts_with("/v1/payment_intents?") => json!({ "data": [] }),
            "/v1/payment_intents" => json!({ "id": format!("pi_{number}"), "status": "succeeded" }),
            _ => {
                json!({ "id": format!("cs_{number}"), "url": format!("https://checkout.example.com/{number}") })
            }
        };
        let status = if body.contains("customer=cus_declined") {
            "402 Payment Required"
        } else if body.contains("broken") || body.contains("amount=13") {
            "400 Bad Request"
        } else if is_lost {
            "500 Internal Server Error"
        } else {
            "200 OK"
        };
        let says = if status.starts_with("40") {
            json!({ "error": { "message": "the charge is too old" } })
        } else {
            says
        };
        let type_of = "content-type: application/json\r\n";
        answer(&mut stream, status, type_of, says.to_string().as_bytes());
    });
    (outside, asked)
}

/// What Stripe was asked at a path.
pub(super) fn asked_at(asked: &StripeCalls, path: &str) -> Vec<(String, String)> {
    let kept = asked.lock().expect("no panic under the lock");
    let at_path = |one: &&(String, String)| one.0.contains(&format!(" {path}"));
    kept.iter().filter(at_path).cloned().collect()
}

pub(super) fn options(outside: &Outside) -> Options {
    Options::default()
        .set("PAYMENTS_STRIPE_BASE_URL", &outside.url(""))
        .set("PAYMENTS_STRIPE_SECRET_KEY", API_KEY)
        .set("PAYMENTS_STRIPE_WEBHOOK_SECRET", SECRET)
}

async fn gateway(outside: &Outside) -> Gateway {
    options(outside).spawn().await
}

#[expect(
    clippy::disallowed_methods,
    reason = "signatures go by the machine's clock"
)]
pub(super) fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.expect("later").as_secs() as i64
}

pub(super) fn signature(secret: &str, time_s: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
    mac.update(format!("{time_s}.{body}").as_bytes());
    let signed = mac.finalize().into_bytes();
    let hex = signed.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text takes everything");
        text
    });
    format!("t={time_s},v1={hex}")
}

pub(super) async fn post(gateway: &Gateway, body: &str, signature: &str) -> Answer {
    let request = gateway.request(Method::POST, "/hooks/pay/stripe");
    let request = request.header("stripe-signature", signature);
    send(
        request
            .header("content-type", "application/json")
            .body(body.to_owned()),
    )
    .await
}

async fn tell(gateway: &Gateway, event: &Value) {
    let body = event.to_string();
    let told = post(gateway, &body, &signature(SECRET, now_s(), &body)).await;
    assert_eq!(told.status, 200, "{} of {event}", told.json);
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what is reported is made for it"
)]
pub(super) fn event(id: &str, kind: &str, object: Value) -> Value {
    json!({ "id": id, "object": "event", "type": kind, "data": { "object": object } })
}

pub(super) fn session(payment: &str, account: &Account) -> Value {
    json!({
        "id": format!("cs_of_{payment}"), "object": "checkout.session", "payment_intent": format!("pi_{payment}"),
        "amount_total": 300, "currency": "eur", "payment_status": "paid", "client_reference_id": account.id,
        "metadata": { "atelier_payment": payment, "atelier_account": account.id }
    })
}

pub(super) fn completed(id: &str, payment: &str, account: &Account) -> Value {
    event(id, "checkout.session.completed", session(payment, account))
}

fn refunded(id: &str, payment: &str, amount: i64) -> Value {
    let charge = json!({ "id": format!("ch_{payment}"), "payment_intent": format!("pi_{payment}"),
        "amount_refunded": amount, "currency": "eur", "metadata": {} });
    event(id, "charge.refunded", charge)
}

fn dispute(id: &str, kind: &str, payment: &str, status: &str) -> Value {
    let dispute = json!({ "id": format!("dp_{payment}"), "charge": format!("ch_{payment}"),
        "payment_intent": format!("pi_{payment}"), "amount": 300, "currency": "eur", "status": status });
    event(id, kind, dispute)
}

#[tokio::test]
async fn a_session_is_asked_for_with_what_is_bought() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let begun = begin(&gateway, &caller).await;
    assert_eq!(begun["payAt"], "https://checkout.example.com/1", "{begun}");
    let (head, body) = asked
        .lock()
        .expect("no panic")
        .first()
        .cloned()
        .expect("a call");
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/checkout/sessions "), "{head}");
    assert!(
        head.contains(&format!("authorization: bearer {API_KEY}")),
        "{head}"
    );
    assert!(
        head.contains(&format!("idempotency-key: {}", id_of(&begun))),
        "{head}"
    );
    for said in [
        "mode=payment".to_owned(),
        "line_items%5B0%5D%5Bprice_data%5D%5Bunit_amount%5D=300".to_owned(),
        "line_items%5B0%5D%5Bprice_data%5D%5Bcurrency%5D=eur".to_owned(),
        format!("metadata%5Batelier_payment%5D={}", id_of(&begun)),
        format!("client_reference_id={}", caller.id),
    ] {
        assert!(body.contains(&said), "{said} in {body}");
    }
    // A plan is a subscription.
    let plan = json!({ "name": "studio", "every": { "days": 7 }, "quota": 40 });
    operate(&gateway, Method::POST, "plans", plan).await;
    let sold = json!({ "name": "weekly", "money": 300, "currency": "EUR", "plan": "studio" });
    operate(&gateway, Method::POST, "products", sold).await;
    let begun = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "weekly" }))
        .await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let (_, body) = asked
        .lock()
        .expect("no panic")
        .last()
        .cloned()
        .expect("a call");
    assert!(
        body.contains("mode=subscription") && body.contains("interval_count%5D=7"),
        "{body}"
    );
    // What Stripe does not take of a currency is refused before anything is written down.
    let tenth = json!({ "name": "tenth", "money": 1234, "currency": "KWD", "quota": 1 });
    operate(&gateway, Method::POST, "products", tenth).await;
    let refused = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "tenth" }))
        .await;
    refused.assert_refused(400, "invalid_parameter");
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    assert_eq!(listed.json["total"], 2, "{}", listed.json);
    // A session that Stripe refuses is waited for by no one.
    let broken = json!({ "name": "broken", "money": 300, "currency": "EUR", "quota": 1 });
    operate(&gateway, Method::POST, "products", broken).await;
    let refused = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "broken" }))
        .await;
    refused.assert_refused(503, "overloaded");
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    assert_eq!(listed.json["data"][0]["state"], "failed", "{}", listed.json);
    let printed = gateway.printed();
    assert!(
        !printed.contains(API_KEY) && !printed.contains(SECRET),
        "{printed}"
    );
}

#[tokio::test]
async fn only_what_stripe_signed_a_moment_ago_counts() {
    let (outside, _) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let id = id_of(&begin(&gateway, &caller).await);
    let body = completed("evt_1", &id, &caller).to_string();
    let now = now_s();
    let forged = body.replace("300", "301");
    for (body, signature) in [
        (&body, String::new()),
        (&body, "t=1,v1=00".to_owned()),
        (&body, signature("whsec_another", now, &body)),
        (&body, signature(SECRET, now - 400, &body)),
        (&body, signature(SECRET, now + 400, &body)),
        (&body, signature(SECRET, now, &body).replace("v1=", "v0=")),
        (&forged, signature(SECRET, now, &body)),
    ] {
        let refused = post(&gateway, body, &signature).await;
        refused.assert_refused(403, "forbidden");
    }
    let get = send(gateway.request(Method::GET, "/hooks/pay/stripe")).await;
    get.assert_refused(403, "forbidden");
    assert_eq!(state(&gateway, &caller, &id).await, "pending");
    let broken = "{";
    let refused = post(&gateway, broken, &signature(SECRET, now, broken)).await;
    refused.assert_refused(400, "invalid_body");
    let told = post(&gateway, &body, &signature(SECRET, now - 200, &body)).await;
    assert_eq!((told.status.as_u16(), &*told.bytes), (200, &b"ok"[..]));
    assert_eq!(state(&gateway, &caller, &id).await, "paid");
    let shown = gateway
        .operate(Method::GET, &format!("/admin/v1/payments/{id}"), None)
        .await;
    assert_eq!(
        shown.json["data"]["events"][0]["event_id"], "evt_1",
        "{}",
        shown.json
    );
}

#[tokio::test]
async fn events_that_come_often_late_and_in_any_order_count_once() {
    let (outside, _) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let id = id_of(&begin(&gateway, &caller).await);
    // Many at once, by two events.
    let (first, second) = (
        completed("evt_a", &id, &caller),
        event(
            "evt_b",
            "checkout.session.async_payment_succeeded",
            session(&id, &caller),
        ),
    );
    join_all((0..40).map(|number| tell(&gateway, if number % 3 == 0 { &second } else { &first })))
        .await;
    assert!((balance(&gateway, &caller).await - 10.0).abs() < 0.0001);
    // One that comes after it had expired, and the news of that after it.
    let late = id_of(&begin(&gateway, &caller).await);
    tell(
        &gateway,
        &event("evt_c", "checkout.session.expired", session(&late, &caller)),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &late).await, "expired");
    tell(&gateway, &completed("evt_d", &late, &caller)).await;
    tell(
        &gateway,
        &event("evt_e", "checkout.session.expired", session(&late, &caller)),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &late).await, "paid");
    assert!((balance(&gateway, &caller).await - 20.0).abs() < 0.0001);
    // One that is made later than it was told to be complete, and fails.
    let slow = id_of(&begin(&gateway, &caller).await);
    let mut unpaid = session(&slow, &caller);
    unpaid["payment_status"] = json!("unpaid");
    tell(
        &gateway,
        &event("evt_f", "checkout.session.completed", unpaid),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &slow).await, "pending");
    tell(
        &gateway,
        &event(
            "evt_g",
            "checkout.session.async_payment_failed",
            session(&slow, &caller),
        ),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &slow).await, "failed");
}

/// What Stripe signed and is not what was asked for is kept for an operator.
#[tokio::test]
async fn events_of_another_amount_currency_or_account_credit_nothing() {
    let (outside, _) = stripe();
    let gateway = gateway(&outside).await;
    let (caller, other) = (gateway.account(0).await, gateway.account(0).await);
    product(&gateway, "EUR").await;
    for (number, (field, value)) in [("amount_total", json!(299)), ("currency", json!("usd"))]
        .into_iter()
        .enumerate()
    {
        let id = id_of(&begin(&gateway, &caller).await);
        let mut wrong = session(&id, &caller);
        wrong[field] = value;
        tell(
            &gateway,
            &event(
                &format!("evt_h{number}"),
                "checkout.session.completed",
                wrong,
            ),
        )
        .await;
        assert_eq!(state(&gateway, &caller, &id).await, "mismatch", "{field}");
    }
    let id = id_of(&begin(&gateway, &caller).await);
    let mut stolen = session(&id, &other);
    stolen["client_reference_id"] = json!(other.id);
    tell(
        &gateway,
        &event("evt_i", "checkout.session.completed", stolen),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &id).await, "mismatch");
    assert!(balance(&gateway, &caller).await.abs() < 0.0001);
    assert!(balance(&gateway, &other).await.abs() < 0.0001);
    // What is not about payments here is taken and leaves nothing.
    tell(
        &gateway,
        &event("evt_j", "customer.created", json!({ "id": "cus_1" })),
    )
    .await;
    let kept = gateway
        .operate(Method::GET, "/admin/v1/payment-mismatches", None)
        .await;
    assert_eq!(kept.json["total"], 3, "{}", kept.json);
}

#[tokio::test]
async fn refunds_and_disputes_take_back_whatever_comes_first() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    // A refund that is told before its payment, twice, and a smaller one after it.
    let id = id_of(&begin(&gateway, &caller).await);
    tell(&gateway, &refunded("evt_r2", &id, 150)).await;
    tell(&gateway, &refunded("evt_r2", &id, 150)).await;
    tell(&gateway, &completed("evt_p", &id, &caller)).await;
    tell(&gateway, &refunded("evt_r1", &id, 50)).await;
    assert!((balance(&gateway, &caller).await - 5.0).abs() < 0.0001);
    // A dispute takes the rest; a won one gives that back.
    tell(
        &gateway,
        &dispute("evt_d1", "charge.dispute.created", &id, "needs_response"),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &id).await, "disputed");
    assert!(balance(&gateway, &caller).await.abs() < 0.0001);
    tell(
        &gateway,
        &dispute("evt_d2", "charge.dispute.closed", &id, "won"),
    )
    .await;
    assert_eq!(state(&gateway, &caller, &id).await, "paid");
    assert!((balance(&gateway, &caller).await - 5.0).abs() < 0.0001);
    // An operator gives the rest back at Stripe; the event of it changes nothing more.
    let path = format!("payments/{id}/refund");
    let back = operate(&gateway, Method::POST, &path, json!({ "money": 150 })).await;
    assert_eq!(back.status, 200, "{}", back.json);
    assert_eq!(back.json["data"]["state"], "refunded", "{}", back.json);
    let (head, body) = asked
        .lock()
        .expect("no panic")
        .last()
        .cloned()
        .expect("a call");
    assert!(head.starts_with("POST /v1/refunds "), "{head}");
    assert!(
        body.contains(&format!("payment_intent=pi_{id}")) && body.contains("amount=150"),
        "{body}"
    );
    tell(&gateway, &refunded("evt_r3", &id, 300)).await;
    assert!(balance(&gateway, &caller).await.abs() < 0.0001);
    let account = gateway
        .operate(
            Method::GET,
            &format!("/admin/v1/accounts/{}", caller.id),
            None,
        )
        .await;
    assert_eq!(account.json["data"]["debt"], 0, "{}", account.json);
}

#[tokio::test]
async fn a_subscription_pays_for_one_period_after_another() {
    let (outside, _) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    let plan = json!({ "name": "studio", "every": "month", "quota": 40 });
    operate(&gateway, Method::POST, "plans", plan).await;
    let sold = json!({ "name": "ten", "money": 300, "currency": "EUR", "plan": "studio" });
    operate(&gateway, Method::POST, "products", sold).await;
    let id = id_of(&begin(&gateway, &caller).await);
    let invoice = |number: u32| {
        let reason = if number == 1 {
            "subscription_create"
        } else {
            "subscription_cycle"
        };
        let invoice = json!({ "id": format!("in_{number}"), "amount_paid": 300, "currency": "eur", "subscription": "sub_1",
            "billing_reason": reason,
            "subscription_details": { "metadata": { "atelier_payment": id, "atelier_account": caller.id } } });
        event(&format!("evt_in_{number}"), "invoice.paid", invoice)
    };
    // The first invoice comes before the session is complete.
    tell(&gateway, &invoice(1)).await;
    let mut complete = session(&id, &caller);
    complete["payment_intent"] = json!(null);
    (complete["subscription"], complete["invoice"]) = (json!("sub_1"), json!("in_1"));
    tell(
        &gateway,
        &event("evt_cs", "checkout.session.completed", complete),
    )
    .await;
    assert!((balance(&gateway, &caller).await - 40.0).abs() < 0.0001);
    let plan = gateway.get(&caller.key, "/account/v1/plan").await;
    assert_eq!(plan.json["data"]["plan"], "studio", "{}", plan.json);
    for _ in 0..3 {
        tell(&gateway, &invoice(2)).await;
    }
    assert!(
        (balance(&gateway, &caller).await - 40.0).abs() < 0.0001,
        "the next period has not begun"
    );
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    assert_eq!(listed.json["total"], 2, "{}", listed.json);
}

pub(super) fn key_of(head: &str) -> &str {
    let mut lines = head.lines();
    let line = lines.find_map(|line| {
        line.split_once(':')
            .filter(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"))
    });
    line.map(|(_, key)| key.trim()).unwrap_or_default()
}

/// The promise: whatever an operator's key is, and however often a call is repeated, money goes back once for each refund.
#[tokio::test]
async fn money_goes_back_once_for_each_refund() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let id = id_of(&begin(&gateway, &caller).await);
    tell(&gateway, &completed("evt_1", &id, &caller)).await;
    let path = format!("payments/{id}/refund");
    let refund = async |body: Value| operate(&gateway, Method::POST, &path, body).await;
    // A key that is no header value, repeated, and with other money.
    let wish = json!({ "money": 20, "idempotency_key": "schlüssel\n" });
    for _ in 0..3 {
        assert_eq!(refund(wish.clone()).await.status, 200);
    }
    let other = json!({ "money": 21, "idempotency_key": "schlüssel\n" });
    refund(other)
        .await
        .assert_refused(422, "idempotency_mismatch");
    let sent = asked_at(&asked, "/v1/refunds");
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(key_of(&sent[0].0).len(), 36, "{}", sent[0].0);
    let refused = refund(json!({ "money": 1 })).await;
    refused.assert_refused(409, "conflict");
}

#[tokio::test]
async fn a_refund_whose_answer_is_lost_is_the_same_when_it_is_repeated() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let id = id_of(&begin(&gateway, &caller).await);
    tell(&gateway, &completed("evt_1", &id, &caller)).await;
    let path = format!("payments/{id}/refund");
    let refund = async |body: Value| operate(&gateway, Method::POST, &path, body).await;
    let no = refund(json!({ "money": 13 })).await;
    no.assert_refused(409, "conflict");
    assert!(
        no.json.to_string().contains("the charge is too old"),
        "{}",
        no.json
    );
    let lost = refund(json!({ "money": 77 })).await;
    lost.assert_refused(503, "overloaded");
    let shown = gateway
        .operate(Method::GET, &format!("/admin/v1/payments/{id}"), None)
        .await;
    let refunds = &shown.json["data"]["refunds"];
    assert_eq!(
        (&refunds[0]["state"], &refunds[1]["state"]),
        (&json!("asked"), &json!("refused")),
        "{refunds}"
    );
    let other = refund(json!({ "money": 78 })).await;
    other.assert_refused(409, "conflict");
    let again = refund(json!({ "money": 77 })).await;
    assert_eq!(again.status, 200, "{}", again.json);
    assert_eq!(again.json["data"]["refunded"], 300, "{}", again.json);
    let sent = asked_at(&asked, "/v1/refunds");
    let posted: Vec<_> = sent
        .iter()
        .filter(|one| one.1.contains("amount=77"))
        .collect();
    assert_eq!(posted.len(), 2, "{sent:?}");
    assert_eq!(key_of(&posted[0].0), key_of(&posted[1].0));
    assert!(
        sent.iter().any(|one| one.0.starts_with("GET ")),
        "it was looked for before it was sent again: {sent:?}"
    );
}

/// A subscription that no one wants any more is ended at Stripe: with its period where the plan ends, at once where the account goes.
#[tokio::test]
async fn a_subscription_is_ended_at_stripe() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    let plan = json!({ "name": "studio", "every": "month", "quota": 40 });
    operate(&gateway, Method::POST, "plans", plan).await;
    let sold = json!({ "name": "ten", "money": 300, "currency": "EUR", "plan": "studio" });
    operate(&gateway, Method::POST, "products", sold).await;
    let id = id_of(&begin(&gateway, &caller).await);
    let mut complete = session(&id, &caller);
    complete["payment_intent"] = json!(null);
    (complete["subscription"], complete["invoice"]) = (json!("sub_1"), json!("in_1"));
    tell(
        &gateway,
        &event("evt_cs", "checkout.session.completed", complete),
    )
    .await;
    let second = gateway
        .post(&caller.key, PAYMENTS, json!({ "product": "ten" }))
        .await;
    second.assert_refused(409, "conflict");
    let request = gateway.request(Method::DELETE, "/account/v1/plan");
    let ended = send(request.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(ended.json["data"]["ends"], true, "{}", ended.json);
    let sent = until(&asked, 1).await;
    assert!(
        sent[0].0.starts_with("POST /v1/subscriptions/sub_1 ")
            && sent[0].1 == "cancel_at_period_end=true",
        "{sent:?}"
    );
    let path = format!("/admin/v1/accounts/{}", caller.id);
    let deleted = gateway.operate(Method::DELETE, &path, None).await;
    assert_eq!(deleted.status, 200, "{}", deleted.json);
    let sent = until(&asked, 2).await;
    assert!(
        sent[1].0.starts_with("DELETE /v1/subscriptions/sub_1 "),
        "{sent:?}"
    );
}

/// Waits until Stripe was asked so often about subscriptions.
async fn until(asked: &StripeCalls, times: usize) -> Vec<(String, String)> {
    for _ in 0..600 {
        let sent = asked_at(asked, "/v1/subscriptions/");
        if sent.len() >= times {
            return sent;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{:?}", asked.lock());
}

/// Waits until something is so of the top-up of an account.
async fn until_topup(gateway: &Gateway, caller: &Account, so: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..600 {
        let shown = gateway.get(&caller.key, "/account/v1/topup").await;
        let shown = shown.json["data"].clone();
        if so(&shown) {
            return shown;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("never");
}

/// Begins a payment that saves the customer, and has it paid.
async fn saved(gateway: &Gateway, caller: &Account, customer: &str, number: &str) {
    let body = json!({ "product": "ten", "save": true });
    let begun = gateway.post(&caller.key, PAYMENTS, body).await;
    assert_eq!(begun.status, 200, "{}", begun.json);
    let mut paid = session(&id_of(&begun.json["data"]), caller);
    paid["customer"] = json!(customer);
    tell(gateway, &event(number, "checkout.session.completed", paid)).await;
}

async fn set_topup(gateway: &Gateway, caller: &Account, body: Value) -> Answer {
    let request = gateway.request(Method::PUT, "/account/v1/topup");
    send(request.header("SVC-API-KEY", &caller.key).json(&body)).await
}

#[tokio::test]
async fn a_low_balance_is_topped_up_from_a_saved_customer() {
    let (outside, asked) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    let wish = json!({ "product": "ten", "threshold": 15, "monthlyCap": 500 });
    let early = set_topup(&gateway, &caller, wish.clone()).await;
    early.assert_refused(409, "conflict");
    let can = until_topup(&gateway, &caller, |_| true).await;
    assert_eq!(can["canSave"], json!(["stripe"]), "{can}");
    saved(&gateway, &caller, "cus_1", "evt_saved").await;
    let has = until_topup(&gateway, &caller, |_| true).await;
    assert_eq!(has["saved"], json!(["stripe"]), "{has}");
    let (_, body) = asked_at(&asked, "/v1/checkout/sessions")[0].clone();
    assert!(
        body.contains("customer_creation=always")
            && body.contains("setup_future_usage%5D=off_session"),
        "{body}"
    );
    for (field, wrong) in [
        ("product", json!("none")),
        ("threshold", json!(0)),
        ("monthlyCap", json!(299)),
        ("provider", json!("epay")),
    ] {
        let mut body = wish.clone();
        body[field] = wrong;
        let refused = set_topup(&gateway, &caller, body).await;
        refused.assert_refused(400, "invalid_parameter");
        assert_eq!(refused.json["param"], field);
    }
    let set = set_topup(&gateway, &caller, wish).await;
    assert_eq!(set.json["data"]["active"], true, "{}", set.json);
    // One purchase is made; a second one would go beyond the cap.
    until_topup(&gateway, &caller, |topup| topup["spentThisMonth"] == 300).await;
    for _ in 0..200 {
        if (balance(&gateway, &caller).await - 20.0).abs() < 0.0001 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!((balance(&gateway, &caller).await - 20.0).abs() < 0.0001);
    let charges: Vec<_> = asked_at(&asked, "/v1/payment_intents ");
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert!(
        charges[0].1.contains("off_session=true") && charges[0].1.contains("customer=cus_1"),
        "{charges:?}"
    );
    let listed = gateway.get(&caller.key, PAYMENTS).await;
    let first = &listed.json["data"][0];
    assert_eq!(
        (&first["topup"], &first["state"]),
        (&json!(true), &json!("paid"))
    );
    assert_eq!(key_of(&charges[0].0), first["id"].as_str().expect("an id"));
    // Stripe's own event of the charge says the same once more.
    let intent = json!({ "id": "pi_of_the_event", "amount": 300, "currency": "eur", "status": "succeeded",
        "metadata": { "atelier_payment": first["id"], "atelier_account": caller.id } });
    let body = event("evt_twice", "payment_intent.succeeded", intent);
    tell(&gateway, &body).await;
    assert!((balance(&gateway, &caller).await - 20.0).abs() < 0.0001);
    let path = format!("/admin/v1/accounts/{}/topup", caller.id);
    let shown = gateway.operate(Method::GET, &path, None).await;
    assert_eq!(shown.json["data"]["product"], "ten", "{}", shown.json);
    let removed = gateway.operate(Method::DELETE, &path, None).await;
    assert_eq!(removed.json["data"]["active"], false, "{}", removed.json);
    let again = gateway.operate(Method::DELETE, &path, None).await;
    again.assert_refused(404, "not_found");
}

#[tokio::test]
async fn a_declined_card_is_no_top_up() {
    let (outside, _) = stripe();
    let gateway = gateway(&outside).await;
    let caller = gateway.account(0).await;
    product(&gateway, "EUR").await;
    saved(&gateway, &caller, "cus_declined", "evt_saved").await;
    let wish = json!({ "product": "ten", "threshold": 15, "monthlyCap": 500 });
    set_topup(&gateway, &caller, wish).await;
    // Why it failed is noted first, then that the payment did.
    let failed = |topup: &Value| topup["why"].is_string() && topup["spentThisMonth"] == 0;
    let topup = until_topup(&gateway, &caller, failed).await;
    assert_eq!(topup["active"], true, "{topup}");
    assert!((balance(&gateway, &caller).await - 10.0).abs() < 0.0001);
    let request = gateway.request(Method::DELETE, "/account/v1/topup");
    let removed = send(request.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
}
