//! Groups and several nodes.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::time::Instant;

use super::{imagine, join, make, patch, quote};
use crate::gateway::{Gateway, Options};
use crate::stopwatch::Stopwatch;

/// A change is known on every node within this time.
const KNOWN_WITHIN: Duration = Duration::from_secs(1);

needs!(postgres: rules_written_at_one_node_count_at_the_other_within_a_second);

/// The promise: every node charges what the rules say, for the account that is in the group, within a second of a change.
async fn rules_written_at_one_node_count_at_the_other_within_a_second() {
    let first = Gateway::spawn().await;
    let options = Options::default().beside(&first).expect("on PostgreSQL");
    let second = options.spawn().await;
    let caller = first.account(100).await;
    quote(&second, &caller, "artgen.imagine", imagine()).await;
    make(&first, "vip", json!([{ "match": "*", "factor": 0.5 }])).await;
    let until = async |wanted: f64| {
        let begun = Stopwatch::start();
        let deadline = Instant::now() + Duration::from_secs(15);
        loop {
            let told = quote(&second, &caller, "artgen.imagine", imagine()).await;
            if told["quota"].as_f64() == Some(wanted) {
                break;
            }
            assert!(Instant::now() < deadline, "never {wanted}: {told}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(begun.elapsed() < KNOWN_WITHIN, "{:?}", begun.elapsed());
    };
    assert_eq!(join(&first, &caller, "vip").await.status, 200);
    until(2.0).await;
    let rules = json!({ "rules": [{ "match": "artgen", "factor": 0.25 }] });
    assert_eq!(patch(&first, "groups/vip", rules).await.status, 200);
    until(1.0).await;
    assert_eq!(join(&second, &caller, "default").await.status, 200);
    until(4.0).await;
    let path = "/admin/v1/groups/vip";
    let removed = second.operate(Method::DELETE, path, None).await;
    assert_eq!(removed.status, 200, "{}", removed.json);
}
