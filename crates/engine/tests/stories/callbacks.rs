//! Callbacks: written with the end of the job, posted until they arrive, equal to what fetch says.

use std::time::Duration;

use serde_json::json;

use crate::receiver::{Receiver, deliver, header};
use crate::rig::Rig;

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
    rig.engine.deliver_step().await.expect("a step");
    tokio::time::sleep(Duration::from_millis(50)).await;
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
    rig.engine.deliver_step().await.expect("a step");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(receiver.count(), 3, "delivered is delivered");

    let job = rig.job(&caller, &id).await;
    assert_eq!(job.hook_times, 3);
    let family = atelier_contract::operation("artgen.imagine")
        .expect("in the table")
        .0;
    let fetched = rig
        .engine
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
        .run_until(async {
            let rig = Rig::new().await;
            let caller = rig.account(10).await;
            let receiver = Receiver::answering(&[410, 204]).await;
            let body = json!({ "prompt": "fail a fox", "hookUrl": receiver.url });
            let id = rig.submit(&caller, body, None).await.expect("accepted");
            rig.settle_down().await;
            deliver(&rig, &receiver, 1).await;
            let (callbacks, _) = rig
                .engine
                .callbacks(Some(&caller.account_id), 1, 10)
                .await
                .expect("listed");
            assert_eq!(
                (callbacks[0].status.as_str(), callbacks[0].last_status),
                ("stopped", Some(410))
            );
            let stranger = rig.account(10).await;
            let callback = format!("cb_{id}");
            assert!(
                rig.engine
                    .redeliver(&stranger.account_id, &callback)
                    .await
                    .is_err(),
                "not theirs"
            );
            rig.engine
                .redeliver(&caller.account_id, &callback)
                .await
                .expect("due again");
            deliver(&rig, &receiver, 2).await;
            let (callbacks, _) = rig
                .engine
                .callbacks(Some(&caller.account_id), 1, 10)
                .await
                .expect("listed");
            assert_eq!(
                (callbacks[0].status.as_str(), callbacks[0].attempts),
                ("delivered", 2)
            );
        })
        .await;
}
