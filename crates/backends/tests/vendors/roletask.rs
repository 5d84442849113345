//! The makers of role-tagged tasks, each against a server that speaks its format: the whole story.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use atelier_backends::StartOutcome;
use atelier_backends::backend::LostSubmit;
use atelier_media::{Limits, Picture, decode};
use base64::Engine as _;
use serde_json::{Value, json};

use crate::stand::{
    RecordedRequest, Reply, Stand, bytes, json as answer, made, png, polled, ticket,
    worker_with_key,
};
use crate::story::clip;
use crate::studio::Studio;

/// How a maker names things.
struct Maker {
    dialect: &'static str,
    start: &'static str,
    started: Value,
    ask: &'static str,
    /// The document of a task in a state.
    task: fn(state: &str, url: Option<&str>) -> Value,
    states: [&'static str; 3],
    stop: Option<&'static str>,
}

fn makers() -> Vec<Maker> {
    vec![
        Maker {
            dialect: "ark",
            start: "POST /v1/contents/generations/tasks",
            started: json!({"id": "cgt-1"}),
            ask: "GET /v1/contents/generations/tasks/cgt-1",
            task: |state, url| json!({"id": "cgt-1", "status": state, "error": null, "content": {"video_url": url}, "usage": {"completion_tokens": 108_900}}),
            states: ["queued", "running", "succeeded"],
            stop: Some("DELETE /v1/contents/generations/tasks/cgt-1"),
        },
        Maker {
            dialect: "minimax",
            start: "POST /v1/v2/video_generation",
            started: json!({"task_id": "t-1"}),
            ask: "GET /v1/v2/query/video_generation/t-1",
            task: |state, url| json!({"task": {"id": "t-1", "status": state, "content": {"url": url}}}),
            states: ["queued", "running", "succeeded"],
            stop: Some("DELETE /v1/v2/video_generation/t-1"),
        },
        Maker {
            dialect: "dashscope",
            start: "POST /v1/services/aigc/video-generation/video-synthesis",
            started: json!({"output": {"task_id": "t-1", "task_status": "PENDING"}, "request_id": "r"}),
            ask: "GET /v1/tasks/t-1",
            task: |state, url| json!({"output": {"task_id": "t-1", "task_status": state, "video_url": url}, "request_id": "r"}),
            states: ["PENDING", "RUNNING", "SUCCEEDED"],
            stop: Some("POST /v1/tasks/t-1/cancel"),
        },
        Maker {
            dialect: "kling",
            start: "POST /v1/text-to-video/kling-3.0",
            started: json!({"code": 0, "message": "SUCCEED", "data": {"id": "t-1", "status": "submitted"}}),
            ask: "GET /v1/tasks?task_ids=t-1",
            task: |state, url| json!({"code": 0, "message": "SUCCEED", "data": [{"id": "t-1", "status": state, "outputs": [{"type": "video", "url": url, "duration": "10"}]}]}),
            states: ["submitted", "processing", "succeeded"],
            stop: None,
        },
    ]
}

fn studio_of(maker: &Maker) -> Stand {
    let polls = AtomicUsize::new(0);
    let (start, started, ask) = (maker.start, maker.started.clone(), maker.ask);
    let (task, states, stop) = (maker.task, maker.states, maker.stop);
    Stand::new(move |seen| match &*seen.line {
        line if line == start => answer(&started),
        line if line == ask => match polls.fetch_add(1, Ordering::SeqCst) {
            0 => answer(&task(states[0], None)),
            1 => answer(&task("pondering", None)),
            2 => answer(&task(states[1], None)),
            _ => answer(&task(states[2], Some(&seen.here("/film.mp4")))),
        },
        "GET /film.mp4" => bytes("video/mp4", clip(128, 72)),
        line if Some(line) == stop => answer(&json!({})),
        _ => Reply::Cut,
    })
}

#[tokio::test]
async fn every_maker_starts_is_asked_and_delivers() {
    for maker in makers() {
        let (stand, studio) = (studio_of(&maker), Studio::new());
        let worker = stand.worker("roletask", json!({"dialect": maker.dialect}));
        let body = json!({"prompt": "a wave", "video_length": "10"});
        let (work, _) = studio.work("clipgen.generations", &body, None);
        let paper = ticket(&worker, work.clone()).await.expect(maker.dialect);
        let made = polled(&worker, &work, &paper).await.expect(maker.dialect);
        let file = &made.files[0];
        assert_eq!(
            (file.media_type, file.width, file.height),
            ("video/mp4", 128, 72)
        );
        assert!(
            stand.seen()[0]
                .head
                .contains("authorization: Bearer sk-very-secret")
        );
        worker.cancel(&paper).await;
        let stopped = maker.stop.map_or(0, |line| stand.asked(line).len());
        assert_eq!(
            stopped,
            usize::from(maker.stop.is_some()),
            "{}",
            maker.dialect
        );
        let found = match worker.lost_submit() {
            LostSubmit::LookUp => "kling",
            LostSubmit::Unknown => maker.dialect,
            LostSubmit::Repeat => "",
        };
        assert_eq!(found, maker.dialect);
    }
}

/// What a maker was sent for a request.
async fn sent(
    dialect: &str,
    settings: Value,
    operation: &str,
    body: Value,
    studio: &Studio,
) -> RecordedRequest {
    let stand = Stand::new(|_| {
        answer(
            &json!({"id": "x", "task_id": "x", "output": {"task_id": "x"}, "code": 0, "data": {"id": "x"}}),
        )
    });
    let mut settings = settings;
    settings["dialect"] = json!(dialect);
    // A code is the name of an error at one of the makers.
    let worker = stand.worker("roletask", settings);
    let (work, _) = studio.work(operation, &body, None);
    ticket(&worker, work).await.expect(dialect);
    stand.seen()[0].clone()
}

#[tokio::test]
async fn words_alone_become_the_documented_body() {
    let studio = Studio::new();
    let body = json!({"prompt": "a wave", "video_length": "30", "aspect_ratio": "9:16"});
    let ark = sent(
        "ark",
        json!({}),
        "clipgen.generations",
        body.clone(),
        &studio,
    )
    .await;
    assert_eq!(
        ark.json(),
        json!({
            "model": "dreamina-seedance-2-5-260628",
            "content": [{"type": "text", "text": "a wave"}],
            "resolution": "720p", "duration": 30, "ratio": "9:16", "generate_audio": false, "watermark": false,
        })
    );
    let wan = sent(
        "dashscope",
        json!({"audio": true}),
        "clipgen.generations",
        body,
        &studio,
    )
    .await;
    assert!(wan.head.contains("x-dashscope-async: enable"));
    assert_eq!(
        wan.json(),
        json!({
            "model": "wan3.0-video", "input": {"prompt": "a wave"},
            "parameters": {"resolution": "720P", "ratio": "9:16", "duration": 30, "audio": true, "prompt_extend": true, "watermark": false},
        })
    );
}

#[tokio::test]
async fn words_alone_become_the_documented_body_of_the_other_makers() {
    let studio = Studio::new();
    let body = json!({"prompt": "a wave", "seconds": 8});
    let hailuo = sent(
        "minimax",
        json!({}),
        "vidgen_partner.generations",
        body.clone(),
        &studio,
    )
    .await;
    assert_eq!(
        hailuo.json(),
        json!({
            "model": "MiniMax-H3", "content": [{"type": "text", "text": "a wave"}],
            "resolution": "768P", "duration": 8, "ratio": "9:16", "aigc_watermark": false,
        })
    );
    let kling = sent(
        "kling",
        json!({}),
        "vidgen_partner.generations",
        body,
        &studio,
    )
    .await;
    let name = kling.json()["options"]["external_task_id"].clone();
    assert!(
        name.as_str().is_some_and(|name| name.ends_with("-1-0")),
        "{name}"
    );
    assert_eq!(
        kling.json(),
        json!({
            "contents": [{"type": "prompt", "text": "a wave"}],
            "settings": {"resolution": "720p", "duration": 8, "audio": "off", "aspect_ratio": "9:16"},
            "options": {"external_task_id": name, "watermark_info": {"enabled": false}},
        })
    );
}

fn picture_of(uri: &Value) -> Picture {
    let text = uri.as_str().expect("an address");
    let text = text.rsplit_once(',').map_or(text, |(_, data)| data);
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64");
    decode(&bytes, Limits::default()).expect("a picture")
}

#[tokio::test]
async fn frames_have_roles_and_the_shape_of_the_video() {
    let studio = Studio::new();
    let start = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let end = studio.host("b.png", &Picture::filled(64, 64, [99, 9, 9, 255]));
    let both =
        json!({"userPrompt": "x", "imageUrl": start, "imageEndUrl": end, "modelName": "motion-v1"});
    let ark = sent(
        "ark",
        json!({}),
        "motion.generations",
        both.clone(),
        &studio,
    )
    .await
    .json();
    assert_eq!(
        (&ark["content"][1]["role"], &ark["content"][2]["role"]),
        (&json!("first_frame"), &json!("last_frame"))
    );
    assert!(ark.get("ratio").is_none(), "frames have their own shape");
    let frame = picture_of(&ark["content"][1]["image_url"]["url"]);
    assert_eq!((frame.width, frame.height), (720, 1280));
    let wan = sent(
        "dashscope",
        json!({}),
        "motion.generations",
        both.clone(),
        &studio,
    )
    .await
    .json();
    assert_eq!(wan["input"]["media"][1]["type"], "last_frame");
    let kling = sent("kling", json!({}), "motion.generations", both, &studio).await;
    assert!(kling.line.starts_with("POST /v1/image-to-video/kling-3.0"));
    assert_eq!(kling.json()["contents"][2]["type"], "last_frame");
    let looped = json!({"userPrompt": "x", "imageUrl": start, "loop": true});
    let looped = sent("minimax", json!({}), "motion.generations", looped, &studio)
        .await
        .json();
    assert_eq!(
        looped["content"][1]["image_url"],
        looped["content"][2]["image_url"]
    );

    let references = json!({"prompt": "x", "video_length": "10", "refer_images": [start, end]});
    let ark = sent(
        "ark",
        json!({}),
        "clipgen.generations",
        references.clone(),
        &studio,
    )
    .await
    .json();
    assert_eq!(ark["content"][2]["role"], "reference_image");
    assert_eq!(ark["ratio"], "16:9");
    let omni = json!({"video_model": "kling-3.0-omni"});
    let omni = sent("kling", omni, "clipgen.generations", references, &studio).await;
    assert!(omni.line.contains("/omni-video/kling-3.0-omni"));
    assert_eq!(omni.json()["contents"][1]["type"], "refer_image");
}

#[tokio::test]
async fn several_clips_are_several_tasks_and_what_is_made_is_delivered() {
    let starts = AtomicUsize::new(0);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /v1/contents/generations/tasks" => {
            let number = starts.fetch_add(1, Ordering::SeqCst);
            answer(&json!({"id": format!("cgt-{number}")}))
        }
        "GET /v1/contents/generations/tasks/cgt-1" => {
            answer(&json!({"id": "cgt-1", "status": "failed",
            "error": {"code": "OutputVideoSensitiveContentDetected", "message": "no"}}))
        }
        line if line.starts_with("GET /v1/contents") => answer(
            &json!({"status": "succeeded", "content": {"video_url": seen.here("/film.mp4")}}),
        ),
        _ => bytes("video/mp4", clip(64, 64)),
    });
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let worker = stand.worker("roletask", json!({}));
    let body = json!({"prompt": "x", "imageUrl": image, "bs": 4, "resolution": "sd"});
    let (work, _) = studio.work("artgen.video.submit", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("clips");
    assert_eq!(made.made, 3, "one of four was refused");
}

#[tokio::test]
async fn pictures_come_with_the_answer() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /v1/images/generations" => answer(
            &json!({"data": [{"url": seen.here("/a.png"), "size": "1920x1920"}], "usage": {"output_tokens": 14_400}}),
        ),
        "POST /v1/services/aigc/multimodal-generation/generation" => answer(
            &json!({"output": {"choices": [{"message": {"content": [{"image": seen.here("/a.png")}]}}]}}),
        ),
        "POST /v1/v1/image_generation" => answer(
            &json!({"data": {"image_urls": [seen.here("/a.png")]}, "base_resp": {"status_code": 0, "status_msg": "success"}}),
        ),
        _ => bytes("image/png", png(1920, 1920, [9, 99, 9, 255])),
    });
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    for (dialect, path) in [
        ("ark", "images/gen"),
        ("dashscope", "multimodal"),
        ("minimax", "image_generation"),
    ] {
        let worker = stand.worker("roletask", json!({"dialect": dialect}));
        let body = json!({"prompt": "draw a fox", "referImages": [image]});
        let (work, _) = studio.work("imgmodel.chat", &body, None);
        let made = made(&worker, work).await.expect(dialect);
        assert_eq!(
            (made.files[0].width, made.files[0].height),
            (1024, 1024),
            "{dialect}"
        );
        let sent = stand.asked(path)[0].json();
        assert!(
            sent.to_string().contains("data:image/png;base64,"),
            "{dialect}"
        );
    }
    let sent = stand.asked("images/gen")[0].json();
    assert_eq!(sent["size"], "1920x1920", "no smaller one is made there");
    assert_eq!(
        stand.asked("multimodal")[0].json()["parameters"]["size"],
        "1024*1024"
    );
}

#[tokio::test]
async fn a_lost_start_of_kling_is_found_by_its_name() {
    let (there, studio) = (
        json!({"code": 0, "data": [{"id": "t-9", "status": "processing"}]}),
        Studio::new(),
    );
    let (work, _) = studio.work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "10"}),
        None,
    );
    let stand = Stand::always(answer(&there));
    let found = stand
        .worker("roletask", json!({"dialect": "kling"}))
        .look_up(&work, true)
        .await;
    match found.expect("an answer") {
        Some(StartOutcome::Ticket(paper)) => assert_eq!(paper["tasks"], json!([{"id": "t-9"}])),
        other => panic!("{other:?}"),
    }
    let asked = format!("GET /v1/tasks?external_task_ids={}-0", work.attempt_id);
    assert_eq!(stand.seen()[0].line, asked);
    let stand = Stand::always(answer(&json!({"code": 0, "data": []})));
    let found = stand
        .worker("roletask", json!({"dialect": "kling"}))
        .look_up(&work, true)
        .await;
    assert!(found.expect("an answer").is_none());
}

#[tokio::test]
async fn a_part_of_lost_starts_is_not_taken_for_all_while_the_rest_may_be_on_its_way() {
    let studio = Studio::new();
    let image = studio.host("a.png", &Picture::filled(64, 64, [9, 9, 9, 255]));
    let body = json!({"prompt": "x", "imageUrl": image, "bs": 2, "resolution": "sd"});
    let (work, _) = studio.work("artgen.video.submit", &body, None);
    let entered = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&entered);
    let stand = Stand::new(move |seen| {
        let data = if seen.line.ends_with("-0") {
            json!([{"id": "t-1", "status": "processing"}])
        } else if now.load(Ordering::SeqCst) {
            json!([{"id": "t-2", "status": "processing"}])
        } else {
            json!([])
        };
        answer(&json!({"code": 0, "data": data}))
    });
    let worker = stand.worker("roletask", json!({"dialect": "kling"}));
    let tasks = async |late: bool| match worker.look_up(&work, late).await.expect("an answer") {
        Some(StartOutcome::Ticket(paper)) => Some(paper["tasks"].clone()),
        None => None,
        other => panic!("{other:?}"),
    };
    assert_eq!(tasks(false).await, None, "the second may still arrive");
    assert_eq!(
        tasks(true).await,
        Some(json!([{"id": "t-1"}])),
        "it was never ordered"
    );
    entered.store(true, Ordering::SeqCst);
    let both = json!([{"id": "t-1"}, {"id": "t-2"}]);
    assert_eq!(tasks(false).await, Some(both), "the second was entered");
}

#[tokio::test]
async fn a_pair_of_keys_signs_every_call_and_travels_nowhere() {
    let stand = Stand::always(answer(&json!({"code": 0, "data": {"id": "t"}})));
    let worker = worker_with_key(
        "roletask",
        &stand.url("/v1"),
        "access-1:deep-secret",
        json!({"dialect": "kling"}),
    )
    .expect("good settings");
    let (work, _) = Studio::new().work(
        "clipgen.generations",
        &json!({"prompt": "x", "video_length": "10"}),
        None,
    );
    ticket(&worker, work).await.expect("a ticket");
    let seen = &stand.seen()[0];
    let token = seen
        .head
        .split("authorization: Bearer ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("a token");
    let parts: Vec<_> = token.split('.').collect();
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let claims: Value =
        serde_json::from_slice(&engine.decode(parts[1]).expect("base64")).expect("JSON");
    assert_eq!(
        engine.decode(parts[0]).expect("base64"),
        br#"{"alg":"HS256","typ":"JWT"}"#
    );
    assert_eq!(claims["iss"], "access-1");
    let span = claims["exp"]
        .as_i64()
        .zip(claims["nbf"].as_i64())
        .map(|(to, from)| to - from);
    assert_eq!(span, Some(1805));
    assert_eq!(engine.decode(parts[2]).expect("base64").len(), 32);
    assert!(!seen.head.contains("deep-secret"));
}
