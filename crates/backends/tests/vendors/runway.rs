//! Runway's tasks, against a server that speaks its format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, bytes, json as answer, page, png, polled, status, ticket, worker,
};
use crate::story::{Story, clip};
use crate::studio::{Studio, photo};

/// Pending, throttled, running, succeeded.
fn stand(file: &'static str) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/text_to_video" | "POST /v1/image_to_video" | "POST /v1/text_to_image" => {
            answer(&json!({"id": "t1", "estimatedCost": {"credits": 40}}))
        }
        "GET /v1/tasks/t1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"id": "t1", "status": "PENDING"})),
            1 => answer(&json!({"id": "t1", "status": "THROTTLED"})),
            2 => answer(&json!({"id": "t1", "status": "RUNNING", "progress": 0.42})),
            _ => answer(
                &json!({"id": "t1", "status": "SUCCEEDED", "output": [seen.here(file)], "cost": {"credits": 37.5}}),
            ),
        },
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        "DELETE /v1/tasks/t1" => Reply::Whole(204, String::new(), Vec::new()),
        "GET /v1/organization" => answer(&json!({"creditBalance": 1000})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_video_is_started_asked_about_fetched_and_its_cost_told() {
    let (stand, studio) = (stand("/film.mp4"), Studio::new());
    let worker = stand.worker("runway", Value::Null);
    worker.probe().await.expect("well");
    let body = json!({"prompt": "a wave", "video_length": "30"});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((375_000, "USD"))
    );
    assert!(work.progress.get() >= 42);
    let seen = &stand.asked("POST /v1/text_to_video")[0];
    assert!(seen.head.contains("x-runway-version: 2024-11-06"));
    assert_eq!(
        seen.json(),
        json!({"model": "seedance2_5", "promptText": "a wave", "duration": 30, "ratio": "1280:720", "audio": false})
    );
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("DELETE /v1/tasks/t1").len(), 1);
}

#[tokio::test]
async fn each_model_is_asked_for_what_it_has() {
    let (stand, studio) = (stand("/film.mp4"), Studio::new());
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    let sent = async |model: &str, operation: &str, body: Value| {
        let worker = stand.worker("runway", json!({"video_model": model}));
        let (work, _) = studio.work(operation, &body, None);
        ticket(&worker, work)
            .await
            .map(|_| stand.asked("POST").last().expect("a call").clone())
    };
    let both = json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1", "aspectRatio": "16:9"});
    let seen = sent("kling_4", "motion.generations", both.clone())
        .await
        .expect("sent");
    assert_eq!(seen.line, "POST /v1/image_to_video");
    let body = seen.json();
    assert_eq!(
        (&body["promptImage"][1]["position"], &body["ratio"]),
        (&json!("last"), &json!("auto_720p"))
    );
    assert!(body.get("audio").is_none());
    let fault = sent("gen4.5", "motion.generations", both)
        .await
        .expect_err("no end frames there");
    assert_eq!(fault.field.as_deref(), Some("imageEndUrl"));
    let words = json!({"prompt": "x", "seconds": 8});
    let body = sent("veo3.1", "vidgen_partner.generations", words.clone())
        .await
        .expect("sent")
        .json();
    assert_eq!(
        (&body["duration"], &body["ratio"]),
        (&json!(8), &json!("720:1280"))
    );
    let body = sent("hailuo3", "vidgen_partner.generations", words.clone())
        .await
        .expect("sent")
        .json();
    assert_eq!(
        (&body["ratio"], &body["resolution"]),
        (&json!("9:16"), &json!("768p"))
    );
    let fault = sent("gen4_turbo", "vidgen_partner.generations", words)
        .await
        .expect_err("it needs a frame");
    assert_eq!(fault.class, Class::Unable);
    let references = json!({"prompt": "x", "video_length": "10", "refer_images": [start, end]});
    let body = sent("wan3", "clipgen.generations", references)
        .await
        .expect("sent")
        .json();
    assert_eq!(body["references"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_picture_has_the_asked_size_and_large_references_are_made_lighter() {
    let (stand, studio) = (stand("/a.png"), Studio::new());
    let worker = stand.worker("runway", Value::Null);
    let mut noise = photo(1400, 1400, 90);
    for (index, pixel) in noise.pixels_mut().iter_mut().enumerate() {
        pixel[0] = (index.wrapping_mul(2_654_435_761) >> 13) as u8;
        pixel[1] = (index.wrapping_mul(40_503) >> 7) as u8;
    }
    let large = studio.host("a.png", &noise);
    let (work, _) = studio.work(
        "imgmodel.chat",
        &json!({"prompt": "x", "referImages": [large]}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    let body = stand.asked("POST /v1/text_to_image")[0].json();
    assert_eq!(body["ratio"], "1024:1024");
    let uri = body["referenceImages"][0]["uri"]
        .as_str()
        .expect("an address")
        .to_owned();
    assert!(
        uri.starts_with("data:image/jpeg") && uri.len() < 5_000_000,
        "{}",
        uri.len()
    );
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "runway",
        settings: Value::Null,
        operation: "clipgen.generations",
        body: json!({"prompt": "x", "video_length": "10"}),
    };
    let error = |text: &str| json!({"error": text});
    story
        .refusals(vec![
            (
                status(400, &error("Validation of body failed")),
                Class::BadRequest,
            ),
            (status(422, &error("x")), Class::BadRequest),
            (
                status(
                    400,
                    &error("You do not have enough credits to run this task."),
                ),
                Class::Quota,
            ),
            (status(401, &error("x")), Class::Dead),
            (status(403, &error("x")), Class::Dead),
            (status(404, &error("x")), Class::Model),
            (status(429, &error("x")), Class::Rate),
            (status(500, &error("x")), Class::Retry),
        ])
        .await;
    let failed = |code: &str| {
        answer(
            &json!({"id": "t1", "status": "FAILED", "failure": "It failed", "failureCode": code}),
        )
    };
    let endings = vec![
        (failed("SAFETY.INPUT.TEXT"), Class::Reject, true),
        (failed("SAFETY.OUTPUT.VIDEO"), Class::Reject, true),
        (
            failed("INPUT_PREPROCESSING.SAFETY.TEXT"),
            Class::Reject,
            true,
        ),
        (failed("INTERNAL.BAD_OUTPUT.CODE01"), Class::Retry, true),
        (failed("ASSET.INVALID"), Class::BadRequest, true),
        (failed("INTERNAL"), Class::Retry, true),
        (
            answer(&json!({"id": "t1", "status": "CANCELLED"})),
            Class::Gone,
            true,
        ),
        (status(404, &error("x")), Class::Gone, true),
        (status(429, &error("x")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "t1"}]}), endings)
        .await;
}

#[test]
fn a_model_that_is_not_there_is_refused_by_name() {
    let error = worker(
        "runway",
        "http://127.0.0.1:9",
        json!({"video_model": "gen9"}),
    )
    .err()
    .expect("refused")
    .to_string();
    assert!(
        error.contains("gen9") && error.contains("kling_4"),
        "{error}"
    );
}
