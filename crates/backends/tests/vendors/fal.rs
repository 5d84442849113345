//! fal's queue, against a server that speaks its format.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Reply, Stand, bytes, json as answer, page, png, polled, status, ticket};
use crate::story::{Story, clip};
use crate::studio::Studio;

/// In the queue, at work, completed; the answer is at another address.
fn queue(output: fn(String) -> Value) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        line if line.starts_with("POST /v1/") => {
            let at = |end: &str| seen.here(&format!("/v1/fal-ai/app/requests/r1{end}"));
            answer(
                &json!({"request_id": "r1", "status": "IN_QUEUE", "queue_position": 2,
                "status_url": at("/status"), "response_url": at(""), "cancel_url": at("/cancel")}),
            )
        }
        "GET /v1/fal-ai/app/requests/r1/status" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => status(202, &json!({"status": "IN_QUEUE", "queue_position": 1})),
            1 => status(202, &json!({"status": "IN_PROGRESS", "logs": []})),
            _ => answer(&json!({"status": "COMPLETED", "metrics": {"inference_time": 3.1}})),
        },
        "GET /v1/fal-ai/app/requests/r1" => answer(&output(seen.here("/out"))),
        "GET /out" if seen.head.contains("authorization") => {
            bytes("image/png", png(1024, 1024, [9, 99, 9, 255]))
        }
        "PUT /v1/fal-ai/app/requests/r1/cancel" => {
            status(202, &json!({"status": "CANCELLATION_REQUESTED"}))
        }
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_picture_goes_through_the_queue() {
    let stand = queue(
        |url| json!({"images": [{"url": url, "width": 1024, "height": 1024, "content_type": "image/png"}], "seed": 7}),
    );
    let studio = Studio::new();
    let worker = stand.worker("fal", Value::Null);
    let (mut work, _) = studio.work("imgmodel.chat", &json!({"prompt": "a fox"}), None);
    work.hook_url = Some("https://service.example/hooks/v1/b/token".to_owned());
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    let seen = &stand.seen()[0];
    assert_eq!(
        seen.line,
        "POST /v1/fal-ai/nano-banana-2?fal_webhook=https%3A%2F%2Fservice.example%2Fhooks%2Fv1%2Fb%2Ftoken"
    );
    assert!(seen.head.contains("authorization: Key sk-very-secret"));
    assert_eq!(
        seen.json(),
        json!({"prompt": "a fox", "aspect_ratio": "1:1", "resolution": "1K", "num_images": 1, "output_format": "png"})
    );
    worker.cancel(&paper).await;
    assert_eq!(
        stand.asked("PUT /v1/fal-ai/app/requests/r1/cancel").len(),
        1
    );
}

/// A request of each family, the endpoint it goes to, and how many starts it takes.
fn families(image: &str) -> Vec<(&'static str, Value, &'static str, usize)> {
    vec![
        (
            "artgen.imagine",
            json!({"prompt": "x"}),
            "fal-ai/flux-2-pro",
            4,
        ),
        (
            "artgen.video.submit",
            json!({"prompt": "x", "imageUrl": image, "bs": 2}),
            "bytedance/seedance-2.5/image-to-video",
            2,
        ),
        (
            "imgmodel.generations",
            json!({"prompt": "x", "model": "image-1"}),
            "fal-ai/nano-banana-2",
            1,
        ),
        (
            "imgmodel.chat",
            json!({"prompt": "x", "referImages": [image]}),
            "fal-ai/nano-banana-2/edit",
            1,
        ),
        (
            "design.inpaint",
            json!({"prompt": "x", "image": image, "mask": image}),
            "fal-ai/ideogram/v3/edit",
            1,
        ),
        (
            "design.vectorize",
            json!({"image": image}),
            "fal-ai/recraft/vectorize",
            1,
        ),
        (
            "vidgen.generations",
            json!({"prompt": "x", "duration": 15, "model": "video-2"}),
            "bytedance/seedance-2.5/text-to-video",
            1,
        ),
        (
            "vidgen_partner.generations",
            json!({"prompt": "x"}),
            "bytedance/seedance-2.5/text-to-video",
            1,
        ),
        (
            "animegen.text_to_image",
            json!({"prompt": "x", "model": "anime-diffusion-4-5-full"}),
            "fal-ai/pony-v7",
            1,
        ),
        (
            "clipgen.generations",
            json!({"prompt": "x", "video_length": "30", "refer_images": [image]}),
            "bytedance/seedance-2.5/image-to-video",
            1,
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "loop": true}),
            "fal-ai/luma-dream-machine/ray-2",
            1,
        ),
    ]
}

#[tokio::test]
async fn each_family_has_a_ready_mapping_and_pictures_choose_the_endpoint() {
    let (stand, studio) = (
        queue(|url| json!({"images": [{"url": url}]})),
        Studio::new(),
    );
    let worker = stand.worker("fal", json!({"grids": true}));
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    for (operation, body, endpoint, starts) in families(&image) {
        let before = stand.asked("POST").len();
        let (work, _) = studio.work(operation, &body, None);
        ticket(&worker, work)
            .await
            .unwrap_or_else(|fault| panic!("{operation}: {fault:?}"));
        let seen = stand.asked("POST");
        assert_eq!(seen.len() - before, starts, "{operation}");
        assert_eq!(
            seen[before].line,
            format!("POST /v1/{endpoint}"),
            "{operation}"
        );
    }
    assert!(!worker.serves("facegen.swap"));
    let looped = stand.asked("ray-2")[0].json();
    assert_eq!(
        (&looped["loop"], &looped["duration"]),
        (&json!(true), &json!("5s"))
    );
}

#[tokio::test]
async fn a_video_and_a_picture_that_a_review_painted_over() {
    let studio = Studio::new();
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let stand = queue(|url| json!({"images": [{"url": url}], "has_nsfw_concepts": [true]}));
    let worker = stand.worker("fal", Value::Null);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let fault = polled(&worker, &work, &paper).await.expect_err("refused");
    assert_eq!(fault.class, Class::Reject);

    let film = Stand::new(|seen| match &*seen.line {
        "GET /v1/s" => answer(&json!({"status": "COMPLETED"})),
        "GET /v1/r" => {
            answer(&json!({"video": {"url": seen.here("/film.mp4"), "content_type": "video/mp4"}}))
        }
        _ => bytes("video/mp4", clip(64, 36)),
    });
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "10"}),
        None,
    );
    let paper = json!({"tasks": [{"id": "r1", "status": film.url("/v1/s"), "response": film.url("/v1/r"), "cancel": null}]});
    let made = polled(&film.worker("fal", Value::Null), &work, &paper)
        .await
        .expect("a film");
    assert_eq!(
        (made.files[0].media_type, made.files[0].width),
        ("video/mp4", 64)
    );
}

#[tokio::test]
async fn the_probe_holds_mappings_against_the_endpoint_s_own_description() {
    let stand = Stand::new(|seen| match &*seen.line {
        line if line.contains("/schema?") => answer(&json!({
            "paths": {"/a/b": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}}}}},
            "components": {"schemas": {"In": {"properties": {"prompt": {}}}}},
        })),
        _ => status(404, &json!({"detail": "Request not found"})),
    });
    let probed = async |input: Value| {
        let settings = json!({"schema_url": stand.url("/schema?endpoint_id="), "models": {"imgmodel.chat": {"model": "a/b", "input": input}}});
        stand.worker("fal", settings).probe().await
    };
    probed(json!({"prompt": "{{prompt}}"})).await.expect("well");
    let fault = probed(json!({"words": "{{prompt}}"}))
        .await
        .expect_err("a fault");
    assert!(fault.detail.contains("words"), "{}", fault.detail);
}

fn story() -> Story {
    Story {
        vendor: "fal",
        settings: Value::Null,
        operation: "imgmodel.chat",
        body: json!({"prompt": "x"}),
    }
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = story();
    let detail = |kind: &str| json!({"detail": [{"loc": ["body", "prompt"], "msg": "It failed", "type": kind}]});
    story
        .refusals(vec![
            (
                status(422, &detail("content_policy_violation")),
                Class::Reject,
            ),
            (status(422, &detail("missing")), Class::BadRequest),
            (status(401, &json!({"detail": "No user"})), Class::Dead),
            (status(403, &json!({"detail": "no access"})), Class::Dead),
            (
                status(
                    403,
                    &json!({"detail": "User is locked. Reason: Exhausted balance."}),
                ),
                Class::Quota,
            ),
            (status(402, &json!({"detail": "pay"})), Class::Quota),
            (
                status(404, &json!({"detail": "Application not found"})),
                Class::Model,
            ),
            (status(429, &json!({"detail": "slow"})), Class::Rate),
            (status(503, &json!({"detail": "x"})), Class::Retry),
        ])
        .await;
}

#[tokio::test]
async fn a_failed_request_is_told_from_a_failed_question() {
    let story = story();
    let detail = |kind: &str| json!({"detail": [{"loc": ["body", "prompt"], "msg": "It failed", "type": kind}]});
    let at =
        |done: bool| json!({"tasks": [{"id": "r1", "done": done, "status": "s", "response": "r"}]});
    let endings = vec![
        (
            status(422, &detail("content_policy_violation")),
            Class::Reject,
            true,
        ),
        (
            status(422, &detail("image_load_error")),
            Class::BadRequest,
            true,
        ),
        (
            status(500, &json!({"detail": "Internal error"})),
            Class::Retry,
            true,
        ),
        (
            status(
                504,
                &json!({"detail": [{"msg": "x", "type": "request_timeout"}]}),
            ),
            Class::Retry,
            true,
        ),
        (status(401, &json!({"detail": "x"})), Class::Dead, false),
        (status(429, &json!({"detail": "x"})), Class::Rate, false),
        (page(502), Class::Retry, false),
    ];
    story.endings(&at(true), endings).await;
    let endings = vec![
        (
            status(404, &json!({"detail": "Request not found"})),
            Class::Gone,
            true,
        ),
        (status(500, &json!({"detail": "x"})), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story.endings(&at(false), endings).await;
}
