//! ComfyUI as the real program behaves: what it leaves out, says on the way, keeps on its disk and lacks.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::Backend;
use atelier_backends::{Class, PollOutcome};
use atelier_media::{Limits, Picture, decode};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::stand::{
    RecordedRequest, Reply, Stand, bytes, json as answer, made, png, polled, ticket,
};
use crate::studio::Studio;

fn save(more: &Value) -> Value {
    let mut inputs = json!({"filename_prefix": "{{prefix}}", "images": ["1", 0]});
    for (name, value) in more.as_object().into_iter().flatten() {
        inputs[name] = value.clone();
    }
    json!({"9": {"class_type": "SaveImage", "inputs": inputs}})
}

fn entry(file: &str) -> Value {
    let file = json!({"filename": file, "subfolder": "", "type": "output"});
    json!({"outputs": {"9": {"images": [file]}}, "status": {"status_str": "success", "completed": true, "messages": []}})
}

/// A server that has finished whatever it is asked about, and shows these bytes as the result.
fn finished(shown: Vec<u8>) -> Stand {
    Stand::new(move |seen| serve(seen, &shown))
}

fn serve(seen: &RecordedRequest, shown: &[u8]) -> Reply {
    let line = &*seen.line;
    if line == "POST /prompt" {
        return answer(
            &json!({"prompt_id": seen.json()["prompt_id"], "number": 1, "node_errors": {}}),
        );
    }
    if line.starts_with("POST /upload") {
        return answer(&json!({"name": "up.png", "subfolder": "atelier", "type": "input"}));
    }
    if line.starts_with("GET /view") {
        return bytes("application/octet-stream", shown);
    }
    match line.strip_prefix("GET /history/") {
        Some(id) => answer(&json!({id: entry("made.png")})),
        None => answer(&json!({"queue_running": [], "queue_pending": []})),
    }
}

fn at(stand: &Stand, operation: &str, graph: &Value) -> Arc<dyn Backend> {
    stand.worker_under("comfyui", "", json!({"workflows": {operation: graph}}))
}

#[tokio::test]
async fn a_workflow_of_which_only_a_part_runs_is_refused_and_taken_back() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /prompt" => {
            let errors = json!({"9": {"class_type": "SaveImage", "errors": [{"type": "required_input_missing"}]}});
            answer(
                &json!({"prompt_id": seen.json()["prompt_id"], "number": 1, "node_errors": errors}),
            )
        }
        _ => bytes("text/plain", ""),
    });
    let worker = at(&stand, "imgmodel.chat", &save(&json!({})));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let fault = ticket(&worker, work)
        .await
        .expect_err("half of it is nothing");
    assert_eq!(fault.class, Class::Unable);
    assert!(
        fault.detail.contains("required_input_missing"),
        "{}",
        fault.detail
    );
    let id = stand.asked("POST /prompt")[0].json()["prompt_id"].clone();
    assert_eq!(
        stand.asked("POST /queue")[0].json(),
        json!({"delete": [id]})
    );
    assert_eq!(
        stand.asked("POST /interrupt")[0].json(),
        json!({"prompt_id": id})
    );
}

#[tokio::test]
async fn a_transparent_background_is_transparent() {
    let mut drawn = Picture::filled(256, 256, [250, 250, 250, 255]);
    drawn.pasted(&Picture::filled(90, 90, [180, 20, 20, 255]), 80, 80);
    let drawn = atelier_media::encode(&drawn, atelier_media::Encoding::Png, None);
    let stand = finished(drawn);
    let worker = at(&stand, "imgmodel.generations", &save(&json!({})));
    let body = json!({"prompt": "a red square", "model": "image-1", "background": "transparent"});
    let (work, _) = Studio::new().work("imgmodel.generations", &body, None);
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let made = polled(&worker, &work, &paper).await.expect("a picture");
    let picture = decode(&made.files[0].bytes, Limits::default()).expect("a picture");
    assert!(picture.has_alpha());
    assert!(picture.pixel(2, 2)[3] < 30, "{:?}", picture.pixel(2, 2));
}

#[tokio::test]
async fn what_a_node_threw_is_for_the_operator_and_another_back_end_may_do_it() {
    let said = json!({"node_id": "3", "node_type": "KSampler", "exception_type": "ValueError",
        "exception_message": "bad tensor in /home/op/x.py"});
    let status =
        json!({"status_str": "error", "completed": false, "messages": [["execution_error", said]]});
    let stand = Stand::always(answer(&json!({"p-1": {"outputs": {}, "status": status}})));
    let worker = at(&stand, "imgmodel.chat", &save(&json!({})));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let Ok(PollOutcome::Failed(fault)) = worker.poll(&work, &json!({"prompts": ["p-1"]})).await
    else {
        panic!("it has ended");
    };
    assert_eq!(fault.class, Class::Unable);
    assert_eq!(
        fault.detail,
        "node 3 (KSampler): ValueError: bad tensor in /home/op/x.py"
    );
    assert!(
        !fault.job_message().contains("tensor"),
        "{}",
        fault.job_message()
    );
}

/// A text as a server sends it on a WebSocket.
fn frame(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("short");
    [&[0x81, 126], &length.to_be_bytes()[..], text.as_bytes()].concat()
}

#[tokio::test]
async fn a_single_prompt_says_how_far_it_is() {
    let stand = Stand::new(|seen| {
        let Some(id) = seen.line.strip_prefix("GET /ws?clientId=") else {
            return serve(seen, b"");
        };
        let nodes = json!({"1": {"value": 3, "max": 6, "state": "running"}});
        let state = json!({"type": "progress_state", "data": {"prompt_id": id, "nodes": nodes}});
        let mut said =
            b"HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n".to_vec();
        // A ping and a preview come first.
        said.extend([0x89, 1, b'x', 0x82, 3, 1, 2, 3]);
        said.extend(frame(&state.to_string()));
        Reply::Raw(said)
    });
    let worker = at(&stand, "imgmodel.chat", &save(&json!({})));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    ticket(&worker, work.clone()).await.expect("a ticket");
    let told = async {
        while work.progress.get() == 0 {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_mins(1), told)
        .await
        .expect("progress");
    assert_eq!(work.progress.get(), 47);
    let sent = stand.asked("POST /prompt")[0].json();
    assert_eq!(
        sent["client_id"], sent["prompt_id"],
        "messages go to the client of a prompt"
    );
}

#[tokio::test]
async fn a_submit_that_hangs_when_the_job_is_cancelled_is_stopped_when_it_answers() {
    let stand = Stand::new(|seen| match &*seen.line {
        "POST /prompt" => Reply::After(Duration::from_millis(700), Box::new(serve(seen, b""))),
        _ => serve(seen, b""),
    });
    let worker = at(&stand, "imgmodel.chat", &save(&json!({})));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let sent = async {
        while stand.asked("POST /prompt").is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        _ = ticket(&worker, work) => panic!("it answers later"),
        () = sent => {}
    }
    let stopped = async {
        while stand.asked("POST /interrupt").is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_mins(1), stopped)
        .await
        .expect("it is stopped");
    let id = stand.asked("POST /prompt")[0].json()["prompt_id"].clone();
    assert_eq!(
        stand.asked("POST /queue")[0].json(),
        json!({"delete": [id]})
    );
}

#[tokio::test]
async fn whoever_drew_a_grid_can_say_its_seed() {
    let studio = Studio::new();
    let stand = finished(png(64, 64, [9, 9, 99, 255]));
    let worker = at(
        &stand,
        "artgen.imagine",
        &save(&json!({"seed": "{{seed}}"})),
    );
    assert!(worker.serves("artgen.seed") && !worker.serves("artgen.describe"));
    let (work, job) = studio.work(
        "artgen.imagine",
        &json!({"prompt": "a fox --seed 77"}),
        None,
    );
    let paper = ticket(&worker, work.clone()).await.expect("a ticket");
    let grid = polled(&worker, &work, &paper).await.expect("a grid");
    let parent = studio.settle(job, grid);
    let (work, _) = studio.work("artgen.seed", &json!({"jobId": parent.id}), Some(&parent));
    assert_eq!(
        made(&worker, work).await.expect("a seed").seed.as_deref(),
        Some("77")
    );
    let other = at(&stand, "imgmodel.chat", &save(&json!({})));
    assert!(!other.serves("artgen.seed"));
}

#[tokio::test]
async fn loops_and_end_frames_without_a_place_are_refused_before_anything_is_sent() {
    let studio = Studio::new();
    let frame = studio.host("f.png", &Picture::filled(64, 64, [1, 2, 3, 255]));
    let looped = json!({"userPrompt": "x", "loop": true});
    let ending = json!({"userPrompt": "x", "modelName": "motion-v1", "imageUrl": frame, "imageEndUrl": frame});
    let only_end = json!({"userPrompt": "x", "modelName": "motion-v1", "imageEndUrl": frame});
    // Wish, placeholders of the workflow, and the field that is refused.
    for (body, places, refused) in [
        (&looped, json!({}), Some("loop")),
        (&looped, json!({"l": "{{loop}}"}), None),
        (&ending, json!({"a": "{{image}}"}), Some("imageEndUrl")),
        (&ending, json!({"a": "{{image}}", "b": "{{image2}}"}), None),
        (
            &ending,
            json!({"a": "{{image}}", "b": "{{end_image}}"}),
            None,
        ),
        (&only_end, json!({"a": "{{image}}"}), Some("imageEndUrl")),
        (&only_end, json!({"b": "{{end_image}}"}), None),
    ] {
        let stand = finished(Vec::new());
        let worker = at(&stand, "motion.generations", &save(&places));
        let (work, _) = studio.work("motion.generations", body, None);
        match (ticket(&worker, work).await, refused) {
            (Ok(_), None) => {}
            (Err(fault), Some(field)) => {
                assert_eq!(
                    (fault.class, fault.field.as_deref()),
                    (Class::Unable, Some(field))
                );
                assert!(stand.seen().is_empty());
            }
            (other, _) => panic!("{body} {places}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_probe_finds_nodes_and_models_that_are_missing() {
    let known = |models: Value| {
        json!({
            "SaveImage": {"input": {"required": {"images": ["IMAGE"], "filename_prefix": ["STRING", {}]}}},
            "CheckpointLoaderSimple": {"input": {"required": {"ckpt_name": [models]}}},
            "LoraLoader": {"input": {"optional": {"lora_name": ["COMBO", {"options": ["a.safetensors"]}]}}},
        })
    };
    let graph = |class: &str, lora: &str| {
        let mut graph = save(&json!({}));
        graph["1"] = json!({"class_type": class, "inputs": {"ckpt_name": "m.safetensors"}});
        graph["2"] =
            json!({"class_type": "LoraLoader", "inputs": {"lora_name": lora, "model": ["1", 0]}});
        graph
    };
    for (class, lora, models, lacks) in [
        (
            "CheckpointLoaderSimple",
            "a.safetensors",
            json!(["m.safetensors"]),
            None,
        ),
        (
            "CheckpointLoaderSimple",
            "a.safetensors",
            json!(["other"]),
            Some("m.safetensors"),
        ),
        (
            "CheckpointLoaderSimple",
            "b.safetensors",
            json!(["m.safetensors"]),
            Some("b.safetensors"),
        ),
        (
            "UltimateUpscale",
            "a.safetensors",
            json!(["m.safetensors"]),
            Some("UltimateUpscale"),
        ),
    ] {
        let info = known(models);
        let stand = Stand::new(move |seen| match &*seen.line {
            "GET /object_info" => answer(&info),
            _ => answer(&json!({"system": {"comfyui_version": "0.7.0"}})),
        });
        let worker = at(&stand, "imgmodel.chat", &graph(class, lora));
        match (worker.probe().await, lacks) {
            (Ok(_), None) => {}
            (Err(fault), Some(word)) => assert!(fault.detail.contains(word), "{}", fault.detail),
            (other, _) => panic!("{class} {lora}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn with_temporary_nothing_is_left_in_the_folders_of_the_server() {
    let studio = Studio::new();
    let stand = finished(png(64, 64, [9, 9, 99, 255]));
    let graph = save(&json!({"image": "{{image}}"}));
    let settings = json!({"workflows": {"imgmodel.edits": graph}, "temporary": true});
    let worker = stand.worker_under("comfyui", "", settings);
    let image = studio.host("a.png", &Picture::filled(64, 64, [1, 2, 3, 255]));
    let (work, _) = studio.work(
        "imgmodel.edits",
        &json!({"image": [image], "prompt": "x"}),
        None,
    );
    ticket(&worker, work).await.expect("a ticket");
    assert_eq!(
        stand.asked("upload")[0].text("type").as_deref(),
        Some("temp")
    );
    let node = stand.asked("POST /prompt")[0].json()["prompt"]["9"].clone();
    let wanted = json!({"class_type": "PreviewImage", "inputs": {"images": ["1", 0], "image": "atelier/up.png [temp]"}});
    assert_eq!(node, wanted);
}
