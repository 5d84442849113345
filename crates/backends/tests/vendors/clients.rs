//! The servers of this suite are driven by the vendors' own client libraries: each is given what our adapter sent, and
//! must send the same to the same place, and understand the same answers. The clients are installed by
//! `scripts/vendors`; the test is ignored unless it is asked for.

use std::io::Write as _;
use std::process::{Command, Stdio};

use atelier_backends::{PollOutcome, StartOutcome};
use serde_json::{Value, json};

use crate::novelai::archive;
use crate::stand::{RecordedRequest, Reply, Stand, base64, bytes, json as answer, png, status};
use crate::studio::Studio;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/vendors");

/// A vendor, its own client, and what the client must have understood.
struct Pair {
    vendor: &'static str,
    settings: Value,
    operation: &'static str,
    body: Value,
    client: &'static str,
    understood: &'static str,
    /// Whether it is the second pass of a long video.
    second: bool,
}

fn pairs() -> Vec<Pair> {
    let film = || json!({"prompt": "a wave", "video_length": "10"});
    let pair = |vendor, operation, body, client, understood| Pair {
        vendor,
        settings: json!({}),
        operation,
        body,
        client,
        understood,
        second: false,
    };
    let second = |vendor, client| Pair {
        second: true,
        ..pair(
            vendor,
            "clipgen.generations",
            json!({"prompt": "a wave", "video_length": "20"}),
            client,
            "t1 completed",
        )
    };
    let clip = "clipgen.generations";
    let draw = || json!({"prompt": "a fox"});
    vec![
        pair(
            "google",
            "imgmodel.chat",
            draw(),
            "google_picture",
            "1 file of image/png",
        ),
        pair("google", clip, film(), "google_video", "t1 in_progress"),
        pair("roletask", clip, film(), "ark", "t1 running"),
        Pair {
            settings: json!({"dialect": "dashscope"}),
            ..pair("roletask", clip, film(), "dashscope", "t1 RUNNING")
        },
        pair("replicate", clip, film(), "replicate", "t1 processing"),
        pair("fal", "imgmodel.chat", draw(), "fal", "r1 InProgress"),
        pair("runway", clip, film(), "runway", "t1 RUNNING"),
        pair(
            "luma",
            "motion.generations",
            json!({"userPrompt": "a wave", "loop": true}),
            "luma",
            "t1 processing",
        ),
        pair("xai", "imgmodel.chat", draw(), "xai_picture", "1 file"),
        pair("xai", clip, film(), "xai_video", "t1 pending"),
        second("google", "google_video"),
        second("xai", "xai_extension"),
        Pair {
            settings: json!({"dialect": "minimax"}),
            ..pair("roletask", clip, film(), "minimax", "t1 pending")
        },
        pair("bfl", "imgmodel.chat", draw(), "bfl", "1 file"),
        pair("recraft", "design.generations", draw(), "recraft", "1 file"),
        pair(
            "novelai",
            "animegen.text_to_image",
            json!({"prompt": "a fox", "model": "anime-diffusion-4-5-curated"}),
            "novelai",
            "1 file",
        ),
    ]
}

/// What the server says to clients of few answers.
fn more(seen: &RecordedRequest) -> Option<Reply> {
    let picture = || png(64, 64, [9, 99, 9, 255]);
    Some(match &*seen.line {
        "GET /made.png" => bytes("image/png", picture()),
        line if line.contains("/v2/query/video_generation/") => {
            answer(&json!({"task": {"id": "t1", "status": "running"}}))
        }
        line if line.contains("/v2/video_generation") => answer(&json!({"task_id": "t1"})),
        "POST /v1/flux-2-pro" => answer(
            &json!({"id": "t1", "polling_url": seen.here("/v1/get_result?id=t1"), "cost": 3.0}),
        ),
        line if line.contains("/get_result") => answer(
            &json!({"id": "t1", "status": "Ready", "result": {"sample": seen.here("/made.png")}}),
        ),
        line if line.contains("/ai/generate-image") => {
            bytes("application/x-zip-compressed", archive(&[picture()]))
        }
        _ => return None,
    })
}

/// One server for all: starts by path, and work that is under way, or done.
fn server(done: bool) -> Stand {
    Stand::new(move |seen| {
        if let Some(reply) = more(seen) {
            return reply;
        }
        let at = |end: &str| seen.here(&format!("/v1/fal-ai/nano-banana-2/requests/r1{end}"));
        let time = "2026-11-15T12:00:00Z";
        match &*seen.line {
            line if line.contains(":generateContent") => answer(
                &json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": base64(png(64, 64, [9, 99, 9, 255]))}}]}}]}),
            ),
            line if done && line.starts_with("GET /v1/interactions/t1") => answer(
                &json!({"id": "t1", "object": "interaction", "status": "completed", "model": "gemini-omni-1.2-flash",
                "created": time, "updated": time, "steps": [{"type": "model_output", "content": [
                    {"type": "video", "mime_type": "video/mp4", "uri": seen.here("/made.mp4")}]}]}),
            ),
            line if line.contains("/interactions") => answer(
                &json!({"id": "t1", "object": "interaction", "status": "in_progress",
                "model": "gemini-omni-1.2-flash", "created": time, "updated": time, "steps": []}),
            ),
            line if line.contains("/contents/generations/tasks/") => answer(
                &json!({"id": "t1", "model": "m", "status": "running", "created_at": 1, "updated_at": 2}),
            ),
            line if line.contains("/contents/generations/tasks") => answer(&json!({"id": "t1"})),
            line if line.contains("/video-synthesis") => answer(
                &json!({"request_id": "r", "output": {"task_id": "t1", "task_status": "PENDING"}}),
            ),
            "GET /v1/tasks/t1" if !seen.head.contains("x-runway-version") => answer(
                &json!({"request_id": "r", "output": {"task_id": "t1", "task_status": "RUNNING"}}),
            ),
            "GET /v1/tasks/t1" => answer(
                &json!({"id": "t1", "status": "RUNNING", "progress": 0.4, "createdAt": time, "estimatedCost": {"credits": 1}}),
            ),
            line if line.contains("/predictions") => status(
                201,
                &json!({"id": "t1", "model": "a/b", "version": "v", "status": "processing",
                "input": {}, "output": null, "logs": "", "error": null, "created_at": time, "urls": {"get": "x", "cancel": "y"}}),
            ),
            line if line.contains("/requests/r1/status") => {
                status(202, &json!({"status": "IN_PROGRESS", "logs": []}))
            }
            line if line.contains("/fal-ai/") => answer(
                &json!({"request_id": "r1", "status": "IN_QUEUE", "queue_position": 0,
                "status_url": at("/status"), "response_url": at(""), "cancel_url": at("/cancel")}),
            ),
            line if line.contains("/images/generations") => answer(&json!({"created": 1, "data": [
                {"b64_json": base64(png(64, 64, [9, 99, 9, 255])), "url": seen.here("/made.png")}]})),
            "GET /v1/videos/t1" if done => answer(
                &json!({"status": "done", "model": "m", "video": {"url": seen.here("/made.mp4"), "duration": 15}}),
            ),
            line if line.starts_with("POST /v1/videos/") => answer(&json!({"request_id": "t1"})),
            "GET /v1/videos/t1" => status(202, &json!({"status": "pending"})),
            line if line.contains("/text_to_video") => {
                answer(&json!({"id": "t1", "estimatedCost": {"credits": 40}}))
            }
            _ => status(
                201,
                &json!({"id": "t1", "type": "video", "model": "ray-3.2", "state": "processing", "created_at": time, "output": []}),
            ),
        }
    })
}

/// What a client says, given a body.
fn run(client: &str, url: &str, body: &Value) -> String {
    let mut child = Command::new(SCRIPT)
        .args([client, url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the script runs");
    let mut input = child.stdin.take().expect("an input");
    input
        .write_all(body.to_string().as_bytes())
        .expect("written");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{client} failed");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}

/// A request without what says nothing: fields that are null, and what one client repeats inside its input.
fn bare(seen: &RecordedRequest) -> (String, Value) {
    fn without_null(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
                Value::Object(
                    kept.map(|(name, value)| (name, without_null(value)))
                        .collect(),
                )
            }
            Value::Array(all) => Value::Array(all.into_iter().map(without_null).collect()),
            // One and one point nought are the same.
            Value::Number(number) => json!(number.as_f64()),
            plain => plain,
        }
    }
    let mut body = seen.json();
    if let Some(input) = body["input"].as_object_mut() {
        input.remove("extend_prompt");
        input.remove("function");
    }
    (seen.line.clone(), without_null(body))
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn the_vendors_own_clients_send_what_our_adapters_send() {
    for pair in pairs() {
        let (stand, studio) = (server(pair.second), Studio::new());
        let worker = stand.worker(pair.vendor, pair.settings.clone());
        let (work, _) = studio.work(pair.operation, &pair.body, None);
        let started = worker.start(work.clone()).await.expect(pair.client);
        if let (true, StartOutcome::Ticket(ticket)) = (pair.second, started) {
            match worker.poll(&work, &ticket).await {
                Ok(PollOutcome::Step(step)) => drop(step.order.await.expect(pair.client)),
                _ => panic!("{}: there is no second pass", pair.client),
            }
        }
        let ours = stand.asked("POST").last().expect("a call").clone();
        let before = stand.asked("POST").len();
        let understood = run(pair.client, &stand.url(""), &ours.json());
        assert_eq!(understood, pair.understood, "{}", pair.client);
        let theirs = stand.asked("POST")[before].clone();
        assert_eq!(bare(&theirs), bare(&ours), "{}", pair.client);
        for line in [
            "authorization",
            "x-goog-api-key",
            "x-runway-version",
            "x-dashscope-async",
            "x-key",
        ] {
            let value = |seen: &RecordedRequest| {
                let mut lines = seen.head.lines();
                let found = lines.find(|head| head.starts_with(&format!("{line}: ")));
                found.map(str::to_owned)
            };
            assert_eq!(value(&theirs), value(&ours), "{}", pair.client);
        }
    }
}
