//! A real cog whose address is in `ATELIER_TEST_COG`, as `scripts/cog` starts it. It takes one thing at a time, so that all of it is
//! one test.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::{Backend, Class, Fault, PollOutcome, Work, WorkOutput};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cog::{KeptPosts, posting};
use crate::stand::{Stand, json as answer, made as made_at_once, ticket, worker};
use crate::studio::Studio;

/// A post is waited for no longer.
const PATIENCE: Duration = Duration::from_mins(1);

#[expect(
    clippy::disallowed_methods,
    reason = "a test asks its surroundings what there is to test with"
)]
fn address() -> String {
    std::env::var("ATELIER_TEST_COG").expect("ATELIER_TEST_COG names a server")
}

/// What its model takes.
fn settings() -> Value {
    let input = json!({"prompt": "{{prompt}}", "width": "{{width}}", "height": "{{height}}"});
    json!({"models": {"design.generations": {"model": "painter", "input": input}}})
}

fn connected(settings: Value) -> Arc<dyn Backend> {
    worker("cog", &address(), settings).expect("good settings")
}

fn work(prompt: &str, size: &str) -> Work {
    let body = json!({"prompt": prompt, "size": size});
    let (mut work, _) = Studio::new().work("design.generations", &body, None);
    // The server remembers names for longer than a test.
    work.attempt_id = format!("{prompt:.4}-{size}-{}", std::process::id()).replace(' ', "-");
    work
}

/// Has the server make something, as soon as it has a place. It answers a moment before it gives the place of its one prediction back, and
/// says 409 until then: the pool waits, and so does this.
async fn made(worker: &Arc<dyn Backend>, work: Work) -> Result<WorkOutput, Fault> {
    let end = Instant::now() + PATIENCE;
    loop {
        match made_at_once(worker, work.clone()).await {
            Err(fault) if fault.class == Class::Rate && Instant::now() < end => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            ended => return ended,
        }
    }
}

/// Whoever the server posts to, and what it has posted.
struct Receiver {
    stand: Stand,
    kept: KeptPosts,
}

impl Receiver {
    fn new() -> Self {
        Self {
            stand: Stand::always(answer(&json!({}))),
            kept: KeptPosts::default(),
        }
    }

    fn for_work(&self, work: Work) -> Work {
        self.kept
            .for_work(work, &self.stand.url("/hooks/v1/b/word"))
    }

    /// Has the server make something, and hears what it posts about it.
    async fn made(&self, worker: &Arc<dyn Backend>, work: &Work) -> Result<WorkOutput, Fault> {
        let ticket = ticket(worker, work.clone()).await?;
        self.ended(worker, work, &ticket).await
    }

    async fn ended(
        &self,
        worker: &Arc<dyn Backend>,
        work: &Work,
        ticket: &Value,
    ) -> Result<WorkOutput, Fault> {
        let before = worker.poll(work, ticket).await?;
        assert!(
            matches!(before, PollOutcome::Running(_)),
            "nothing was kept"
        );
        let posted = tokio::time::timeout(PATIENCE, async {
            while self.stand.seen().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        posted.await.expect("a post");
        let post = &self.stand.seen()[0];
        assert_eq!(post.line, "POST /hooks/v1/b/word");
        let taken = self.kept.take(worker, &work.attempt_id, &post.body);
        assert!(taken, "{}", String::from_utf8_lossy(&post.body));
        match worker.poll(work, ticket).await? {
            PollOutcome::Done(made) => Ok(made),
            PollOutcome::Failed(fault) => Err(fault),
            _ => panic!("it has ended"),
        }
    }
}

fn is_picture(made: &WorkOutput, size: &str) {
    let file = &made.files[0];
    assert_eq!(format!("{}x{}", file.width, file.height), size);
    let cost = made.cost.as_ref().expect("seconds of computing");
    assert!(cost.micros > 0 && cost.currency == "seconds");
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_cog_does_in_its_calls_and_posts_what_it_is_asked_for() {
    paints().await;
    posts().await;
    fails().await;
    stops().await;
}

/// In the call.
async fn paints() {
    let worker = connected(settings());
    worker.probe().await.expect("well");
    // What is noise is larger than what words may have.
    for (prompt, size) in [
        ("a door", "1365x1024"),
        ("a door", "1024x1024"),
        ("noise", "1365x1024"),
    ] {
        let made = made(&worker, work(prompt, size)).await.expect("a picture");
        is_picture(&made, size);
    }
}

/// By its webhook.
async fn posts() {
    let worker = connected(posting(settings()));
    for (prompt, size) in [("a wall", "1024x1024"), ("noise", "1024x1365")] {
        let receiver = Receiver::new();
        let work = receiver.for_work(work(prompt, size));
        let made = receiver.made(&worker, &work).await.expect("a picture");
        is_picture(&made, size);
    }
}

/// A model that raises an error, and an input that it does not have.
async fn fails() {
    let worker = connected(settings());
    for (prompt, class) in [("fails: no memory", Class::Retry), ("nsfw", Class::Reject)] {
        let fault = made(&worker, work(prompt, "1024x1024")).await;
        let fault = fault.expect_err("the model raises an error");
        assert_eq!(fault.class, class, "{}", fault.detail);
        let (posts, receiver) = (connected(posting(settings())), Receiver::new());
        let work = receiver.for_work(work(&format!("{prompt} again"), "1365x1024"));
        let fault = receiver.made(&posts, &work).await;
        let fault = fault.expect_err("the model raises an error");
        assert_eq!(fault.class, class, "{}", fault.detail);
    }
    // It takes no notice of an input that it does not have, and misses the one that it needs.
    let wrong = json!({"models": {"design.generations": {"model": "painter", "input": {"promt": "{{prompt}}"}}}});
    let wrong = connected(wrong);
    let fault = wrong.probe().await.expect_err("it has no such input");
    assert!(fault.detail.contains("promt"), "{}", fault.detail);
    let fault = made(&wrong, work("x", "1024x1024")).await;
    let fault = fault.expect_err("it needs another input");
    assert_eq!(fault.class, Class::BadRequest, "{}", fault.detail);
    assert!(fault.detail.contains("required"), "{}", fault.detail);
}

/// A prediction that is asked for twice under one name, and cancelled.
async fn stops() {
    let (worker, receiver) = (connected(posting(settings())), Receiver::new());
    let work = receiver.for_work(work("slow", "1024x1024"));
    let ticket = ticket(&worker, work.clone()).await.expect("a ticket");
    let again = worker.look_up(&work, false).await.expect("an answer");
    assert!(again.is_some(), "the same prediction under its name");
    // A word to stop that comes before the model has begun is lost on the server.
    tokio::time::sleep(Duration::from_secs(2)).await;
    worker.cancel(&ticket).await;
    let fault = receiver.ended(&worker, &work, &ticket).await;
    let fault = fault.expect_err("it was cancelled");
    assert!(fault.detail.contains("cancelled"), "{}", fault.detail);
    assert_eq!(receiver.stand.seen().len(), 1, "it was made once");
}
