//! Servers that have OpenAI's path and fields of their own, each as its documents say.

use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Stand, base64, bytes, json as answer, made, png, worker};
use crate::studio::Studio;

fn server(key: &'static str) -> Stand {
    Stand::new(move |seen| match &*seen.line {
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        _ if key == "images" => {
            answer(&json!({"images": [{"url": seen.here("/a.png")}], "timings": {}, "seed": 1}))
        }
        _ => answer(
            &json!({"data": [{"index": 0, "b64_json": base64(png(1024, 1024, [9, 99, 9, 255]))}]}),
        ),
    })
}

/// What is sent for a request with all that has another name.
async fn sent(settings: &Value, key: &'static str) -> Value {
    let (stand, studio) = (server(key), Studio::new());
    let worker = stand.worker("openai", settings.clone());
    let body = json!({"prompt": "a fox", "negative_prompt": "people", "size": "1536x1024", "n": 1});
    let (mut work, _) = studio.work("design.generations", &body, None);
    work.brief.seed = Some(7);
    let output = made(&worker, work).await.expect("a picture");
    assert_eq!(
        (output.files[0].width, output.files[0].height),
        (1536, 1024)
    );
    stand.asked("POST /v1/images/generations")[0].json()
}

#[tokio::test]
async fn together_takes_sides_and_steps() {
    let settings = json!({
        "image_model": "black-forest-labs/FLUX.1-schnell", "response_format": "base64", "negative": "field",
        "rename": {"size": "width,height", "seed": "seed"}, "fields": {"steps": 4},
    });
    assert_eq!(
        sent(&settings, "data").await,
        json!({"model": "black-forest-labs/FLUX.1-schnell", "prompt": "a fox", "negative_prompt": "people", "n": 1,
            "width": 1536, "height": 1024, "response_format": "base64", "seed": 7, "steps": 4})
    );
}

#[tokio::test]
async fn siliconflow_takes_an_image_size_and_a_batch_and_answers_images() {
    let settings = json!({
        "image_model": "Qwen/Qwen-Image", "negative": "field", "inline_image": "image",
        "rename": {"size": "image_size", "n": "batch_size", "seed": "seed"},
    });
    assert_eq!(
        sent(&settings, "images").await,
        json!({"model": "Qwen/Qwen-Image", "prompt": "a fox", "negative_prompt": "people", "batch_size": 1,
            "image_size": "1536x1024", "seed": 7})
    );
    let (stand, studio) = (server("images"), Studio::new());
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"prompt": "draw it", "referImages": [image]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    made(&stand.worker("openai", settings), work)
        .await
        .expect("a picture");
    let order = &stand.asked("POST /v1/images/generations")[0];
    assert!(
        order.json()["image"]
            .as_str()
            .is_some_and(|uri| uri.starts_with("data:image/png;base64,"))
    );
}

#[tokio::test]
async fn deepinfra_takes_the_usual_fields_but_a_quality() {
    let settings = json!({
        "image_model": "black-forest-labs/FLUX-1-dev", "response_format": "b64_json", "rename": {"quality": ""},
    });
    let sent = sent(&settings, "data").await;
    assert_eq!(
        (&sent["size"], &sent["response_format"], sent.get("seed")),
        (&json!("1536x1024"), &json!("b64_json"), None)
    );
}

#[test]
fn a_name_that_is_none_is_refused() {
    let refused = worker(
        "openai",
        "http://127.0.0.1:9",
        json!({"image_model": "m", "rename": {"sise": "a"}}),
    );
    let error = refused.err().expect("refused");
    assert_eq!(error.field, "rename.sise");
}
