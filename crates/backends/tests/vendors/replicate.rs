//! Replicate's predictions, against a server that speaks its format.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use atelier_backends::Class;
use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, bytes, json as answer, page, png, polled, status, ticket, worker,
};
use crate::story::{Story, clip};
use crate::studio::{Studio, photo};

fn prediction(state: &str, output: &Value) -> Value {
    json!({"id": "p1", "status": state, "output": output, "error": null, "logs": "12%|█ 40%|███", "metrics": {"predict_time": 4.5}})
}

/// Starting, processing, succeeded with an output of some shape.
fn lab(shape: fn(String) -> Value) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/predictions" => status(201, &prediction("starting", &Value::Null)),
        "GET /v1/predictions/p1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&prediction("starting", &Value::Null)),
            1 => answer(&prediction("processing", &Value::Null)),
            _ => answer(&prediction("succeeded", &shape(seen.here("/out")))),
        },
        "POST /v1/files" => status(
            201,
            &json!({"id": "f1", "urls": {"get": "https://api.replicate.com/v1/files/f1"}}),
        ),
        "GET /out" if polls.load(Ordering::SeqCst) > 100 => bytes("video/mp4", clip(64, 64)),
        "GET /out" => bytes("image/png", png(640, 480, [9, 99, 9, 255])),
        "POST /v1/predictions/p1/cancel" => answer(&prediction("canceled", &Value::Null)),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_face_is_swapped_by_the_ready_mapping() {
    let (stand, studio) = (lab(|url| json!(url)), Studio::new());
    let worker = stand.worker("replicate", Value::Null);
    assert!(worker.serves("facegen.swap") && worker.serves("motion.generations"));
    assert!(!worker.serves("artgen.imagine"), "grids are asked for");
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let body = json!({
        "targetImage": studio.host("a.png", &Picture::filled(64, 48, [9, 9, 9, 255])),
        "swapImage": studio.host("b.png", &Picture::filled(32, 32, [99, 9, 9, 255])),
    });
    let (mut work, _) = studio.work("facegen.swap", &body, None);
    work.hook_url = Some("https://service.example/hooks/v1/b/token".to_owned());
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (640, 480));
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((4_500_000, "seconds"))
    );
    assert!(work.progress.get() >= 40, "logs tell how far it is");
    let seen = &stand.seen()[0];
    let sent = seen.json();
    assert_eq!(
        sent["version"],
        "278a81e7ebb22db98bcba54de985d22cc1abeead2754eb1f2af717247be69b34"
    );
    assert!(
        sent["input"]["input_image"]
            .as_str()
            .is_some_and(|uri| uri.starts_with("data:image/png;base64,"))
    );
    assert_ne!(sent["input"]["input_image"], sent["input"]["swap_image"]);
    assert_eq!(sent["webhook"], "https://service.example/hooks/v1/b/token");
    assert_eq!(sent["webhook_events_filter"], json!(["completed"]));
    assert!(seen.head.contains("authorization: Bearer sk-very-secret"));
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("POST /v1/predictions/p1/cancel").len(), 1);
}

#[tokio::test]
async fn a_large_picture_is_uploaded_and_a_mapping_of_one_s_own_is_filled() {
    let (stand, studio) = (lab(|url| json!({"images": [url]})), Studio::new());
    let settings = json!({"models": {"imgmodel.chat": {
        "model": "someone/painter",
        "input": {"text": "Paint: {{prompt}}", "size": {"w": "{{width}}", "h": "{{height}}"}, "ref": "{{image}}", "seed": "{{seed}}", "steps": 20},
    }}});
    let worker = stand.worker("replicate", settings);
    assert!(!worker.serves("facegen.swap"));
    let large = studio.host("a.png", &photo(900, 900, 90));
    let body = json!({"prompt": "a cat", "referImages": [large]});
    let (work, _) = studio.work("imgmodel.chat", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    assert!(stand.asked("POST /v1/files")[0].part("content").is_some());
    let sent = stand.asked("POST /v1/predictions")[0].json();
    assert_eq!(
        sent,
        json!({"version": "someone/painter", "input": {
            "text": "Paint: a cat", "size": {"w": 1024, "h": 1024}, "ref": "https://api.replicate.com/v1/files/f1", "steps": 20,
        }})
    );
}

#[tokio::test]
async fn what_a_mapping_has_no_place_for_is_refused_by_name() {
    let (stand, studio) = (lab(|url| json!(url)), Studio::new());
    let settings = json!({"models": {
        "motion.generations": {"model": "a/b", "input": {"prompt": "{{prompt}}", "image": "{{first}}"}, "seconds": [5]},
        "imgmodel.edits": {"model": "a/b", "input": {"prompt": "{{prompt}}", "image": "{{image}}"}},
    }});
    let worker = stand.worker("replicate", settings);
    let frame = studio.host("a.png", &Picture::filled(8, 8, [9, 9, 9, 255]));
    for (operation, body, field) in [
        (
            "motion.generations",
            json!({"userPrompt": "x", "duration": "10s"}),
            "duration",
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "loop": true, "imageUrl": frame}),
            "loop",
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "imageUrl": frame, "imageEndUrl": frame, "modelName": "motion-v1"}),
            "imageEndUrl",
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

#[test]
fn a_mapping_is_checked_when_it_is_set() {
    for (models, word) in [
        (
            json!({"imgmodel.chat": {"model": "a/b", "input": {"x": "{{promt}}"}}}),
            "promt",
        ),
        (json!({"imgmodel.chat": "a/unknown"}), "a/unknown"),
        (
            json!({"imgmodel.chit": {"model": "a/b", "input": {"x": 1}}}),
            "imgmodel.chit",
        ),
        (
            json!({"imgmodel.chat/video": {"model": "a/b", "input": {"x": 1}}}),
            "variant",
        ),
        (json!({"imgmodel.chat": {"model": "a/b"}}), "input"),
    ] {
        let error = worker("replicate", "http://127.0.0.1:9", json!({"models": models}))
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[tokio::test]
async fn the_probe_names_a_model_or_an_input_that_is_not_there() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /v1/account" => answer(&json!({"type": "user"})),
        "GET /v1/models/a/b" => answer(
            &json!({"latest_version": {"openapi_schema": {"components": {"schemas": {
            "Input": {"properties": {"prompt": {}, "image": {}}}}}}}}),
        ),
        _ => status(404, &json!({"detail": "not found"})),
    });
    let probed = async |input: Value, model: &str| {
        let settings = json!({"models": {"imgmodel.chat": {"model": model, "input": input}}});
        stand.worker("replicate", settings).probe().await
    };
    probed(json!({"prompt": "{{prompt}}"}), "a/b")
        .await
        .expect("well");
    let fault = probed(json!({"promt": "{{prompt}}"}), "a/b")
        .await
        .expect_err("a fault");
    assert!(
        fault.detail.contains("promt") && fault.detail.contains("image"),
        "{}",
        fault.detail
    );
    let fault = probed(json!({"prompt": "{{prompt}}"}), "a/gone")
        .await
        .expect_err("a fault");
    assert!(fault.detail.contains("a/gone"));
}

fn story() -> Story {
    Story {
        vendor: "replicate",
        settings: json!({"models": {"imgmodel.chat": {"model": "a/b", "input": {"prompt": "{{prompt}}"}}}}),
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    }
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = story();
    let error = |code: u16, detail: &str| {
        status(
            code,
            &json!({"title": "x", "detail": detail, "status": code}),
        )
    };
    story
        .refusals(vec![
            (error(401, "You did not pass a valid token"), Class::Dead),
            (error(402, "Insufficient credit"), Class::Quota),
            (error(403, "no"), Class::Dead),
            (
                error(404, "The requested resource could not be found."),
                Class::Model,
            ),
            (error(422, "- input: prompt is required"), Class::BadRequest),
            (error(500, "x"), Class::Retry),
        ])
        .await;
    let fault = story
        .refused(error(
            429,
            "Request was throttled. Your rate limit resets in ~30s.",
        ))
        .await;
    assert_eq!(
        (fault.class, fault.after),
        (Class::Rate, Some(Duration::from_secs(30)))
    );
}

#[tokio::test]
async fn an_ended_prediction_is_told_from_a_failed_question() {
    let error = |code: u16, detail: &str| {
        status(
            code,
            &json!({"title": "x", "detail": detail, "status": code}),
        )
    };
    let failed = |text: &str| {
        let mut body = prediction("failed", &Value::Null);
        body["error"] = json!(text);
        answer(&body)
    };
    let endings = vec![
        (failed("NSFW content detected"), Class::Reject, true),
        (
            failed("The input or output was flagged as sensitive (E005)"),
            Class::Reject,
            true,
        ),
        (
            failed("No face found in the image"),
            Class::BadRequest,
            true,
        ),
        (failed("CUDA out of memory"), Class::Retry, true),
        (
            answer(&prediction("canceled", &Value::Null)),
            Class::Gone,
            true,
        ),
        (
            answer(&prediction("aborted", &Value::Null)),
            Class::Gone,
            true,
        ),
        (
            answer(&prediction("succeeded", &Value::Null)),
            Class::Gone,
            true,
        ),
        (error(404, "gone"), Class::Gone, true),
        (error(429, "x"), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story()
        .endings(&json!({"tasks": [{"id": "p1"}]}), endings)
        .await;
}

/// Some models say with an empty result that there was no face.
#[tokio::test]
async fn a_swap_without_a_face_is_the_caller_s() {
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(8, 8, [9, 9, 9, 255]));
    let (work, _) = studio.work(
        "facegen.swap",
        &json!({"targetImage": image, "swapImage": image}),
        None,
    );
    let stand = Stand::always(answer(&prediction("succeeded", &Value::Null)));
    let worker = stand.worker("replicate", Value::Null);
    let fault = polled(&worker, &work, &json!({"tasks": [{"id": "p1"}]}))
        .await
        .expect_err("a fault");
    assert_eq!(fault.class, Class::BadRequest);
    assert!(fault.message.contains("no face"), "{}", fault.message);
}

/// A server that runs only official models by their names, and gives a picture in the answer itself.
fn community() -> Stand {
    Stand::new(|seen| match &*seen.line {
        "POST /v1/predictions" if seen.json()["version"] == "0a1b2c" => {
            answer(&json!({"id": "p1", "status": "starting"}))
        }
        "POST /v1/predictions" => status(
            422,
            &json!({"title": "Invalid version or not permitted", "status": 422,
            "detail": "The specified version does not exist (or perhaps you don't have permission to use it?)"}),
        ),
        "GET /v1/models/cdingram/face-swap" => answer(&json!({"latest_version": {"id": "0a1b2c"}})),
        "GET /v1/predictions/p1" => {
            let picture = crate::stand::base64(png(64, 64, [9, 99, 9, 255]));
            answer(
                &json!({"id": "p1", "status": "succeeded", "output": format!("data:image/png;base64,{picture}"),
                "metrics": {"predict_time": 1.5}}),
            )
        }
        _ => status(404, &json!({"detail": "not found"})),
    })
}

#[tokio::test]
async fn a_community_model_is_run_by_its_latest_version_and_files_may_stand_in_the_answer() {
    let (stand, studio) = (community(), Studio::new());
    let face = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let settings = json!({"models": {"facegen.swap": "cdingram/face-swap"}});
    let worker = stand.worker("replicate", settings);
    for round in 1..=2 {
        let body = json!({"targetImage": face, "swapImage": face});
        let (work, _) = studio.work("facegen.swap", &body, None);
        let paper = ticket(&worker, work.clone()).await.expect("a ticket");
        let made = polled(&worker, &work, &paper).await.expect("a picture");
        assert_eq!((made.files.len(), made.files[0].width), (1, 64));
        let asked = stand.asked("GET /v1/models/").len();
        assert_eq!(asked, 1, "it is remembered in round {round}");
        assert_eq!(stand.asked("POST /v1/predictions").len(), 1 + round);
    }
}

#[tokio::test]
async fn a_model_that_is_nowhere_is_refused_once() {
    let stand = community();
    let input = json!({"prompt": "{{prompt}}"});
    let settings = json!({"models": {"imgmodel.chat": {"model": "some/body", "input": input}}});
    let worker = stand.worker("replicate", settings);
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    ticket(&worker, work).await.expect_err("it is not there");
    assert_eq!(stand.asked("POST /v1/predictions").len(), 1);
}

#[tokio::test]
async fn a_version_that_could_not_be_looked_up_is_no_unknown_model() {
    for (looked_up, class) in [
        (status(429, &json!({"detail": "throttled"})), Class::Rate),
        (status(500, &json!({"detail": "oops"})), Class::Retry),
        (page(502), Class::Retry),
        (Reply::Cut, Class::Retry),
        (status(404, &json!({"detail": "not found"})), Class::Model),
    ] {
        let stand = Stand::new(move |seen| match &*seen.line {
            "POST /v1/predictions" => status(
                422,
                &json!({"title": "Invalid version or not permitted", "status": 422, "detail": "gone"}),
            ),
            _ => looked_up.clone(),
        });
        let input = json!({"prompt": "{{prompt}}"});
        let settings = json!({"models": {"imgmodel.chat": {"model": "some/body", "input": input}}});
        let worker = stand.worker("replicate", settings);
        let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
        let fault = ticket(&worker, work).await.expect_err("no start");
        assert_eq!(fault.class, class, "{}", fault.detail);
        assert_eq!(fault.taken, Acceptance::No, "nothing was ordered");
    }
}
