//! The OpenAI formats against a real third-party server: a LiteLLM proxy, which reads our requests with its own parsers
//! and asks a server of this test in turn. It is installed and started by `scripts/litellm`; the tests are ignored
//! unless they are asked for.

use std::process::{Command, Stdio};

use atelier_backends::Class;
use serde_json::json;

use crate::stand::{
    Stand, base64, bytes, json as answer, made, png, polled, status, ticket, worker_with_key,
};
use crate::story::clip;
use crate::studio::Studio;

/// The running proxy; it ends with the test.
struct Proxy {
    directory: tempfile::TempDir,
    url: String,
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/litellm");

impl Proxy {
    fn start(upstream: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let started = Command::new(SCRIPT)
            .arg("start")
            .arg(directory.path())
            .arg(upstream)
            .stderr(Stdio::inherit())
            .output()
            .expect("the script runs");
        assert!(started.status.success(), "the proxy did not start");
        let url = String::from_utf8(started.stdout).expect("an address");
        Self {
            directory,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let stop = Command::new(SCRIPT)
            .arg("stop")
            .arg(self.directory.path())
            .status();
        assert!(stop.is_ok_and(|status| status.success()));
    }
}

/// Paints and films what is asked for, refuses one word, and is overrun by another.
fn upstream() -> Stand {
    Stand::new(|seen| {
        let text = String::from_utf8_lossy(&seen.body).into_owned();
        let error = |code: &str| json!({"error": {"message": "Refused by the safety system", "type": "image_generation_user_error", "code": code, "param": null}});
        if text.contains("forbidden") {
            return status(400, &error("moderation_blocked"));
        }
        if text.contains("crowded") {
            return status(429, &error("rate_limit_exceeded"));
        }
        let video = |state: &str| {
            answer(
                &json!({"id": "video_1", "object": "video", "status": state, "progress": 40, "model": "studio",
                "created_at": 1, "seconds": "4", "size": "720x1280"}),
            )
        };
        match &*seen.line {
            "POST /v1/videos" => video("queued"),
            "GET /v1/videos/video_1/content" => bytes("video/mp4", clip(72, 128)),
            "GET /v1/videos/video_1" => video("completed"),
            _ => answer(
                &json!({"created": 1, "data": [{"b64_json": base64(png(1024, 1024, [9, 99, 9, 255]))}]}),
            ),
        }
    })
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn pictures_edits_and_failures_come_through_a_litellm_proxy() {
    let (upstream, studio) = (upstream(), Studio::new());
    let proxy = Proxy::start(&upstream.url("/v1"));
    let at = |key: &str, model: &str| {
        // It wants every picture under the same plain name.
        let settings = json!({"image_model": model, "image_field": "image", "timeout_seconds": 60});
        worker_with_key("openai", &format!("{}/v1", proxy.url), key, settings)
            .expect("good settings")
    };
    let worker = at("sk-litellm", "studio");
    worker.probe().await.expect("it is well");

    let (work, _) = studio.work(
        "imgmodel.generations",
        &json!({"prompt": "a fern", "model": "image-1", "quality": "high"}),
        None,
    );
    let file = made(&worker, work)
        .await
        .expect("a picture")
        .files
        .remove(0);
    assert_eq!((file.width, file.height), (1024, 1024));
    let image = studio.host_bytes("a.png", png(64, 64, [1, 2, 3, 255]).into());
    let body =
        json!({"image": [image], "prompt": "add a hat", "model": "image-1", "size": "1024x1024"});
    let (work, _) = studio.work("imgmodel.edits", &body, None);
    made(&worker, work).await.expect("an edited picture");
    let edit = upstream
        .asked("images/edits")
        .pop()
        .expect("the edit came through");
    assert_eq!(edit.text("prompt").as_deref(), Some("add a hat"));
    assert!(
        edit.parts()
            .iter()
            .any(|part| part.1 == png(64, 64, [1, 2, 3, 255]))
    );

    let other = studio.host_bytes("b.png", png(64, 64, [3, 2, 1, 255]).into());
    let body = json!({"image": [image, other], "prompt": "join them", "model": "image-1", "size": "1024x1024"});
    let (work, _) = studio.work("imgmodel.edits", &body, None);
    made(&worker, work).await.expect("a picture of two");
    let edit = upstream.asked("images/edits").pop().expect("it came");
    for colour in [[1, 2, 3, 255], [3, 2, 1, 255]] {
        let file = png(64, 64, colour);
        assert!(edit.parts().iter().any(|part| part.1 == file), "{colour:?}");
    }

    for (prompt, class) in [("forbidden", Class::Reject), ("crowded", Class::Rate)] {
        let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": prompt}), None);
        let fault = made(&worker, work).await.expect_err(prompt);
        assert_eq!(fault.class, class, "{fault:?}");
    }
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    // Without a database it tells a wrong key from a fault of its own no more, so nothing follows but that it made nothing.
    for key in ["", "sk-of-another"] {
        let refused = made(&at(key, "studio"), work.clone()).await;
        assert!(refused.is_err(), "no key of its own");
    }
    let fault = made(&at("sk-litellm", "nothing"), work)
        .await
        .expect_err("no such model");
    assert_eq!(fault.class, Class::Model, "{fault:?}");
}

/// The proxy has names of its own for videos, with characters that no vendor's name has.
#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_video_comes_through_a_litellm_proxy_under_the_proxys_own_name() {
    let (upstream, studio) = (upstream(), Studio::new());
    let proxy = Proxy::start(&upstream.url("/v1"));
    let settings = json!({"video_model": "studio", "timeout_seconds": 60});
    let url = format!("{}/v1", proxy.url);
    let worker = worker_with_key("openai", &url, "sk-litellm", settings).expect("good settings");
    let body = json!({"prompt": "a wave", "seconds": 4, "size": "720x1280"});
    let (work, _) = studio.work("vidgen_partner.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
    let order = upstream.asked("POST /v1/videos").pop().expect("it came");
    assert!(String::from_utf8_lossy(&order.body).contains("a wave"));
}
