//! Follow-ups: by the parent's buttons, by word and number, through windows.

use atelier_contract::Notes;
use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::{Class, PollOutcome, StartOutcome};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::server::{Remote, Reply};
use crate::work::{finish, png, refused, work};
use crate::{NAME, accepted, accepting, finished, grid, sent};

fn window(id: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "code": 21, "result": id, "properties": { "remix": true, "finalPrompt": "a red fox" } }),
    )
}

#[tokio::test]
async fn an_action_presses_the_parents_button_in_the_parents_mode() {
    let parent = grid().await;
    let body = json!({ "jobId": "ours", "action": "upsample2" });
    let asked = sent("artgen.action", &body, Some(&parent), Value::Null).await;
    assert_eq!(asked.path, "/mj-relax/mj/submit/action");
    let json = asked.json();
    assert_eq!(
        (&json["taskId"], &json["customId"]),
        (&json!("5"), &json!("MJ::JOB::upsample::2::abc"))
    );
}

#[tokio::test]
async fn an_action_without_its_button_is_refused_before_anything_is_sent() {
    let parent = grid().await;
    let proxy = accepting();
    let body = json!({ "jobId": "ours", "action": "reroll" });
    let (work, _) = work("artgen.action", &body, Some(&parent), &[]);
    let fault = refused(&*proxy.worker(NAME, Value::Null), &work).await;
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::BadRequest, Some("action"))
    );

    let mask = STANDARD.encode(png(64, 48, [255; 4]));
    let body = json!({ "jobId": "ours", "mask": mask, "prompt": "a hat" });
    let (work, _) = crate::work::work("artgen.inpaint", &body, Some(&parent), &[]);
    let fault = refused(&*proxy.worker(NAME, Value::Null), &work).await;
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::BadRequest, Some("jobId"))
    );

    let mut other = parent.clone();
    other.output.as_mut().expect("an output").notes =
        Notes::of(&json!({ "kind": "relay", "task": "5" }));
    let body = json!({ "jobId": "ours", "action": "upsample2" });
    let (work, _) = crate::work::work("artgen.action", &body, Some(&other), &[]);
    let fault = refused(&*proxy.worker(NAME, Value::Null), &work).await;
    assert_eq!(fault.class, Class::BadRequest);
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn the_older_dialect_changes_by_word_and_number_and_reuses_what_is_there() {
    let parent = grid().await;
    let settings = json!({ "dialect": "change", "poll_ms": 10 });
    let body = json!({ "jobId": "ours", "action": "variation3" });
    let asked = sent("artgen.action", &body, Some(&parent), settings.clone()).await;
    assert_eq!(asked.path, "/mj/submit/change");
    let json = asked.json();
    assert_eq!(
        (&json["taskId"], &json["action"], &json["index"]),
        (&json!("5"), &json!("VARIATION"), &json!(3))
    );

    let proxy = Remote::start(|asked| match asked.path.as_str() {
        "/mj/submit/change" => Reply::Json(
            200,
            json!({ "code": 21, "result": "9", "properties": { "status": "SUCCESS", "imageUrl": "/u.png" } }),
        ),
        "/mj/task/9/fetch" => {
            Reply::Json(200, json!({ "status": "SUCCESS", "imageUrl": "/u.png" }))
        }
        _ => Reply::Raw(200, "", png(64, 48, [1; 4])),
    });
    let body = json!({ "jobId": "ours", "action": "upsample1" });
    let (work, _) = work("artgen.action", &body, Some(&parent), &[]);
    let made = finish(&*proxy.worker(NAME, settings), &work)
        .await
        .expect("made");
    assert_eq!((made.files.len(), made.made), (1, 1));
    assert_eq!(made.notes["task"], "9");
}

#[tokio::test]
async fn a_window_is_confirmed_with_the_prompt_the_proxy_has() {
    let parent = grid().await;
    let proxy = Remote::start(|asked| match asked.path.as_str() {
        "/mj-relax/mj/submit/action" => window("8"),
        _ => accepted("8"),
    });
    let body = json!({ "jobId": "ours", "action": "variation1" });
    let (work, _) = work("artgen.action", &body, Some(&parent), &[]);
    let started = proxy
        .worker(NAME, Value::Null)
        .start(work)
        .await
        .expect("accepted");
    assert!(matches!(started, StartOutcome::Ticket(ticket) if ticket == json!({ "task": "8" })));
    let asked = proxy.last();
    assert_eq!(asked.path, "/mj-relax/mj/submit/modal");
    let json = asked.json();
    assert_eq!(
        (&json["taskId"], &json["prompt"]),
        (&json!("8"), &json!("a red fox"))
    );
}

#[tokio::test]
async fn a_window_whose_answer_was_lost_is_looked_at_and_confirmed_again() {
    let parent = grid().await;
    let turn = AtomicUsize::new(0);
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        "/mj-relax/mj/submit/action" => window("8"),
        "/mj/task/8/fetch" => Reply::Json(200, json!({ "id": "8", "status": "MODAL" })),
        _ if turn.fetch_add(1, Ordering::SeqCst) == 0 => Reply::Cut,
        _ => accepted("8"),
    });
    let worker = proxy.worker(NAME, Value::Null);
    let body = json!({ "jobId": "ours", "action": "variation1" });
    let (work, _) = work("artgen.action", &body, Some(&parent), &[]);
    let Ok(StartOutcome::Ticket(ticket)) = worker.start(work.clone()).await else {
        panic!("the task is there, whatever became of its window");
    };
    let progress = worker.poll(&work, &ticket).await.expect("an answer");
    assert!(matches!(progress, PollOutcome::Running(_)));
    let asked = proxy.asked();
    let actions = asked.iter().filter(|asked| asked.path.ends_with("/action"));
    assert_eq!(actions.count(), 1, "the action itself was not repeated");
    let last = proxy.last();
    assert_eq!(last.path, "/mj-relax/mj/submit/modal");
    assert_eq!(last.json()["prompt"], "a red fox");
}

/// A single picture that can be repainted.
async fn single() -> atelier_contract::Job {
    let parent = grid().await;
    let buttons = json!([{ "customId": "MJ::Inpaint::1::abc::SOLO", "label": "Vary (Region)" }]);
    let body = json!({ "jobId": "ours", "action": "upsample1" });
    finished("artgen.action", &body, buttons, Some(&parent)).await
}

#[tokio::test]
async fn a_region_is_repainted_through_its_window_with_the_mask() {
    let parent = single().await;
    let mask = STANDARD.encode(png(64, 48, [255; 4]));
    let body = json!({ "jobId": "ours", "mask": mask, "prompt": "a hat" });
    let (work, _) = work("artgen.inpaint", &body, Some(&parent), &[]);
    let proxy = Remote::start(|asked| match asked.path.as_str() {
        "/mj-relax/mj/submit/action" => window("8"),
        _ => accepted("8"),
    });
    proxy
        .worker(NAME, Value::Null)
        .start(work.clone())
        .await
        .expect("accepted");
    let asked = proxy.asked();
    assert_eq!(asked[0].json()["customId"], "MJ::Inpaint::1::abc::SOLO");
    let json = asked[1].json();
    assert_eq!(json["maskBase64"], format!("data:image/png;base64,{mask}"));
    assert_eq!(
        (&json["taskId"], &json["prompt"]),
        (&json!("8"), &json!("a hat"))
    );

    // Only a new attempt has the mask again, so an unconfirmed window ends this one.
    let proxy = Remote::start(|asked| match asked.path.as_str() {
        "/mj-relax/mj/submit/action" => window("8"),
        "/mj/task/8/fetch" => Reply::Json(200, json!({ "id": "8", "status": "MODAL" })),
        _ => Reply::Cut,
    });
    let fault = finish(&*proxy.worker(NAME, Value::Null), &work)
        .await
        .expect_err("not made");
    assert_eq!(fault.class, Class::Retry);
}

#[tokio::test]
async fn a_seed_is_asked_for_unless_the_task_told_it() {
    let parent = grid().await;
    let body = json!({ "jobId": "ours" });
    let (seed, _) = work("artgen.seed", &body, Some(&parent), &[]);
    let proxy = Remote::start(|_| Reply::Json(200, json!({ "code": 1, "result": "4242" })));
    let made = finish(&*proxy.worker(NAME, Value::Null), &seed)
        .await
        .expect("a seed");
    assert_eq!((made.seed.as_deref(), made.made), (Some("4242"), 1));
    assert_eq!(proxy.last().path, "/mj/task/5/image-seed");

    let mut known = parent;
    let output = known.output.as_mut().expect("an output");
    let mut notes = output.notes.value();
    notes["seed"] = json!("77");
    output.notes = Notes::of(&notes);
    let (seed, _) = work("artgen.seed", &body, Some(&known), &[]);
    let proxy = accepting();
    let made = finish(&*proxy.worker(NAME, Value::Null), &seed)
        .await
        .expect("a seed");
    assert_eq!(made.seed.as_deref(), Some("77"));
    assert!(proxy.asked().is_empty());
}

#[tokio::test]
async fn an_extension_names_the_parents_task_and_video() {
    let body = json!({ "prompt": "it runs", "imageUrl": "https://a.example/1", "bs": 1 });
    let (work, job) = work("artgen.video.submit", &body, None, &[]);
    let clip = crate::endings::clip();
    let proxy = Remote::start(move |asked| match asked.path.as_str() {
        "/mj/task/5/fetch" => {
            Reply::Json(200, json!({ "status": "SUCCESS", "videoUrl": "/v.mp4" }))
        }
        "/v.mp4" => Reply::Raw(200, "", clip.clone()),
        _ => accepted("5"),
    });
    let made = finish(&*proxy.worker(NAME, Value::Null), &work)
        .await
        .expect("a clip");
    let parent = crate::work::settled(job, &made);
    let body = json!({ "jobId": parent.id.as_str(), "index": 0, "bs": 2 });
    let asked = sent("artgen.video.extend", &body, Some(&parent), Value::Null).await;
    let json = asked.json();
    assert_eq!(asked.path, "/mj/submit/video");
    assert_eq!(
        (&json["action"], &json["taskId"], &json["index"]),
        (&json!("extend"), &json!("5"), &json!(0))
    );
    assert_eq!(
        (&json["prompt"], &json["batchSize"]),
        (&json!("it runs"), &json!(2))
    );
}
