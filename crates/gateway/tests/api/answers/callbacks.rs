//! Callbacks of operations that answer with their result.

use serde_json::{Value, json};

use super::{DESIGN, GENERATIONS, jobs, small, streamable, with};
use crate::gateway::Gateway;
use crate::outside::Mailbox;

/// What a callback and a look at its job have in common: how often it was posted is not known before.
fn without_tries(mut job: Value) -> Value {
    let fields = job.as_object_mut().expect("a job");
    assert!(fields.remove("hookTimes").is_some());
    job
}

/// The promise: the finished job is posted as its page shows it, whether or not its caller waited, and never with bytes.
#[tokio::test]
async fn the_job_is_posted_as_its_page_shows_it() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(1000).await;
    let mailbox = Mailbox::start();
    let (hook, failing) = (mailbox.url(), "a boat [[fail: no more paint]]");
    for (path, body) in [
        (
            GENERATIONS,
            with(streamable("a fox"), "hookUrl", hook.as_str()),
        ),
        (
            GENERATIONS,
            with(small("a boat"), "hook_url", hook.as_str()),
        ),
        (GENERATIONS, with(small(failing), "hookUrl", hook.as_str())),
        (DESIGN, json!({ "prompt": "a logo", "hookUrl": hook })),
        (
            DESIGN,
            json!({ "prompt": "a logo", "hookUrl": hook, "async": true }),
        ),
        (
            GENERATIONS,
            with(
                with(streamable("a fox"), "hookUrl", hook.as_str()),
                "stream",
                true,
            ),
        ),
    ] {
        let answer = gateway.post(&caller.key, path, body).await;
        assert!(
            [200, 202, 502].contains(&answer.status.as_u16()),
            "{}",
            answer.json
        );
        let (_, id) = jobs(&gateway, &caller.key).await;
        let told = mailbox.told_of(&id).await;
        let shown = gateway.get(&caller.key, &format!("/jobs/v1/{id}")).await;
        let shown = shown.json["data"].clone();
        assert_eq!(shown["hookUrl"], hook, "{shown}");
        // The request says how its own answer is to be; nothing else speaks of bytes.
        let mut bare = told.clone();
        bare["request"].take();
        assert!(!bare.to_string().contains("b64_json"), "{told}");
        if shown["status"] == "SUCCESS" {
            assert!(told["files"][0]["url"].is_string(), "{told}");
        }
        assert_eq!(without_tries(told), without_tries(shown));
    }
}

#[tokio::test]
async fn an_address_that_nothing_may_be_posted_to_is_refused() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let body = with(small("a boat"), "hookUrl", "http://169.254.169.254/latest");
    let refused = gateway.post(&caller.key, GENERATIONS, body).await;
    refused.assert_refused(400, "address_not_allowed");
    assert_eq!(refused.json["param"], "hookUrl", "{}", refused.json);
    assert_eq!(jobs(&gateway, &caller.key).await.0, 0);
    let none = with(small("a boat"), "hookUrl", false);
    assert_eq!(
        gateway.post(&caller.key, GENERATIONS, none).await.status,
        200
    );
}
