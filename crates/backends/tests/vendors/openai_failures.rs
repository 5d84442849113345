//! The OpenAI format when things go wrong: the class, whether the vendor may have taken the work, how long to wait.

use std::time::Duration;

use atelier_backends::backend::Acceptance;
use atelier_backends::{Class, Fault};
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, page, status, with_header, worker,
};
use crate::studio::Studio;

fn error(code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": "x", "param": null, "code": code}})
}

async fn fault_of(reply: Reply) -> (Fault, usize) {
    let stand = Stand::always(reply);
    let settings = json!({"image_model": "m", "timeout_seconds": 2});
    let worker = stand.worker("openai", settings);
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw a cat"}), None);
    let fault = made(&worker, work).await.expect_err("a fault");
    (fault, stand.seen().len())
}

/// Answers that refuse, with the class of each; there is nothing to look for at the vendor.
fn refusals() -> Vec<(Class, Reply)> {
    vec![
        (
            Class::Rate,
            status(429, &error("rate_limit_exceeded", "slow")),
        ),
        (Class::Quota, status(429, &error("insufficient_quota", "x"))),
        (
            Class::Dead,
            status(401, &error("invalid_api_key", "Bad key sk-very-secret")),
        ),
        (Class::Quota, status(402, &json!({}))),
        (Class::Retry, status(500, &error("server_error", "x"))),
        (
            Class::Retry,
            status(503, &json!({"detail": "engine not ready"})),
        ),
        (
            Class::Reject,
            status(400, &error("moderation_blocked", "Refused")),
        ),
        (
            Class::BadRequest,
            status(400, &error("invalid_value", "Bad size")),
        ),
        (Class::Model, status(404, &error("model_not_found", "x"))),
        (Class::Retry, page(404)),
        (
            Class::Reject,
            answer(&error("moderation_blocked", "Refused")),
        ),
        // It was made, and is of no use: nobody asks for it again.
        (
            Class::Gone,
            answer(&json!({"data": [{"b64_json": base64("hello")}]})),
        ),
    ]
}

/// Answers after which nobody knows: the vendor may have done the work.
fn losses() -> Vec<Reply> {
    let picture = |base64: &str| answer(&json!({"data": [{"b64_json": base64}]}));
    vec![
        page(502),
        page(200),
        answer(&json!({"created": 1, "data": []})),
        picture("<<<>>>"),
        Reply::Truncated(b"{\"data\":[".to_vec()),
        Reply::Cut,
        Reply::Endless,
        Reply::After(Duration::from_secs(4), Box::new(page(200))),
    ]
}

#[tokio::test]
async fn each_failure_is_classed_and_no_start_is_ever_repeated() {
    let refused = refusals()
        .into_iter()
        .map(|(class, reply)| (class, Acceptance::No, reply));
    let lost = losses()
        .into_iter()
        .map(|reply| (Class::Retry, Acceptance::Perhaps, reply));
    for (index, (class, taken, reply)) in refused.chain(lost).enumerate() {
        let (fault, calls) = fault_of(reply).await;
        assert_eq!(
            (fault.class, fault.taken),
            (class, taken),
            "{index}: {fault:?}"
        );
        assert_eq!(calls, 1, "{index}");
        let message = fault.job_message();
        assert!(
            !message.contains("sk-") && !message.contains("html"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_vendor_s_wish_to_be_left_alone_is_read() {
    let limited = || status(429, &error("rate_limit_exceeded", "slow"));
    let (fault, _) = fault_of(limited()).await;
    assert_eq!(fault.after, None);
    let (fault, _) = fault_of(with_header(limited(), "retry-after: 17")).await;
    assert_eq!(fault.after, Some(Duration::from_secs(17)));
    let (fault, _) = fault_of(with_header(limited(), "retry-after-ms: 250")).await;
    assert_eq!(fault.after, Some(Duration::from_millis(250)));
}

#[tokio::test]
async fn a_server_that_is_not_there_has_taken_nothing() {
    let worker =
        worker("openai", "http://127.0.0.1:9", json!({"image_model": "m"})).expect("good settings");
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let fault = made(&worker, work).await.expect_err("a fault");
    assert_eq!((fault.class, fault.taken), (Class::Retry, Acceptance::No));
}

#[tokio::test]
async fn the_reason_of_a_review_is_for_operators() {
    let text = "Your request was rejected by the safety system (req_9a8b7c). Contact help@example.com with sk-123.";
    let (fault, _) = fault_of(status(400, &error("moderation_blocked", text))).await;
    assert_eq!(
        fault.job_message(),
        "[Image denied] the content was refused by review"
    );
    assert!(
        fault.detail.contains("the safety system (req_9a8b7c)"),
        "{}",
        fault.detail
    );
}

#[tokio::test]
async fn a_result_that_expired_is_gone() {
    let stand = Stand::new(|seen| {
        if seen.line.starts_with("POST") {
            answer(&json!({"data": [{"url": "/files/1"}]}))
        } else {
            status(404, &json!({}))
        }
    });
    let worker = stand.worker("openai", json!({"image_model": "m"}));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let fault = made(&worker, work).await.expect_err("a fault");
    assert_eq!((fault.class, fault.taken), (Class::Gone, Acceptance::No));
}

/// A server of one's own stops painting when the line is dropped; the place is free for others either way.
#[tokio::test]
async fn a_cancelled_start_lets_the_line_go() {
    let pending = Reply::After(Duration::from_secs(20), Box::new(Reply::Cut));
    let stand = Stand::always(pending);
    for (settings, operation, body) in [
        (
            json!({"image_model": "m"}),
            "imgmodel.chat",
            json!({"prompt": "draw"}),
        ),
        (
            json!({"video_model": "m", "dialect": "localai"}),
            "vidgen_partner.generations",
            json!({"prompt": "film"}),
        ),
    ] {
        let worker = stand.worker("openai", settings);
        let (work, _) = Studio::new().work(operation, &body, None);
        let cancelled = work.cancelled.clone();
        let posts = stand.asked("POST").len();
        let cancel = async {
            stand.until_asked("POST", posts + 1).await;
            cancelled.cancel();
        };
        let both = async { tokio::join!(worker.start(work), cancel).0 };
        let ended = tokio::time::timeout(Duration::from_secs(15), both).await;
        let fault = ended.expect("it ends").expect_err("nothing was made");
        assert_eq!((fault.class, fault.taken), (Class::Service, Acceptance::No));
    }
}

/// Events end with an error instead of a picture.
#[tokio::test]
async fn an_error_among_events_is_read() {
    let data = error("moderation_blocked", "Refused by review");
    let events = format!("event: error\ndata: {data}\n\n");
    let (fault, _) = fault_of(bytes("text/event-stream", events)).await;
    assert_eq!(fault.class, Class::Reject);
}

/// Two of three calls bring pictures: they are delivered and counted, not thrown away.
#[tokio::test]
async fn what_was_made_before_a_call_failed_is_delivered() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let stand = Stand::new(move |_| {
        match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 | 1 => answer(
                &json!({"data": [{"b64_json": base64(crate::stand::png(64, 64, [9, 9, 9, 255]))}]}),
            ),
            _ => status(500, &json!({})),
        }
    });
    let worker = stand.worker("openai", json!({"image_model": "m", "images_per_call": 1}));
    let body = json!({"prompt": "x", "model": "image-1", "n": 3});
    let (work, _) = Studio::new().work("imgmodel.generations", &body, None);
    let made = made(&worker, work).await.expect("two pictures");
    assert_eq!((made.made, made.files.len()), (2, 2));
}
