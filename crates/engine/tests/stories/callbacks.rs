//! Callbacks: written with the end of the job, posted until they arrive, equal to what fetch says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::rig::Rig;

/// A receiver that answers with scripted statuses and remembers what it got.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    async fn answering(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let got: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = got.clone();
        tokio::task::spawn_local(async move {
            loop {
                let Ok((mut socket, _)) = listener.accept().await else {
                    return;
                };
                let mut bytes = Vec::new();
                let mut chunk = [0; 4096];
                while !complete(&bytes) {
                    match socket.read(&mut chunk).await {
                        Ok(0) | Err(_) => break,
                        Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                    }
                }
                let number = {
                    let mut log = log.lock().expect("no panic under the lock");
                    log.push(String::from_utf8_lossy(&bytes).into_owned());
                    log.len()
                };
                let status = statuses
                    .get(number - 1)
                    .or(statuses.last())
                    .copied()
                    .unwrap_or(200);
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"
                );
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        Self { url, got }
    }

    fn count(&self) -> usize {
        self.got.lock().expect("no panic under the lock").len()
    }
}

fn complete(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .trim()
            .parse()
            .ok()
    });
    body.len() >= length.unwrap_or(0)
}

async fn deliver(rig: &Rig, receiver: &Receiver, count: usize) {
    rig.engine.deliver_step().await.expect("a step");
    for _ in 0..1_000 {
        let (callbacks, _) = rig.engine.callbacks(None, 1, 10).await.expect("listed");
        if receiver.count() == count
            && callbacks
                .iter()
                .all(|callback| callback.status != "sending")
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("{} posts instead of {count}", receiver.count());
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
    let posts = receiver
        .got
        .lock()
        .expect("no panic under the lock")
        .clone();
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

fn header(post: &str, name: &str) -> String {
    let start = format!("{name}: ");
    let line = post
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with(&start));
    line.map(|line| line[start.len()..].to_owned())
        .unwrap_or_default()
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
