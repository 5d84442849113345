//! cog's predictions, against a server that speaks its format; `cog_real` has the program itself.

use atelier_backends::Class;
use atelier_backends::backend::LostSubmit;
use atelier_media::Picture;
use serde_json::json;

use crate::hosted::cog_settings as settings;
use crate::stand::{Stand, base64, json as answer, made, png, status, worker};
use crate::studio::Studio;

/// A model that paints.
fn painter() -> Stand {
    Stand::new(|seen| match seen.line.split(' ').next() {
        Some("PUT") => {
            let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
            answer(
                &json!({"id": "x", "status": "succeeded", "output": [format!("data:image/png;base64,{picture}")],
                "metrics": {"predict_time": 2.5}, "logs": ""}),
            )
        }
        _ if seen.line == "GET /v1/health-check" => answer(&json!({"status": "READY"})),
        _ if seen.line == "GET /v1/openapi.json" => answer(&json!({"components": {"schemas": {
            "Input": {"properties": {"prompt": {}, "width": {}, "height": {}, "image": {}}}}}})),
        _ => status(404, &json!({"detail": "Not Found"})),
    })
}

#[tokio::test]
async fn a_prediction_is_made_in_the_call_and_its_file_is_in_the_answer() {
    let (stand, studio) = (painter(), Studio::new());
    let worker = stand.worker("cog", settings());
    worker.probe().await.expect("well");
    assert_eq!(worker.lost_submit(), LostSubmit::Repeat);
    assert!(worker.serves("imgmodel.chat") && !worker.serves("facegen.swap"));
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "a door"}), None);
    let attempt = work.attempt_id.clone();
    let made = made(&worker, work).await.expect("a picture");
    assert_eq!((made.files.len(), made.files[0].width), (1, 1024));
    let cost = made.cost.map(|cost| (cost.micros, cost.currency));
    assert_eq!(cost, Some((2_500_000, "seconds")));
    let sent = &stand.asked("PUT")[0];
    assert_eq!(sent.line, format!("PUT /v1/predictions/{attempt}-0"));
    assert_eq!(sent.json()["input"]["prompt"], "a door");
}

#[tokio::test]
async fn pictures_go_along_and_a_place_for_them_is_needed() {
    let (stand, studio) = (painter(), Studio::new());
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let input = json!({"prompt": "{{prompt}}", "image": "{{image}}"});
    let settings = json!({"models": {"imgmodel.chat": {"model": "painter", "input": input}}});
    let worker = stand.worker("cog", settings);
    let body = json!({"prompt": "x", "referImages": [image]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    made(&worker, work).await.expect("a picture");
    let sent = stand.asked("PUT")[0].json();
    let image = sent["input"]["image"].as_str().expect("a picture");
    assert!(image.starts_with("data:image/"), "{image:.30}");
}

#[tokio::test]
async fn what_the_server_says_of_itself_is_told() {
    let studio = Studio::new();
    for (reply, class) in [
        (
            status(409, &json!({"detail": "Already running a prediction"})),
            Class::Rate,
        ),
        (
            status(
                503,
                &json!({"error": "Setup has not finished yet", "status": "failed"}),
            ),
            Class::Retry,
        ),
        (
            status(
                422,
                &json!({"detail": [{"loc": ["body", "input", "prompt"], "msg": "field required"}]}),
            ),
            Class::BadRequest,
        ),
        (
            answer(&json!({"id": "x", "status": "failed", "error": "CUDA out of memory"})),
            Class::Retry,
        ),
        (
            answer(&json!({"id": "x", "status": "failed", "error": "NSFW content detected"})),
            Class::Reject,
        ),
        (
            answer(&json!({"id": "x", "status": "succeeded", "output": "words alone"})),
            Class::Gone,
        ),
        (
            answer(&json!({"id": "x", "status": "pondering"})),
            Class::Retry,
        ),
    ] {
        let stand = Stand::always(reply.clone());
        let worker = stand.worker("cog", settings());
        let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
        let fault = made(&worker, work).await.expect_err("a fault");
        assert_eq!(fault.class, class, "{}", fault.detail);
    }
    for (health, well) in [
        ("READY", true),
        ("BUSY", true),
        ("STARTING", false),
        ("SETUP_FAILED", false),
    ] {
        let stand = Stand::always(answer(&json!({"status": health})));
        let probed = stand.worker("cog", settings()).probe().await;
        assert_eq!(probed.is_ok(), well, "{health}");
    }
}

#[test]
fn a_model_of_ones_own_needs_a_mapping() {
    let error = worker("cog", "http://127.0.0.1:9", json!({})).err();
    let error = error.expect("refused").to_string();
    assert!(error.starts_with("models"), "{error}");
}
