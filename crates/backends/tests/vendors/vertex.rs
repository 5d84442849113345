//! Gemini, Imagen and Veo at Vertex AI, against a server that speaks its format and gives the tokens.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::stand::{
    RecordedRequest, Reply, Stand, base64, credential, json as answer, made, page, png, polled,
    status, ticket, worker_with_key,
};
use crate::story::{Story, clip};
use crate::studio::Studio;

const PLACE: &str = "/v1/projects/painting/locations/global/publishers/google/models";

fn token() -> Reply {
    answer(
        &json!({"access_token": "ya29.passing-secret", "expires_in": 3599, "token_type": "Bearer"}),
    )
}

/// A worker account at the root of a server.
fn account(stand: &Stand, settings: Value) -> std::sync::Arc<dyn atelier_backends::Backend> {
    let key = credential("vertex", &stand.url(""));
    worker_with_key("vertex", &stand.url(""), &key, settings).expect("good settings")
}

fn google(seen: &RecordedRequest, polls: &AtomicUsize) -> Reply {
    let file = || base64(png(1024, 1024, [9, 99, 9, 255]));
    match &*seen.line {
        "POST /token" => token(),
        line if line.ends_with(":generateContent") => {
            answer(&json!({"candidates": [{"finishReason": "STOP",
            "content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": file()}}]}}]}))
        }
        line if line.ends_with(":predict") => answer(&json!({"predictions": [
            {"mimeType": "image/png", "bytesBase64Encoded": file()}]})),
        line if line.ends_with(":predictLongRunning") => answer(
            &json!({"name": "projects/painting/locations/global/publishers/google/models/veo/operations/o1"}),
        ),
        line if line.ends_with(":fetchPredictOperation") => {
            match polls.fetch_add(1, Ordering::SeqCst) {
                0 => answer(&json!({"name": "o1"})),
                _ => answer(
                    &json!({"name": "o1", "done": true, "response": {"raiMediaFilteredCount": 0, "videos": [
                {"mimeType": "video/mp4", "bytesBase64Encoded": base64(clip(128, 72))}]}}),
                ),
            }
        }
        line if line.contains("/models?pageSize=1") => answer(&json!({"models": []})),
        _ => Reply::Cut,
    }
}

fn server() -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| google(seen, &polls))
}

#[tokio::test]
async fn a_statement_of_the_account_is_exchanged_for_a_token_once() {
    let (stand, studio) = (server(), Studio::new());
    let worker = account(&stand, json!({}));
    worker.probe().await.expect("well");
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "draw a fox"}), None);
    made(&worker, work).await.expect("a picture");
    let asked = stand.asked("POST /token");
    assert_eq!(asked.len(), 1, "a token is good for an hour");
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&asked[0].body)
        .into_owned()
        .collect();
    assert_eq!(form[0].1, "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let parts: Vec<&str> = form[1].1.split('.').collect();
    let read = |part: &str| -> Value {
        let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64");
        serde_json::from_slice(&bytes).expect("JSON")
    };
    assert_eq!(
        read(parts[0]),
        json!({"alg": "RS256", "typ": "JWT", "kid": "k1"})
    );
    let claims = read(parts[1]);
    assert_eq!(claims["iss"], "painter@painting.iam.gserviceaccount.com");
    assert_eq!(claims["aud"], stand.url("/token"));
    let life = claims["exp"].as_u64().zip(claims["iat"].as_u64());
    assert_eq!(life.map(|(end, start)| end - start), Some(3600));
    let order = &stand.asked(":generateContent")[0];
    assert_eq!(
        order.line,
        format!("POST {PLACE}/gemini-3.1-flash-image:generateContent")
    );
    assert!(
        order
            .head
            .contains("authorization: Bearer ya29.passing-secret")
    );
    for seen in stand.seen() {
        let body = String::from_utf8_lossy(&seen.body).into_owned();
        assert!(!body.contains("PRIVATE KEY") && !seen.head.contains("PRIVATE KEY"));
    }
}

#[tokio::test]
async fn a_video_is_an_operation_that_is_asked_about() {
    let (stand, studio) = (server(), Studio::new());
    let worker = account(
        &stand,
        json!({"location": "us-central1", "project": "films"}),
    );
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": start, "modelName": "motion-v1"});
    let (work, _) = studio.work("motion.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let output = polled(&worker, &work, &paper).await.expect("a film");
    assert_eq!(output.files[0].media_type, "video/mp4");
    let order = &stand.asked(":predictLongRunning")[0];
    let place = "/v1/projects/films/locations/us-central1/publishers/google/models";
    assert_eq!(
        order.line,
        format!("POST {place}/veo-3.1-lite-generate-001:predictLongRunning")
    );
    let sent = order.json();
    assert_eq!(sent["instances"][0]["image"]["mimeType"], "image/jpeg");
    assert!(sent["instances"][0]["lastFrame"]["bytesBase64Encoded"].is_string());
    assert_eq!(
        sent["parameters"],
        json!({"sampleCount": 1, "durationSeconds": 6, "aspectRatio": "9:16", "resolution": "720p", "generateAudio": false})
    );
    let question = &stand.asked(":fetchPredictOperation")[0];
    assert!(
        question.json()["operationName"]
            .as_str()
            .is_some_and(|name| name.ends_with("/operations/o1"))
    );
}

#[tokio::test]
async fn imagen_draws_from_words_alone() {
    let (stand, studio) = (server(), Studio::new());
    let worker = account(&stand, json!({"image_model": "imagen-4.0-generate-001"}));
    let (work, _) = studio.work(
        "design.generations",
        &json!({"prompt": "a fox", "size": "1820x1024"}),
        None,
    );
    made(&worker, work).await.expect("a picture");
    let sent = stand.asked(":predict")[0].json();
    assert_eq!(sent["parameters"]["aspectRatio"], "16:9");
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"prompt": "draw it", "referImages": [image]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    let fault = made(&worker, work).await.expect_err("no pictures");
    assert_eq!(fault.class, Class::Unable);
}

#[tokio::test]
async fn an_account_that_gets_no_token_is_dead_and_a_busy_token_server_passes() {
    for (reply, class) in [
        (
            status(
                400,
                &json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}),
            ),
            Class::Dead,
        ),
        (
            status(401, &json!({"error": "invalid_client"})),
            Class::Dead,
        ),
        (status(503, &json!({"error": "backend"})), Class::Retry),
        (page(502), Class::Retry),
        (answer(&json!({"expires_in": 3599})), Class::Retry),
    ] {
        let stand = Stand::always(reply);
        let worker = account(&stand, json!({}));
        let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
        let fault = made(&worker, work).await.expect_err("no token");
        assert_eq!(fault.class, class, "{fault:?}");
        assert_eq!(
            fault.taken,
            atelier_backends::backend::Acceptance::No,
            "nothing was ordered"
        );
        assert!(stand.asked(":generateContent").is_empty());
    }
    for bad in [
        "sk-not-a-file",
        "{}",
        "{\"client_email\": \"a\", \"private_key\": \"b\"}",
    ] {
        let refused = worker_with_key("vertex", "http://127.0.0.1:9", bad, json!({}));
        assert!(
            refused
                .err()
                .is_some_and(|error| error.field == "credential"),
            "{bad}"
        );
    }
}

/// The token is as secret as the key: a vendor that repeats it finds it blotted out.
#[tokio::test]
async fn a_token_that_the_vendor_repeats_is_kept_nowhere() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /token" => token(),
        _ => status(
            400,
            &json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
            "message": "no good: ya29.passing-secret"}}),
        ),
    });
    let worker = account(&stand, json!({}));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let fault = made(&worker, work).await.expect_err("refused");
    assert!(!fault.detail.contains("passing-secret"), "{}", fault.detail);
}

#[tokio::test]
async fn every_end_has_its_class() {
    let story = Story {
        vendor: "vertex",
        settings: Value::Null,
        operation: "clipgen.generations",
        body: json!({"prompt": "x"}),
    };
    let with_token = |reply: Value| {
        Stand::new(move |seen| match &*seen.line {
            line if line.starts_with("POST /token") => token(),
            _ => answer(&reply),
        })
    };
    let paper = json!({"tasks": [{"id": "o1", "model": "veo"}]});
    for (body, class) in [
        (
            json!({"name": "o1", "done": true, "error": {"code": 3, "message": "The prompt could not be submitted."}}),
            Class::Reject,
        ),
        (
            json!({"name": "o1", "done": true, "response": {"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": ["Support codes: 58061214"]}}),
            Class::Reject,
        ),
        (
            json!({"name": "o1", "done": true, "error": {"code": 13, "message": "Internal error."}}),
            Class::Retry,
        ),
        (
            json!({"name": "o1", "done": true, "response": {}}),
            Class::Gone,
        ),
    ] {
        let stand = with_token(body);
        let (work, _) = Studio::new().work(story.operation, &story.body, None);
        match account(&stand, Value::Null).poll(&work, &paper).await {
            Ok(atelier_backends::PollOutcome::Failed(fault)) => {
                assert_eq!(fault.class, class, "{fault:?}")
            }
            _ => panic!("it has ended"),
        }
    }
}
