//! Refusals, failures and broken lines: what each says about the request, the worker account and the remote.

use std::sync::atomic::Ordering;
use std::time::Duration;

use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_backends::{Class, Fault, PollOutcome, StartOutcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::{Remote, Reply, worker};
use crate::work::{png, refused, work};

async fn fault_of(script: impl Fn() -> Reply + Send + Sync + 'static) -> Fault {
    let remote = Remote::start(move |_| script());
    let body = json!({ "targetImage": "https://a.example/1", "swapImage": "https://a.example/2" });
    let (work, _) = work("facegen.swap", &body, None, &[]);
    refused(&*remote.worker("relay", Value::Null), &work).await
}

#[tokio::test]
async fn each_refusal_has_its_class() {
    for (status, code, class) in [
        (400, "insufficient_quota", Class::Quota),
        (401, "unauthorized", Class::Dead),
        (403, "forbidden", Class::Dead),
        (400, "queue_full", Class::Rate),
        (429, "rate_limited", Class::Rate),
        (503, "overloaded", Class::Rate),
        (400, "banned_prompt", Class::Reject),
        (400, "content_rejected", Class::Reject),
        (400, "invalid_parameter", Class::BadRequest),
        (400, "image_unusable", Class::BadRequest),
        (400, "job_not_found", Class::Gone),
        (400, "no_available_account", Class::Retry),
        (404, "not_found", Class::Retry),
        (422, "idempotency_mismatch", Class::Bug),
        (502, "backend_failed", Class::Retry),
        (504, "backend_timeout", Class::Retry),
    ] {
        let fault = fault_of(move || {
            let body = json!({ "status": "FAILED", "message": "why", "data": null, "code": code });
            Reply::Json(status, body)
        })
        .await;
        assert_eq!(
            (fault.class, fault.taken),
            (class, Acceptance::No),
            "{code}: {fault:?}"
        );
    }
}

#[tokio::test]
async fn services_without_codes_are_understood_by_status_and_words() {
    for (status, message, class) in [
        (
            401,
            "Wrong SVC-API-KEY or email is not activated.",
            Class::Dead,
        ),
        (402, "pay", Class::Quota),
        (429, "slow down", Class::Rate),
        (400, "banned prompt words: [x]", Class::Reject),
        (400, "Insufficient quota", Class::Quota),
        (400, "The queue is full", Class::Rate),
        (400, "No available accounts", Class::Retry),
        (400, "prompt is wrong", Class::BadRequest),
        (200, "prompt is wrong", Class::BadRequest),
    ] {
        let body = json!({ "status": "FAILED", "message": message, "data": null });
        let fault = fault_of(move || Reply::Json(status, body.clone())).await;
        assert_eq!(fault.class, class, "{message}");
    }
}

/// Whoever stands before the remote does not know the account.
#[tokio::test]
async fn a_page_that_forbids_says_nothing_about_the_account() {
    let fault = fault_of(|| Reply::Raw(403, "", b"<html>forbidden</html>".to_vec())).await;
    assert_eq!((fault.class, fault.taken), (Class::Retry, Acceptance::No));
}

#[tokio::test]
async fn a_bad_field_is_named_once() {
    let fault = fault_of(|| {
        let body = json!({
            "status": "FAILED", "code": "invalid_parameter", "param": "targetImage",
            "message": "targetImage: must be an image address",
        });
        Reply::Json(400, body)
    })
    .await;
    assert_eq!(
        fault.job_message(),
        "[Invalid parameter] targetImage: the back end cannot work with this"
    );
}

#[tokio::test]
async fn a_wish_to_wait_is_heard() {
    let body = br#"{"status":"FAILED","code":"rate_limited"}"#.to_vec();
    for (more, wait) in [
        ("retry-after: 7\r\n", Some(7)),
        (
            "retry-after: Sun, 06 Nov 1994 08:51:37 GMT\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            Some(120),
        ),
        ("retry-after: 999999\r\n", Some(86_400)),
        ("", None),
    ] {
        let body = body.clone();
        let fault = fault_of(move || Reply::Raw(429, more, body.clone())).await;
        assert_eq!(fault.after, wait.map(Duration::from_secs), "{more}");
    }
}

#[tokio::test]
async fn it_is_known_whether_the_remote_may_have_taken_the_work() {
    for (reply, taken) in [
        (|| Reply::Cut, Acceptance::Perhaps),
        (|| Reply::Half, Acceptance::Perhaps),
        (
            || Reply::Json(200, json!({ "status": "SUCCESS", "data": {} })),
            Acceptance::Perhaps,
        ),
        (
            || Reply::Raw(200, "", b"<html>".to_vec()),
            Acceptance::Perhaps,
        ),
        (
            || Reply::Raw(502, "", b"<html>bad gateway</html>".to_vec()),
            Acceptance::Perhaps,
        ),
        (
            || Reply::Json(500, json!({ "code": "internal_error" })),
            Acceptance::Perhaps,
        ),
        (
            || Reply::Json(409, json!({ "code": "idempotency_in_flight" })),
            Acceptance::Perhaps,
        ),
        (
            || Reply::Json(503, json!({ "code": "overloaded" })),
            Acceptance::No,
        ),
    ] as [(fn() -> Reply, Acceptance); 8]
    {
        let fault = fault_of(reply).await;
        assert_eq!(fault.taken, taken, "{fault:?}");
        assert!(fault.class.may_pass(), "{fault:?}");
    }
    // Nobody listens: nothing was sent.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", free.local_addr().expect("bound"));
    drop(free);
    let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
    let fault = refused(&*worker("relay", &base, Value::Null), &work).await;
    assert_eq!((fault.class, fault.taken), (Class::Retry, Acceptance::No));
}

#[tokio::test]
async fn a_poll_that_fails_is_asked_again_unless_the_job_is_gone() {
    let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
    let ticket = json!({ "jobId": "r" });
    for (reply, class) in [
        (|| Reply::Cut, Class::Retry),
        (|| Reply::Raw(200, "", b"<html>".to_vec()), Class::Retry),
        (|| Reply::Json(500, json!({})), Class::Retry),
        (
            || Reply::Json(429, json!({ "code": "rate_limited" })),
            Class::Rate,
        ),
        (
            || Reply::Json(401, json!({ "code": "unauthorized" })),
            Class::Dead,
        ),
    ] as [(fn() -> Reply, Class); 5]
    {
        let remote = Remote::start(move |_| reply());
        let relay = remote.worker("relay", Value::Null);
        match relay.poll(&work, &ticket).await {
            Err(fault) => assert_eq!(fault.class, class),
            Ok(_) => panic!("not an answer"),
        }
    }
    let remote =
        Remote::start(|_| Reply::Json(400, json!({ "status": "FAILED", "code": "job_not_found" })));
    match remote
        .worker("relay", Value::Null)
        .poll(&work, &ticket)
        .await
    {
        Ok(PollOutcome::Failed(fault)) => assert_eq!(fault.class, Class::Gone),
        _ => panic!("the job is gone"),
    }
}

#[tokio::test]
async fn failed_jobs_are_told_apart_by_their_kind() {
    let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
    for (message, class, says) in [
        (
            "[Banned prompt detected] x",
            Class::Reject,
            "[Banned prompt detected] the back end does not allow a word of the prompt",
        ),
        (
            "[Image denied] a face",
            Class::Reject,
            "[Image denied] the content was refused by review",
        ),
        (
            "[Invalid link] image: cannot be read",
            Class::BadRequest,
            "[Invalid link] the back end could not use an image",
        ),
        (
            "[Cancelled] by the owner",
            Class::Gone,
            "[Internal error] the result was no longer there when it was fetched",
        ),
        (
            "[Internal error] the oven is cold",
            Class::Retry,
            "[Internal error] the back end failed",
        ),
        (
            "[Something new] x",
            Class::Retry,
            "[Internal error] the back end failed",
        ),
        (
            "Job Timeout",
            Class::Retry,
            "[Internal error] the back end failed",
        ),
        ("", Class::Retry, "[Internal error] the back end failed"),
    ] {
        let body = json!({ "status": "FAILED", "message": message, "data": null });
        let remote = Remote::start(move |_| Reply::Json(200, body.clone()));
        let relay = remote.worker("relay", Value::Null);
        match relay.poll(&work, &json!({ "jobId": "r" })).await {
            Ok(PollOutcome::Failed(fault)) => {
                assert_eq!((fault.class, fault.job_message().as_str()), (class, says));
            }
            _ => panic!("{message} is an end"),
        }
    }
}

#[tokio::test]
async fn a_lost_submit_is_repeated_as_it_was_under_the_same_key() {
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let remote = Remote::start(move |_| match turn.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Cut,
        1 => Reply::Json(409, json!({ "code": "idempotency_in_flight" })),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "jobId": "r" } }),
        ),
    });
    let relay = remote.worker("relay", Value::Null);
    assert_eq!(relay.lost_submit(), LostSubmit::LookUp);
    let body = json!({ "targetImage": "https://a.example/1", "swapImage": "https://a.example/2" });
    let (work, _) = work("facegen.swap", &body, None, &[]);
    assert_eq!(refused(&*relay, &work).await.taken, Acceptance::Perhaps);
    let fault = relay.look_up(&work, true).await.expect_err("in flight");
    assert_eq!(fault.class, Class::Retry);
    match relay.look_up(&work, true).await.expect("an answer") {
        Some(StartOutcome::Ticket(ticket)) => assert_eq!(ticket, json!({ "jobId": "r" })),
        other => panic!("{other:?}"),
    }
    let asked = remote.asked();
    let same = |n: usize| {
        (
            asked[n].header("idempotency-key").to_owned(),
            asked[n].json(),
        )
    };
    assert_eq!((same(0), same(1)), (same(1), same(2)));
}

#[tokio::test]
async fn a_lost_answer_that_was_the_result_is_the_result_when_it_is_looked_up() {
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let picture = STANDARD.encode(png(64, 64, [9, 9, 9, 255]));
    let remote = Remote::start(move |_| match turn.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Cut,
        _ => Reply::Json(200, json!({ "data": [{ "b64_json": picture }] })),
    });
    let relay = remote.worker("relay", Value::Null);
    let body = json!({ "prompt": "draw", "response_format": "b64_json" });
    let (work, _) = work("imgmodel.generations", &body, None, &[]);
    assert_eq!(refused(&*relay, &work).await.taken, Acceptance::Perhaps);
    match relay.look_up(&work, true).await.expect("an answer") {
        Some(StartOutcome::Done(made)) => assert_eq!(made.files.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn half_a_request_is_never_sent() {
    let remote = Remote::start(|_| Reply::Cut);
    let relay = remote.worker("relay", Value::Null);
    let body = json!({ "prompt": "draw", "referImages": ["https://a.example/1"] });
    let (mut work, _) = work("imgmodel.chat", &body, None, &[]);
    work.sources.clear();
    let fault = relay
        .look_up(&work, true)
        .await
        .expect_err("its pictures are not here");
    assert_eq!(
        fault.class,
        Class::Bug,
        "and nobody says that it was never there"
    );
    assert!(remote.asked().is_empty());
}

/// A model that was taken here and that the remote refuses is the operator's matter: another back end may know it.
#[tokio::test]
async fn a_model_that_the_remote_refuses_is_none_of_the_callers_faults() {
    for routed in [Some("foks"), None] {
        let remote = Remote::start(|_| {
            let message = "model: must be one of video-2, is `foks`";
            let body = json!({ "status": "FAILED", "message": message, "data": null,
                               "code": "invalid_parameter", "param": "model" });
            Reply::Json(400, body)
        });
        let (mut work, _) = work("artgen.imagine", &json!({ "prompt": "x" }), None, &[]);
        work.brief.vendor_model = routed.map(str::to_owned);
        let fault = refused(&*remote.worker("relay", Value::Null), &work).await;
        assert_eq!(fault.class, Class::Model);
        assert!(!fault.job_message().contains("foks"), "{fault:?}");
        assert!(fault.detail.contains("must be one of"), "{}", fault.detail);
    }
}
