//! How jobs go on and end: states, progress, files.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::{Class, PollOutcome, StartOutcome};
use atelier_contract::FileRole;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::{Remote, Reply};
use crate::work::{finish, picture, png, work};

fn accepted() -> Reply {
    Reply::Json(
        200,
        json!({ "status": "SUCCESS", "data": { "jobId": "r" } }),
    )
}

#[tokio::test]
async fn states_and_progress_are_passed_on_until_the_grid_and_its_four_are_here() {
    let turn = AtomicUsize::new(0);
    let remote = Remote::start(move |asked| match asked.path.as_str() {
        "/artgen/v1/imagine" => accepted(),
        "/grid.png" => Reply::Raw(200, "", png(32, 24, [9; 4])),
        "/1.png" => Reply::Raw(200, "", png(16, 12, [1; 4])),
        "/artgen/v1/fetch?jobId=r" => Reply::Json(
            200,
            match turn.fetch_add(1, Ordering::SeqCst) {
                0 => json!({ "status": "PENDING_QUEUE", "progress": "0" }),
                1 => json!({ "status": "ON_QUEUE", "progress": 40, "originImage": "/half.png" }),
                2 => json!({ "status": "REPAINTING_THE_HALL", "data": { "progress": "71%" } }),
                _ => json!({
                    "status": "SUCCESS", "progress": "100", "quota": 4,
                    "data": { "originImage": "/grid.png", "images": ["/1.png", "/1.png", "/1.png", "/1.png"] },
                }),
            },
        ),
        other => panic!("{other}"),
    });
    let relay = remote.worker("relay", json!({ "poll_ms": 10 }));
    let body = json!({ "prompt": "a fox", "getUImages": true });
    let (work, _) = work("artgen.imagine", &body, None, &[]);
    let Ok(StartOutcome::Ticket(ticket)) = relay.start(work.clone()).await else {
        panic!("no ticket");
    };
    for percent in [0, 40, 71] {
        let progress = relay.poll(&work, &ticket).await.expect("an answer");
        assert!(matches!(progress, PollOutcome::Running(_)));
        assert_eq!(work.progress.get(), percent);
    }
    let Ok(PollOutcome::Done(made)) = relay.poll(&work, &ticket).await else {
        panic!("not done");
    };
    let files: Vec<_> = made
        .files
        .iter()
        .map(|file| (file.role, file.width, file.height))
        .collect();
    assert_eq!(files[0], (FileRole::Main, 32, 24));
    assert_eq!(files[1..], [(FileRole::Small, 16, 12); 4]);
    assert!(made.files.iter().all(|file| file.media_type == "image/png"));
    assert_eq!(made.made, 4);
    assert_eq!(made.notes, json!({ "kind": "relay", "jobId": "r" }));
}

#[tokio::test]
async fn small_images_that_the_remote_does_not_give_are_cut_from_the_grid() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/artgen/v1/imagine" => accepted(),
        "/g.png" => Reply::Raw(200, "", png(32, 32, [9; 4])),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "originImage": "/g.png", "images": [] }),
        ),
    });
    let body = json!({ "prompt": "a fox", "getUImages": true });
    let (work, _) = work("artgen.imagine", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    let small = made
        .files
        .iter()
        .filter(|file| file.role == FileRole::Small);
    assert_eq!(small.map(|file| file.width).collect::<Vec<_>>(), [16; 4]);
}

#[tokio::test]
async fn fewer_pictures_than_asked_for_count_as_fewer_made() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/animegen/text-to-image" => accepted(),
        "/a.png" => Reply::Raw(200, "", picture()),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "imageUrl": ["/a.png", "/a.png"], "seed": 77 } }),
        ),
    });
    let body = json!({ "prompt": "x", "model": "anime-diffusion-4-5-full", "n": 4 });
    let (work, _) = work("animegen.text_to_image", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    assert_eq!((made.files.len(), made.made), (2, 2));
    assert_eq!(made.seed.as_deref(), Some("77"));
}

#[tokio::test]
async fn describe_and_seed_are_results_without_files() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/artgen/v1/describe" => accepted(),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "prompt": "a\nb\nc\nd" } }),
        ),
    });
    let body = json!({ "url": "https://example.com/a.png" });
    let (work, _) = work("artgen.describe", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    assert_eq!(made.prompts, ["a", "b", "c", "d"]);
    assert_eq!((made.files.len(), made.made), (0, 4));
}

#[tokio::test]
async fn a_fetch_that_only_takes_post_is_posted_to() {
    let remote = Remote::start(|asked| match (asked.method.as_str(), asked.path.as_str()) {
        (_, "/artgen/v1/describe") => accepted(),
        ("POST", "/artgen/v1/fetch") => {
            assert_eq!(asked.json(), json!({ "jobId": "r" }));
            Reply::Json(
                200,
                json!({ "status": "SUCCESS", "data": { "prompts": ["a"] } }),
            )
        }
        _ => Reply::Raw(405, "", b"<html>".to_vec()),
    });
    let body = json!({ "url": "https://example.com/a.png" });
    let (work, _) = work("artgen.describe", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    assert_eq!(made.prompts, ["a"]);
}

#[tokio::test]
async fn a_file_that_one_host_does_not_give_is_fetched_from_the_other() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/facegen/v1/swap" => accepted(),
        "/origin.png" => Reply::Raw(200, "", picture()),
        "/cdn.png" => Reply::Raw(410, "", Vec::new()),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "originImage": "/origin.png", "cdnImage": "/cdn.png" } }),
        ),
    });
    let body = json!({ "targetImage": "https://a.example/1", "swapImage": "https://a.example/2" });
    let (work, _) = work("facegen.swap", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    assert_eq!(made.files.len(), 1);
}

#[tokio::test]
async fn results_that_are_gone_or_of_no_use_end_the_job_and_broken_ones_are_fetched_again() {
    for (file, ends) in [
        (|| Reply::Raw(410, "", Vec::new()), true),
        (|| Reply::Raw(404, "", b"<html>".to_vec()), true),
        (|| Reply::Raw(500, "", Vec::new()), false),
        (|| Reply::Raw(200, "", b"<html>oops</html>".to_vec()), true),
        (|| Reply::Half, false),
    ] as [(fn() -> Reply, bool); 5]
    {
        let remote = Remote::start(move |asked| match asked.path.as_str() {
            "/clipgen/generations" => accepted(),
            "/v.mp4" => file(),
            _ => Reply::Json(
                200,
                json!({ "status": "SUCCESS", "data": { "videoUrl": "/v.mp4" } }),
            ),
        });
        let relay = remote.worker("relay", Value::Null);
        let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
        let Ok(StartOutcome::Ticket(ticket)) = relay.start(work.clone()).await else {
            panic!("no ticket");
        };
        match relay.poll(&work, &ticket).await {
            Ok(PollOutcome::Failed(fault)) if ends => assert_eq!(fault.class, Class::Gone),
            Err(fault) if !ends => assert_eq!(fault.class, Class::Retry),
            Ok(PollOutcome::Failed(fault)) | Err(fault) => panic!("{fault:?}"),
            Ok(_) => panic!("it is not done"),
        }
    }
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/clipgen/generations" => accepted(),
        _ => Reply::Json(200, json!({ "status": "SUCCESS", "data": {} })),
    });
    let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
    let fault = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect_err("nothing");
    assert_eq!(fault.class, Class::Gone);
}

/// A remote whose own vendor films so delivers so; its size is the one that was asked for.
#[tokio::test]
async fn a_video_of_the_other_kind_is_delivered() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/clipgen/generations" => accepted(),
        "/v.webm" => Reply::Raw(200, "", b"\x1a\x45\xdf\xa3and the rest of a film".to_vec()),
        _ => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "videoUrl": "/v.webm" } }),
        ),
    });
    let (work, _) = work("clipgen.generations", &json!({ "prompt": "x" }), None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    let file = &made.files[0];
    assert_eq!(file.media_type, "video/webm");
    assert_eq!(
        (file.width, file.height),
        (work.brief.width, work.brief.height)
    );
}

#[tokio::test]
async fn a_synchronous_answer_is_kept_as_its_ticket_until_its_files_are_here() {
    let turn = AtomicUsize::new(0);
    let remote = Remote::start(move |asked| match asked.path.as_str() {
        "/v1/images/generations" => Reply::Json(
            200,
            json!({ "created": 1, "data": [{ "url": "/a.png", "revised_prompt": "a red fox" }] }),
        ),
        _ if turn.fetch_add(1, Ordering::SeqCst) == 0 => Reply::Cut,
        _ => Reply::Raw(200, "", picture()),
    });
    let relay = remote.worker("relay", Value::Null);
    let body = json!({ "prompt": "a fox", "model": "art-3" });
    let (work, _) = work("imgmodel.generations", &body, None, &[]);
    let Ok(StartOutcome::Ticket(ticket)) = relay.start(work.clone()).await else {
        panic!("no ticket");
    };
    let Err(fault) = relay.poll(&work, &ticket).await else {
        panic!("the line was cut");
    };
    assert_eq!(fault.class, Class::Retry);
    let Ok(PollOutcome::Done(made)) = relay.poll(&work, &ticket).await else {
        panic!("not done");
    };
    assert_eq!(made.revised_prompt.as_deref(), Some("a red fox"));
    let submits = remote
        .asked()
        .iter()
        .filter(|asked| asked.method == "POST")
        .count();
    assert_eq!(submits, 1, "it was paid for once");
}

#[tokio::test]
async fn a_synchronous_answer_with_bytes_is_the_result() {
    let remote = Remote::start(|_| {
        let image = json!({ "b64_json": STANDARD.encode(picture()) });
        Reply::Json(200, json!({ "created": 1, "data": [image.clone(), image] }))
    });
    let relay = remote.worker("relay", Value::Null);
    let body = json!({ "prompt": "a fox", "model": "image-1", "n": 2 });
    let (work, _) = work("imgmodel.generations", &body, None, &[]);
    let Ok(StartOutcome::Done(made)) = relay.start(work).await else {
        panic!("not done");
    };
    assert_eq!((made.files.len(), made.made), (2, 2));
    assert_eq!(made.files[0].bytes, picture());
}

#[tokio::test]
async fn a_vector_drawing_keeps_its_type_and_size() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"64\" height=\"48\"></svg>";
    let remote = Remote::start(move |asked| match asked.path.as_str() {
        "/design/images/vectorize" => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "quota": "1", "images": [{ "url": "/a.svg" }] } }),
        ),
        _ => Reply::Raw(200, "content-type: text/plain\r\n", svg.into()),
    });
    let body = json!({ "image": "https://example.com/a.png" });
    let (work, _) = work("design.vectorize", &body, None, &[]);
    let made = finish(&*remote.worker("relay", Value::Null), &work)
        .await
        .expect("made");
    let file = &made.files[0];
    assert_eq!(
        (file.media_type, file.width, file.height),
        ("image/svg+xml", 64, 48)
    );
}

#[tokio::test]
async fn cancel_and_probe_use_what_the_interface_has() {
    let remote = Remote::start(|asked| match asked.path.as_str() {
        "/artgen/v1/info" => Reply::Json(
            200,
            json!({ "status": "SUCCESS", "data": { "balance": 3 } }),
        ),
        _ => Reply::Json(200, json!({ "status": "SUCCESS" })),
    });
    let relay = remote.worker("relay", Value::Null);
    relay.cancel(&json!({ "jobId": "SWAP-FACE-1" })).await;
    let asked = remote.last();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/jobs/v1/SWAP-FACE-1/cancel")
    );
    relay.probe().await.expect("well");

    for (status, body, class) in [
        (200, json!({ "data": { "balance": 0 } }), Class::Quota),
        (
            401,
            json!({ "status": "FAILED", "code": "unauthorized" }),
            Class::Dead,
        ),
        (401, json!("no"), Class::Dead),
        (503, json!({ "code": "overloaded" }), Class::Rate),
    ] {
        let remote = Remote::start(move |_| Reply::Json(status, body.clone()));
        let fault = remote.worker("relay", Value::Null).probe().await;
        assert_eq!(fault.expect_err("not well").class, class);
    }
}
