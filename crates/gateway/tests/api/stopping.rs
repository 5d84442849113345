//! A stop finishes what is being answered, hands back what is being worked on, and loses nothing.

use std::time::Duration;

use reqwest::Method;

use crate::gateway::{Gateway, Options, send};

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
    assert_eq!(gateway.ended(Duration::from_secs(5)), Some(0));
}

#[tokio::test]
async fn an_open_event_stream_does_not_hold_up_a_stop() {
    let mut gateway = in_a_hurry().await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let path = format!("/jobs/v1/{id}/events");
    let stream = send(
        gateway
            .request(Method::GET, &path)
            .header("SVC-API-KEY", &caller.key),
    );
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        gateway.signal("TERM");
    };
    let (stream, ()) = tokio::join!(stream, stop);
    assert_eq!(stream.status, 200);
    assert_eq!(gateway.ended(Duration::from_secs(8)), Some(0));
}
