//! ComfyUI's queue: workflows filled in, prompts under our own identifiers, files from the history.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_backends::{Class, PollOutcome, StartOutcome};
use atelier_contract::FileRole;
use atelier_media::Picture;
use serde_json::{Value, json};

use crate::stand::{
    RecordedRequest, Reply, Stand, bytes, json as answer, page, png, polled, status, ticket,
};
use crate::studio::Studio;

fn workflow() -> Value {
    json!({
        "3": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}", "steps": "{{steps}}", "model": ["4", 0]}},
        "5": {"class_type": "EmptyLatentImage", "inputs": {"width": "{{width}}", "height": "{{height}}", "batch_size": "{{count}}"}},
        "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "best quality, {{prompt}}"}},
        "9": {"class_type": "SaveImage", "inputs": {"filename_prefix": "{{prefix}}", "images": ["8", 0]}},
    })
}

fn settings() -> Value {
    json!({"workflows": {"artgen.imagine": workflow(), "imgmodel.chat": workflow()}, "values": {"steps": 20}})
}

/// A server that needs so many questions about a prompt before it has ended.
#[derive(Clone, Default)]
struct Kitchen(Arc<Mutex<HashMap<String, (u32, u64)>>>);

impl Kitchen {
    fn serve(&self, seen: &RecordedRequest) -> Reply {
        let mut prompts = self.0.lock().expect("prompts");
        match &*seen.line {
            "POST /prompt" => {
                let body = seen.json();
                let id = body["prompt_id"]
                    .as_str()
                    .expect("our own identifier")
                    .to_owned();
                let count = body["prompt"]["5"]["inputs"]["batch_size"]
                    .as_u64()
                    .unwrap_or(1);
                prompts.insert(id.clone(), (0, count));
                answer(&json!({"prompt_id": id, "number": 1, "node_errors": {}}))
            }
            "GET /queue" => {
                let items: Vec<_> = prompts
                    .keys()
                    .map(|id| json!([1, id, {}, {}, []]))
                    .collect();
                answer(&json!({"queue_running": items, "queue_pending": []}))
            }
            "POST /upload/image" => {
                answer(&json!({"name": "up.png", "subfolder": "atelier", "type": "input"}))
            }
            "POST /queue" | "POST /interrupt" => bytes("text/plain", ""),
            line if line.starts_with("GET /view?filename=made.png") => {
                bytes("image/png", png(520, 520, [9, 9, 99, 255]))
            }
            line => {
                let id = line.strip_prefix("GET /history/").unwrap_or_default();
                match prompts.get_mut(id) {
                    Some((polls, count)) if *polls >= 2 => {
                        let file = json!({"filename": "made.png", "subfolder": "atelier", "type": "output"});
                        answer(
                            &json!({id: {"outputs": {"9": {"images": vec![file; *count as usize]}},
                            "status": {"status_str": "success", "completed": true, "messages": []}}}),
                        )
                    }
                    Some((polls, _)) => {
                        *polls += 1;
                        answer(&json!({}))
                    }
                    None => answer(&json!({})),
                }
            }
        }
    }

    fn stand(&self) -> Stand {
        let kitchen = self.clone();
        Stand::new(move |seen| kitchen.serve(seen))
    }
}

#[tokio::test]
async fn a_workflow_is_filled_in_queued_and_its_files_become_a_grid() {
    let (kitchen, studio) = (Kitchen::default(), Studio::new());
    let stand = kitchen.stand();
    let worker = stand.worker_under("comfyui", "", settings());
    let (work, _) = studio.work(
        "artgen.imagine",
        &json!({"prompt": "a {{seed}} fox --seed 5"}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a grid");
    assert_eq!(
        (made.made, made.files[0].role, made.files[0].width),
        (4, FileRole::Main, 1024)
    );
    let sent = stand.asked("POST /prompt")[0].json();
    let graph = &sent["prompt"];
    assert_eq!(
        graph["3"]["inputs"],
        json!({"seed": 5, "steps": 20, "model": ["4", 0]})
    );
    assert_eq!(
        graph["5"]["inputs"],
        json!({"width": 512, "height": 512, "batch_size": 4})
    );
    assert_eq!(graph["6"]["inputs"]["text"], "best quality, a {{seed}} fox");
    assert_eq!(sent["prompt_id"], paper["prompts"][0]);
}

#[tokio::test]
async fn a_lost_submit_is_found_by_its_attempt_and_an_unknown_one_is_not() {
    let (kitchen, studio) = (Kitchen::default(), Studio::new());
    let accepted = kitchen.clone();
    let stand = Stand::new(move |seen| match (&*seen.line, accepted.serve(seen)) {
        ("POST /prompt", _) => Reply::Cut,
        (_, reply) => reply,
    });
    let worker = stand.worker_under("comfyui", "", settings());
    assert_eq!(worker.lost_submit(), LostSubmit::LookUp);
    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    assert!(
        worker
            .look_up(&work, true)
            .await
            .expect("an answer")
            .is_none()
    );
    let fault = ticket(&worker, work.clone()).await.expect_err("a cut line");
    assert_eq!(
        (fault.class, fault.taken),
        (Class::Retry, Acceptance::Perhaps)
    );
    let found = worker.look_up(&work, true).await.expect("an answer");
    let Some(StartOutcome::Ticket(paper)) = found else {
        panic!("it was accepted");
    };
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    assert_eq!((made.files[0].width, made.files[0].height), (1024, 1024));
    assert_eq!(stand.asked("POST /prompt").len(), 1);
}

#[tokio::test]
async fn only_this_prompt_is_taken_back_and_interrupted() {
    let stand = Kitchen::default().stand();
    let worker = stand.worker_under("comfyui", "", settings());
    worker.cancel(&json!({"prompts": ["a-1"]})).await;
    assert_eq!(
        stand.asked("POST /queue")[0].json(),
        json!({"delete": ["a-1"]})
    );
    assert_eq!(
        stand.asked("POST /interrupt")[0].json(),
        json!({"prompt_id": "a-1"})
    );
}

#[tokio::test]
async fn pictures_are_uploaded_and_named_as_the_server_named_them() {
    let (kitchen, studio) = (Kitchen::default(), Studio::new());
    let stand = kitchen.stand();
    let graph = json!({"1": {"class_type": "LoadImage", "inputs": {"image": "{{image}}", "mask": "{{mask}}", "s": "{{strength}}"}}});
    let worker = stand.worker_under(
        "comfyui",
        "",
        json!({"workflows": {"design.inpaint": graph}}),
    );
    let image = studio.host("a.png", &Picture::filled(520, 520, [1, 2, 3, 255]));
    let mask = studio.host("m.png", &Picture::filled(520, 520, [255; 4]));
    let (work, _) = studio.work(
        "design.inpaint",
        &json!({"image": image, "mask": mask, "prompt": "x", "n": 2}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    assert_eq!(
        paper["prompts"].as_array().map(Vec::len),
        Some(2),
        "a workflow without a count is queued twice"
    );
    assert_eq!(stand.asked("upload").len(), 2);
    let sent = stand.asked("POST /prompt")[0].json();
    assert_eq!(sent["prompt"]["1"]["inputs"]["image"], "atelier/up.png");
    assert_eq!(
        polled(&worker, &work, &paper).await.expect("pictures").made,
        2
    );

    let (work, _) = studio.work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let fault = ticket(&worker, work).await.expect_err("no workflow");
    assert_eq!(fault.class, Class::Unable);
}

#[tokio::test]
async fn how_a_prompt_ended_is_told_from_a_failed_question() {
    let error = |kind: &str, message: &str| {
        let said =
            json!({"exception_type": "X", "exception_message": message, "node_type": "KSampler"});
        answer(
            &json!({"p-1": {"outputs": {}, "status": {"status_str": "error", "completed": false, "messages": [[kind, said]]}}}),
        )
    };
    // Reply, class, and whether the prompt has ended.
    let cases = [
        (
            error("execution_error", "bad tensor /home/op/x.py"),
            Class::Unable,
            true,
        ),
        (
            error("execution_error", "CUDA out of memory"),
            Class::Retry,
            true,
        ),
        (error("execution_interrupted", ""), Class::Retry, true),
        (
            answer(&json!({"queue_running": [], "queue_pending": []})),
            Class::Retry,
            true,
        ),
        // Nobody has said that the prompt is not there.
        (answer(&json!({})), Class::Retry, false),
        (page(502), Class::Retry, false),
        (page(200), Class::Retry, false),
        (status(401, &json!({})), Class::Dead, false),
        (status(429, &json!({})), Class::Rate, false),
        (Reply::Cut, Class::Retry, false),
    ];
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    for (index, (reply, class, ended)) in cases.into_iter().enumerate() {
        let stand = Stand::always(reply);
        let worker = stand.worker_under("comfyui", "", settings());
        let (fault, has_ended) = match worker.poll(&work, &json!({"prompts": ["p-1"]})).await {
            Ok(PollOutcome::Failed(fault)) => (fault, true),
            Err(fault) => (fault, false),
            Ok(_) => panic!("{index}: neither done nor running"),
        };
        assert_eq!(
            (fault.class, has_ended),
            (class, ended),
            "{index}: {fault:?}"
        );
        assert!(
            !fault.job_message().contains("/home"),
            "{}",
            fault.job_message()
        );
    }
}

#[tokio::test]
async fn a_workflow_the_server_refuses_is_not_the_caller_s_to_read() {
    let refused = json!({"error": {"type": "prompt_outputs_failed_validation", "message": "Prompt outputs failed validation",
        "details": "secret.safetensors"}, "node_errors": {}});
    let stand = Stand::always(status(400, &refused));
    let worker = stand.worker_under("comfyui", "", settings());
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let fault = ticket(&worker, work).await.expect_err("refused");
    assert_eq!((fault.class, fault.taken), (Class::Unable, Acceptance::No));
    assert_eq!(fault.message, "the back end cannot work with this request");
    assert!(fault.detail.contains("failed validation"));
}

/// The result is gone, or is no picture.
#[tokio::test]
async fn a_result_that_is_gone_or_of_another_kind_ends_the_work() {
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let missing = page(404);
    let gone = status(404, &json!({}));
    for (view, class, ended) in [(gone, Class::Gone, true), (missing, Class::Gone, true)] {
        let stand = Stand::new(move |seen| {
            if seen.line.starts_with("GET /view") {
                view.clone()
            } else {
                answer(
                    &json!({"p-1": {"outputs": {"9": {"images": [{"filename": "x"}]}}, "status": {"status_str": "success"}}}),
                )
            }
        });
        let worker = stand.worker_under("comfyui", "", settings());
        let (fault, has_ended) = match worker.poll(&work, &json!({"prompts": ["p-1"]})).await {
            Ok(PollOutcome::Failed(fault)) => (fault, true),
            Err(fault) => (fault, false),
            Ok(_) => panic!("neither"),
        };
        assert_eq!((fault.class, has_ended), (class, ended), "{fault:?}");
    }
}

#[test]
fn mistakes_in_workflows_are_named() {
    for (settings, word) in [
        (json!({"workflows": {}}), "at least one"),
        (json!({"workflows": {"no.such": workflow()}}), "no.such"),
        (json!({"workflows": {"imgmodel.chat": workflow()}}), "steps"),
        (
            json!({"workflows": {"artgen.action/upscale": workflow()}, "values": {"steps": 1}}),
            "upscale is none of",
        ),
        (
            json!({"workflows": {"imgmodel.chat": {"nodes": []}}}),
            "API format",
        ),
    ] {
        let error = crate::stand::worker("comfyui", "http://127.0.0.1:9", settings)
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains(word), "{error}");
    }
}
