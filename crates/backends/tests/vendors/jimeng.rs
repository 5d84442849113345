//! Jimeng's images and videos, against a server that speaks the format of Volcengine's visual service.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, page, png, polled, status, ticket, worker_with_key,
};
use crate::story::{Story, clip};
use crate::studio::Studio;

fn good(data: &Value) -> Reply {
    answer(&json!({"code": 10000, "message": "Success", "request_id": "r", "data": data}))
}

/// In the queue, generating, done.
fn visual(done: fn(&str) -> Value) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        line if line.contains("CVSync2AsyncSubmitTask") => good(&json!({"task_id": "735"})),
        line if line.contains("CVSync2AsyncGetResult") => {
            match polls.fetch_add(1, Ordering::SeqCst) {
                0 => good(&json!({"status": "in_queue"})),
                1 => good(&json!({"status": "generating"})),
                _ => good(&done(&seen.here(""))),
            }
        }
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        "GET /a.png" => bytes("image/png", png(1024, 1024, [9, 99, 9, 255])),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_video_is_ordered_by_the_service_for_its_beginning() {
    let stand = visual(|here| json!({"status": "done", "video_url": format!("{here}/film.mp4")}));
    let studio = Studio::new();
    let worker = stand.worker("jimeng", Value::Null);
    let body = json!({"prompt": "a wave", "video_length": "10", "aspect_ratio": "16:9"});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    polled(&worker, &work, &paper).await.expect("a film");
    let seen = stand.seen();
    assert_eq!(
        seen[0].line,
        "POST /v1/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31"
    );
    assert_eq!(
        seen[0].json(),
        json!({"req_key": "jimeng_t2v_v30", "prompt": "a wave", "frames": 241, "aspect_ratio": "16:9"})
    );
    let asked = seen[1].json();
    assert_eq!(
        (&asked["req_key"], &asked["task_id"]),
        (&json!("jimeng_t2v_v30"), &json!("735"))
    );
    for (seen, line) in seen.iter().flat_map(|seen| {
        [
            "authorization: HMAC-SHA256 Credential=AKLT-painter/",
            "x-date: ",
            "x-content-sha256: ",
        ]
        .map(|line| (seen, line))
    }) {
        if seen.line.starts_with("POST") {
            assert!(seen.head.contains(line), "{}", seen.head);
        }
        assert!(!seen.head.contains("very-secret"));
    }
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let both = json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": start, "modelName": "motion-v1"});
    let (work, _) = studio.work("motion.generations", &both, None);
    let paper = ticket(&worker, work).await.expect("a ticket");
    let sent = stand.asked("SubmitTask")[1].json();
    assert_eq!(sent["req_key"], "jimeng_i2v_first_tail_v30");
    assert_eq!(sent["binary_data_base64"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        paper["tasks"][0]["key"], sent["req_key"],
        "it is asked about by the same name"
    );
}

#[tokio::test]
async fn a_picture_comes_by_its_address_or_inside_the_answer() {
    for (done, size) in [
        (
            (|here: &str| json!({"status": "done", "image_urls": [format!("{here}/a.png")]}))
                as fn(&str) -> Value,
            1024,
        ),
        (
            |_: &str| json!({"status": "done", "image_urls": null, "binary_data_base64": [base64(png(512, 512, [9, 99, 9, 255]))]}),
            1024,
        ),
    ] {
        let (stand, studio) = (visual(done), Studio::new());
        let worker = stand.worker("jimeng", Value::Null);
        let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
        let body = json!({"prompt": "draw it", "referImages": [image]});
        let (work, _) = studio.work("imgmodel.chat", &body, None);
        let paper = ticket(&worker, work.clone()).await.expect("a ticket");
        let made = polled(&worker, &work, &paper).await.expect("a picture");
        assert_eq!((made.files[0].width, made.files[0].height), (size, size));
        let sent = stand.asked("SubmitTask")[0].json();
        assert_eq!(
            (&sent["req_key"], &sent["force_single"], &sent["width"]),
            (&json!("jimeng_t2i_v40"), &json!(true), &json!(1024))
        );
        assert_eq!(sent["binary_data_base64"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn every_refusal_has_its_class() {
    let story = Story {
        vendor: "jimeng",
        settings: Value::Null,
        operation: "clipgen.generations",
        body: json!({"prompt": "x"}),
    };
    let error = |code: u32, text: &str| json!({"code": code, "message": text, "data": null});
    let signed = json!({"ResponseMetadata": {"Error": {"CodeN": 100_010, "Code": "SignatureDoesNotMatch", "Message": "no"}}});
    story
        .refusals(vec![
            (
                status(400, &error(50411, "Pre Img Risk Not Pass")),
                Class::Reject,
            ),
            (answer(&error(50412, "Text Risk Not Pass")), Class::Reject),
            (status(401, &signed), Class::Dead),
            (
                status(429, &error(50429, "Request Has Reached API Limit")),
                Class::Rate,
            ),
            (
                answer(&error(50430, "Request Has Reached API Concurrent Limit")),
                Class::Rate,
            ),
            (status(500, &error(50500, "Internal Error")), Class::Retry),
            (
                status(400, &error(50215, "Input invalid for this service.")),
                Class::BadRequest,
            ),
        ])
        .await;
    let paper = json!({"tasks": [{"id": "735", "key": "jimeng_t2v_v30"}]});
    let endings = vec![
        (
            answer(&error(50511, "Post Img Risk Not Pass")),
            Class::Reject,
            true,
        ),
        (
            status(400, &error(50512, "Post Text Risk Not Pass")),
            Class::Reject,
            true,
        ),
        (answer(&error(50500, "Internal Error")), Class::Retry, true),
        (good(&json!({"status": "not_found"})), Class::Gone, true),
        (good(&json!({"status": "expired"})), Class::Gone, true),
        (status(429, &error(50429, "slow")), Class::Rate, false),
        (page(502), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
    ];
    story.endings(&paper, endings).await;
}

/// Nothing is asked without a pair of keys, and a task that cannot be is a good answer to the probe.
#[tokio::test]
async fn the_probe_tells_good_keys_from_bad_ones() {
    let unknown = answer(&json!({"code": 50215, "message": "Input invalid", "data": null}));
    for (reply, class) in [
        (good(&json!({"status": "not_found"})), None),
        (unknown, None),
        (
            status(
                401,
                &json!({"ResponseMetadata": {"Error": {"Code": "InvalidAccessKey", "Message": "no"}}}),
            ),
            Some(Class::Dead),
        ),
        (page(503), Some(Class::Retry)),
    ] {
        let stand = Stand::always(reply);
        let probed = stand.worker("jimeng", Value::Null).probe().await;
        assert_eq!(probed.err().map(|fault| fault.class), class);
    }
    let stand = Stand::always(Reply::Cut);
    let worker = worker_with_key("jimeng", &stand.url("/"), "only-one", Value::Null);
    let fault = worker
        .expect("settings")
        .probe()
        .await
        .expect_err("no pair");
    assert_eq!(fault.class, Class::Dead);
    assert!(stand.seen().is_empty());
}
