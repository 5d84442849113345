//! Gemini pictures and Omni videos, against a server that speaks Google's formats.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_backends::backend::LostSubmit;
use atelier_media::{Limits, Picture, decode};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, page, png, polled, status, ticket,
};
use crate::story::{Story, clip};
use crate::studio::{Studio, data_uri};

fn picture(width: u32, height: u32) -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "Here it is."},
                {"inlineData": {"mimeType": "image/png", "data": base64(png(width, height, [9, 99, 9, 255]))}},
            ]},
            "finishReason": "STOP",
        }],
        "usageMetadata": {"totalTokenCount": 1290},
    })
}

fn interaction(state: &str) -> Value {
    json!({"id": "v1_abc", "object": "interaction", "status": state})
}

/// Queued, a word nobody knows, in progress, completed with a file that is not ready at once.
fn camera() -> Stand {
    let (polls, looks) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/interactions" => answer(&interaction("queued")),
        "GET /v1/interactions/v1_abc" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&interaction("queued")),
            1 => answer(&interaction("pondering")),
            2 => answer(&interaction("in_progress")),
            _ => {
                let mut done = interaction("completed");
                let uri = seen.here("/v1/files/f1:download?alt=media");
                done["steps"] = json!([
                    {"type": "thought"},
                    {"type": "model_output", "content": [{"type": "text", "text": "Done."}, {"type": "video", "uri": uri}]},
                ]);
                done["usage"] = json!({"total_tokens": 46_336});
                answer(&done)
            }
        },
        "GET /v1/files/f1" => {
            let state = match looks.fetch_add(1, Ordering::SeqCst) {
                0 => "PROCESSING",
                _ => "ACTIVE",
            };
            answer(&json!({"name": "files/f1", "state": state}))
        }
        "GET /v1/files/f1:download?alt=media" => bytes("video/mp4", clip(128, 72)),
        "POST /v1/interactions/v1_abc/cancel" => answer(&interaction("cancelled")),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_picture_comes_with_the_answer_in_the_asked_size() {
    let (stand, studio) = (Stand::always(answer(&picture(1264, 848))), Studio::new());
    let worker = stand.worker("google", Value::Null);
    let body = json!({"prompt": "a fox", "model": "image-1", "size": "1536x1024", "n": 2});
    let (work, _) = studio.work("imgmodel.generations", &body, None);
    let made = made(&worker, work).await.expect("pictures");
    assert_eq!(
        (made.made, made.files[0].width, made.files[0].height),
        (2, 1536, 1024)
    );
    assert_eq!(
        made.cost.as_ref().map(|cost| (cost.micros, cost.currency)),
        Some((2_580_000_000, "tokens"))
    );
    let seen = &stand.seen()[0];
    assert_eq!(
        seen.line,
        "POST /v1/models/gemini-3.1-flash-image:generateContent"
    );
    assert!(seen.head.contains("x-goog-api-key: sk-very-secret"));
    assert_eq!(
        seen.json(),
        json!({
            "contents": [{"role": "user", "parts": [{"text": "a fox"}]}],
            "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "3:2", "imageSize": "2K"}},
        })
    );
    assert_eq!(stand.seen().len(), 2, "one call for each picture");
}

#[tokio::test]
async fn references_go_along_and_a_region_is_painted_over_and_the_rest_kept() {
    let (stand, studio) = (Stand::always(answer(&picture(512, 512))), Studio::new());
    let worker = stand.worker("google", Value::Null);
    let image = Picture::filled(64, 64, [200, 10, 10, 255]);
    let body = json!({"prompt": "draw it", "referImages": [data_uri(&image), data_uri(&image)]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    made(&worker, work).await.expect("a picture");
    let parts = stand.seen()[0].json()["contents"][0]["parts"].clone();
    assert_eq!(parts.as_array().map(Vec::len), Some(3));
    assert_eq!(parts[1]["inlineData"]["mimeType"], "image/png");

    let mut mask = Picture::filled(64, 64, [0, 0, 0, 255]);
    mask.pasted(&Picture::filled(32, 64, [255; 4]), 0, 0);
    let body = json!({
        "image": studio.host("base.png", &image), "mask": studio.host("mask.png", &mask),
        "prompt": "grass", "negative_prompt": "people",
    });
    let (work, _) = studio.work("design.inpaint", &body, None);
    let result = made(&worker, work).await.expect("a picture");
    let result = decode(&result.files[0].bytes, Limits::default()).expect("a picture");
    assert_eq!((result.width, result.height), (64, 64));
    assert_eq!(result.pixel(2, 30), [9, 99, 9, 255], "the region is new");
    assert_eq!(result.pixel(60, 30), [200, 10, 10, 255], "the rest is kept");
    let seen = stand.seen();
    let parts = seen[1].json()["contents"][0]["parts"].clone();
    let text = parts[0]["text"].as_str().expect("words").to_owned();
    assert!(
        text.contains("magenta") && text.ends_with("grass\nAvoid: people"),
        "{text}"
    );
    let sent = parts[1]["inlineData"]["data"].as_str().expect("a picture");
    let sent = base64::engine::general_purpose::STANDARD
        .decode(sent)
        .expect("base64");
    let sent = decode(&sent, Limits::default()).expect("a picture");
    assert_eq!(sent.pixel(5, 5), [255, 0, 255, 255]);
}

#[tokio::test]
async fn a_video_is_started_asked_about_and_fetched_with_the_key() {
    let (stand, studio) = (camera(), Studio::new());
    let worker = stand.worker("google", Value::Null);
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let body = json!({"prompt": "a wave <LAST_FRAME>", "video_length": "10"});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    let file = &made.files[0];
    assert_eq!(
        (file.media_type, file.width, file.height),
        ("video/mp4", 128, 72)
    );
    assert_eq!(made.notes, json!({"interaction": "v1_abc"}));
    assert_eq!(made.cost.map(|cost| cost.currency), Some("tokens"));
    let sent = stand.seen()[0].json();
    assert_eq!(
        sent,
        json!({
            "model": "gemini-omni-1.2-flash", "background": true, "store": true,
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "a wave \nA single continuous shot."}]}],
            "response_format": {"type": "video", "delivery": "uri", "aspect_ratio": "16:9", "resolution": "720p", "duration": "10s"},
            "generation_config": {"video_config": {"task": "text_to_video"}},
        })
    );
    assert!(
        stand.asked("files/f1:download")[0]
            .head
            .contains("x-goog-api-key")
    );
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("POST /v1/interactions/v1_abc/cancel").len(), 1);
}

#[tokio::test]
async fn frames_loops_references_and_extensions_are_tags_and_earlier_interactions() {
    let (stand, studio) = (camera(), Studio::new());
    let worker = stand.worker("google", Value::Null);
    let start = studio.host("a.png", &Picture::filled(64, 36, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 36, [99, 9, 9, 255]));
    let sent = async |operation: &str, body: Value, parent: Option<&atelier_contract::Job>| {
        let (work, _) = studio.work(operation, &body, parent);
        ticket(&worker, work).await.expect("a ticket");
        let seen = stand.asked("POST /v1/interactions");
        seen.last().expect("a call").json()
    };
    let text = |sent: &Value| {
        let input = sent["input"][0]["content"].as_array().expect("a list");
        input.last().expect("words")["text"]
            .as_str()
            .expect("words")
            .to_owned()
    };
    let both =
        json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1"});
    let both = sent("motion.generations", both, None).await;
    assert!(text(&both).starts_with("[# Sources <FIRST_FRAME>@Image1 <LAST_FRAME>@Image2]\nx"));
    assert_eq!(
        both["generation_config"]["video_config"]["task"],
        "image_to_video"
    );
    let looped = json!({"userPrompt": "x", "imageUrl": start, "loop": true});
    let looped = sent("motion.generations", looped, None).await;
    assert!(text(&looped).starts_with("[# Sources <FIRST_FRAME>@Image1 <LAST_FRAME>@Image1]"));
    assert_eq!(
        looped["input"][0]["content"].as_array().map(Vec::len),
        Some(2)
    );
    let references = json!({"prompt": "x", "video_length": "10", "refer_images": [start, end]});
    let references = sent("clipgen.generations", references, None).await;
    assert!(text(&references).starts_with("[# Sources <IMAGE_REF_0>@Image1 <IMAGE_REF_1>@Image2]"));

    let (work, job) = studio.work("motion.generations", &json!({"userPrompt": "x"}), None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    let parent = studio.settle(job, made);
    let body = json!({"jobId": parent.id.as_str(), "userPrompt": "on"});
    let extended = sent("motion.extend", body, Some(&parent)).await;
    assert_eq!(extended["previous_interaction_id"], "v1_abc");
    assert_eq!(
        extended["generation_config"]["video_config"]["task"],
        "extend"
    );
    assert_eq!(
        extended["input"][0]["content"].as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test]
async fn what_cannot_be_made_is_said_before_anything_is_sent() {
    let (stand, studio) = (camera(), Studio::new());
    let worker = stand.worker("google", json!({"total_seconds": 20}));
    for (operation, body, field) in [
        (
            "clipgen.generations",
            json!({"prompt": "x", "video_length": "30"}),
            "duration",
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "loop": true}),
            "loop",
        ),
    ] {
        let (work, _) = studio.work(operation, &body, None);
        let fault = ticket(&worker, work).await.expect_err(field);
        assert_eq!(
            (fault.class, fault.field.as_deref()),
            (Class::Unable, Some(field))
        );
    }
    assert!(stand.seen().is_empty());
}

fn error(code: u16, state: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": state}})
}

#[tokio::test]
async fn every_refusal_of_a_picture_has_its_class() {
    let story = Story {
        vendor: "google",
        settings: Value::Null,
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    };
    let ended = |reason: &str| {
        answer(
            &json!({"candidates": [{"content": {"parts": [{"text": "no"}]}, "finishReason": reason}]}),
        )
    };
    let invalid = json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]}}]);
    let refused: Vec<_> = [
        "SAFETY",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "RECITATION",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ]
    .map(|reason| (ended(reason), Class::Reject))
    .into();
    story.refusals(refused).await;
    story
        .refusals(vec![
            (
                answer(&json!({"promptFeedback": {"blockReason": "OTHER"}})),
                Class::Reject,
            ),
            (ended("NO_IMAGE"), Class::Retry),
            (ended("IMAGE_OTHER"), Class::Retry),
            (status(400, &invalid), Class::Dead),
            (
                status(400, &error(400, "INVALID_ARGUMENT", "bad ratio")),
                Class::BadRequest,
            ),
            (
                status(403, &error(403, "PERMISSION_DENIED", "no")),
                Class::Dead,
            ),
            (
                status(404, &error(404, "NOT_FOUND", "no model")),
                Class::Model,
            ),
            (
                status(429, &error(429, "RESOURCE_EXHAUSTED", "slow down")),
                Class::Rate,
            ),
            (
                status(
                    429,
                    &error(
                        429,
                        "RESOURCE_EXHAUSTED",
                        "Quota exceeded, check your plan and billing details",
                    ),
                ),
                Class::Quota,
            ),
            (status(500, &error(500, "INTERNAL", "x")), Class::Retry),
            (status(503, &error(503, "UNAVAILABLE", "x")), Class::Retry),
        ])
        .await;
}

#[tokio::test]
async fn an_ended_video_is_told_from_a_failed_question() {
    let story = Story {
        vendor: "google",
        settings: Value::Null,
        operation: "clipgen.generations",
        body: json!({"prompt": "x", "video_length": "10"}),
    };
    let mut silent = interaction("completed");
    silent["steps"] =
        json!([{"type": "model_output", "content": [{"type": "text", "text": "I cannot."}]}]);
    let mut failed = interaction("failed");
    failed["error"] = json!({"code": "internal", "message": "It broke"});
    let paper = json!({"tasks": [{"interaction": "v1_abc"}]});
    let endings = vec![
        (answer(&silent), Class::Reject, true),
        (answer(&failed), Class::Retry, true),
        (answer(&interaction("incomplete")), Class::Retry, true),
        (answer(&interaction("requires_action")), Class::Retry, true),
        (answer(&interaction("budget_exceeded")), Class::Quota, true),
        (answer(&interaction("cancelled")), Class::Gone, true),
        (
            status(
                400,
                &error(400, "invalid_request", "Invalid interaction name"),
            ),
            Class::Gone,
            true,
        ),
        (
            status(404, &error(404, "NOT_FOUND", "x")),
            Class::Gone,
            true,
        ),
        (
            status(429, &error(429, "RESOURCE_EXHAUSTED", "x")),
            Class::Rate,
            false,
        ),
        (page(404), Class::Retry, false),
        (page(200), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story.endings(&paper, endings).await;
}

/// The vendor sometimes answers with the file itself although its address was asked for.
#[tokio::test]
async fn a_video_inside_the_answer_is_taken() {
    let mut done = interaction("completed");
    done["steps"] = json!([{"type": "model_output", "content": [{"type": "video", "data": base64(clip(64, 36)), "mime_type": "video/mp4"}]}]);
    let (stand, studio) = (Stand::always(answer(&done)), Studio::new());
    let worker = stand.worker("google", Value::Null);
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "10"}),
        None,
    );
    let paper = json!({"tasks": [{"interaction": "v1_abc"}]});
    let made = polled(&worker, &work, &paper).await.expect("a video");
    assert_eq!((made.files[0].width, made.files[0].height), (64, 36));
}
