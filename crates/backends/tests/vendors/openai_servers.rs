//! Servers of the OpenAI format with habits of their own: Azure's version in the address, and proxies that cannot delete videos.

use serde_json::json;

use crate::stand::{Stand, base64, bytes, json as answer, made, png, polled, status, ticket};
use crate::story::clip;
use crate::studio::Studio;

const DEPLOYMENT: &str = "/openai/deployments/draw?api-version=2025-04-01-preview";

#[tokio::test]
async fn the_version_in_an_address_is_kept_on_every_call() {
    let stand = Stand::new(
        |seen| match seen.line.split('?').next().unwrap_or_default() {
            "GET /openai/deployments/draw/videos/v/content" => bytes("video/mp4", clip(720, 1280)),
            "GET /openai/deployments/draw/videos/v" => {
                answer(&json!({"id": "v", "status": "completed"}))
            }
            "POST /openai/deployments/draw/videos" => {
                answer(&json!({"id": "v", "status": "queued"}))
            }
            _ => answer(&json!({"data": [{"b64_json": base64(png(1024, 1024, [9, 99, 9, 255]))}]})),
        },
    );
    let settings = json!({"image_model": "m", "video_model": "m", "key_header": true});
    let worker = stand.worker_under("openai", DEPLOYMENT, settings);
    let studio = Studio::new();
    worker.probe().await.expect("it is well");
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "a fern"}), None);
    made(&worker, work).await.expect("a picture");
    let body = json!({"prompt": "a wave", "seconds": 4});
    let (work, _) = studio.work("vidgen_partner.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    polled(&worker, &work, &paper).await.expect("a video");
    worker.cancel(&paper).await;
    let seen = stand.seen();
    assert_eq!(seen.len(), 6, "{seen:?}");
    for one in seen {
        assert!(
            one.line.contains("/openai/deployments/draw/"),
            "{}",
            one.line
        );
        assert!(
            one.line.ends_with("?api-version=2025-04-01-preview"),
            "{}",
            one.line
        );
    }
}

#[tokio::test]
async fn a_server_that_cannot_delete_videos_is_asked_once() {
    for (code, asked) in [(405, 1), (404, 2), (500, 2)] {
        let stand = Stand::always(status(code, &json!({"detail": "Method Not Allowed"})));
        let worker = stand.worker("openai", json!({"video_model": "m"}));
        for _ in 0..2 {
            worker.cancel(&json!({"video": "v"})).await;
        }
        assert_eq!(stand.asked("DELETE").len(), asked, "{code}");
    }
}
