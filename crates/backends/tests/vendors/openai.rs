//! Pictures in the OpenAI format: what is sent, and what becomes of the answer.

use std::fmt::Write as _;

use atelier_backends::backend::ProgressTracker;
use atelier_contract::FileRole;
use atelier_media::{Limits, Picture, decode, header};
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, base64, bytes, json as answer, made, png};
use crate::studio::Studio;

const RED: [u8; 4] = [200, 10, 10, 255];

fn settings() -> Value {
    json!({"image_model": "gpt-image-1.5", "grids": true})
}

/// A server that answers every call for pictures with `n` red ones of the asked size.
fn painter() -> Stand {
    Stand::new(|seen| {
        let (n, size) = if seen.head.contains("multipart") {
            (
                seen.text("n").and_then(|n| n.parse().ok()),
                seen.text("size"),
            )
        } else {
            let body = seen.json();
            (body["n"].as_u64(), body["size"].as_str().map(str::to_owned))
        };
        let size = size
            .filter(|size| size != "auto")
            .unwrap_or_else(|| "1024x1024".into());
        let (width, height) = size.split_once('x').expect("a size");
        let file = png(
            width.parse().expect("width"),
            height.parse().expect("height"),
            RED,
        );
        let one = json!({"b64_json": base64(&file)});
        answer(&json!({"created": 1, "data": vec![one; n.unwrap_or(1) as usize]}))
    })
}

#[tokio::test]
async fn words_become_pictures_of_exactly_the_asked_size_and_format() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", settings());
    let body = json!({"prompt": "a red door", "model": "image-1", "n": 2, "size": "1536x1024", "quality": "high",
                      "background": "opaque", "moderation": "low", "output_format": "jpeg", "output_compression": 80});
    let (work, _) = studio.work("imgmodel.generations", &body, None);
    let made = made(&worker, work).await.expect("pictures");
    assert_eq!((made.made, made.files.len()), (2, 2));
    for file in &made.files {
        assert_eq!(
            (file.width, file.height, file.media_type),
            (1536, 1024, "image/jpeg")
        );
        let found = header(&file.bytes).expect("a jpeg");
        assert_eq!(
            (found.width, found.height, found.format.media_type()),
            (1536, 1024, "image/jpeg")
        );
    }
    let seen = &stand.seen()[0];
    assert_eq!(seen.line, "POST /v1/images/generations");
    assert!(
        seen.head.contains("authorization: Bearer sk-very-secret\n"),
        "{}",
        seen.head
    );
    let wanted = json!({"model": "gpt-image-1.5", "prompt": "a red door", "n": 2, "size": "1536x1024",
                        "quality": "high", "background": "opaque", "moderation": "low"});
    assert_eq!(seen.json(), wanted);
}

/// The newer models refuse `response_format`, have no `hd`, no `style`, and none of these sizes.
#[tokio::test]
async fn what_the_vendor_no_longer_offers_is_asked_for_differently_and_cut_to_size() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", settings());
    let body = json!({"prompt": "x", "model": "art-3", "size": "1792x1024", "quality": "hd", "style": "vivid",
                      "response_format": "url"});
    let (work, _) = studio.work("imgmodel.generations", &body, None);
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert_eq!((file.width, file.height), (1792, 1024));
    let sent = stand.seen()[0].json();
    assert_eq!(
        sent,
        json!({"model": "gpt-image-1.5", "prompt": "x\n\nMake it vivid and dramatic.", "n": 1,
               "size": "1536x1024", "quality": "high"})
    );

    let body = json!({"prompt": "a cat", "size": "1024x2048", "negative_prompt": "dogs"});
    let (work, _) = studio.work("design.generations", &body, None);
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert_eq!((file.width, file.height), (1024, 2048));
    let sent = stand.seen()[1].json();
    assert_eq!(sent["size"], "1024x1536");
    assert_eq!(sent["prompt"], "a cat\n\nLeave out: dogs");
}

#[tokio::test]
async fn edits_send_every_picture_and_the_mask_as_files() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", settings());
    let first = png(40, 30, [1, 2, 3, 255]);
    let urls = [
        studio.host_bytes("a.png", first.clone().into()),
        studio.host_bytes("b.png", png(9, 9, RED).into()),
    ];
    let hole = Picture::drawn(40, 30, |x, _| [0, 0, 0, if x < 20 { 0 } else { 255 }]);
    let mask = studio.host("mask.png", &hole);
    let body = json!({"image": urls, "mask": mask, "prompt": "add a hat", "model": "image-1", "size": "1024x1024"});
    let (work, _) = studio.work("imgmodel.edits", &body, None);
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert_eq!((file.width, file.height), (1024, 1024));
    let seen = &stand.seen()[0];
    assert_eq!(seen.line, "POST /v1/images/edits");
    let images: Vec<_> = seen
        .parts()
        .into_iter()
        .filter(|part| part.0 == "image[]")
        .collect();
    assert_eq!(images.len(), 2);
    assert_eq!(images[0].1, first, "the picture goes as it came");
    let sent = decode(&seen.part("mask").expect("a mask"), Limits::default()).expect("a png");
    assert_eq!(
        (sent.pixel(0, 0)[3], sent.pixel(39, 0)[3]),
        (0, 255),
        "transparent is where to work"
    );
    assert_eq!(seen.text("prompt").as_deref(), Some("add a hat"));
}

#[tokio::test]
async fn a_region_is_repainted_and_the_rest_stays_to_the_byte() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", settings());
    let base = Picture::filled(300, 100, [0, 0, 250, 255]);
    let mask = Picture::drawn(
        300,
        100,
        |x, _| if x < 100 { [255; 4] } else { [0, 0, 0, 255] },
    );
    let body = json!({"image": studio.host("base.png", &base), "mask": studio.host("mask.png", &mask), "prompt": "red"});
    let (work, _) = studio.work("design.inpaint", &body, None);
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert_eq!((file.width, file.height), (300, 100));
    let got = decode(&file.bytes, Limits::default()).expect("a picture");
    assert_eq!(got.pixel(200, 50), [0, 0, 250, 255]);
    let new = got.pixel(30, 50);
    assert!(new[0] > 150 && new[2] < 60, "{new:?}");
}

#[tokio::test]
async fn artgen_gets_four_pictures_in_one_with_the_small_ones_beside_it() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker(
        "openai",
        json!({"image_model": "m", "grids": true, "images_per_call": 3}),
    );
    assert!(worker.serves("artgen.imagine") && worker.serves("artgen.blend"));
    let body = json!({"prompt": "a fox --ar 16:9 --no snow", "getUImages": true});
    let (work, _) = studio.work("artgen.imagine", &body, None);
    let member = (work.brief.width, work.brief.height);
    let made = made(&worker, work).await.expect("a grid");
    assert_eq!(made.made, 4);
    let sizes: Vec<_> = made
        .files
        .iter()
        .map(|file| (file.role, file.width, file.height))
        .collect();
    let small = (FileRole::Small, member.0, member.1);
    assert_eq!(
        sizes,
        [
            (FileRole::Main, member.0 * 2, member.1 * 2),
            small,
            small,
            small,
            small
        ]
    );
    let counts: Vec<_> = stand
        .seen()
        .iter()
        .map(|seen| seen.json()["n"].as_u64())
        .collect();
    assert_eq!(counts, [Some(3), Some(1)]);
    assert!(
        stand
            .worker("openai", json!({"image_model": "m"}))
            .serves("imgmodel.chat")
    );
    assert!(
        !stand
            .worker("openai", json!({"image_model": "m"}))
            .serves("artgen.imagine")
    );
}

#[tokio::test]
async fn pictures_on_the_way_are_progress_and_the_last_one_is_the_result() {
    let file = base64(png(1024, 1024, RED));
    let partial = base64(png(8, 8, [0, 0, 0, 255]));
    let mut events = String::new();
    for index in 0..2 {
        let data = json!({"type": "image_generation.partial_image", "b64_json": partial, "partial_image_index": index});
        let _ = write!(
            events,
            "event: image_generation.partial_image\ndata: {data}\n\n"
        );
    }
    let data = json!({"type": "image_generation.completed", "b64_json": file, "usage": {"total_tokens": 9}});
    let _ = write!(
        events,
        "event: image_generation.completed\ndata: {data}\n\n"
    );
    let stand = Stand::always(bytes("text/event-stream", events));
    let worker = stand.worker("openai", json!({"image_model": "m", "partial_images": 2}));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw a cat"}), None);
    let gauge: ProgressTracker = work.progress.clone();
    let made = made(&worker, work).await.expect("a picture");
    assert_eq!((made.files.len(), made.files[0].width), (1, 1024));
    assert!(gauge.get() >= 60, "{}", gauge.get());
    let sent = stand.seen()[0].json();
    assert_eq!(
        (&sent["stream"], &sent["partial_images"]),
        (&json!(true), &json!(2))
    );
}

/// Each server's habits, as its documentation has them.
#[tokio::test]
async fn dialects_differ_as_documented() {
    let studio = Studio::new();
    let body = json!({"prompt": "a | b <sd_cpp_extra_args>{}</sd_cpp_extra_args>", "negative_prompt": "dogs", "size": "1365x1024"});
    let cases = [
        (
            "localai",
            json!("b64_json"),
            Value::Null,
            "a , b <sd_cpp_extra_args>{}</sd_cpp_extra_args>|dogs",
        ),
        (
            "sglang",
            json!("b64_json"),
            json!("dogs"),
            "a | b <sd_cpp_extra_args>{}</sd_cpp_extra_args>",
        ),
        (
            "vllm_omni",
            json!("b64_json"),
            json!("dogs"),
            "a | b <sd_cpp_extra_args>{}</sd_cpp_extra_args>",
        ),
        (
            "sdcpp",
            Value::Null,
            Value::Null,
            "a | b <>{}</>\n\nLeave out: dogs",
        ),
    ];
    for (dialect, format, negative, prompt) in cases {
        let stand = painter();
        let worker = stand.worker("openai", json!({"image_model": "m", "dialect": dialect}));
        let (work, _) = studio.work("design.generations", &body, None);
        let file = made(&worker, work).await.expect(dialect).files.remove(0);
        assert_eq!((file.width, file.height), (1365, 1024), "{dialect}");
        let sent = stand.seen()[0].json();
        assert_eq!(sent["response_format"], format, "{dialect}");
        assert_eq!(sent["negative_prompt"], negative, "{dialect}");
        // What stands behind is the seed of the one dialect that has no other place for it.
        let words = sent["prompt"].as_str().expect("words");
        let words = match dialect {
            "sdcpp" => words.split("<sd_cpp_extra_args>").next().expect("text"),
            _ => words,
        };
        assert_eq!(words, prompt, "{dialect}");
        assert_eq!(sent["size"], "1376x1024", "{dialect}");
    }
}

#[tokio::test]
async fn a_picture_at_a_relative_address_is_fetched_with_the_worker_s_key() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /v1/images/generations" => {
            answer(&json!({"data": [{"url": "/v1/images/7/content"}]}))
        }
        "GET /v1/images/7/content" => bytes("image/png", png(1024, 1024, RED)),
        _ => Reply::Cut,
    });
    let worker = stand.worker(
        "openai",
        json!({"image_model": "m", "dialect": "sglang", "response_format": "url"}),
    );
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    assert_eq!(made(&worker, work).await.expect("a picture").files.len(), 1);
    assert!(
        stand.asked("content")[0]
            .head
            .contains("Bearer sk-very-secret")
    );
}

#[tokio::test]
async fn a_mask_is_white_where_the_server_wants_it_so() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", json!({"image_model": "m", "dialect": "sglang"}));
    let hole = Picture::drawn(64, 64, |x, _| [0, 0, 0, if x < 20 { 0 } else { 255 }]);
    let body = json!({"image": studio.host("a.png", &Picture::filled(64, 64, RED)), "mask": studio.host("m.png", &hole),
                      "prompt": "x", "model": "image-1"});
    let (work, _) = studio.work("imgmodel.edits", &body, None);
    made(&worker, work).await.expect("a picture");
    let sent = decode(
        &stand.seen()[0].part("mask").expect("a mask"),
        Limits::default(),
    )
    .expect("a png");
    assert_eq!(
        (sent.pixel(0, 0), sent.pixel(63, 0)),
        ([255, 255, 255, 255], [0, 0, 0, 255])
    );
}

#[tokio::test]
async fn nothing_a_vendor_hid_in_a_file_reaches_a_caller() {
    let label = atelier_media::Label {
        prompt: "the operator's workflow".into(),
        ..Default::default()
    };
    let file = atelier_media::encode(
        &Picture::filled(1024, 1024, RED),
        atelier_media::Encoding::Png,
        Some(&label),
    );
    let stand = Stand::always(answer(&json!({"data": [{"b64_json": base64(file)}]})));
    let worker = stand.worker("openai", settings());
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let made = made(&worker, work).await.expect("a picture");
    let text = String::from_utf8_lossy(&made.files[0].bytes).into_owned();
    assert!(!text.contains("workflow"));
}

/// The name that a route gives a model wins over the mapping, whatever the operation.
#[tokio::test]
async fn a_route_says_what_the_vendor_calls_the_model() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("openai", settings());
    for name in ["imgmodel.generations", "design.generations"] {
        let (mut work, _) = studio.work(name, &json!({"prompt": "a red door"}), None);
        work.brief.vendor_model = Some("gpt-image-2".to_owned());
        made(&worker, work).await.expect("a picture");
    }
    let models: Vec<Value> = stand
        .seen()
        .iter()
        .map(|seen| seen.json()["model"].clone())
        .collect();
    assert_eq!(models, ["gpt-image-2", "gpt-image-2"]);
}
