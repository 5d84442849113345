//! Vidu's videos, against a server that speaks its format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_backends::backend::LostSubmit;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, bytes, json as answer, page, polled, status, ticket};
use crate::story::{Story, clip};
use crate::studio::Studio;

/// Created, queueing, processing, success.
fn reel() -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        line if line.starts_with("POST /v1/ent/v2/tasks/") => answer(&json!({})),
        line if line.starts_with("POST") => {
            answer(&json!({"task_id": "t1", "state": "created", "credits": 80}))
        }
        "GET /v1/ent/v2/tasks/t1/creations" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"state": "queueing", "creations": []})),
            1 => answer(&json!({"state": "processing", "creations": []})),
            _ => answer(&json!({"state": "success", "credits": 80, "creations": [
                {"id": "c1", "url": seen.here("/film.mp4"), "cover_url": seen.here("/a.png")}]})),
        },
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "GET /v1/ent/v2/credits?show_detail=false" => answer(&json!({"remains": [
            {"type": "test", "credit_remain": 20}, {"type": "metered", "credit_remain": 480.5}]})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_video_goes_the_way_that_its_pictures_ask_for() {
    let (stand, studio) = (reel(), Studio::new());
    let worker = stand.worker("vidu", Value::Null);
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let left = worker.probe().await.expect("well").expect("a balance");
    assert_eq!((left.micros, left.currency), (500_500_000, "credits"));
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "a wave", "video_length": "10", "aspect_ratio": "16:9"}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a film");
    let cost = made.cost.expect("a cost");
    assert_eq!((cost.micros, cost.currency), (80_000_000, "credits"));
    let seen = &stand.asked("POST")[0];
    assert_eq!(seen.line, "POST /v1/ent/v2/text2video");
    assert!(seen.head.contains("authorization: Token sk-very-secret"));
    assert_eq!(
        seen.json(),
        json!({"model": "viduq3-pro", "prompt": "a wave", "duration": 10, "resolution": "720p", "aspect_ratio": "16:9",
            "audio": false, "off_peak": false})
    );
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    for (body, path, pictures) in [
        (
            json!({"userPrompt": "x", "imageUrl": start}),
            "img2video",
            1,
        ),
        (
            json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1"}),
            "start-end2video",
            2,
        ),
        (
            json!({"userPrompt": "x", "imageUrl": start, "loop": true}),
            "start-end2video",
            2,
        ),
    ] {
        let (work, _) = studio.work("motion.generations", &body, None);
        ticket(&worker, work).await.expect("a ticket");
        let sent = stand.asked("2video").pop().expect("an order");
        assert!(sent.line.ends_with(path), "{}", sent.line);
        let images = sent.json()["images"].clone();
        assert_eq!(images.as_array().map(Vec::len), Some(pictures));
        assert!(sent.json().get("aspect_ratio").is_none());
    }
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("POST /v1/ent/v2/tasks/t1/cancel").len(), 1);
}

#[tokio::test]
async fn references_have_models_of_their_own() {
    let (stand, studio) = (reel(), Studio::new());
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let worker = stand.worker("vidu", json!({"video_model": "viduq2"}));
    let body = json!({"prompt": "x", "video_length": "10", "refer_images": [image, image]});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST")[0].clone();
    assert_eq!(sent.line, "POST /v1/ent/v2/reference2video");
    assert_eq!(sent.json()["images"].as_array().map(Vec::len), Some(2));
    assert!(sent.json().get("audio").is_none(), "it makes no sound");
    let long = json!({"prompt": "x", "video_length": "30"});
    let (work, _) = studio.work("clipgen.generations", &long, None);
    let fault = ticket(&worker, work).await.expect_err("too long");
    assert_eq!(fault.class, Class::Unable);
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "vidu",
        settings: Value::Null,
        operation: "clipgen.generations",
        body: json!({"prompt": "x"}),
    };
    let error = |reason: &str| json!({"code": 400, "reason": reason, "message": "It failed."});
    story
        .refusals(vec![
            (status(400, &error("FieldLacking")), Class::BadRequest),
            (status(400, &error("AuditSubmitIllegal")), Class::Reject),
            (status(400, &error("CreditInsufficient")), Class::Quota),
            (status(401, &error("Unauthorized")), Class::Dead),
            (status(403, &error("x")), Class::Dead),
            (status(429, &error("TooManyRequests")), Class::Rate),
            (status(429, &error("QuotaExceeded")), Class::Rate),
            (status(500, &error("x")), Class::Retry),
        ])
        .await;
    let failed = |code: &str| answer(&json!({"state": "failed", "err_code": code, "credits": 0}));
    let endings = vec![
        (failed("AuditSubmitIllegal"), Class::Reject, true),
        (failed("CreationPolicyViolation.Risk"), Class::Reject, true),
        (failed("InternalServiceFailure"), Class::Retry, true),
        (answer(&json!({"state": "canceled"})), Class::Gone, true),
        (status(404, &error("TaskNotFound")), Class::Gone, true),
        (status(429, &error("TooManyRequests")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "t1"}]}), endings)
        .await;
}
