//! Stability's services, against a server that speaks their format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, base64, json as answer, made, page, png, polled, status, ticket};
use crate::story::Story;
use crate::studio::{Studio, photo};

fn services() -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| {
        let file = || base64(png(1024, 1024, [9, 99, 9, 255]));
        match &*seen.line {
            "POST /v1/v2beta/stable-image/upscale/creative" => answer(&json!({"id": "g1"})),
            line if line.starts_with("POST /v1/v2beta/stable-image/") => {
                answer(&json!({"image": file(), "finish_reason": "SUCCESS", "seed": 343_940_597}))
            }
            "GET /v1/v2beta/results/g1" => match polls.fetch_add(1, Ordering::SeqCst) {
                0 => status(202, &json!({"id": "g1", "status": "in-progress"})),
                _ => answer(&json!({"result": file(), "finish_reason": "SUCCESS", "seed": 1})),
            },
            "GET /v1/v1/user/balance" => answer(&json!({"credits": 25.5})),
            _ => Reply::Cut,
        }
    })
}

/// A request for each service with the path and the fields that it is sent.
fn wishes(
    image: &str,
    mask: &str,
) -> Vec<(
    &'static str,
    Value,
    &'static str,
    Vec<(&'static str, &'static str)>,
)> {
    vec![
        (
            "imgmodel.generations",
            json!({"prompt": "a fox", "model": "image-1", "size": "1536x1024"}),
            "generate/core",
            vec![
                ("prompt", "a fox"),
                ("aspect_ratio", "3:2"),
                ("output_format", "png"),
            ],
        ),
        (
            "design.generations",
            json!({"prompt": "a fox", "negative_prompt": "people"}),
            "generate/core",
            vec![("negative_prompt", "people"), ("aspect_ratio", "1:1")],
        ),
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.25}),
            "generate/ultra",
            vec![("strength", "0.25")],
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x"}),
            "edit/inpaint",
            vec![("grow_mask", "0")],
        ),
        (
            "design.remove_background",
            json!({"image": image}),
            "edit/remove-background",
            vec![],
        ),
        (
            "design.crisp_upscale",
            json!({"image": image}),
            "upscale/fast",
            vec![],
        ),
    ]
}

#[tokio::test]
async fn each_service_is_sent_its_form() {
    let (stand, studio) = (services(), Studio::new());
    let settings = json!({"models": {"design.image_to_image": "stable-image-ultra"}});
    let worker = stand.worker("stability", settings);
    let left = worker.probe().await.expect("well").expect("a balance");
    assert_eq!((left.micros, left.currency), (25_500_000, "credits"));
    let image = studio.host("a.png", &photo(256, 256, 90));
    let mask = studio.host("m.png", &Picture::filled(256, 256, [255; 4]));
    for (operation, body, path, fields) in wishes(&image, &mask) {
        let (work, _) = studio.work(operation, &body, None);
        let output = made(&worker, work).await;
        let output = output.unwrap_or_else(|fault| panic!("{operation}: {fault:?}"));
        assert!(!output.files.is_empty(), "{operation}");
        let asked = stand.asked("POST").pop().expect("a call");
        assert!(asked.line.ends_with(path), "{operation}: {}", asked.line);
        assert!(asked.head.contains("accept: application/json"));
        assert!(asked.head.contains("authorization: Bearer sk-very-secret"));
        for (name, value) in fields {
            assert_eq!(
                asked.text(name).as_deref(),
                Some(value),
                "{operation} {name}"
            );
        }
        let has_image = body.get("image").is_some();
        assert_eq!(asked.part("image").is_some(), has_image, "{operation}");
        assert_eq!(asked.part("mask").is_some(), operation.ends_with("inpaint"));
    }
}

#[tokio::test]
async fn the_models_of_the_third_generation_are_named_in_the_form() {
    let (stand, studio) = (services(), Studio::new());
    let worker = stand.worker("stability", json!({"image_model": "sd3.5-large"}));
    let image = studio.host("a.png", &photo(256, 256, 90));
    let body = json!({"image": image, "prompt": "x", "strength": 0.5});
    let (work, _) = studio.work("design.image_to_image", &body, None);
    made(&worker, work).await.expect("a picture");
    let asked = &stand.asked("POST")[0];
    assert!(asked.line.ends_with("generate/sd3"));
    let text = |name: &str| asked.text(name).unwrap_or_default();
    assert_eq!(
        (&*text("model"), &*text("mode")),
        ("sd3.5-large", "image-to-image")
    );
}

#[tokio::test]
async fn a_creative_upscale_is_waited_for() {
    let (stand, studio) = (services(), Studio::new());
    let worker = stand.worker("stability", Value::Null);
    let image = studio.host("a.png", &photo(2048, 2048, 90));
    let (work, _) = studio.work("design.creative_upscale", &json!({"image": image}), None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let sent = stand.asked("POST")[0].part("image").expect("a picture");
    let sent = atelier_media::header(&sent).expect("a header");
    assert!(sent.width * sent.height <= 1_048_576, "{sent:?}");
    let output = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!(output.files[0].width, 1024);
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "stability",
        settings: Value::Null,
        operation: "design.generations",
        body: json!({"prompt": "x"}),
    };
    let error = |name: &str, text: &str| json!({"id": "e", "name": name, "errors": [text]});
    story
        .refusals(vec![
            (status(400, &error("bad_request", "prompt: is too long")), Class::BadRequest),
            (status(401, &error("unauthorized", "The key is missing")), Class::Dead),
            (status(402, &error("payment_required", "You lack credits")), Class::Quota),
            (status(403, &error("content_moderation", "It was flagged")), Class::Reject),
            (status(403, &error("permission_denied", "no")), Class::Dead),
            (status(413, &error("payload_too_large", "no")), Class::BadRequest),
            (status(422, &error("invalid_language", "English only")), Class::BadRequest),
            (status(429, &error("rate_limit_exceeded", "150 in 10 s")), Class::Rate),
            (status(500, &error("internal_error", "x")), Class::Retry),
            (
                answer(&json!({"image": base64(png(8, 8, [0; 4])), "finish_reason": "CONTENT_FILTERED", "seed": 1})),
                Class::Reject,
            ),
        ])
        .await;
    let upscale = Story {
        operation: "design.creative_upscale",
        body: json!({"image": format!("data:image/png;base64,{}", base64(png(64, 64, [9; 4])))}),
        ..story
    };
    let endings = vec![
        (
            answer(&json!({"result": "", "finish_reason": "CONTENT_FILTERED"})),
            Class::Reject,
            true,
        ),
        (
            status(404, &error("not_found", "no such generation")),
            Class::Gone,
            true,
        ),
        (
            status(403, &error("content_moderation", "flagged")),
            Class::Reject,
            true,
        ),
        (
            status(429, &error("rate_limit_exceeded", "slow")),
            Class::Rate,
            false,
        ),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    upscale
        .endings(&json!({"tasks": [{"id": "g1"}]}), endings)
        .await;
}
