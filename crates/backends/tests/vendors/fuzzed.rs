//! Changed answers of every vendor, to submits and to questions: they cost bounded time, nothing panics, and an answer that
//! makes no sense is never the end of a job that may be running.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_backends::PollOutcome;
use serde_json::json;

use crate::every::{cases, proxies};
use crate::inputs::Inputs;
use crate::stand::{Reply, Stand, base64, png};
use crate::stopwatch::Stopwatch;
use crate::studio::Studio;

const PATIENCE: Duration = Duration::from_secs(8);

fn answers() -> Vec<Vec<u8>> {
    let picture = base64(png(16, 16, [9, 99, 9, 255]));
    [
        json!({"data": [{"b64_json": picture, "revised_prompt": "a cat"}]}),
        json!({"id": "v", "status": "completed", "progress": 100, "error": null}),
        json!({"images": [picture], "info": "{}"}),
        json!({"prompt_id": "p", "number": 1, "node_errors": {}}),
        json!({"p": {"outputs": {"1": {"images": [{"filename": "a.png", "subfolder": "", "type": "output"}]}},
            "status": {"completed": true, "messages": []}}}),
        json!({"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": picture}}]},
            "finishReason": "STOP"}]}),
        json!({"name": "operations/o", "done": true, "response": {"generateVideoResponse": {"generatedSamples": []}}}),
        json!({"id": "t", "status": "succeeded", "content": {"video_url": "http://127.0.0.1:9/a.mp4"}}),
        json!({"output": {"task_id": "t", "task_status": "SUCCEEDED", "video_url": "x"}, "request_id": "r"}),
        json!({"code": 0, "data": {"task_id": "t", "task_status": "succeed", "task_result": {"videos": []}}}),
        json!({"code": 1, "description": "ok", "result": "1", "properties": {"status": "SUCCESS"}}),
        json!({"status": "SUCCESS", "jobId": "j", "data": {"jobId": "j", "images": null, "progress": "50%"}}),
        json!({"error": {"code": "rate_limit_exceeded", "message": "slow down", "type": "requests"}}),
    ]
    .iter()
    .map(|answer| answer.to_string().into_bytes())
    .collect()
}

#[tokio::test]
async fn no_answer_of_a_vendor_breaks_its_reader() {
    let next: Arc<Mutex<(u16, Vec<u8>)>> = Arc::default();
    let said = Arc::clone(&next);
    let stand = Stand::new(move |_| {
        let (status, body) = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Reply::Whole(status, "content-type: application/json\r\n".into(), body)
    });
    let cases: Vec<_> = cases().into_iter().chain(proxies()).collect();
    let studio = Studio::new();
    let ticket = json!({"video": "v", "prompts": ["p"], "task": "t", "jobId": "j",
        "tasks": [{"id": "t", "interaction": "i", "status": "s"}]});
    let words = [
        "null",
        "\"status\":",
        "\"succeeded\"",
        "\"failed\"",
        "[]",
        "{}",
        "\"id\":",
        "\"error\":",
        "-1",
        "\"url\":\"http://169.254.169.254/\"",
        "\"progress\":",
        "NaN",
        "\\u0000",
    ];
    let inputs = Inputs::new("vendor-answers", 120, answers(), &words);
    for (number, input) in inputs.enumerate() {
        let case = &cases[number % cases.len()];
        let status = [200, 200, 200, 202, 400, 429, 500][number / cases.len() % 7];
        *next.lock().unwrap_or_else(PoisonError::into_inner) = (status, input);
        let worker = stand.worker(case.name, case.settings.clone());
        let began = Stopwatch::start();
        let (work, _) = studio.work(case.operation, &case.body, None);
        if case.name != "sdwebui" {
            let polled = worker.poll(&work, &ticket).await;
            // A picture may come at once; a file of nothing may not.
            if let Ok(PollOutcome::Done(made)) = polled {
                assert!(!made.files.is_empty(), "{}", case.name);
            }
        }
        let _ = worker.start(work).await;
        assert!(began.elapsed() < PATIENCE * 2, "{}", case.name);
    }
}
