//! A stop finishes what is being answered, hands back what is being worked on, and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::sync::Notify;

use crate::batches::{open, until};
use crate::gateway::{Gateway, Options};
use crate::outside::{Outside, answer, read};

const JSON: &str = "content-type: application/json\r\n";
/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Work that never ends is handed back after a few seconds rather than twenty.
async fn in_a_hurry() -> Gateway {
    Options::default().set("STOP_WITHIN_S", "4").spawn().await
}

#[tokio::test]
async fn sigterm_ends_with_zero_and_nothing_is_lost() {
    let mut gateway = in_a_hurry().await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    gateway.signal("TERM");
    assert_eq!(
        gateway.ended(Duration::from_secs(8)),
        Some(0),
        "{}",
        gateway.printed()
    );
    let gateway = gateway.restart(Options::default());
    let job = gateway.get(&caller.key, &format!("/jobs/v1/{id}")).await;
    assert_eq!(job.json["data"]["jobId"], id, "{}", job.json);
    assert_eq!(gateway.balance(&caller.key).await, (96.0, 4.0));
}

#[tokio::test]
async fn an_idle_service_stops_at_once() {
    let mut gateway = Gateway::spawn().await;
    let caller = gateway.account(1).await;
    // A kept-alive connection must not hold it up.
    assert_eq!(
        gateway.get(&caller.key, "/artgen/v1/info").await.status,
        200
    );
    gateway.signal("INT");
    assert_eq!(gateway.ended(Duration::from_secs(10)), Some(0));
}

#[tokio::test]
async fn an_open_event_stream_does_not_hold_up_a_stop() {
    let mut gateway = in_a_hurry().await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let path = format!("/jobs/v1/{id}/events");
    let mut stream = open(&gateway, &caller.key, &path, None).await;
    assert_eq!(stream.status(), 200);
    assert_eq!(until(&mut stream, |_, _| true).await.len(), 1, "it is open");
    gateway.signal("TERM");
    assert_eq!(gateway.ended(Duration::from_secs(8)), Some(0));
}

/// A vendor that takes its time, is paid for every call and cannot be asked about any.
fn slow_vendor(pause: Duration, asked: &Arc<Notify>) -> Outside {
    let asked = Arc::clone(asked);
    Outside::start(move |mut stream| {
        if read(&mut stream).is_some_and(|request| request.path().ends_with("generations")) {
            asked.notify_one();
            std::thread::sleep(pause);
            let body = json!({ "created": 1, "data": [{ "b64_json": PIXEL }] }).to_string();
            answer(&mut stream, "200 OK", JSON, body.as_bytes());
        }
    })
}

#[tokio::test]
async fn a_stop_waits_for_a_paid_call_and_hands_everything_else_back_at_once() {
    let asked = Arc::new(Notify::new());
    let vendor = slow_vendor(Duration::from_secs(3), &asked);
    let hurried = [("STOP_WITHIN_S", "1"), ("DRAIN_S", "20")];
    let options = hurried
        .into_iter()
        .fold(Options::default(), |all, (name, value)| {
            all.set(name, value)
        });
    let mut gateway = options.spawn().await;
    let body = json!({ "vendor": "openai", "name": "slow", "base_url": vendor.url("/v1"),
        "rank": 1, "operations": ["imgmodel"], "settings": { "image_model": "gpt-image-1.5" } });
    let made = gateway.operate(Method::POST, "/admin/v1/backends", Some(body));
    let made = made.await;
    let backend = made.json["data"]["id"].as_str();
    let backend = backend
        .unwrap_or_else(|| panic!("{}", made.json))
        .to_owned();
    let path = format!("/admin/v1/backends/{backend}/accounts");
    let account = json!({ "name": "first", "credential": "paid" });
    let made = gateway.operate(Method::POST, &path, Some(account)).await;
    assert_eq!(made.status, 200, "{}", made.json);
    let caller = gateway.account(100).await;
    let stalled = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let body = json!({ "model": "image-1", "prompt": "a fox", "quality": "low" });
    let paid = gateway.post(&caller.key, "/v1/images/generations", body);
    let stop = async {
        asked.notified().await;
        gateway.signal("TERM");
    };
    let (paid, ()) = tokio::join!(paid, stop);
    assert_eq!(paid.status, 200, "{}\n{}", paid.json, gateway.printed());
    let ended = gateway.ended(Duration::from_secs(15));
    assert_eq!(ended, Some(0), "{}", gateway.printed());
    let gateway = gateway.restart(Options::default());
    assert_eq!(vendor.connections(), 1, "it was paid once");
    let path = format!("/jobs/v1/{stalled}");
    let job = gateway.get(&caller.key, &path).await;
    assert_ne!(job.json["data"]["status"], "FAILED", "{}", job.json);
    // The stalled job is held, the paid one was settled.
    assert_eq!(gateway.balance(&caller.key).await, (95.0, 4.0));
}
