//! Two services in a chain: a caller at the front, everything made at the back, and both books agree.

use serde_json::json;

use crate::backends::{Chain, chain, finished};
use crate::families::{Walk, operations};
use crate::gateway::Options;

needs!(proofs: every_example_goes_through_both_services_and_is_paid_for_in_both);

async fn every_example_goes_through_both_services_and_is_paid_for_in_both() {
    let Chain {
        front,
        back,
        upstream,
        ..
    } = chain(Options::default()).await;
    let mut walk = Walk::begin(front).await;
    for (family, submit) in operations() {
        let (before, _) = back.balance(&upstream.key).await;
        let quoted = walk.run(family, submit).await;
        let (after, held) = back.balance(&upstream.key).await;
        assert!(
            (before - after - quoted).abs() < 0.0005,
            "{}: {before} - {after} at the back is not {quoted}",
            submit.name
        );
        assert!(
            held.abs() < 0.0005,
            "{}: {held} is still held at the back",
            submit.name
        );
    }
    let jobs = back.get(&upstream.key, "/jobs/v1?limit=1").await;
    assert_eq!(
        jobs.json["total"],
        operations().len() + 1,
        "each was begun once"
    );
}

#[tokio::test]
async fn a_refusal_at_the_back_is_one_at_the_front_and_costs_nobody_anything() {
    let chain = chain(Options::default()).await;
    let caller = chain.front.account(100).await;
    let before = chain.back.balance(&chain.upstream.key).await;
    let body = json!({ "prompt": "a boat [[reject]]" });
    let answer = chain
        .front
        .post(&caller.key, "/artgen/v1/imagine", body)
        .await;
    let id = answer.json["data"]["jobId"].as_str().expect("a job id");
    let job = finished(&chain.front, &caller.key, id).await;
    assert_eq!(job["status"], "FAILED");
    // A vendor's words reach no caller, whoever the vendor is: operators see them in the trail.
    assert_eq!(
        job["message"],
        "[Image denied] the content was refused by review"
    );
    assert_eq!(chain.front.balance(&caller.key).await, (100.0, 0.0));
    assert_eq!(chain.back.balance(&chain.upstream.key).await, before);

    let body = json!({ "prompt": "a boat [[reject]]", "size": "1024x1024", "n": 1 });
    let path = "/design/images/generations";
    let answer = chain.front.post(&caller.key, path, body).await;
    answer.assert_refused(400, "content_rejected");
    assert_eq!(chain.front.balance(&caller.key).await, (100.0, 0.0));
}
