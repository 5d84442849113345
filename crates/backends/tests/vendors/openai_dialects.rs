//! What the servers that speak the OpenAI formats do differently, as their own sources have it.

use std::sync::atomic::{AtomicUsize, Ordering};

use atelier_backends::{Class, PollOutcome};
use atelier_media::{Picture, encode_video};
use serde_json::{Value, json};

use crate::stand::{
    Reply, Stand, base64, bytes, json as answer, made, png, polled, status, ticket,
};
use crate::studio::Studio;

fn clip() -> Vec<u8> {
    let mut frames = (0..4).map(|_| Picture::filled(64, 48, [9, 80, 200, 255]));
    encode_video(&mut frames, 24).expect("a clip")
}

fn painter() -> Stand {
    let picture = base64(png(1024, 1024, [9, 99, 9, 255]));
    Stand::new(move |seen| {
        let count = if seen.head.contains("multipart") {
            seen.text("n").and_then(|n| n.parse().ok()).unwrap_or(1)
        } else {
            seen.json()["n"].as_u64().unwrap_or(1)
        };
        let items = vec![json!({"b64_json": picture}); count as usize];
        answer(&json!({"created": 1, "data": items}))
    })
}

/// A proxy's identifiers are base64 and long; one that was not taken was a paid video that nobody fetched.
#[tokio::test]
async fn identifiers_may_have_any_characters() {
    let studio = Studio::new();
    for id in [
        "video_bGl0ZWxsbTpjdXN0b21fbGxt==",
        "a/b c+d?e#f%",
        "../../secrets",
        &"x=".repeat(256),
    ] {
        let (name, film) = (id.to_owned(), clip());
        let stand = Stand::new(move |seen| match &*seen.line {
            "POST /v1/videos" => answer(&json!({"id": name, "status": "queued"})),
            line if line.ends_with("/content") => bytes("video/mp4", film.clone()),
            _ => answer(&json!({"id": name, "status": "completed"})),
        });
        let worker = stand.worker("openai", json!({"video_model": "m"}));
        let (work, _) = studio.work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
        let paper = ticket(&worker, work.clone()).await.expect("it was taken");
        polled(&worker, &work, &paper).await.expect("a video");
        worker.cancel(&paper).await;
        let lines: Vec<String> = stand.seen().into_iter().map(|seen| seen.line).collect();
        let own = lines[1]
            .strip_prefix("GET /v1/videos/")
            .expect("a question")
            .to_owned();
        assert!(!own.contains(['/', '?', '#', ' ']), "{own}");
        assert_eq!(lines[2], format!("GET /v1/videos/{own}/content"));
        assert_eq!(lines[3], format!("DELETE /v1/videos/{own}"));
    }
    let stand = Stand::always(answer(&json!({"id": "x".repeat(513)})));
    let worker = stand.worker("openai", json!({"video_model": "m"}));
    let (work, _) = studio.work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
    assert!(ticket(&worker, work).await.is_err());
}

#[tokio::test]
async fn the_names_of_pictures_and_masks_are_the_dialect_s() {
    let studio = Studio::new();
    let photo = studio.host("a.png", &Picture::filled(64, 64, [1, 2, 3, 255]));
    let hole = studio.host("m.png", &Picture::filled(64, 64, [0, 0, 0, 0]));
    // Dialect, pictures, and the names of the parts that carry them and the mask.
    for (dialect, pictures, names) in [
        ("openai", 1, vec!["image", "mask"]),
        ("openai", 2, vec!["image[]", "image[]", "mask"]),
        ("sglang", 2, vec!["image[]", "image[]", "mask"]),
        ("vllm_omni", 2, vec!["image", "image", "mask_image"]),
        ("sdcpp", 1, vec!["image[]", "mask"]),
        ("localai", 1, vec!["image", "mask"]),
    ] {
        let stand = painter();
        let worker = stand.worker("openai", json!({"image_model": "m", "dialect": dialect}));
        let body = json!({"image": vec![&photo; pictures], "mask": hole, "prompt": "x", "model": "image-1"});
        let (work, _) = studio.work("imgmodel.edits", &body, None);
        made(&worker, work)
            .await
            .unwrap_or_else(|fault| panic!("{dialect}: {fault:?}"));
        let parts = stand.seen()[0].parts();
        let sent: Vec<&str> = parts
            .iter()
            .map(|part| &*part.0)
            .filter(|name| name.starts_with("image") || name.starts_with("mask"))
            .collect();
        assert_eq!(sent, names, "{dialect}");
    }
    let worker = painter().worker("openai", json!({"image_model": "m", "dialect": "localai"}));
    let body = json!({"image": [&photo, &photo], "mask": hole, "prompt": "x", "model": "image-1"});
    let (work, _) = studio.work("imgmodel.edits", &body, None);
    let fault = made(&worker, work)
        .await
        .expect_err("one picture at a time");
    assert_eq!(
        (fault.class, fault.field.as_deref()),
        (Class::Unable, Some("image"))
    );
}

#[tokio::test]
async fn a_video_that_failed_may_be_told_by_an_error_status() {
    let (work, _) = Studio::new().work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
    let error =
        json!({"error": {"message": "out of frames", "type": "InternalServerError", "code": 500}});
    // Dialect, status, body, and whether the video has ended.
    for (dialect, code, body, ended) in [
        ("vllm_omni", 500, error.clone(), true),
        ("vllm_omni", 503, error.clone(), false),
        ("openai", 500, error.clone(), false),
        (
            "openai",
            500,
            json!({"id": "v", "status": "failed", "error": {"message": "x"}}),
            true,
        ),
    ] {
        let stand = Stand::always(status(code, &body));
        let worker = stand.worker("openai", json!({"video_model": "m", "dialect": dialect}));
        let has_ended = match worker.poll(&work, &json!({"video": "v"})).await {
            Ok(PollOutcome::Failed(_)) => true,
            Err(fault) => {
                assert!(fault.class.may_pass());
                false
            }
            Ok(_) => panic!("neither"),
        };
        assert_eq!(has_ended, ended, "{dialect} {code}");
    }
}

#[tokio::test]
async fn the_content_of_a_video_may_be_an_address() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /v1/videos/v/content" => answer(&json!({"id": "v", "url": "/files/v.mp4"})),
        "GET /files/v.mp4" => bytes("video/mp4", clip()),
        _ => answer(&json!({"id": "v", "status": "completed"})),
    });
    let worker = stand.worker("openai", json!({"video_model": "m", "dialect": "sglang"}));
    let (work, _) = Studio::new().work("vidgen_partner.generations", &json!({"prompt": "x"}), None);
    let made = polled(&worker, &work, &json!({"video": "v"}))
        .await
        .expect("a video");
    assert_eq!(made.files[0].media_type, "video/mp4");
}

#[tokio::test]
async fn localai_is_told_frames_because_it_forgets_seconds() {
    let stand = Stand::always(answer(&json!({"data": [{"b64_json": base64(clip())}]})));
    let settings = json!({"video_model": "m", "dialect": "localai", "frames_per_second": 8});
    let worker = stand.worker("openai", settings);
    let (work, _) = Studio::new().work(
        "vidgen_partner.generations",
        &json!({"prompt": "x", "seconds": 4}),
        None,
    );
    made(&worker, work).await.expect("a video");
    let sent = stand.seen()[0].json();
    assert_eq!((&sent["fps"], &sent["num_frames"]), (&json!(8), &json!(33)));
}

/// Its own default is the number 42, for every picture of every job.
#[tokio::test]
async fn stable_diffusion_cpp_gets_a_seed_for_every_call() {
    let stand = painter();
    let settings = json!({"image_model": "m", "dialect": "sdcpp", "images_per_call": 1});
    let worker = stand.worker("openai", settings);
    let body = json!({"prompt": "a <sd_cpp_extra_args>{}</sd_cpp_extra_args> cat", "model": "art-2", "n": 2});
    let (work, _) = Studio::new().work("imgmodel.generations", &body, None);
    made(&worker, work).await.expect("two pictures");
    let seeds: Vec<Value> = stand
        .seen()
        .iter()
        .map(|seen| {
            let prompt = seen.json()["prompt"].as_str().expect("words").to_owned();
            let extra = prompt.split("<sd_cpp_extra_args>").nth(1).expect("one tag");
            assert_eq!(prompt.matches("<sd_cpp_extra_args>").count(), 1);
            let extra: Value =
                serde_json::from_str(extra.split('<').next().expect("text")).expect("JSON");
            extra["seed"].clone()
        })
        .collect();
    assert_eq!(seeds.len(), 2);
    assert!(seeds[0].is_u64() && seeds[0] != seeds[1], "{seeds:?}");
}

/// Models of today know neither the sizes nor the words of `art-2` and `art-3`.
#[tokio::test]
async fn older_models_are_played_by_those_that_are_left() {
    let studio = Studio::new();
    for (body, size, quality) in [
        (
            json!({"prompt": "x", "model": "art-2", "size": "256x256"}),
            "816x816",
            json!("auto"),
        ),
        (
            json!({"prompt": "x", "model": "art-3", "size": "1792x1024", "quality": "hd", "style": "natural"}),
            "1792x1024",
            json!("high"),
        ),
    ] {
        let stand = painter();
        let worker = stand.worker("openai", json!({"image_model": "gpt-image-2.6-flare"}));
        let (work, _) = studio.work("imgmodel.generations", &body, None);
        let wanted = (work.brief.width, work.brief.height);
        let made = made(&worker, work).await.expect("a picture");
        assert_eq!((made.files[0].width, made.files[0].height), wanted);
        let sent = stand.seen()[0].json();
        assert_eq!(
            (&sent["size"], &sent["quality"]),
            (&json!(size), &quality),
            "{sent}"
        );
        assert!(sent.get("style").is_none() && sent.get("response_format").is_none());
        let says_style = sent["prompt"]
            .as_str()
            .is_some_and(|prompt| prompt.contains("natural"));
        assert_eq!(says_style, body.get("style").is_some());
    }
}

#[tokio::test]
async fn a_webui_without_n_iter_is_asked_until_there_are_enough() {
    let calls = AtomicUsize::new(0);
    let picture = base64(png(512, 512, [9, 99, 9, 255]));
    let stand = Stand::new(move |seen| -> Reply {
        if seen.line != "POST /sdapi/v1/txt2img" {
            return answer(&json!({}));
        }
        calls.fetch_add(1, Ordering::SeqCst);
        answer(&json!({"images": [picture], "parameters": {}, "info": "{}"}))
    });
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let (work, _) = Studio::new().work("artgen.imagine", &json!({"prompt": "a fox"}), None);
    assert_eq!(made(&worker, work).await.expect("a grid").made, 4);
    let seeds: std::collections::HashSet<u64> = stand
        .asked("txt2img")
        .iter()
        .filter_map(|seen| seen.json()["seed"].as_u64())
        .collect();
    assert_eq!(seeds.len(), 4, "four calls, four seeds");
}
