//! Server-sent events of a job: they come, they end with the job, and they go on where the caller left.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::batches::{open, until};
use crate::gateway::{Account, Gateway, Options, send};
use crate::keys::in_seconds;
use crate::stopwatch::Stopwatch;

needs!(postgres: a_key_revoked_at_one_node_ends_its_event_streams_at_another);

/// The events of a stream that ends.
async fn events(
    gateway: &Gateway,
    key: &str,
    id: &str,
    last: Option<&str>,
) -> (u16, Vec<(String, Value)>) {
    let mut request = gateway
        .request(Method::GET, &format!("/jobs/v1/{id}/events"))
        .header("SVC-API-KEY", key);
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    let answer = timeout(Duration::from_secs(20), send(request))
        .await
        .expect("the stream ends");
    let text = String::from_utf8_lossy(&answer.bytes).into_owned();
    let mut found = Vec::new();
    for block in text
        .split("\n\n")
        .filter(|block| !block.is_empty() && !block.starts_with(':'))
    {
        let line = |name: &str| {
            block
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_default()
        };
        assert_eq!(line("event: "), "job");
        found.push((
            line("id: ").to_owned(),
            serde_json::from_str(line("data: ")).expect("JSON"),
        ));
    }
    (answer.status.as_u16(), found)
}

#[tokio::test]
async fn a_stream_ends_with_the_job_and_is_not_repeated() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let path = format!("/jobs/v1/{id}/events");
    let mut stream = open(&gateway, &caller.key, &path, None).await;
    assert_eq!(stream.status(), 200);
    let begun = Notify::new();
    let cancel = async {
        begun.notified().await;
        gateway
            .post(&caller.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
            .await
    };
    let seen = until(&mut stream, |_, _| {
        begun.notify_one();
        false
    });
    let (events_seen, cancelled) = tokio::join!(seen, cancel);
    assert_eq!(cancelled.status, 200, "{}", cancelled.json);
    assert!(events_seen.len() >= 2, "{events_seen:?}");
    let ids: Vec<i64> = events_seen.iter().map(|(id, _)| *id).collect();
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    let (last_id, last) = events_seen.last().expect("an event");
    assert_eq!(
        (&last["status"], &last["jobId"]),
        (&json!("FAILED"), &json!(id))
    );
    assert!(
        last["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("[Cancelled]")),
        "{last}"
    );
    assert!(last.get("request").is_none());
    // Whoever has seen the end is told that there is nothing more.
    let (status, rest) = events(&gateway, &caller.key, &id, Some(&last_id.to_string())).await;
    assert_eq!((status, rest.len()), (204, 0));
    // Whoever missed it gets it.
    let (status, rest) = events(&gateway, &caller.key, &id, Some(&ids[0].to_string())).await;
    assert_eq!((status, rest.len()), (200, 1));
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
    let again = gateway
        .post(&caller.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
        .await;
    again.assert_refused(400, "already_finished");
}

/// A stream must end this long after its key does.
const KEY_OVER: Duration = Duration::from_secs(10);

async fn ends_within(limit: Duration, stream: impl Future<Output = Instant>) {
    let begun = Stopwatch::start();
    let ended = timeout(Duration::from_mins(1), stream).await;
    ended.expect("the stream ends");
    assert!(begun.elapsed() < limit, "it ends in time");
}

/// Follows a stalled job at a node with a key of its own; gives back the key's id and what ends with the stream.
async fn follow(
    gateway: &Gateway,
    caller: &Account,
    wish: Value,
) -> (String, impl Future<Output = Instant>) {
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let issued = gateway.post(&caller.key, "/account/v1/keys", wish).await;
    let text = |name: &str| {
        issued.json["data"][name]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let path = format!("/jobs/v1/{id}/events");
    let request = gateway.request(Method::GET, &path);
    let mut answer = request
        .header("SVC-API-KEY", text("api_key"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 200);
    let first = answer.chunk().await.expect("a piece");
    assert!(first.is_some_and(|piece| piece.starts_with(b"event: job")));
    let ended = async move {
        while let Ok(Some(_)) = answer.chunk().await {}
        Instant::now()
    };
    (text("id"), ended)
}

async fn revoke(gateway: &Gateway, caller: &Account, key_id: &str) {
    let request = gateway.request(Method::DELETE, &format!("/account/v1/keys/{key_id}"));
    let revoked = send(request.header("SVC-API-KEY", &caller.key)).await;
    assert_eq!(revoked.status, 200, "{}", revoked.json);
}

#[tokio::test]
async fn a_revoked_key_ends_its_event_streams_and_no_others() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let (revoked_id, revoked) = follow(&gateway, &caller, json!({})).await;
    let (_, other) = follow(&gateway, &caller, json!({})).await;
    let other = std::pin::pin!(other);
    revoke(&gateway, &caller, &revoked_id).await;
    ends_within(KEY_OVER, revoked).await;
    let still = timeout(Duration::from_secs(2), other).await;
    assert!(still.is_err(), "the other key's stream goes on");
}

#[tokio::test]
async fn an_expired_key_ends_its_event_streams() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let wish = json!({ "expiresAt": in_seconds(6) });
    let (_, ended) = follow(&gateway, &caller, wish).await;
    ends_within(Duration::from_secs(6) + KEY_OVER, ended).await;
}

async fn a_key_revoked_at_one_node_ends_its_event_streams_at_another() {
    let first = Gateway::spawn().await;
    let options = Options::default().beside(&first).expect("on PostgreSQL");
    let second = options.spawn().await;
    let caller = first.account(100).await;
    let (key_id, ended) = follow(&second, &caller, json!({})).await;
    revoke(&first, &caller, &key_id).await;
    ends_within(KEY_OVER, ended).await;
}

#[tokio::test]
async fn a_disabled_account_has_no_event_streams() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let (_, ended) = follow(&gateway, &caller, json!({})).await;
    let path = format!("/admin/v1/accounts/{}", caller.id);
    let disable = json!({ "disabled": true });
    let done = gateway.operate(Method::PATCH, &path, Some(disable)).await;
    assert_eq!(done.status, 200, "{}", done.json);
    ends_within(KEY_OVER, ended).await;
}
