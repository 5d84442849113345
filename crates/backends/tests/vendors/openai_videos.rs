//! Videos in the OpenAI format, from the start to the file.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::Class;
use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_contract::FileRole;
use atelier_media::{Limits, Picture, decode, encode_video};
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, page, polled, status, ticket,
};
use crate::studio::Studio;

fn clip(width: u32, height: u32) -> Vec<u8> {
    let mut frames =
        (0..6_u8).map(|index| Picture::filled(width, height, [index * 30, 90, 9, 255]));
    encode_video(&mut frames, 6).expect("a clip")
}

fn video(state: &str) -> Value {
    json!({"id": "video_1", "object": "video", "status": state, "progress": 40, "error": null})
}

/// Queued, a word nobody knows, in progress, completed.
fn camera(width: u32, height: u32) -> Stand {
    let polls = AtomicUsize::new(0);
    Stand::new(move |seen| match &*seen.line {
        "POST /v1/videos" | "POST /v1/videos/extensions" => answer(&video("queued")),
        "GET /v1/videos/video_1" => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&video("queued")),
            1 => answer(&video("pondering")),
            2 => answer(&video("in_progress")),
            _ => answer(&video("completed")),
        },
        "GET /v1/videos/video_1/content" => bytes("video/mp4", clip(width, height)),
        "DELETE /v1/videos/video_1" => answer(&json!({"deleted": true})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn a_video_is_started_asked_about_and_fetched() {
    let (stand, studio) = (camera(720, 1280), Studio::new());
    let names =
        json!({"vidgen_partner.generations": {"video-2": "sora-2", "video-2-pro": "sora-2-pro"}});
    let worker = stand.worker("openai", json!({"models": names}));
    assert_eq!(worker.lost_submit(), LostSubmit::Unknown);
    let body = json!({"prompt": "a wave", "seconds": 8, "model": "video-2-pro"});
    let (work, _) = studio.work("vidgen_partner.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    let file = &made.files[0];
    assert_eq!(
        (file.media_type, file.width, file.height),
        ("video/mp4", 720, 1280)
    );
    assert!(work.progress.get() >= 40);
    let sent = stand.seen()[0].json();
    assert_eq!(
        sent,
        json!({"prompt": "a wave", "model": "sora-2-pro", "seconds": "8", "size": "720x1280"})
    );
    worker.cancel(&paper).await;
    assert_eq!(stand.asked("DELETE /v1/videos/video_1").len(), 1);
}

/// The promise: `large` asks a vendor for its HD tier and `small` does not; both have the dimensions of the model.
#[tokio::test]
async fn a_large_video_asks_for_high_definition_and_a_small_one_is_enlarged() {
    let studio = Studio::new();
    for (size, asked, made_in) in [
        ("small", "720x1280", (72, 128)),
        ("large", "1024x1792", (1024, 1792)),
    ] {
        let stand = camera(made_in.0, made_in.1);
        let settings = json!({"video_model": "sora-2-pro", "video_seconds": [1]});
        let worker = stand.worker("openai", settings);
        let body = json!({"prompt": "a wave", "model": "video-2-pro", "size": size});
        let (mut work, _) = studio.work("vidgen.generations", &body, None);
        work.brief.seconds = 1;
        let paper = ticket(&worker, work.clone()).await.expect("a ticket");
        let made = polled(&worker, &work, &paper).await.expect("a video");
        assert_eq!(stand.seen()[0].json()["size"], asked, "{size}");
        let file = &made.files[0];
        assert_eq!((file.width, file.height), (1024, 1792), "{size}");
    }
    // Where only the dimensions themselves are offered, they are asked for.
    let stand = camera(1024, 1792);
    let sizes = json!({"video_model": "x", "video_seconds": [15], "video_sizes": ["1024x1792"]});
    let worker = stand.worker("openai", sizes);
    let body = json!({"prompt": "a wave", "model": "video-2-pro"});
    let (work, _) = studio.work("vidgen.generations", &body, None);
    ticket(&worker, work).await.expect("a ticket");
    assert_eq!(stand.seen()[0].json()["size"], "1024x1792");
}

#[tokio::test]
async fn the_reference_is_sent_as_a_file_of_the_video_s_size() {
    let (stand, studio) = (camera(1280, 720), Studio::new());
    let worker = stand.worker("openai", json!({"video_model": "wan", "dialect": "sglang"}));
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"prompt": "a wave", "video_length": "10", "refer_images": [image]});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    ticket(&worker, work).await.expect("a ticket");
    let seen = &stand.seen()[0];
    let sent = decode(
        &seen.part("input_reference").expect("a file"),
        Limits::default(),
    )
    .expect("a picture");
    assert_eq!((sent.width, sent.height), (1280, 720));
    assert_eq!(seen.text("seconds").as_deref(), Some("10"));

    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "10"}),
        None,
    );
    ticket(&worker, work).await.expect("a ticket");
    assert_eq!(
        stand.seen()[1].json()["seconds"],
        json!(10),
        "this server wants a number"
    );
}

#[tokio::test]
async fn a_motion_video_has_covers_and_is_extended_where_it_was_made() {
    let (stand, studio) = (camera(720, 1280), Studio::new());
    let worker = stand.worker(
        "openai",
        json!({"video_model": "sora-2", "video_seconds": [5]}),
    );
    let (work, job) = studio.work("motion.generations", &json!({"userPrompt": "a wave"}), None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    let roles: Vec<_> = made.files.iter().map(|file| file.role).collect();
    assert_eq!(
        roles,
        [FileRole::Main, FileRole::FirstFrame, FileRole::LastFrame]
    );
    let parent = studio.settle(job, made);

    let body = json!({"jobId": parent.id.as_str(), "userPrompt": "it breaks"});
    let (work, _) = studio.work("motion.extend", &body, Some(&parent));
    ticket(&worker, work.clone()).await.expect("a ticket");
    let seen = &stand.asked("extensions")[0];
    assert_eq!(
        seen.json(),
        json!({"video": {"id": "video_1"}, "prompt": "it breaks", "seconds": "5"})
    );

    let worker = stand.worker(
        "openai",
        json!({"video_model": "wan", "dialect": "vllm_omni"}),
    );
    ticket(&worker, work).await.expect("a ticket");
    let seen = stand.seen();
    let last = seen.last().expect("a call");
    assert_eq!(last.line, "POST /v1/videos");
    assert!(
        last.part("input_reference").is_some(),
        "it begins with the last frame"
    );
}

#[tokio::test]
async fn what_cannot_be_made_is_said_before_anything_is_sent() {
    let (stand, studio) = (camera(720, 1280), Studio::new());
    let worker = stand.worker("openai", json!({"video_model": "sora-2"}));
    let frame = studio.host("a.png", &Picture::filled(8, 8, [9, 9, 9, 255]));
    let cases = [
        (
            "clipgen.generations",
            json!({"prompt": "x", "video_length": "30"}),
            "duration",
        ),
        (
            "clipgen.generations",
            json!({"prompt": "x", "aspect_ratio": "1:1"}),
            "size",
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "loop": true}),
            "loop",
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "imageEndUrl": frame, "modelName": "motion-v1"}),
            "imageEndUrl",
        ),
    ];
    for (operation, body, field) in cases {
        let (work, _) = studio.work(operation, &body, None);
        let fault = ticket(&worker, work).await.expect_err(field);
        assert_eq!(
            (fault.class, fault.field.as_deref()),
            (Class::Unable, Some(field))
        );
    }
    assert!(stand.seen().is_empty());
}

#[tokio::test]
async fn a_server_without_jobs_films_inside_the_call() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /video" => answer(&json!({"data": [{"b64_json": base64(clip(720, 1280))}]})),
        _ => Reply::Cut,
    });
    let studio = Studio::new();
    let worker = stand.worker(
        "openai",
        json!({"video_model": "wan", "dialect": "localai"}),
    );
    let frame = studio.host("a.png", &Picture::filled(8, 8, [9, 9, 9, 255]));
    let body = json!({"userPrompt": "x", "loop": true, "imageUrl": frame});
    let (work, _) = studio.work("motion.generations", &body, None);
    let made = made(&worker, work).await.expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
    let sent = stand.seen()[0].json();
    assert_eq!(sent["start_image"], sent["end_image"]);
    assert!(sent["start_image"].is_string());
}

/// The vendor says how it ended, or the question itself failed: the two are told apart.
#[tokio::test]
async fn an_ended_video_is_told_from_a_failed_question() {
    let studio = Studio::new();
    let (work, _) = studio.work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
    let paper = json!({"video": "video_1"});
    let failed = |code: &str| {
        answer(
            &json!({"id": "video_1", "status": "failed", "error": {"code": code, "message": "No"}}),
        )
    };
    // Reply, class, and whether the video has ended.
    let cases = [
        (failed("moderation_blocked"), Class::Reject, true),
        (failed("video_generation_failed"), Class::Retry, true),
        (
            status(404, &json!({"detail": "unknown"})),
            Class::Gone,
            true,
        ),
        (
            answer(&json!({"id": "video_1", "status": "deleted"})),
            Class::Gone,
            true,
        ),
        (
            status(400, &json!({"detail": "not a video of yours"})),
            Class::BadRequest,
            true,
        ),
        (
            status(422, &json!({"detail": [{"msg": "bad id"}]})),
            Class::BadRequest,
            true,
        ),
        (page(400), Class::Retry, false),
        (page(404), Class::Retry, false),
        (
            status(401, &json!({"error": {"code": "invalid_api_key"}})),
            Class::Dead,
            false,
        ),
        (status(429, &json!({})), Class::Rate, false),
        (page(503), Class::Retry, false),
        (page(200), Class::Retry, false),
        (Reply::Cut, Class::Retry, false),
        (Reply::Truncated(b"{".to_vec()), Class::Retry, false),
    ];
    for (reply, class, ended) in cases {
        let stand = Stand::always(reply);
        let worker = stand.worker("openai", json!({"video_model": "m"}));
        let fault = match worker.poll(&work, &paper).await {
            Ok(atelier_backends::PollOutcome::Failed(fault)) => {
                assert!(ended, "{fault:?}");
                fault
            }
            Err(fault) => {
                assert!(!ended, "{fault:?}");
                fault
            }
            Ok(_) => panic!("neither done nor running"),
        };
        assert_eq!(fault.class, class, "{fault:?}");
    }
}

#[tokio::test]
async fn a_start_whose_answer_makes_no_sense_may_have_been_taken() {
    let studio = Studio::new();
    for reply in [
        page(200),
        answer(&json!({"id": ".."})),
        answer(&json!({})),
        Reply::Cut,
    ] {
        let worker_stand = Stand::always(reply);
        let worker = worker_stand.worker("openai", json!({"video_model": "m"}));
        let (work, _) = studio.work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
        let fault = ticket(&worker, work).await.expect_err("a fault");
        assert_eq!(
            (fault.class, fault.taken),
            (Class::Retry, Acceptance::Perhaps),
            "{fault:?}"
        );
    }
}
