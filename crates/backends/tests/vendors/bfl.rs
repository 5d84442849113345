//! FLUX pictures and videos, against a server that speaks the format of Black Forest Labs.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, bytes, json as answer, page, png, polled, status, ticket};
use crate::story::{Story, clip};
use crate::studio::Studio;

/// Pending, reasoning, generating, ready; asked about where the start said.
fn forest(file: &'static str) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        line if line.starts_with("POST /v1/flux") => answer(
            &json!({"id": "t1", "polling_url": seen.here("/eu/get_result?id=t1"), "cost": 3.0}),
        ),
        "GET /eu/get_result?id=t1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"id": "t1", "status": "Pending"})),
            1 => answer(&json!({"id": "t1", "status": "Reasoning"})),
            2 => answer(&json!({"id": "t1", "status": "Generating", "progress": 0.5})),
            _ => answer(
                &json!({"id": "t1", "status": "Ready", "result": {"sample": seen.here(file), "seed": 1}}),
            ),
        },
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "GET /v1/credits" => answer(&json!({"credits": 100})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_picture_is_asked_about_where_its_start_said() {
    let (stand, studio) = (forest("/a.png"), Studio::new());
    let worker = stand.worker("bfl", Value::Null);
    worker.probe().await.expect("well");
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"prompt": "a fox", "referImages": [image, image]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((30_000, "USD"))
    );
    assert!(work.progress.get() >= 50);
    let seen = &stand.asked("POST /v1/flux-2-pro")[0];
    assert!(seen.head.contains("x-key: sk-very-secret"));
    let sent = seen.json();
    assert_eq!(
        (&sent["width"], &sent["height"], &sent["prompt"]),
        (&json!(1024), &json!(1024), &json!("a fox"))
    );
    let second = sent["input_image_2"].as_str().expect("a second picture");
    assert!(!second.starts_with("data:"), "bare base64");
}

#[tokio::test]
async fn newer_models_take_shapes_lists_and_keyframes() {
    let (stand, studio) = (forest("/film.mp4"), Studio::new());
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    let worker = stand.worker(
        "bfl",
        json!({"image_model": "flux-3-image", "safety_tolerance": 2}),
    );
    let (work, _) = studio.work(
        "imgmodel.chat",
        &json!({"prompt": "x", "referImages": [start]}),
        None,
    );
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST /v1/flux-3-image")[0].json();
    assert_eq!(
        (&sent["aspect_ratio"], &sent["safety_tolerance"]),
        (&json!("1:1"), &json!(2))
    );
    assert_eq!(sent["images"].as_array().map(Vec::len), Some(1));
    assert!(sent.get("width").is_none());

    let body =
        json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1"});
    let (work, _) = studio.work("motion.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a film");
    assert_eq!(made.files[0].media_type, "video/mp4");
    let sent = stand.asked("POST /v1/flux-3-video")[0].json();
    assert_eq!(
        (&sent["mode"], &sent["duration"], &sent["resolution"]),
        (&json!("i2v"), &json!(5), &json!("hd"))
    );
    assert_eq!(sent["keyframes"].as_array().map(Vec::len), Some(2));
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "30"}),
        None,
    );
    let fault = ticket(&worker, work).await.expect_err("too long");
    assert_eq!(fault.field.as_deref(), Some("duration"));
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "bfl",
        settings: Value::Null,
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    };
    let error = |text: &str| json!({"detail": text});
    story
        .refusals(vec![
            (status(401, &error("x")), Class::Dead),
            (status(402, &error("Insufficient credits")), Class::Quota),
            (status(403, &error("Not authenticated")), Class::Dead),
            (status(404, &error("x")), Class::Model),
            (
                status(422, &json!({"detail": [{"msg": "bad width"}]})),
                Class::BadRequest,
            ),
            (status(429, &error("Too many active tasks")), Class::Rate),
            (status(500, &error("x")), Class::Retry),
        ])
        .await;
    let ended = |state: &str| answer(&json!({"id": "t1", "status": state, "result": null}));
    let endings = vec![
        (ended("Request Moderated"), Class::Reject, true),
        (ended("Content Moderated"), Class::Reject, true),
        (ended("Error"), Class::Retry, true),
        (ended("Failed"), Class::Retry, true),
        (ended("Task not found"), Class::Gone, true),
        (status(404, &error("x")), Class::Gone, true),
        (status(429, &error("x")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "t1"}]}), endings)
        .await;
}

/// An address that is none of the vendor's is not asked, with or without the key.
#[tokio::test]
async fn a_task_is_not_asked_about_at_a_stranger_s() {
    let (stranger, studio) = (
        Stand::always(answer(&json!({"status": "Pending"}))),
        Studio::new(),
    );
    let stand = Stand::always(answer(&json!({"id": "t1"})));
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let paper = json!({"tasks": [{"id": "t1", "address": stranger.url("/get_result?id=t1")}]});
    let polled = stand.worker("bfl", Value::Null).poll(&work, &paper).await;
    assert!(
        matches!(polled, Ok(atelier_backends::PollOutcome::Failed(fault)) if fault.class == Class::Bug)
    );
    assert!(stranger.seen().is_empty());
}
