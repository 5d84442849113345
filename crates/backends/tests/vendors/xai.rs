//! Grok Imagine pictures and videos, against a server that speaks xAI's format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, page, png, polled, status, ticket,
};
use crate::story::{Story, clip};
use crate::studio::Studio;

/// Pending without a body, pending with one, done.
fn camera() -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/videos/generations" | "POST /v1/videos/extensions" => {
            answer(&json!({"request_id": "r1"}))
        }
        "GET /v1/videos/r1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => Reply::Whole(202, String::new(), Vec::new()),
            1 => status(202, &json!({"status": "pending", "progress": 40})),
            _ => answer(
                &json!({"status": "done", "progress": 100, "usage": {"cost_in_usd_ticks": 11_200_000_000_u64},
                "video": {"url": seen.here("/film.mp4"), "duration": 10, "respect_moderation": true}}),
            ),
        },
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_picture_comes_with_the_answer_and_edits_go_as_json() {
    let picture = json!({"data": [{"b64_json": base64(png(1024, 1024, [9, 99, 9, 255])), "revised_prompt": "a red fox"}],
        "usage": {"cost_in_usd_ticks": 200_000_000}});
    let (stand, studio) = (Stand::always(answer(&picture)), Studio::new());
    let worker = stand.worker("xai", Value::Null);
    let (work, _) = studio.work(
        "imgmodel.generations",
        &json!({"prompt": "a fox", "model": "image-1", "size": "1024x1536"}),
        None,
    );
    let first = made(&worker, work).await.expect("a picture");
    assert_eq!((first.files[0].width, first.files[0].height), (1024, 1536));
    assert_eq!(
        first.cost.map(|cost| (cost.micros, cost.currency)),
        Some((20_000, "USD"))
    );
    assert_eq!(first.revised_prompt.as_deref(), Some("a red fox"));
    assert_eq!(
        stand.asked("POST /v1/images/generations")[0].json(),
        json!({"model": "grok-imagine-image-2.0", "prompt": "a fox", "n": 1, "response_format": "b64_json", "aspect_ratio": "2:3", "resolution": "2k"})
    );
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let (work, _) = studio.work(
        "imgmodel.chat",
        &json!({"prompt": "x", "referImages": [image, image]}),
        None,
    );
    made(&worker, work).await.expect("a picture");
    let sent = stand.asked("POST /v1/images/edits")[0].json();
    assert_eq!(sent["images"].as_array().map(Vec::len), Some(2));
    assert!(sent.get("image").is_none() && sent["images"][0]["type"] == "image_url");
}

#[tokio::test]
async fn a_video_is_pending_with_and_without_a_body() {
    let (stand, studio) = (camera(), Studio::new());
    let worker = stand.worker("xai", Value::Null);
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "a wave", "video_length": "10"}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
    assert_eq!(made.cost.map(|cost| cost.micros), Some(1_120_000));
    assert!(work.progress.get() >= 40);
    assert_eq!(
        stand.seen()[0].json(),
        json!({"model": "grok-imagine-video-1.5", "prompt": "a wave", "duration": 10, "aspect_ratio": "16:9", "resolution": "720p", "generate_audio": false})
    );
}

#[tokio::test]
async fn frames_references_and_extensions_have_their_fields() {
    let (stand, studio) = (camera(), Studio::new());
    let worker = stand.worker("xai", json!({"extension_model": "grok-imagine-video"}));
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let looped = json!({"userPrompt": "x", "imageUrl": start, "loop": true});
    let (work, job) = studio.work("motion.generations", &looped, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let sent = stand.seen()[0].json();
    assert_eq!(sent["image"], sent["last_frame"]);
    let references = json!({"prompt": "x", "video_length": "10", "refer_images": [start, start]});
    let (other, _) = studio.work("clipgen.generations", &references, None);
    ticket(&worker, other).await.expect("a ticket");
    let sent = stand.asked("generations")[1].json();
    assert_eq!(sent["reference_images"].as_array().map(Vec::len), Some(2));
    assert!(sent.get("image").is_none());

    let made = polled(&worker, &work, &paper).await.expect("a video");
    let mut parent = studio.settle(job, made);
    let body = json!({"jobId": parent.id.as_str(), "userPrompt": "on"});
    let (work, _) = studio.work("motion.extend", &body, Some(&parent));
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("generations").last().expect("a call").json();
    assert!(
        sent["image"]["url"].is_string(),
        "the vendor has lost it: it begins with the last frame"
    );
    // A day that is still to come is less than a day ago.
    parent.finished_ms = Some(i64::from(u32::MAX) * 1000);
    let (work, _) = studio.work("motion.extend", &body, Some(&parent));
    ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("POST /v1/videos/extensions")[0].json();
    assert_eq!(
        (&sent["model"], &sent["duration"]),
        (&json!("grok-imagine-video"), &json!(5))
    );
    assert!(
        sent["video"]["url"]
            .as_str()
            .is_some_and(|url| url.ends_with("/film.mp4"))
    );
}

fn story() -> Story {
    Story {
        vendor: "xai",
        settings: Value::Null,
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    }
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let pictures = story();
    let nested = |code: &str, text: &str| json!({"error": {"code": code, "message": text}});
    let beside = |code: &str, text: &str| json!({"code": code, "error": text});
    pictures
        .refusals(vec![
            (answer(&json!({"data": []})), Class::Reject),
            (
                answer(&json!({"data": [{"url": "", "respect_moderation": false}]})),
                Class::Reject,
            ),
            (
                status(
                    400,
                    &beside("invalid-argument", "Incorrect API key provided: x"),
                ),
                Class::Dead,
            ),
            (
                status(
                    400,
                    &nested("invalid_argument", "Argument not supported: size"),
                ),
                Class::BadRequest,
            ),
            (
                status(400, &json!({"error": "Rejected by content moderation"})),
                Class::Reject,
            ),
            (status(401, &json!({"error": "no"})), Class::Dead),
            (status(403, &json!({"error": "blocked"})), Class::Dead),
            (
                status(
                    403,
                    &beside("x", "Your team has used all available credits"),
                ),
                Class::Quota,
            ),
            (
                status(404, &beside("not-found", "The model does not exist")),
                Class::Model,
            ),
            (
                status(422, &json!({"error": "missing field"})),
                Class::BadRequest,
            ),
            (status(429, &json!({"error": "slow"})), Class::Rate),
            (status(500, &json!({"error": "x"})), Class::Retry),
        ])
        .await;
}

#[tokio::test]
async fn an_ended_video_is_told_from_a_failed_question() {
    let films = Story {
        operation: "clipgen.generations",
        body: json!({"prompt": "x", "video_length": "10"}),
        ..story()
    };
    let failed = |code: &str| {
        answer(&json!({"status": "failed", "error": {"code": code, "message": "It failed"}}))
    };
    let endings = vec![
        (
            answer(
                &json!({"status": "done", "video": {"url": "http://x/", "respect_moderation": false}}),
            ),
            Class::Reject,
            true,
        ),
        (
            answer(&json!({"status": "done", "video": {}})),
            Class::Reject,
            true,
        ),
        (failed("invalid_argument"), Class::BadRequest, true),
        (failed("internal_error"), Class::Retry, true),
        (answer(&json!({"status": "expired"})), Class::Gone, true),
        (status(404, &json!({"error": "gone"})), Class::Gone, true),
        (status(429, &json!({"error": "slow"})), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    films
        .endings(&json!({"tasks": [{"id": "r1"}]}), endings)
        .await;
}
