//! Ideogram's generations, against a server that speaks its format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::{Limits, Picture, decode};
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, bytes, json as answer, page, png, polled, status, ticket, worker,
};
use crate::story::Story;
use crate::studio::Studio;

/// Pending, then completed with two pictures, one of them taken out by a review.
fn press() -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        line if line.starts_with("POST /v1/image/") => answer(&json!({"generation_id": "g1"})),
        "GET /v1/generations/g1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&json!({"generation_id": "g1", "status": "pending"})),
            _ => answer(
                &json!({"generation_id": "g1", "status": "completed", "seed": 7, "usage_cost_usd_micros": 60_000, "data": [
                    {"url": seen.here("/a.png"), "is_image_safe": true, "resolution": "1024x1024", "seed": 7},
                    {"url": null, "is_image_safe": false, "resolution": "1024x1024", "seed": 8},
                ]}),
            ),
        },
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        line if line.starts_with("GET /v1/generations/0000") => {
            status(404, &json!({"error": "not found"}))
        }
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_generation_is_asked_about_and_what_a_review_took_out_is_missing() {
    let (stand, studio) = (press(), Studio::new());
    let worker = stand.worker("ideogram", json!({"private": true}));
    worker.probe().await.expect("well");
    let body =
        json!({"prompt": "a sign", "n": 2, "size": "1820x1024", "negative_prompt": "people"});
    let (work, _) = studio.work("design.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!(
        (made.made, made.files[0].width, made.files[0].height),
        (1, 1820, 1024)
    );
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((60_000, "USD"))
    );
    let seen = &stand.asked("POST")[0];
    assert_eq!(seen.line, "POST /v1/image/generate/ideogram-4-5");
    assert!(seen.head.contains("api-key: sk-very-secret"));
    assert_eq!(
        seen.json(),
        json!({"async": true, "prompt": "a sign\nAvoid: people", "num_images": 2, "aspect_ratio": "16x9", "private": true})
    );
}

#[tokio::test]
async fn each_operation_has_its_route_and_masks_are_black_where_to_work() {
    let (stand, studio) = (press(), Studio::new());
    let worker = stand.worker("ideogram", Value::Null);
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let mut half = Picture::filled(64, 64, [0, 0, 0, 255]);
    half.pasted(&Picture::filled(32, 64, [255; 4]), 0, 0);
    let mask = studio.host("m.png", &half);
    for (operation, body, line) in [
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.25}),
            "remix/ideogram-3",
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x", "negative_prompt": "people"}),
            "inpaint/ideogram-3",
        ),
        (
            "design.replace_background",
            json!({"image": image, "prompt": "x"}),
            "replace-background/ideogram-3",
        ),
        (
            "design.remove_background",
            json!({"image": image}),
            "remove-background/ideogram-3",
        ),
        (
            "design.crisp_upscale",
            json!({"image": image}),
            "upscale/ideogram-3",
        ),
    ] {
        let (work, _) = studio.work(operation, &body, None);
        ticket(&worker, work)
            .await
            .unwrap_or_else(|fault| panic!("{operation}: {fault:?}"));
        let seen = stand.asked("POST").last().expect("a call").clone();
        assert_eq!(seen.line, format!("POST /v1/image/{line}"));
        assert!(seen.part("image").is_some(), "{operation}");
        match operation {
            "design.image_to_image" => assert_eq!(seen.text("image_weight").as_deref(), Some("75")),
            "design.inpaint" => {
                let sent = decode(&seen.part("mask").expect("a mask"), Limits::default())
                    .expect("a picture");
                assert_eq!((sent.pixel(5, 5)[0], sent.pixel(60, 5)[0]), (0, 255));
                assert_eq!(seen.text("negative_prompt").as_deref(), Some("people"));
            }
            _ => {}
        }
    }
    assert!(!worker.serves("design.vectorize") && !worker.serves("artgen.imagine"));
    let full = studio.host("f.png", &Picture::filled(64, 64, [255; 4]));
    let (work, _) = studio.work(
        "design.inpaint",
        &json!({"image": image, "mask": full, "prompt": "x"}),
        None,
    );
    let fault = ticket(&worker, work).await.expect_err("one colour");
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::Unable, Some("mask"))
    );
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "ideogram",
        settings: Value::Null,
        operation: "design.generations",
        body: json!({"prompt": "x"}),
    };
    let error = |reason: &str| json!({"error": "It failed", "reject_reason": reason});
    story
        .refusals(vec![
            (
                status(400, &json!({"error": "bad ratio"})),
                Class::BadRequest,
            ),
            (status(401, &json!({"error": "x"})), Class::Dead),
            (status(402, &error("insufficient_funds")), Class::Quota),
            (status(402, &error("subscription_required")), Class::Quota),
            (
                status(422, &json!({"error": "Prompt failed the safety check"})),
                Class::Reject,
            ),
            (status(429, &error("inflight_limit")), Class::Rate),
            (status(429, &error("daily_limit")), Class::Rate),
            (status(500, &json!({"error": "x"})), Class::Retry),
        ])
        .await;
    let ended = |body: Value| answer(&body);
    let endings = vec![
        (
            ended(json!({"status": "failed", "failure_reason": "It broke"})),
            Class::Retry,
            true,
        ),
        (
            ended(json!({"status": "failed", "failure_reason": "Safety check failed"})),
            Class::Reject,
            true,
        ),
        (
            ended(json!({"status": "completed", "data": [{"url": null, "is_image_safe": false}]})),
            Class::Reject,
            true,
        ),
        (status(404, &json!({"error": "x"})), Class::Gone, true),
        (status(429, &error("inflight_limit")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story
        .endings(&json!({"tasks": [{"id": "g1"}]}), endings)
        .await;
    let refused = worker(
        "ideogram",
        "http://127.0.0.1:9",
        json!({"models": {"design.vectorize": "x"}}),
    );
    assert!(
        refused
            .err()
            .is_some_and(|error| error.to_string().contains("design.vectorize"))
    );
}

#[tokio::test]
async fn further_pictures_are_references_and_precise_edit_takes_a_mask() {
    let (stand, studio) = (press(), Studio::new());
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let other = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    let mut half = Picture::filled(64, 64, [0, 0, 0, 255]);
    half.pasted(&Picture::filled(32, 64, [0; 4]), 0, 0);
    let mask = studio.host("m.png", &half);
    let sent = async |settings: Value, body: Value| {
        let (work, _) = studio.work("imgmodel.edits", &body, None);
        let worker = stand.worker("ideogram", settings);
        ticket(&worker, work).await.expect("a ticket");
        stand.asked("POST").last().expect("a call").clone()
    };
    let body = json!({"model": "image-1", "prompt": "x", "image": [image, other]});
    let seen = sent(Value::Null, body).await;
    assert_eq!(seen.line, "POST /v1/image/precise-edit/ideogram-4-5");
    let names: Vec<_> = seen.parts().into_iter().map(|(name, _)| name).collect();
    let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
    assert_eq!(
        (count("image"), count("reference_images"), count("images")),
        (1, 1, 0)
    );

    let body = json!({"model": "image-1", "prompt": "x", "image": [image, other], "mask": mask});
    let seen = sent(Value::Null, body.clone()).await;
    assert_eq!(seen.line, "POST /v1/image/precise-edit/ideogram-4-5");
    assert!(seen.part("mask").is_some() && seen.part("reference_images").is_some());
    let older = json!({"models": {"imgmodel.edits": "ideogram-3"}});
    let alone = json!({"model": "image-1", "prompt": "x", "image": [image], "mask": mask});
    assert_eq!(
        sent(older, alone).await.line,
        "POST /v1/image/inpaint/ideogram-3"
    );
}
