//! Recraft's design operations, against a server that speaks its format.

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::described::{both, described};
use crate::stand::{Reply, Stand, bytes, json as answer, made, png, status};
use crate::story::Story;
use crate::studio::{Studio, photo};

const DRAWING: &str =
    r#"<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><path d="M0 0h9"/></svg>"#;

fn workshop() -> Stand {
    Stand::new(|seen| {
        let item = |path: &str| json!({"image_id": "i", "url": seen.here(path)});
        match &*seen.line {
            "GET /drawing" => bytes("image/svg+xml", DRAWING),
            "GET /picture" => bytes("image/png", png(1365, 1024, [9, 99, 9, 255])),
            "GET /v1/users/me" => answer(&json!({"credits": 1000})),
            "POST /v1/images/vectorize" => {
                answer(&json!({"created": 1, "credits": 10, "image": item("/drawing")}))
            }
            line if line.ends_with("Upscale") || line.ends_with("removeBackground") => {
                answer(&json!({"created": 1, "credits": 4, "image": item("/picture")}))
            }
            line if line.starts_with("POST /v1/images/") => {
                let count = seen.json()["n"].as_u64().unwrap_or(1);
                let all: Vec<Value> = (0..count).map(|_| item("/picture")).collect();
                answer(&json!({"created": 1, "credits": 40, "data": all}))
            }
            _ => Reply::Cut,
        }
    })
}

/// Each operation with a request, and the path it goes to.
fn operations(image: &str, mask: &str) -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "design.generations",
            json!({"prompt": "a fox", "n": 2, "size": "1365x1024", "negative_prompt": "people"}),
            "generations",
        ),
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.25}),
            "imageToImage",
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x", "model": "designv2"}),
            "inpaint",
        ),
        (
            "design.replace_background",
            json!({"image": image, "prompt": "x"}),
            "replaceBackground",
        ),
        ("design.vectorize", json!({"image": image}), "vectorize"),
        (
            "design.remove_background",
            json!({"image": image}),
            "removeBackground",
        ),
        (
            "design.crisp_upscale",
            json!({"image": image}),
            "crispUpscale",
        ),
        (
            "design.creative_upscale",
            json!({"image": image}),
            "creativeUpscale",
        ),
    ]
}

#[tokio::test]
async fn all_eight_operations_are_served_with_the_documented_bodies() {
    for (vendor, settings) in both("recraft") {
        all_eight(vendor, settings).await;
    }
}

async fn all_eight(vendor: &str, settings: Value) {
    let (stand, studio) = (workshop(), Studio::new());
    let worker = stand.worker(vendor, settings);
    let image = studio.host("a.png", &photo(256, 256, 90));
    let mask = studio.host("m.png", &Picture::filled(256, 256, [255; 4]));
    for (operation, body, path) in operations(&image, &mask) {
        assert!(worker.serves(operation), "{operation}");
        let (work, _) = studio.work(operation, &body, None);
        let made = made(&worker, work)
            .await
            .unwrap_or_else(|fault| panic!("{operation}: {fault:?}"));
        assert!(
            made.cost.is_some_and(|cost| cost.currency == "USD"),
            "{operation}"
        );
        let sent = stand.asked(&format!("POST /v1/images/{path}"))[0].json();
        match operation {
            "design.generations" => {
                assert_eq!(
                    (made.made, made.files[1].width, made.files[1].height),
                    (2, 1365, 1024)
                );
                assert_eq!(
                    sent,
                    json!({"response_format": "url", "prompt": "a fox", "model": "recraftv3", "n": 2, "size": "1365x1024",
                        "negative_prompt": "people", "image_format": "png"})
                );
            }
            "design.image_to_image" => {
                assert_eq!(sent["strength"], 0.25);
                assert_eq!((made.files[0].width, made.files[0].height), (256, 256));
            }
            "design.inpaint" => {
                assert_eq!(sent["model"], "recraftv2");
                assert!(
                    sent["mask_url"]
                        .as_str()
                        .is_some_and(|uri| uri.starts_with("data:image/png;base64,"))
                );
            }
            "design.vectorize" => {
                let file = &made.files[0];
                assert_eq!(
                    (file.media_type, file.width, file.height),
                    ("image/svg+xml", 64, 48)
                );
                assert!(sent.get("prompt").is_none() && sent.get("model").is_none());
            }
            "design.crisp_upscale" => assert_eq!(made.files[0].width, 1365),
            _ => {}
        }
    }
    assert!(!worker.serves("artgen.imagine") && !worker.serves("clipgen.generations"));
    assert!(
        stand.seen()[0]
            .head
            .contains("authorization: Bearer sk-very-secret")
    );
}

/// The description of Recraft for its newer models.
fn newer() -> Value {
    let mut settings = described("recraft");
    let sizes = ["1024x1024", "1536x768", "768x1536", "1344x768", "768x1344"];
    for entry in settings["models"]
        .as_object_mut()
        .expect("a table")
        .values_mut()
    {
        entry["model"] = json!("recraftv4_1");
        if entry.get("sizes").is_some() {
            entry["sizes"] = json!(sizes);
        }
    }
    let fields = &mut settings["calls"]["draw"]["submit"]["json"];
    fields
        .as_object_mut()
        .expect("a body")
        .remove("negative_prompt");
    settings
}

#[tokio::test]
async fn newer_models_have_their_own_sizes_and_no_negative_prompt() {
    for (vendor, settings) in [
        ("recraft", json!({"models": {"*": "recraftv4_1"}})),
        ("http", newer()),
    ] {
        newer_sizes(vendor, settings).await;
    }
}

async fn newer_sizes(vendor: &str, settings: Value) {
    let (stand, studio) = (workshop(), Studio::new());
    let worker = stand.worker(vendor, settings);
    let body = json!({"prompt": "a fox", "size": "1820x1024", "negative_prompt": "people"});
    let (work, _) = studio.work("design.generations", &body, None);
    let made = made(&worker, work).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1820, 1024));
    let sent = stand.asked("generations")[0].json();
    assert_eq!(
        (&sent["size"], &sent["prompt"]),
        (&json!("1344x768"), &json!("a fox\nAvoid: people"))
    );
    assert!(sent.get("negative_prompt").is_none());
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    for (vendor, settings) in both("recraft") {
        refusals(vendor, settings).await;
    }
}

async fn refusals(vendor: &'static str, settings: Value) {
    let story = Story {
        vendor,
        settings,
        operation: "design.generations",
        body: json!({"prompt": "x"}),
    };
    let error = |code: &str, text: &str| json!({"code": code, "message": text});
    story
        .refusals(vec![
            (
                status(400, &error("invalid_size", "bad size")),
                Class::BadRequest,
            ),
            (status(400, &error("nsfw_prompt", "x")), Class::Reject),
            (
                status(400, &error("x", "Rejected by moderation")),
                Class::Reject,
            ),
            (
                status(400, &error("not_enough_credits", "not enough credits")),
                Class::Quota,
            ),
            (status(401, &error("unauthorized", "x")), Class::Dead),
            (status(402, &error("x", "x")), Class::Quota),
            (status(403, &error("x", "x")), Class::Dead),
            (status(413, &error("x", "too large")), Class::BadRequest),
            (status(429, &error("x", "x")), Class::Rate),
            (status(500, &error("x", "x")), Class::Retry),
        ])
        .await;
}
