//! Face swaps, against a server that speaks PiAPI's format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_backends::{Class, PollOutcome, Work};
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::described::both;
use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, page, png, polled, status, ticket,
};
use crate::studio::Studio;

fn swap(studio: &Studio) -> Work {
    let body = json!({
        "targetImage": studio.host("a.png", &Picture::filled(3000, 1500, [9, 9, 9, 255])),
        "swapImage": studio.host("b.png", &Picture::filled(32, 32, [99, 9, 9, 255])),
    });
    studio.work("facegen.swap", &body, None).0
}

fn task(state: &str, output: &Value) -> Value {
    json!({"code": 200, "message": "success", "data": {"task_id": "t1", "status": state, "output": output,
        "meta": {"usage": {"type": "point", "consume": 100_000}}, "error": {"code": 0, "message": "", "raw_message": ""}}})
}

#[tokio::test]
async fn a_face_is_swapped_and_the_template_keeps_its_size() {
    for (vendor, settings) in both("piapi") {
        swapped(vendor, settings).await;
    }
}

async fn swapped(vendor: &str, settings: Value) {
    let polls = AtomicUsize::new(0);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /v1/api/v1/task" => answer(&task("pending", &Value::Null)),
        "GET /v1/api/v1/task/t1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&task("Staged", &Value::Null)),
            1 => answer(&task("processing", &Value::Null)),
            _ => answer(&task(
                "Completed",
                &json!({"image_url": seen.here("/a.png"), "image_base64": ""}),
            )),
        },
        "GET /a.png" => bytes("image/png", png(2048, 1024, [9, 99, 9, 255])),
        _ => Reply::Cut,
    });
    let studio = Studio::new();
    let worker = stand.worker(vendor, settings.clone());
    assert!(worker.serves("facegen.swap") && !worker.serves("imgmodel.chat"));
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let work = swap(&studio);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (3000, 1500));
    assert_eq!(
        made.cost.map(|cost| (cost.micros, cost.currency)),
        Some((10_000, "USD"))
    );
    let seen = &stand.seen()[0];
    assert!(seen.head.contains("x-api-key: sk-very-secret"));
    let sent = seen.json();
    assert_eq!(
        (&sent["model"], &sent["task_type"]),
        (&json!("Qubico/image-toolkit"), &json!("face-swap"))
    );
    assert!(
        sent["input"]["target_image"]
            .as_str()
            .is_some_and(|uri| uri.starts_with("data:image/jpeg"))
    );
}

#[tokio::test]
async fn a_picture_inside_the_answer_is_taken() {
    for (vendor, settings) in both("piapi") {
        inside(vendor, settings).await;
    }
}

async fn inside(vendor: &str, settings: Value) {
    let output = json!({"image_url": "", "image_base64": base64(png(64, 32, [9, 99, 9, 255]))});
    let (stand, studio) = (
        Stand::always(answer(&task("completed", &output))),
        Studio::new(),
    );
    let work = swap(&studio);
    let paper = json!({"tasks": [{"id": "t1"}], "size": [64, 32]});
    let made = polled(&stand.worker(vendor, settings.clone()), &work, &paper)
        .await
        .expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (64, 32));
}

#[tokio::test]
async fn every_refusal_has_its_class_whatever_its_status() {
    for (vendor, settings) in both("piapi") {
        refusals(vendor, settings).await;
    }
}

async fn refusals(vendor: &str, settings: Value) {
    let studio = Studio::new();
    let work = swap(&studio);
    let error = |code: u16, text: &str| json!({"code": code, "message": text, "data": null});
    for (reply, class) in [
        (answer(&error(401, "unauthorized")), Class::Dead),
        (status(401, &error(401, "unauthorized")), Class::Dead),
        (answer(&error(402, "pay")), Class::Quota),
        (
            status(500, &error(500, "failed: insufficient credit")),
            Class::Quota,
        ),
        (answer(&error(400, "bad image")), Class::BadRequest),
        (status(429, &error(429, "slow")), Class::Rate),
        (answer(&error(500, "broken")), Class::Retry),
    ] {
        let stand = Stand::always(reply);
        let fault = ticket(&stand.worker(vendor, settings.clone()), work.clone())
            .await
            .expect_err("refused");
        assert_eq!(
            (fault.class, fault.taken),
            (class, Acceptance::No),
            "{fault:?}"
        );
    }
    lost_starts(vendor, &settings, &work).await;
    endings(vendor, &settings, &work).await;
}

/// What is no answer to an order may have been taken.
async fn lost_starts(vendor: &str, settings: &Value, work: &Work) {
    for reply in [
        page(200),
        Reply::Cut,
        answer(&json!({"code": 200, "data": {}})),
    ] {
        let stand = Stand::always(reply);
        let fault = ticket(&stand.worker(vendor, settings.clone()), work.clone())
            .await
            .expect_err("lost");
        assert_eq!(
            (fault.class, fault.taken),
            (Class::Retry, Acceptance::Perhaps),
            "{fault:?}"
        );
    }
}

async fn endings(vendor: &str, settings: &Value, work: &Work) {
    let error = |code: u16, text: &str| json!({"code": code, "message": text, "data": null});
    let failed = |text: &str| {
        let mut body = task("failed", &Value::Null);
        body["data"]["error"] = json!({"code": 10000, "message": text, "raw_message": ""});
        answer(&body)
    };
    let paper = json!({"tasks": [{"id": "t1"}]});
    for (reply, class, ended) in [
        (
            failed("no face detected in swap image"),
            Class::BadRequest,
            true,
        ),
        (failed("NSFW content"), Class::Reject, true),
        (failed("internal"), Class::Retry, true),
        (answer(&error(404, "task not found")), Class::Gone, true),
        (status(429, &error(429, "slow")), Class::Rate, false),
        (page(502), Class::Retry, false),
    ] {
        let stand = Stand::always(reply);
        let (fault, over) = match stand
            .worker(vendor, settings.clone())
            .poll(&work, &paper)
            .await
        {
            Ok(PollOutcome::Failed(fault)) => (fault, true),
            Err(fault) => (fault, false),
            Ok(_) => panic!("neither failed nor unclear"),
        };
        assert_eq!((fault.class, over), (class, ended), "{fault:?}");
    }
}

#[tokio::test]
async fn the_probe_tells_a_dead_key_from_a_server_that_is_down() {
    for (vendor, settings) in both("piapi") {
        probes(vendor, settings).await;
    }
}

async fn probes(vendor: &str, settings: Value) {
    for (reply, class) in [
        (
            status(401, &json!({"code": 401, "message": "no"})),
            Some(Class::Dead),
        ),
        (page(503), Some(Class::Retry)),
        (
            status(404, &json!({"code": 404, "message": "task not found"})),
            None,
        ),
    ] {
        let stand = Stand::always(reply);
        let probed = stand.worker(vendor, settings.clone()).probe().await;
        assert_eq!(probed.err().map(|fault| fault.class), class);
        assert!(stand.asked("POST").is_empty());
    }
}
