//! Server-sent events of a job: they come, they end with the job, and they go on where the caller left.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::gateway::{Gateway, send};

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
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        gateway
            .post(&caller.key, &format!("/jobs/v1/{id}/cancel"), json!({}))
            .await
    };
    let ((status, events_seen), cancelled) =
        tokio::join!(events(&gateway, &caller.key, &id, None), cancel);
    assert_eq!(
        (status, cancelled.status.as_u16()),
        (200, 200),
        "{}",
        cancelled.json
    );
    assert!(events_seen.len() >= 2, "{events_seen:?}");
    let ids: Vec<i64> = events_seen
        .iter()
        .map(|(id, _)| id.parse().expect("a number"))
        .collect();
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
    let (status, rest) = events(&gateway, &caller.key, &id, Some(last_id)).await;
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
