//! cog's predictions, against a server that speaks its format; `cog_real` has the program itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use atelier_backends::backend::{BoxFuture, LostSubmit};
use atelier_backends::{Backend, Class, Fault, PollOutcome, WebhookRequest, Work};
use atelier_media::Picture;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::hosted::cog_settings as settings;
use crate::stand::{Stand, base64, json as answer, made, png, polled, status, ticket, worker};
use crate::studio::Studio;

/// What is kept of posts, as a service keeps it.
#[derive(Clone, Default)]
pub(crate) struct KeptPosts(Arc<Mutex<HashMap<String, Bytes>>>);

impl KeptPosts {
    /// A piece of work that finds here what was posted, with an address to post to.
    pub(crate) fn for_work(&self, mut work: Work, hook: &str) -> Work {
        let kept = self.clone();
        work.hook_url = Some(hook.to_owned());
        work.read = Arc::new(move |key: String| -> BoxFuture<'static, _> {
            let found = kept.0.lock().expect("no panic").get(&key).cloned();
            Box::pin(async move { found.ok_or_else(|| Fault::unusable("no such file")) })
        });
        work
    }

    /// Takes a post about an attempt, if its vendor says that it is to be kept.
    pub(crate) fn take(&self, worker: &Arc<dyn Backend>, attempt: &str, body: &[u8]) -> bool {
        let post = WebhookRequest {
            body: Bytes::copy_from_slice(body),
            ..WebhookRequest::default()
        };
        let Some(key) = worker.kept_post(attempt, &post) else {
            return false;
        };
        self.0.lock().expect("no panic").insert(key, post.body);
        true
    }
}

/// The same model, told to post.
pub(crate) fn posting(mut settings: Value) -> Value {
    settings["webhook"] = json!(true);
    settings
}

/// A model that paints.
fn painter() -> Stand {
    Stand::new(|seen| match seen.line.split(' ').next() {
        Some("PUT") => {
            let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
            answer(
                &json!({"id": "x", "status": "succeeded", "output": [format!("data:image/png;base64,{picture}")],
                "metrics": {"predict_time": 2.5}, "logs": ""}),
            )
        }
        _ if seen.line == "GET /v1/health-check" => answer(&json!({"status": "READY"})),
        _ if seen.line == "GET /v1/openapi.json" => answer(&json!({"components": {"schemas": {
            "Input": {"properties": {"prompt": {}, "width": {}, "height": {}, "image": {}}}}}})),
        _ => status(404, &json!({"detail": "Not Found"})),
    })
}

#[tokio::test]
async fn a_prediction_is_made_in_the_call_and_its_file_is_in_the_answer() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("cog", settings());
    worker.probe().await.expect("well");
    assert_eq!(worker.lost_submit(), LostSubmit::Repeat);
    assert!(worker.serves("imgmodel.chat") && !worker.serves("facegen.swap"));
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "a door"}), None);
    let attempt = work.attempt_id.clone();
    let made = made(&worker, work).await.expect("a picture");
    assert_eq!((made.files.len(), made.files[0].width), (1, 1024));
    let cost = made.cost.map(|cost| (cost.micros, cost.currency));
    assert_eq!(cost, Some((2_500_000, "seconds")));
    let sent = &stand.asked("PUT")[0];
    assert_eq!(sent.line, format!("PUT /v1/predictions/{attempt}-0"));
    assert_eq!(sent.json()["input"]["prompt"], "a door");
}

#[tokio::test]
async fn pictures_go_along_and_a_place_for_them_is_needed() {
    let (stand, studio) = (painter(), Studio::new());
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let input = json!({"prompt": "{{prompt}}", "image": "{{image}}"});
    let settings = json!({"models": {"imgmodel.chat": {"model": "painter", "input": input}}});
    let worker = stand.worker("cog", settings);
    let body = json!({"prompt": "x", "referImages": [image]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    made(&worker, work).await.expect("a picture");
    let sent = stand.asked("PUT")[0].json();
    let image = sent["input"]["image"].as_str().expect("a picture");
    assert!(image.starts_with("data:image/"), "{image:.30}");
}

#[tokio::test]
async fn what_the_server_says_of_itself_is_told() {
    let studio = Studio::new();
    for (reply, class) in [
        (
            status(409, &json!({"detail": "Already running a prediction"})),
            Class::Rate,
        ),
        (
            status(
                503,
                &json!({"error": "Setup has not finished yet", "status": "failed"}),
            ),
            Class::Retry,
        ),
        (
            status(
                422,
                &json!({"detail": [{"loc": ["body", "input", "prompt"], "msg": "field required"}]}),
            ),
            Class::BadRequest,
        ),
        (
            answer(&json!({"id": "x", "status": "failed", "error": "CUDA out of memory"})),
            Class::Retry,
        ),
        (
            answer(&json!({"id": "x", "status": "failed", "error": "NSFW content detected"})),
            Class::Reject,
        ),
        (
            answer(&json!({"id": "x", "status": "succeeded", "output": "words alone"})),
            Class::Gone,
        ),
        (
            answer(&json!({"id": "x", "status": "pondering"})),
            Class::Retry,
        ),
    ] {
        let stand = Stand::always(reply.clone());
        let worker = stand.worker("cog", settings());
        let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
        let fault = made(&worker, work).await.expect_err("a fault");
        assert_eq!(fault.class, class, "{}", fault.detail);
    }
    for (health, well) in [
        ("READY", true),
        ("BUSY", true),
        ("STARTING", false),
        ("SETUP_FAILED", false),
    ] {
        let stand = Stand::always(answer(&json!({"status": health})));
        let probed = stand.worker("cog", settings()).probe().await;
        assert_eq!(probed.is_ok(), well, "{health}");
    }
}

#[test]
fn a_model_of_ones_own_needs_a_mapping() {
    let error = worker("cog", "http://127.0.0.1:9", json!({})).err();
    let error = error.expect("refused").to_string();
    assert!(error.starts_with("models"), "{error}");
}

const HOOK: &str = "https://service.example/hooks/v1/b/token";

/// A server that takes what it is asked for and says no more about it.
fn taking() -> Stand {
    Stand::new(|seen| match seen.line.split(' ').next() {
        Some("PUT") => status(202, &json!({"id": "x", "status": "starting"})),
        _ => answer(&json!({})),
    })
}

#[tokio::test]
async fn an_order_with_a_webhook_returns_at_once_and_what_is_posted_is_its_result() {
    let (stand, studio, kept) = (taking(), Studio::new(), KeptPosts::default());
    let worker = stand.worker("cog", posting(settings()));
    assert!(worker.keeps_posts() && !stand.worker("cog", settings()).keeps_posts());
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "a door"}), None);
    let work = kept.for_work(work, HOOK);
    let attempt = work.attempt_id.clone();
    let ticket = ticket(&worker, work.clone()).await.expect("a ticket");
    let sent = &stand.asked("PUT")[0];
    assert_eq!(sent.line, format!("PUT /v1/predictions/{attempt}-0"));
    assert!(sent.head.contains("prefer: respond-async"), "{}", sent.head);
    let body = sent.json();
    assert_eq!(body["webhook"], HOOK);
    assert_eq!(body["webhook_events_filter"], json!(["completed"]));
    let running = worker.poll(&work, &ticket).await;
    assert!(matches!(running, Ok(PollOutcome::Running(_))));
    let id = format!("{attempt}-0");
    for nothing in [
        json!({"id": id, "status": "processing"}),
        json!({"id": format!("{attempt}-1"), "status": "succeeded"}),
        json!({"id": "another", "status": "succeeded"}),
        json!({"id": "../x", "status": "succeeded"}),
        json!([]),
    ] {
        let taken = kept.take(&worker, &attempt, nothing.to_string().as_bytes());
        assert!(!taken, "{nothing}");
    }
    let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
    let done = json!({"id": id, "status": "succeeded", "metrics": {"predict_time": 2.5},
        "output": [format!("data:image/png;base64,{picture}")], "logs": ""});
    assert!(kept.take(&worker, &attempt, done.to_string().as_bytes()));
    let made = polled(&worker, &work, &ticket).await.expect("a picture");
    assert_eq!((made.files.len(), made.files[0].width), (1, 1024));
    let cost = made.cost.map(|cost| (cost.micros, cost.currency));
    assert_eq!(cost, Some((2_500_000, "seconds")));
    assert_eq!(stand.seen().len(), 1, "nobody asks what cannot be asked");
    worker.cancel(&ticket).await;
    let stopped = &stand.seen()[1].line;
    assert_eq!(*stopped, format!("POST /v1/predictions/{id}/cancel"));
}

#[tokio::test]
async fn a_posted_failure_means_what_one_in_the_call_does() {
    for (said, class) in [
        (
            json!({"status": "failed", "error": "CUDA out of memory"}),
            Class::Retry,
        ),
        (
            json!({"status": "failed", "error": "NSFW content detected"}),
            Class::Reject,
        ),
        (json!({"status": "canceled"}), Class::Retry),
        (
            json!({"status": "succeeded", "output": "words alone"}),
            Class::Gone,
        ),
    ] {
        let (stand, studio, kept) = (taking(), Studio::new(), KeptPosts::default());
        let worker = stand.worker("cog", posting(settings()));
        let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
        let work = kept.for_work(work, HOOK);
        let ticket = ticket(&worker, work.clone()).await.expect("a ticket");
        let mut body = said.clone();
        body["id"] = json!(format!("{}-0", work.attempt_id));
        assert!(kept.take(&worker, &work.attempt_id, body.to_string().as_bytes()));
        let fault = polled(&worker, &work, &ticket).await.expect_err("a fault");
        assert_eq!(fault.class, class, "{said}");
    }
}

/// The promise: an answer that was lost is found again under the same name, and work that has been posted is not begun anew.
#[tokio::test]
async fn a_lost_order_is_repeated_under_its_name_until_its_post_is_there() {
    let (stand, studio, kept) = (taking(), Studio::new(), KeptPosts::default());
    let worker = stand.worker("cog", posting(settings()));
    assert_eq!(worker.lost_submit(), LostSubmit::LookUp);
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let work = kept.for_work(work, HOOK);
    for _ in 0..2 {
        let found = worker.look_up(&work, false).await.expect("an answer");
        assert!(found.is_some());
    }
    let lines: Vec<_> = stand.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], lines[1]);
    let body = json!({"id": format!("{}-0", work.attempt_id), "status": "canceled"});
    assert!(kept.take(&worker, &work.attempt_id, body.to_string().as_bytes()));
    let found = worker.look_up(&work, false).await.expect("an answer");
    assert!(found.is_some());
    assert_eq!(stand.seen().len(), 2, "it has ended already");
}

/// The server keeps no queue, and a service may have no address that it could post to.
#[tokio::test]
async fn several_pictures_and_those_without_an_address_are_made_in_the_call() {
    let studio = Studio::new();
    for (count, hook) in [(2, Some(HOOK)), (1, None)] {
        let stand = painter();
        let worker = stand.worker("cog", posting(settings()));
        let body = json!({"prompt": "x", "n": count});
        let (mut work, _) = studio.work("imgmodel.chat", &body, None);
        work.brief.count = count;
        work.hook_url = hook.map(str::to_owned);
        let made = made(&worker, work).await.expect("pictures");
        assert_eq!(made.files.len() as u32, count);
        let sent = &stand.asked("PUT")[0];
        assert!(sent.json().get("webhook").is_none());
        assert!(!sent.head.contains("prefer:"));
    }
}

/// The promise: the answer of a server is as large as its pictures are, and not cut at what words may have.
#[tokio::test]
async fn a_large_picture_comes_in_the_answer() {
    let stand = Stand::new(|_| {
        let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
        let logs = "a line of the model\n".repeat(300_000);
        answer(&json!({"id": "x", "status": "succeeded", "logs": logs,
            "output": format!("data:image/png;base64,{picture}")}))
    });
    let studio = Studio::new();
    let worker = stand.worker("cog", settings());
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    made(&worker, work).await.expect("a picture");
}
