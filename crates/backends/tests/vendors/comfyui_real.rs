//! The adapter against a real ComfyUI, where `ATELIER_TEST_COMFYUI` names its address. The workflows need no weights: they
//! scale, blend and invert, so that every family is really made on the processor alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use atelier_backends::backend::Backend;
use atelier_backends::{Class, Fault, PollOutcome, Work, WorkOutput};
use atelier_contract::Job;
use atelier_media::Picture;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::stand::{ticket, worker};
use crate::studio::Studio;

/// The longest wait for one prompt on a machine with much to do.
const ROUNDS: u32 = 600;

#[expect(
    clippy::disallowed_methods,
    reason = "a test asks its surroundings what there is to test with"
)]
fn address() -> String {
    std::env::var("ATELIER_TEST_COMFYUI").expect("ATELIER_TEST_COMFYUI names a server")
}

fn settings() -> Value {
    serde_json::from_str(include_str!("comfyui-workflows.json")).expect("workflows")
}

fn connected(address: &str, settings: Value) -> Arc<dyn Backend> {
    worker("comfyui", address, settings).expect("good settings")
}

async fn finished(worker: &Arc<dyn Backend>, mut work: Work) -> Result<WorkOutput, Fault> {
    // The server remembers prompts by their identifiers, also those of other tests and of earlier rounds.
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    work.attempt_id = format!("{}-{process}-{count}", work.operation);
    let paper = ticket(worker, work.clone()).await?;
    for _ in 0..ROUNDS {
        match worker.poll(&work, &paper).await? {
            PollOutcome::Running(_) => sleep(Duration::from_millis(500)).await,
            PollOutcome::Done(made) => return Ok(made),
            PollOutcome::Failed(fault) => return Err(fault),
            PollOutcome::Step(_) => panic!("it is one part"),
        }
    }
    panic!("it never ends");
}

async fn job(
    worker: &Arc<dyn Backend>,
    studio: &Studio,
    name: &str,
    body: &Value,
    parent: Option<&Job>,
) -> Job {
    let (work, job) = studio.work(name, body, parent);
    let made = finished(worker, work).await;
    studio.settle(
        job,
        made.unwrap_or_else(|fault| panic!("{name}: {fault:?}")),
    )
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_server_makes_something_for_every_family() {
    let address = address();
    let worker = connected(&address, settings());
    worker.probe().await.expect("nothing is missing");
    let studio = Studio::new();
    let photo = studio.host("a.png", &Picture::filled(320, 320, [200, 60, 20, 255]));
    let other = studio.host("b.png", &Picture::filled(320, 320, [20, 60, 200, 255]));
    for (name, body, media_type) in [
        ("design.generations", json!({"prompt": "x"}), "image/png"),
        (
            "imgmodel.generations",
            json!({"prompt": "x", "model": "image-1"}),
            "image/png",
        ),
        ("imgmodel.chat", json!({"prompt": "x"}), "image/png"),
        (
            "animegen.text_to_image",
            json!({"prompt": "x", "model": "anime-diffusion-4-5-full", "width": 832, "height": 1216}),
            "image/png",
        ),
        (
            "facegen.swap",
            json!({"targetImage": photo, "swapImage": other}),
            "image/png",
        ),
        (
            "vidgen.generations",
            json!({"model": "video-2", "prompt": "x"}),
            "video/mp4",
        ),
        (
            "vidgen_partner.generations",
            json!({"prompt": "x"}),
            "video/mp4",
        ),
        ("clipgen.generations", json!({"prompt": "x"}), "video/mp4"),
        (
            "motion.generations",
            json!({"userPrompt": "x"}),
            "video/mp4",
        ),
        (
            "artgen.video.submit",
            json!({"prompt": "x", "imageUrl": photo, "bs": 1}),
            "video/mp4",
        ),
    ] {
        let made = job(&worker, &studio, name, &body, None).await;
        let file = made.file(0).unwrap_or_else(|| panic!("{name}: no file"));
        assert_eq!(file.media_type, media_type, "{name}");
        assert!(file.width > 0 && file.height > 0, "{name}");
    }
    let grid = job(
        &worker,
        &studio,
        "artgen.imagine",
        &json!({"prompt": "a fox --seed 7"}),
        None,
    )
    .await;
    let follow = json!({"jobId": grid.id, "action": "upsample2"});
    let single = job(&worker, &studio, "artgen.action", &follow, Some(&grid)).await;
    let size = |job: &Job| job.file(0).map(|file| (file.width, file.height));
    assert_eq!(
        size(&single),
        size(&grid),
        "one of the four is as large as the grid"
    );
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_server_tells_how_far_a_prompt_is() {
    let address = address();
    let worker = connected(&address, settings());
    let (work, _) = Studio::new().work(
        "vidgen.generations",
        &json!({"model": "video-2", "prompt": "x"}),
        None,
    );
    let gauge = work.progress.clone();
    finished(&worker, work).await.expect("a video");
    assert!(gauge.get() > 0, "nothing was heard");
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_server_runs_a_part_of_a_workflow_and_that_is_refused() {
    let address = address();
    // The preview is fine, the file to be saved is not: the server accepts this and says so beside.
    let graph = json!({
        "1": {"class_type": "EmptyImage", "inputs": {"width": 64, "height": 64, "batch_size": 1, "color": 0}},
        "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}},
        "3": {"class_type": "SaveImage", "inputs": {"images": ["1", 0]}},
    });
    let worker = connected(&address, json!({"workflows": {"imgmodel.chat": graph}}));
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "x"}), None);
    let fault = finished(&worker, work)
        .await
        .expect_err("half of it is nothing");
    assert_eq!(fault.class, Class::Unable, "{fault:?}");
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_server_lacks_what_it_has_not() {
    let address = address();
    let graph = json!({
        "1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "no-such-model.safetensors"}},
        "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "{{prefix}}"}},
    });
    let worker = connected(&address, json!({"workflows": {"imgmodel.chat": graph}}));
    let fault = worker.probe().await.expect_err("the model is missing");
    assert!(fault.detail.contains("no-such-model"), "{}", fault.detail);
}

#[tokio::test]
#[ignore = "needs programs of others"]
async fn a_real_server_works_from_its_folder_for_the_time_being() {
    let address = address();
    let mut settings = settings();
    settings["temporary"] = true.into();
    let worker = connected(&address, settings);
    let studio = Studio::new();
    let photo = studio.host("a.png", &Picture::filled(320, 320, [200, 60, 20, 255]));
    let body = json!({"image": [photo], "prompt": "x", "model": "image-1"});
    job(&worker, &studio, "imgmodel.edits", &body, None).await;
}
