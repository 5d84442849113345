//! new-api as an upstream, against a server with the bodies of its own source (QuantumNous/new-api, August 2026).

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, page, png, polled, status, ticket, worker,
};
use crate::story::{Story, clip};
use crate::studio::Studio;

fn settings() -> Value {
    json!({"image_model": "gpt-image-2", "video_model": "seedance", "video_seconds": [5, 10]})
}

/// A task as the program shows it.
fn task(state: &str, progress: &str, more: &Value) -> Value {
    let mut task = json!({"id": 7, "task_id": "task_1", "platform": "50", "user_id": 3, "quota": 250_000,
        "action": "generate", "status": state, "fail_reason": "", "progress": progress, "data": {}});
    for (name, value) in more.as_object().into_iter().flatten() {
        task[name] = value.clone();
    }
    json!({"code": "success", "message": "", "data": task})
}

fn reseller(done: fn(&str) -> Value) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/video/generations" => answer(
            &json!({"id": "task_1", "task_id": "task_1", "object": "video",
            "model": "seedance", "status": "queued", "progress": 0, "created_at": 1}),
        ),
        "GET /v1/video/generations/task_1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&task("NOT_START", "", &json!({}))),
            1 => answer(&task("IN_PROGRESS", "30%", &json!({}))),
            _ => answer(&task("SUCCESS", "100%", &done(&seen.here("")))),
        },
        "GET /film.mp4" | "GET /v1/videos/task_1/content" => bytes("video/mp4", clip(128, 72)),
        "GET /v1/models" => answer(&json!({"object": "list", "data": []})),
        line if line.starts_with("POST /v1/images/") => answer(&json!({"created": 1, "data": [
            {"b64_json": base64(png(1024, 1024, [9, 99, 9, 255])), "revised_prompt": "a red fox"}]})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_video_is_a_task_whose_address_is_where_its_release_has_it() {
    let places: [fn(&str) -> Value; 3] = [
        |here| json!({"result_url": format!("{here}/film.mp4")}),
        |here| json!({"result_url": format!("{here}/v1/videos/task_1/content")}),
        |here| json!({"fail_reason": format!("{here}/film.mp4")}),
    ];
    for done in places {
        let (stand, studio) = (reseller(done), Studio::new());
        let worker = stand.worker_under("new-api", "", settings());
        worker.probe().await.expect("well");
        let body = json!({"prompt": "a wave", "video_length": "10", "aspect_ratio": "16:9"});
        let (work, _) = studio.work("clipgen.generations", &body, None);
        let paper = ticket(&worker, work.clone()).await.expect("a ticket");
        let output = polled(&worker, &work, &paper).await.expect("a film");
        let cost = output.cost.expect("a cost");
        assert_eq!((cost.micros, cost.currency), (500_000, "USD"));
        assert!(work.progress.get() >= 30);
        let sent = stand.asked("POST")[0].json();
        assert_eq!(
            sent,
            json!({"model": "seedance", "prompt": "a wave", "duration": 10, "seconds": "10", "size": "1280x720"})
        );
        assert!(
            stand.seen()[0]
                .head
                .contains("authorization: Bearer sk-very-secret")
        );
    }
}

#[tokio::test]
async fn two_images_are_the_frames_of_a_video_and_images_are_edited_by_a_form() {
    let (stand, studio) = (
        reseller(|here| json!({"result_url": format!("{here}/film.mp4")})),
        Studio::new(),
    );
    let mut with_fields = settings();
    with_fields["fields"] = json!({"metadata": {"audio": false}});
    let worker = stand.worker_under("new-api", "", with_fields);
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let both = json!({"userPrompt": "x", "imageUrl": image, "imageEndUrl": image, "modelName": "motion-v1"});
    let (work, _) = studio.work("motion.generations", &both, None);
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST")[0].json();
    assert_eq!(sent["images"].as_array().map(Vec::len), Some(2));
    assert_eq!(sent["metadata"], json!({"audio": false}));
    let chat = json!({"prompt": "draw it", "referImages": [image, image]});
    let (work, _) = studio.work("imgmodel.chat", &chat, None);
    let output = made(&worker, work).await.expect("a picture");
    assert_eq!(output.revised_prompt.as_deref(), Some("a red fox"));
    let form = &stand.asked("POST /v1/images/edits")[0];
    assert_eq!(form.text("model").as_deref(), Some("gpt-image-2"));
    let images = form
        .parts()
        .into_iter()
        .filter(|(name, _)| name == "image[]");
    assert_eq!(images.count(), 2);
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "new-api",
        settings: settings(),
        operation: "clipgen.generations",
        body: json!({"prompt": "x"}),
    };
    let own = |code: &str, text: &str| json!({"code": code, "message": text, "data": null});
    let openai = |code: &str, text: &str| json!({"error": {"code": code, "message": text, "type": "new_api_error"}});
    story
        .refusals(vec![
            (
                status(400, &own("invalid_request", "prompt is required")),
                Class::BadRequest,
            ),
            (status(401, &openai("", "Invalid token")), Class::Dead),
            (
                status(
                    403,
                    &openai("insufficient_user_quota", "user quota is not enough"),
                ),
                Class::Quota,
            ),
            (
                status(
                    403,
                    &own(
                        "pre_consume_token_quota_failed",
                        "token quota is not enough",
                    ),
                ),
                Class::Quota,
            ),
            (
                status(
                    503,
                    &openai(
                        "model_not_found",
                        "No available channel for model seedance under group default",
                    ),
                ),
                Class::Model,
            ),
            (
                status(
                    400,
                    &own("model_price_error", "model seedance has no price"),
                ),
                Class::Model,
            ),
            (
                status(
                    400,
                    &openai("sensitive_words_detected", "user sensitive words detected"),
                ),
                Class::Reject,
            ),
            (
                status(429, &own("fail_to_fetch_task", "too many requests")),
                Class::Rate,
            ),
            (
                status(500, &own("do_request_failed", "connection refused")),
                Class::Retry,
            ),
            (
                status(503, &openai("get_channel_failed", "no channel")),
                Class::Retry,
            ),
        ])
        .await;
    let failed = |reason: &str| answer(&task("FAILURE", "100%", &json!({"fail_reason": reason})));
    let endings = vec![
        (
            failed("upstream: content_policy_violation"),
            Class::Reject,
            true,
        ),
        (failed("task timeout"), Class::Retry, true),
        (
            answer(&task("SUCCESS", "100%", &json!({}))),
            Class::Gone,
            true,
        ),
        (
            status(400, &own("task_not_exist", "task_not_exist")),
            Class::Gone,
            true,
        ),
        (
            answer(&json!({"code": "success", "data": null})),
            Class::Retry,
            false,
        ),
        (status(429, &own("rate", "slow")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "task_1"}]}), endings)
        .await;
}

#[test]
fn models_must_be_named() {
    let refused = worker("new-api", "http://127.0.0.1:9", json!({}));
    let error = refused.err().expect("no models").to_string();
    assert!(error.contains("image_model"), "{error}");
    let refused = worker(
        "new-api",
        "http://127.0.0.1:9",
        json!({"image_model": "m", "quota_per_dollar": 0}),
    );
    assert!(refused.is_err());
}
