//! Callbacks: written with the end of the job, posted until they arrive, equal to what fetch says.

use std::time::Duration;

use atelier_contract::Refusal;
use serde_json::json;

use crate::receiver::{Receiver, deliver, header};
use crate::rig::Rig;

/// Nobody counts here.
const MAY: fn() -> Result<(), Refusal> = || Ok(());

#[tokio::test]
async fn a_try_whose_claim_may_end_before_it_is_not_begun() {
    let story = async {
        let rig = Rig::new().await;
        let caller = rig.account(10).await;
        let receiver = Receiver::answering(&[200]).await;
        let body = json!({ "prompt": "a fox", "hookUrl": receiver.url });
        rig.submit(&caller, body, None).await.expect("accepted");
        rig.settle_down().await;

        rig.engine.callbacks().step().await.expect("a step");
        // Somebody else may claim it in nine seconds, and a try may take longer.
        rig.clock.advance(21_000);
        rig.until_quiet().await;
        assert_eq!(receiver.count(), 0, "its claim is too old");
        deliver(&rig, &receiver, 1).await;
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn a_callback_is_retried_on_schedule_until_it_arrives_and_equals_the_fetch() {
    tokio::task::LocalSet::new().run_until(story()).await;
}

async fn story() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    let receiver = Receiver::answering(&[500, 503, 200]).await;
    let body = json!({ "prompt": "a fox", "hookUrl": receiver.url });
    let id = rig.submit(&caller, body, None).await.expect("accepted");
    rig.settle_down().await;

    deliver(&rig, &receiver, 1).await;
    rig.clock.advance(3_900);
    rig.engine.callbacks().step().await.expect("a step");
    rig.until_quiet().await;
    assert_eq!(
        receiver.count(),
        1,
        "not before four fifths of five seconds"
    );
    rig.clock.advance(2_200);
    deliver(&rig, &receiver, 2).await;
    rig.clock.advance(37_000);
    deliver(&rig, &receiver, 3).await;
    rig.clock.advance(100_000_000);
    rig.engine.callbacks().step().await.expect("a step");
    rig.until_quiet().await;
    assert_eq!(receiver.count(), 3, "delivered is delivered");

    let job = rig.job(&caller, &id).await;
    assert_eq!(job.hook_times, 3);
    let family = atelier_contract::operation("artgen.imagine")
        .expect("in the table")
        .0;
    let fetched = rig
        .engine
        .jobs()
        .fetch_body(&caller.account_id, family, &id)
        .await
        .expect("fetched");
    let posts = receiver.posts();
    let ids: Vec<_> = posts
        .iter()
        .map(|post| header(post, "webhook-id"))
        .collect();
    assert_eq!(ids, vec![format!("cb_{id}"); 3], "one id for every try");
    for post in &posts {
        assert_eq!(
            post.split_once("\r\n\r\n").expect("a body").1.as_bytes(),
            fetched.as_ref()
        );
        assert!(header(post, "webhook-signature").starts_with("v1,"));
    }
    rig.check_books().await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_not_asked_again_and_redelivery_asks_once_more() {
    tokio::task::LocalSet::new()
        .run_until(Box::pin(async {
            let rig = Rig::new().await;
            let caller = rig.account(10).await;
            let receiver = Receiver::answering(&[410, 204]).await;
            let body = json!({ "prompt": "fail a fox", "hookUrl": receiver.url });
            let id = rig.submit(&caller, body, None).await.expect("accepted");
            rig.settle_down().await;
            deliver(&rig, &receiver, 1).await;
            let (callbacks, _) = rig
                .engine
                .callbacks()
                .callbacks(Some(&caller.account_id), 1, 10)
                .await
                .expect("listed");
            assert_eq!(
                (callbacks[0].state.as_str(), callbacks[0].last_status),
                ("stopped", Some(410))
            );
            let stranger = rig.account(10).await;
            let callback = format!("cb_{id}");
            assert!(
                rig.engine
                    .callbacks()
                    .redeliver(&stranger.account_id, &callback)
                    .await
                    .is_err(),
                "not theirs"
            );
            rig.engine
                .callbacks()
                .redeliver(&caller.account_id, &callback)
                .await
                .expect("due again");
            deliver(&rig, &receiver, 2).await;
            let (callbacks, _) = rig
                .engine
                .callbacks()
                .callbacks(Some(&caller.account_id), 1, 10)
                .await
                .expect("listed");
            assert_eq!(
                (callbacks[0].state.as_str(), callbacks[0].attempts),
                ("delivered", 2)
            );
        }))
        .await;
}

/// Whether the official library takes a post with a secret.
fn takes(secret: &str, post: &str) -> bool {
    let mut headers = http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        let name = http::HeaderName::from_static(name);
        let value = header(post, name.as_str()).parse().expect("a value");
        headers.insert(name, value);
    }
    let body = post.split_once("\r\n\r\n").expect("a body").1;
    let receiver = standardwebhooks::Webhook::new(secret).expect("a secret");
    receiver.verify(body.as_bytes(), &headers).is_ok()
}

#[tokio::test]
async fn a_replaced_secret_signs_beside_the_new_one_for_a_day_however_often_it_is_replaced() {
    let story = async {
        let rig = Rig::new().await;
        rig.read_machine_clock();
        let caller = rig.account(10).await;
        let receiver = Receiver::answering(&[200; 4]).await;
        let posted = async |count: usize| {
            let body = json!({ "prompt": format!("a fox {count}"), "hookUrl": receiver.url });
            rig.submit(&caller, body, None).await.expect("accepted");
            rig.settle_down().await;
            deliver(&rig, &receiver, count).await;
            receiver.posts().pop().expect("a post")
        };
        let shown = async || {
            let shown = rig.engine.callbacks().secret(&caller.account_id).await;
            shown.expect("a secret")
        };
        let rotated = async || {
            let rotated = rig
                .engine
                .callbacks()
                .rotate_secret(&caller.account_id, MAY)
                .await;
            rotated.expect("a secret")
        };
        let first = shown().await;
        // Two at the same instant: each is told a secret that signs.
        let (second, third) = tokio::join!(rotated(), rotated());
        assert!([&second, &third].contains(&&shown().await));
        let post = posted(1).await;
        for secret in [&first, &second, &third] {
            assert!(takes(secret, &post), "all three sign");
        }
        let other = rig.account(1).await;
        let theirs = rig.engine.callbacks().secret(&other.account_id).await;
        assert!(!takes(&theirs.expect("a secret"), &post));
        assert!(!takes(&first, &post.replace("fox 1", "fox 2")));
        rig.clock.advance(24 * 3_600_000);
        let late = posted(2).await;
        let current = shown().await;
        let signatures = header(&late, "webhook-signature");
        assert_eq!(signatures.split(' ').count(), 1, "a day later only one");
        assert!(current == second || current == third);
    };
    tokio::task::LocalSet::new().run_until(story).await;
}

#[tokio::test]
async fn a_secret_is_not_replaced_faster_than_receivers_can_follow() {
    let rig = Rig::new().await;
    let caller = rig.account(10).await;
    for _ in 0..8 {
        let rotated = rig
            .engine
            .callbacks()
            .rotate_secret(&caller.account_id, MAY)
            .await;
        rotated.expect("a secret");
    }
    let refused = rig
        .engine
        .callbacks()
        .rotate_secret(&caller.account_id, MAY)
        .await;
    let refused = refused.expect_err("too often");
    assert_eq!(refused.code, atelier_contract::Code::RateLimited);
    rig.clock.advance(24 * 3_600_000);
    let rotated = rig
        .engine
        .callbacks()
        .rotate_secret(&caller.account_id, MAY)
        .await;
    rotated.expect("a day later");
}

#[tokio::test]
async fn with_the_house_at_work_every_callback_arrives_once_by_its_first_try() {
    const JOBS: usize = 8;
    tokio::task::LocalSet::new()
        .run_until(Box::pin(async {
            let rig = Rig::new().await;
            let caller = rig.account(100).await;
            let receiver = Receiver::answering(&[204]).await;
            let running = rig.engine.run().await.expect("it runs");
            let mut ids = Vec::new();
            for number in 0..JOBS {
                let prompt = format!("a fox {number}");
                let body = json!({ "prompt": prompt, "hookUrl": receiver.url });
                ids.push(rig.submit(&caller, body, None).await.expect("accepted"));
            }
            let callbacks = rig.engine.callbacks();
            let mut delivered = Vec::new();
            for _ in 0..3_000 {
                let listed = callbacks.callbacks(Some(&caller.account_id), 1, 20).await;
                delivered = listed.expect("listed").0;
                delivered.retain(|one| one.state == "delivered");
                if delivered.len() == JOBS {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(delivered.len(), JOBS);
            assert!(delivered.iter().all(|one| one.attempts == 1));
            let mut told: Vec<_> = receiver.posts();
            told.sort_by_key(|post| header(post, "webhook-id"));
            let told: Vec<_> = told.iter().map(|post| header(post, "webhook-id")).collect();
            let mut owed: Vec<_> = ids.iter().map(|id| format!("cb_{id}")).collect();
            owed.sort();
            assert_eq!(told, owed, "each once");
            running.stop(Duration::from_secs(5)).await;
        }))
        .await;
}
