//! Anime pictures, against a server that speaks NovelAI's format.

use atelier_backends::Class;
use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_media::{Limits, Picture, decode};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, bytes, json as answer, made, page, png, status, worker};
use crate::story::Story;
use crate::studio::{Studio, data_uri};

/// What archives keep of a file, and other programs look at.
fn checksum(bytes: &[u8]) -> u32 {
    let folded = bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    });
    !folded
}

/// An archive of stored files, as the vendor makes it.
pub(crate) fn archive(files: &[Vec<u8>]) -> Vec<u8> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (index, file) in files.iter().enumerate() {
        let name = format!("image_{index}.png");
        let begin = (all.len() as u32).to_le_bytes();
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(checksum(file).to_le_bytes());
        common.extend((file.len() as u32).to_le_bytes());
        common.extend((file.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        all.extend(b"PK\x03\x04");
        all.extend(&common);
        all.extend(name.bytes());
        all.extend(file);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(begin);
        directory.extend(name.bytes());
    }
    let begin = (all.len() as u32).to_le_bytes();
    let count = (files.len() as u16).to_le_bytes();
    let size = (directory.len() as u32).to_le_bytes();
    all.extend(directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    all.extend(count);
    all.extend(count);
    all.extend(size);
    all.extend(begin);
    all.extend([0, 0]);
    all
}

fn press() -> Stand {
    Stand::new(|seen| match &*seen.line {
        "POST /v1/ai/generate-image" => {
            let count = seen.json()["parameters"]["n_samples"].as_u64().unwrap_or(1);
            let one = png(1024, 1024, [9, 99, 9, 255]);
            let files: Vec<_> = (0..count).map(|_| one.clone()).collect();
            bytes("application/x-zip-compressed", archive(&files))
        }
        "POST /v1/ai/encode-vibe" => bytes("binary/octet-stream", b"\x01vibe".to_vec()),
        "GET /v1/user/subscription" => answer(&json!({"tier": 3})),
        _ => Reply::Cut,
    })
}

fn base64_of(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("base64");
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64")
}

#[tokio::test]
async fn pictures_come_in_an_archive_and_characters_have_places() {
    let (stand, studio) = (press(), Studio::new());
    let worker = stand.worker("novelai", Value::Null);
    worker.probe().await.expect("well");
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let body = json!({
        "prompt": "two girls", "model": "anime-diffusion-4-5-full", "n": 2, "width": 1000, "height": 1000, "seed": "42",
        "negative_prompt": "blurry", "sampler": "DPM++ 2M",
        "character_prompts": [{"prompt": "red hair", "uc": "hat", "center": {"x": 0.3, "y": 0.5}}, {"prompt": "blue hair"}],
    });
    let (work, _) = studio.work("animegen.text_to_image", &body, None);
    let made = made(&worker, work).await.expect("pictures");
    assert_eq!(
        (made.made, made.files[1].width, made.files[1].height),
        (2, 1000, 1000)
    );
    assert_eq!(made.seed.as_deref(), Some("42"));
    let seen = &stand.asked("generate-image")[0];
    assert!(seen.head.contains("authorization: Bearer sk-very-secret"));
    let sent = seen.json();
    assert_eq!(
        (&sent["model"], &sent["action"]),
        (&json!("nai-diffusion-4-5-full"), &json!("generate"))
    );
    assert_eq!(
        sent["input"],
        "two girls, very aesthetic, masterpiece, no text"
    );
    let parameters = &sent["parameters"];
    assert_eq!(
        (&parameters["width"], &parameters["height"]),
        (&json!(1024), &json!(1024))
    );
    assert_eq!(
        (&parameters["sampler"], &parameters["seed"]),
        (&json!("k_dpmpp_2m"), &json!(42))
    );
    assert_eq!(parameters["params_version"], 3);
    assert_eq!(parameters["use_coords"], true);
    assert_eq!(
        parameters["v4_prompt"]["caption"]["char_captions"][0],
        json!({"char_caption": "red hair", "centers": [{"x": 0.3, "y": 0.5}]})
    );
    assert_eq!(
        parameters["v4_negative_prompt"]["caption"]["char_captions"][0]["char_caption"],
        "hat"
    );
    assert_eq!(
        parameters["v4_negative_prompt"]["caption"]["base_caption"],
        "blurry"
    );
}

#[tokio::test]
async fn vibes_are_encoded_first_and_references_are_laid_out() {
    let (stand, studio) = (press(), Studio::new());
    let worker = stand.worker("novelai", Value::Null);
    let image = data_uri(&Picture::filled(100, 50, [200, 9, 9, 255]));
    let with = |more: Value| {
        let mut body = json!({"prompt": "x", "model": "anime-diffusion-4-5-full"});
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        studio.work("animegen.text_to_image", &body, None).0
    };
    let vibes = with(json!({"vibe_transfer": [{"image": image, "strength": 0.25}]}));
    made(&worker, vibes).await.expect("a picture");
    let vibe = stand.asked("encode-vibe")[0].json();
    assert_eq!(
        (&vibe["information_extracted"], &vibe["model"]),
        (&json!(1.0), &json!("nai-diffusion-4-5-full"))
    );
    let parameters = stand.asked("generate-image")[0].json()["parameters"].clone();
    assert_eq!(
        base64_of(&parameters["reference_image_multiple"][0]),
        b"\x01vibe"
    );
    assert_eq!(parameters["reference_strength_multiple"], json!([0.25]));

    let references = with(
        json!({"character_reference": [{"image": image, "type": "style", "strength": 0.5, "fidelity": 0.3}]}),
    );
    made(&worker, references).await.expect("a picture");
    let parameters = stand.asked("generate-image")[1].json()["parameters"].clone();
    let sheet = decode(
        &base64_of(&parameters["director_reference_images"][0]),
        Limits::default(),
    )
    .expect("a picture");
    assert_eq!((sheet.width, sheet.height), (1024, 1536));
    assert_eq!(
        (sheet.pixel(5, 5), sheet.pixel(512, 768)),
        ([0, 0, 0, 255], [200, 9, 9, 255])
    );
    assert_eq!(
        parameters["director_reference_descriptions"][0]["caption"]["base_caption"],
        "style"
    );
    assert_eq!(
        parameters["director_reference_strength_values"],
        json!([0.5])
    );
    assert_eq!(
        parameters["director_reference_secondary_strength_values"],
        json!([0.7]),
        "the other way round"
    );

    let both = with(
        json!({"vibe_transfer": [{"image": image}], "character_reference": [{"image": image}]}),
    );
    let fault = made(&worker, both).await.expect_err("not together");
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::Unable, Some("character_reference"))
    );
    let fifth = stand.worker("novelai", json!({"models": {"*": "nai-diffusion-5-full"}}));
    let vibes = with(json!({"vibe_transfer": [{"image": image}]}));
    let fault = made(&fifth, vibes).await.expect_err("no vibes there");
    assert_eq!(fault.field.as_deref(), Some("vibe_transfer"));
}

#[tokio::test]
async fn a_base_image_is_brought_to_the_ordered_size() {
    let (stand, studio) = (press(), Studio::new());
    let worker = stand.worker(
        "novelai",
        json!({"quality": {"nai-diffusion-4-5-curated": ""}}),
    );
    let body = json!({
        "image": data_uri(&Picture::filled(100, 50, [200, 9, 9, 255])), "prompt": "x", "model": "anime-diffusion-4-5-curated",
        "width": 832, "height": 1216, "strength": 0.4, "noise": 0.1,
    });
    let (work, _) = studio.work("animegen.image_to_image", &body, None);
    made(&worker, work).await.expect("a picture");
    let sent = stand.asked("generate-image")[0].json();
    assert_eq!(
        (&sent["action"], &sent["input"]),
        (&json!("img2img"), &json!("x"))
    );
    let parameters = &sent["parameters"];
    assert_eq!(
        (&parameters["strength"], &parameters["noise"]),
        (&json!(0.4), &json!(0.1))
    );
    let base = decode(&base64_of(&parameters["image"]), Limits::default()).expect("a picture");
    assert_eq!((base.width, base.height), (832, 1216));
}

#[tokio::test]
async fn every_refusal_has_its_class_and_json_is_no_archive() {
    let story = Story {
        vendor: "novelai",
        settings: Value::Null,
        operation: "animegen.text_to_image",
        body: json!({"prompt": "x", "model": "anime-diffusion-4-5-full"}),
    };
    let error = |code: u16| status(code, &json!({"statusCode": code, "message": "It failed"}));
    story
        .refusals(vec![
            (error(400), Class::BadRequest),
            (error(401), Class::Dead),
            (error(402), Class::Quota),
            (error(409), Class::Retry),
            (error(429), Class::Rate),
            (error(500), Class::Retry),
        ])
        .await;
    for reply in [
        answer(&json!({"message": "no"})),
        page(200),
        bytes("application/zip", b"PK\x05\x06".to_vec()),
    ] {
        let fault = story.refused(reply).await;
        assert_eq!(
            (fault.class, fault.taken),
            (Class::Retry, Acceptance::Perhaps),
            "{fault:?}"
        );
    }
    let refused = worker("novelai", "http://127.0.0.1:9", json!({"modles": {}}));
    assert!(
        refused
            .err()
            .is_some_and(|error| error.to_string().contains("modles"))
    );
}
