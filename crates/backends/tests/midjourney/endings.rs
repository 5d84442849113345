//! How tasks go on and end: states, progress, pictures, videos, words.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::backend::LostSubmit;
use atelier_backends::{Class, PollOutcome, StartOutcome, WorkOutput};
use atelier_contract::FileRole;
use atelier_media::{Picture, encode_video};
use serde_json::{Value, json};

use crate::server::{Remote, Reply};
use crate::work::{finish, png, work};
use crate::{NAME, accepted};

/// A very short video.
pub(crate) fn clip() -> Vec<u8> {
    let mut frames = (0..4).map(|_| Picture::filled(64, 48, [9, 80, 200, 255]));
    encode_video(&mut frames, 24).expect("a clip")
}

/// What comes of a task whose last state is this one.
async fn made_of(name: &str, body: &Value, task: Value) -> WorkOutput {
    let clip = clip();
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        path if path.starts_with("/video/") => Reply::Raw(200, "", clip.clone()),
        "/grid.png" => Reply::Raw(200, "", png(64, 48, [7; 4])),
        path if path.starts_with("/part/") => Reply::Raw(200, "", png(32, 24, [8; 4])),
        "/mj/task/17/fetch" => Reply::Json(200, task.clone()),
        _ => accepted("17"),
    });
    let (work, _) = work(name, body, None, &[]);
    let made = finish(&*proxy.worker(NAME, Value::Null), &work).await;
    made.unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn sizes(made: &WorkOutput) -> Vec<(FileRole, u32, u32)> {
    let size = |file: &atelier_backends::OutputFile| (file.role, file.width, file.height);
    made.files.iter().map(size).collect()
}

#[tokio::test]
async fn every_state_but_the_last_ones_means_waiting() {
    let turn = AtomicUsize::new(0);
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        "/mj/task/17/fetch" => Reply::Json(
            200,
            match turn.fetch_add(1, Ordering::SeqCst) {
                0 => json!({ "status": "NOT_START", "progress": "0%" }),
                1 => json!({ "status": "SUBMITTED", "progress": "" }),
                2 => json!({ "status": "IN_PROGRESS", "progress": "45%", "imageUrl": "/half.png" }),
                3 => json!({ "status": "MODAL" }),
                4 => json!({ "status": "TEA_BREAK", "progress": "61%" }),
                _ => json!({ "status": "SUCCESS", "progress": "100%", "imageUrl": "/g.png" }),
            },
        ),
        "/g.png" => Reply::Raw(200, "", png(64, 48, [7; 4])),
        _ => Reply::Json(
            200,
            json!({ "code": 22, "result": 17, "properties": { "numberOfQueues": 2 } }),
        ),
    });
    let worker = proxy.worker(NAME, json!({ "poll_ms": 10 }));
    let (work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    let Ok(StartOutcome::Ticket(ticket)) = worker.start(work.clone()).await else {
        panic!("a queued task is accepted");
    };
    for percent in [0, 0, 45, 45, 61] {
        let progress = worker.poll(&work, &ticket).await.expect("an answer");
        assert!(matches!(progress, PollOutcome::Running(_)));
        assert_eq!(work.progress.get(), percent);
    }
    let Ok(PollOutcome::Done(made)) = worker.poll(&work, &ticket).await else {
        panic!("not done");
    };
    assert_eq!(
        (sizes(&made), made.made),
        (vec![(FileRole::Main, 64, 48)], 4)
    );
}

#[tokio::test]
async fn a_grid_has_the_vendors_four_or_is_cut_or_is_joined() {
    let body = json!({ "prompt": "a fox", "getUImages": true });
    let four: Vec<_> = (0..4)
        .map(|n| json!({ "url": format!("/part/{n}") }))
        .collect();
    let whole = [(FileRole::Main, 64, 48)];
    let small = [(FileRole::Small, 32, 24); 4];
    let all = [&whole[..], &small[..]].concat();
    for task in [
        json!({ "status": "SUCCESS", "imageUrl": "/grid.png", "imageUrls": four }),
        json!({ "status": "SUCCESS", "imageUrl": "/grid.png", "imageUrls": null }),
        json!({ "status": "SUCCESS", "imageUrl": "", "imageUrls": four }),
    ] {
        let made = made_of("artgen.imagine", &body, task).await;
        assert_eq!((sizes(&made), made.made), (all.clone(), 4));
    }
    let task = json!({ "status": "SUCCESS", "imageUrl": "/grid.png", "imageUrls": four });
    let made = made_of("artgen.imagine", &json!({ "prompt": "a fox" }), task).await;
    assert_eq!(sizes(&made), whole, "nobody asked for the four");
}

#[tokio::test]
async fn the_notes_keep_task_buttons_and_seed() {
    let task = json!({
        "status": "SUCCESS", "imageUrl": "/grid.png", "seed": 12345,
        "buttons": [{ "customId": "MJ::JOB::reroll::0::abc::SOLO", "emoji": "🔄", "label": "", "style": 2, "type": 2 }],
    });
    let made = made_of("artgen.imagine", &json!({ "prompt": "a fox" }), task).await;
    assert_eq!(
        made.notes,
        json!({
            "kind": "midjourney", "task": "17", "seed": "12345",
            "buttons": [{ "customId": "MJ::JOB::reroll::0::abc::SOLO", "emoji": "🔄" }],
        })
    );
}

#[tokio::test]
async fn describe_gives_its_prompts_without_their_numbers() {
    let task = json!({
        "status": "SUCCESS", "imageUrl": "/grid.png",
        "properties": { "finalPrompt": "1️⃣ one --ar 1:1\n\n2️⃣ two\n\n3️⃣ three\n\n4️⃣ four" },
    });
    let body = json!({ "url": "https://example.com/a.png" });
    let made = made_of("artgen.describe", &body, task).await;
    assert_eq!(made.prompts, ["one --ar 1:1", "two", "three", "four"]);
    assert_eq!((made.files.len(), made.made), (0, 4));
}

#[tokio::test]
async fn videos_are_counted_as_they_came() {
    let body = json!({ "prompt": "x", "imageUrl": "https://a.example/1", "bs": 4 });
    let task =
        json!({ "status": "SUCCESS", "videoUrls": [{ "url": "/video/1" }, { "url": "/video/2" }] });
    let made = made_of("artgen.video.submit", &body, task).await;
    assert_eq!(
        (sizes(&made), made.made),
        (vec![(FileRole::Main, 64, 48); 2], 2)
    );
    assert_eq!(made.files[0].media_type, "video/mp4");
}

/// Accounts without the official network of files show their videos where pictures stand.
#[tokio::test]
async fn a_video_may_stand_where_pictures_do() {
    let body = json!({ "prompt": "x", "imageUrl": "https://a.example/1", "bs": 1 });
    let task =
        json!({ "status": "SUCCESS", "action": "VIDEO", "imageUrl": "/video/1", "videoUrl": null });
    let made = made_of("artgen.video.submit", &body, task).await;
    assert_eq!(made.files[0].media_type, "video/mp4");
    assert_eq!(
        (sizes(&made), made.made),
        (vec![(FileRole::Main, 64, 48)], 1)
    );
}

/// A picture there is only the cover of a video that is not to be had.
#[tokio::test]
async fn a_picture_is_no_video() {
    let body = json!({ "prompt": "x", "imageUrl": "https://a.example/1", "bs": 1 });
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        "/grid.png" => Reply::Raw(200, "", png(64, 48, [7; 4])),
        "/mj/task/17/fetch" => {
            Reply::Json(200, json!({ "status": "SUCCESS", "imageUrl": "/grid.png" }))
        }
        _ => accepted("17"),
    });
    let (work, _) = work("artgen.video.submit", &body, None, &[]);
    let fault = finish(&*proxy.worker(NAME, Value::Null), &work).await;
    assert_eq!(fault.expect_err("no video").class, Class::Gone);
}

#[tokio::test]
async fn a_face_swap_is_one_picture() {
    let body = json!({ "targetImage": "https://a.example/1", "swapImage": "https://a.example/2" });
    let task = json!({ "status": "SUCCESS", "action": "SWAP_FACE", "imageUrl": "/grid.png" });
    let made = made_of("facegen.swap", &body, task).await;
    assert_eq!(
        (sizes(&made), made.made),
        (vec![(FileRole::Main, 64, 48)], 1)
    );
}

#[tokio::test]
async fn a_lost_submit_is_looked_up_by_its_state() {
    let state = "019a0000-0000-7000-8000-00000000000a-1";
    let (work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    for (tasks, found) in [
        (
            json!([{ "id": "3", "state": "x" }, { "id": "4", "state": state }]),
            true,
        ),
        (json!([{ "id": "3", "state": null }]), false),
        (json!([]), false),
    ] {
        let proxy = Remote::start(move |_| Reply::Json(200, tasks.clone()));
        let worker = proxy.worker(NAME, Value::Null);
        assert_eq!(worker.lost_submit(), LostSubmit::LookUp);
        let task = match worker.look_up(&work, true).await.expect("an answer") {
            Some(StartOutcome::Ticket(ticket)) => Some(ticket["task"].clone()),
            other => other.map(|_| Value::Null),
        };
        assert_eq!(task, found.then(|| json!("4")));
        assert_eq!(proxy.last().path, "/mj/task/list");
    }
    for reply in [
        || Reply::Raw(200, "", b"<html>".to_vec()),
        || Reply::Json(500, json!({})),
        || Reply::Json(200, json!({ "code": 1 })),
    ] as [fn() -> Reply; 3]
    {
        let proxy = Remote::start(move |_| reply());
        let answer = proxy.worker(NAME, Value::Null).look_up(&work, true).await;
        assert_eq!(answer.expect_err("no list").class, Class::Retry);
    }
    let proxy = crate::accepting();
    let older = proxy.worker(NAME, json!({ "dialect": "change" }));
    assert_eq!(older.lost_submit(), LostSubmit::Unknown);
    let listed = proxy.worker(NAME, json!({ "dialect": "change", "task_list": true }));
    assert_eq!(listed.lost_submit(), LostSubmit::LookUp);
}

/// The newer program lists its newest hundred tasks: an older one may be there all the same, and was paid for.
#[tokio::test]
async fn a_list_that_may_be_too_short_does_not_say_that_a_task_never_was() {
    let (work, _) = work("artgen.imagine", &json!({ "prompt": "a fox" }), None, &[]);
    // The job's identifier says when it was made.
    let made_ms = 0x019a_0000_0000_i64;
    let hour = 3_600_000;
    for (count, oldest_ms, is_known) in [
        (99, made_ms + hour, true),
        (100, made_ms - hour, true),
        (100, made_ms + hour, false),
    ] {
        let task =
            |n: i64| json!({ "id": n.to_string(), "state": "x", "submitTime": oldest_ms + n });
        let tasks: Vec<Value> = (0..count).rev().map(task).collect();
        let proxy = Remote::start(move |_| Reply::Json(200, json!(tasks)));
        match proxy.worker(NAME, Value::Null).look_up(&work, true).await {
            Ok(None) => assert!(is_known, "{count} {oldest_ms}"),
            Ok(Some(_)) => panic!("there is none"),
            Err(fault) => assert!(!is_known && fault.class == Class::Gone, "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn cancel_and_probe() {
    let proxy = Remote::start(|_| Reply::Raw(204, "", Vec::new()));
    let worker = proxy.worker(NAME, Value::Null);
    worker.cancel(&json!({ "task": "17" })).await;
    let asked = proxy.last();
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/mj/task/17/cancel")
    );
    worker.probe().await.expect("well");
    for (status, class) in [(401, Class::Dead), (403, Class::Retry), (502, Class::Retry)] {
        let proxy = Remote::start(move |_| Reply::Raw(status, "", Vec::new()));
        let answer = proxy.worker(NAME, Value::Null).probe().await;
        assert_eq!(answer.expect_err("not well").class, class);
    }
}
