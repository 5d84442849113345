//! Models and several nodes.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{change, latest_job, names, picture, seedream, sell};
use crate::gateway::{Gateway, Options};
use crate::stopwatch::Stopwatch;

/// A change is known on every node within a second; the rest is for a busy machine.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

needs!(postgres: a_model_made_at_one_node_is_sold_at_the_other_within_a_second);

/// The promise: every node sells a new model, at its new price, within a second.
async fn a_model_made_at_one_node_is_sold_at_the_other_within_a_second() {
    let first = Gateway::spawn().await;
    let options = Options::default().beside(&first).expect("on PostgreSQL");
    let second = options.spawn().await;
    let caller = first.account(100).await;
    // Whatever the second node does at its first call is done.
    names(&second, &caller).await;
    sell(&first, seedream()).await;
    let begun = Stopwatch::start();
    let deadline = Instant::now() + Duration::from_secs(15);
    while !names(&second, &caller)
        .await
        .contains(&"seedream-4-5".to_owned())
    {
        assert!(
            Instant::now() < deadline,
            "the other node never heard of it"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(begun.elapsed() < KNOWN_WITHIN, "{:?}", begun.elapsed());
    let wish = || json!({ "model": "seedream" });
    let answer = picture(&second, &caller, wish()).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    assert_eq!(first.balance(&caller.key).await, (99.5, 0.0));

    let dearer = json!({ "price": { "unit": "call", "amount": 3 }, "revision": 1 });
    let changed = change(&second, "seedream-4-5", dearer).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    let stale = json!({ "title": "stale", "revision": 1 });
    let stale = change(&first, "seedream-4-5", stale).await;
    stale.assert_refused(409, "conflict");
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        let answer = picture(&first, &caller, wish()).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        if latest_job(&first, &caller).await["modelRevision"] == 2 {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "the first node never heard of it"
        );
    }
}
