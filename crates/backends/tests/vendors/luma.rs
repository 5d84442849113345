//! Ray videos and Uni pictures, against a server that speaks the format of Luma Agents.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, bytes, json as answer, page, png, polled, status, ticket};
use crate::story::{Story, clip};
use crate::studio::Studio;

/// Queued, processing, completed.
fn agent(file: &'static str) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/generations" => status(201, &json!({"id": "g1", "state": "queued"})),
        "GET /v1/generations/g1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"id": "g1", "state": "queued"})),
            1 => answer(&json!({"id": "g1", "state": "processing"})),
            _ => answer(
                &json!({"id": "g1", "state": "completed", "output": [{"type": "x", "url": seen.here(file)}]}),
            ),
        },
        "GET /film.mp4" => bytes("video/mp4", clip(72, 128)),
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        line if line.starts_with("GET /v1/generations/0000") => {
            status(404, &json!({"detail": "not found"}))
        }
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_motion_video_loops_ends_and_is_extended_where_it_was_made() {
    let (stand, studio) = (agent("/film.mp4"), Studio::new());
    let worker = stand.worker("luma", Value::Null);
    worker.probe().await.expect("well");
    let (work, job) = studio.work(
        "motion.generations",
        &json!({"userPrompt": "a wave", "loop": true}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
    assert_eq!(
        stand.asked("POST")[0].json(),
        json!({"model": "ray-3.2", "type": "video", "prompt": "a wave", "aspect_ratio": "9:16",
            "video": {"resolution": "720p", "duration": "5s", "loop": true}})
    );
    let parent = studio.settle(job, made);
    let (work, _) = studio.work(
        "motion.extend",
        &json!({"jobId": parent.id.as_str(), "userPrompt": "on"}),
        Some(&parent),
    );
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST")[1].json();
    assert_eq!(sent["video"]["start_frame"], json!({"generation_id": "g1"}));

    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    let both =
        json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1"});
    let (work, _) = studio.work("motion.generations", &both, None);
    ticket(&worker, work).await.expect("a ticket");
    let video = stand.asked("POST")[2].json()["video"].clone();
    assert_eq!(video["start_frame"]["media_type"], "image/jpeg");
    assert!(video["end_frame"]["data"].is_string());
    let long = json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1", "duration": "10s"});
    let (work, _) = studio.work("motion.generations", &long, None);
    ticket(&worker, work).await.expect("a ticket");
    let video = stand.asked("POST")[3].json()["video"].clone();
    assert_eq!(
        (&video["keyframe_indexes"], &video["duration"]),
        (&json!([0, 240]), &json!("10s"))
    );
    assert!(video.get("start_frame").is_none());
    let (work, _) = studio.work(
        "motion.generations",
        &json!({"userPrompt": "x", "loop": true, "duration": "10s"}),
        None,
    );
    let fault = ticket(&worker, work).await.expect_err("no long loops");
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::Unable, Some("duration"))
    );
}

#[tokio::test]
async fn a_picture_is_drawn_with_references_or_changed_from_one() {
    let (stand, studio) = (agent("/a.png"), Studio::new());
    let worker = stand.worker("luma", Value::Null);
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let (work, _) = studio.work(
        "imgmodel.chat",
        &json!({"prompt": "x", "referImages": [image, image]}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    let sent = stand.asked("POST")[0].json();
    assert_eq!(
        (&sent["type"], &sent["model"]),
        (&json!("image"), &json!("uni-1"))
    );
    assert_eq!(sent["image_ref"].as_array().map(Vec::len), Some(2));
    let (work, _) = studio.work(
        "design.image_to_image",
        &json!({"prompt": "x", "image": image, "strength": 0.5}),
        None,
    );
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST")[1].json();
    assert!(sent["type"] == "image_edit" && sent["source"]["data"].is_string());
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "luma",
        settings: Value::Null,
        operation: "motion.generations",
        body: json!({"userPrompt": "x"}),
    };
    let error = |text: &str| json!({"detail": text});
    story
        .refusals(vec![
            (status(400, &error("x")), Class::BadRequest),
            (status(401, &error("x")), Class::Dead),
            (status(402, &error("x")), Class::Quota),
            (status(403, &error("suspended")), Class::Dead),
            (status(413, &error("x")), Class::BadRequest),
            (status(422, &error("x")), Class::BadRequest),
            (status(429, &error("x")), Class::Rate),
            (status(503, &error("x")), Class::Retry),
        ])
        .await;
    let failed = |code: &str| {
        answer(
            &json!({"id": "g1", "state": "failed", "failure_code": code, "failure_reason": "It failed"}),
        )
    };
    let endings = vec![
        (failed("content_moderated"), Class::Reject, true),
        (failed("generation_failed"), Class::Retry, true),
        (failed("output_not_found"), Class::Retry, true),
        (failed("budget_exhausted"), Class::Quota, true),
        (failed("rate_limited"), Class::Rate, true),
        (failed("image_too_large"), Class::BadRequest, true),
        (failed("unsupported_format"), Class::BadRequest, true),
        (failed("corrupt_input"), Class::BadRequest, true),
        (failed("invalid_request"), Class::BadRequest, true),
        (status(404, &error("x")), Class::Gone, true),
        (status(429, &error("x")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "g1"}]}), endings)
        .await;
}
