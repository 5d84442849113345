//! The older interfaces of two makers, which still sell models that the newer ones do not have.

use atelier_contract::FileRole;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{Stand, bytes, json as answer, polled, ticket};
use crate::story::clip;
use crate::studio::Studio;

/// Orders a clip that begins with a picture and waits for it; what was sent.
async fn ordered(stand: &Stand, dialect: &str, seconds: &str) -> Value {
    let studio = Studio::new();
    let worker = stand.worker("roletask", json!({"dialect": dialect}));
    let picture = studio.host("a.png", &Picture::filled(640, 360, [9; 4]));
    let body = json!({"prompt": "a kite", "video_length": seconds, "refer_images": [picture]});
    let (work, _) = studio.work("clipgen.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a clip");
    assert_eq!(made.files[0].role, FileRole::Main);
    stand.asked("POST")[0].json()
}

#[tokio::test]
async fn hailuo_is_ordered_by_the_first_version_and_its_file_is_asked_for_by_itself() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /v1/v1/video_generation" => {
            answer(&json!({"task_id": "t-1", "base_resp": {"status_code": 0}}))
        }
        "GET /v1/v1/query/video_generation?task_id=t-1" => answer(
            &json!({"status": "Success", "file_id": 176_843_862, "base_resp": {"status_code": 0}}),
        ),
        "GET /v1/v1/files/retrieve?file_id=176843862" => {
            let file = json!({"file_id": 176_843_862, "download_url": seen.here("/clip.mp4")});
            answer(&json!({"file": file, "base_resp": {"status_code": 0}}))
        }
        _ => bytes("video/mp4", clip(1280, 720)),
    });
    let sent = ordered(&stand, "minimax_v1", "10").await;
    assert_eq!(sent["model"], "MiniMax-Hailuo-02");
    assert_eq!(
        (&sent["duration"], &sent["resolution"]),
        (&json!(10), &json!("768P"))
    );
    let first = sent["first_frame_image"].as_str().unwrap_or_default();
    assert!(first.starts_with("data:image/"), "{first}");
}

#[tokio::test]
async fn kling_has_a_path_of_its_own_for_what_begins_with_a_picture() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /v1/v1/videos/image2video" => {
            answer(&json!({"code": 0, "data": {"task_id": "t-1", "task_status": "submitted"}}))
        }
        "GET /v1/v1/videos/image2video/t-1" => {
            let videos = json!([{"id": "v", "url": seen.here("/clip.mp4"), "duration": "10"}]);
            answer(
                &json!({"code": 0, "data": {"task_id": "t-1", "task_status": "succeed",
                "task_result": {"videos": videos}}}),
            )
        }
        _ => bytes("video/mp4", clip(1280, 720)),
    });
    let sent = ordered(&stand, "kling_v1", "10").await;
    assert_eq!(sent["model_name"], "kling-v2-6");
    assert_eq!(sent["duration"], "10", "a text");
    assert!(
        sent["image"].is_string() && sent.get("aspect_ratio").is_none(),
        "{sent}"
    );
    assert!(sent["external_task_id"].is_string());
}
