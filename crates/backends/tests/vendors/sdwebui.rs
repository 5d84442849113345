//! The WebUI's routes: what is sent for each task, progress beside the call, and the word to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use atelier_backends::Class;
use atelier_backends::backend::{Acceptance, LostSubmit};
use atelier_contract::{FileRole, Job};
use atelier_media::{Limits, Picture, decode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::stand::{
    RecordedRequest, Reply, Stand, base64, json as answer, made, page, png, status,
};
use crate::studio::Studio;

const RED: [u8; 4] = [200, 10, 10, 255];

fn paint(seen: &RecordedRequest) -> Reply {
    let body = seen.json();
    let side = |name: &str| body[name].as_u64().unwrap_or(64) as u32;
    match &*seen.line {
        "POST /sdapi/v1/txt2img" | "POST /sdapi/v1/img2img" => {
            let file = base64(png(side("width"), side("height"), RED));
            let count = side("batch_size") * side("n_iter");
            let info = json!({"seed": body["seed"], "all_seeds": [1]}).to_string();
            answer(
                &json!({"images": vec![file; count as usize], "parameters": {"init_images": null}, "info": info}),
            )
        }
        "POST /sdapi/v1/extra-single-image" => {
            let file = png(side("upscaling_resize_w"), side("upscaling_resize_h"), RED);
            answer(&json!({"html_info": "", "image": base64(file)}))
        }
        line if line.starts_with("GET /sdapi/v1/progress") => {
            answer(&json!({"progress": 0.5, "state": {"interrupted": false, "job_count": 0}}))
        }
        _ => status(404, &json!({"detail": "Not Found"})),
    }
}

fn painted(seen: &RecordedRequest, name: &str) -> Picture {
    let body = seen.json();
    let text = body[name].as_str().or(body[name][0].as_str()).expect(name);
    decode(&STANDARD.decode(text).expect("base64"), Limits::default()).expect("a picture")
}

#[tokio::test]
async fn a_grid_is_four_pictures_of_one_call() {
    let (stand, studio) = (Stand::new(paint), Studio::new());
    let worker = stand.worker_under(
        "sdwebui",
        "",
        json!({"steps": 12, "negative_prompt": "blurry", "images_per_batch": 2,
        "checkpoints": {"*": "sdxl.safetensors"}, "sampler": "Euler a"}),
    );
    assert_eq!(worker.lost_submit(), LostSubmit::Repeat);
    let body = json!({"prompt": "a fox --ar 3:2 --no snow --seed 7", "getUImages": true});
    let (work, _) = studio.work("artgen.imagine", &body, None);
    let member = (work.brief.width, work.brief.height);
    let made = made(&worker, work).await.expect("a grid");
    assert_eq!((made.made, made.files.len()), (4, 5));
    assert_eq!(
        (made.files[0].role, made.files[0].width),
        (FileRole::Main, member.0 * 2)
    );
    let sent = stand.asked("txt2img")[0].json();
    for (name, value) in [
        ("prompt", json!("a fox")),
        ("negative_prompt", json!("snow, blurry")),
        ("seed", json!(7)),
        ("batch_size", json!(2)),
        ("n_iter", json!(2)),
        ("steps", json!(12)),
        ("sampler_name", json!("Euler a")),
        (
            "override_settings",
            json!({"sd_model_checkpoint": "sdxl.safetensors"}),
        ),
        ("width", json!(member.0)),
    ] {
        assert_eq!(sent[name], value, "{name}");
    }
    assert!(
        stand.asked("txt2img")[0]
            .head
            .contains("authorization: Basic c2stdmVyeS1zZWNyZXQ=")
    );
}

async fn parent_grid(studio: &Studio, stand: &Stand) -> Job {
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let (work, job) = studio.work("artgen.imagine", &json!({"prompt": "a fox"}), None);
    let made = made(&worker, work).await.expect("a grid");
    studio.settle(job, made)
}

#[tokio::test]
async fn follow_ups_work_on_the_parent_s_picture() {
    let (stand, studio) = (Stand::new(paint), Studio::new());
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let grid = parent_grid(&studio, &stand).await;
    let act = |job: &Job, action: &str| json!({"jobId": job.id.as_str(), "action": action});

    let (work, job) = studio.work("artgen.action", &act(&grid, "upsample2"), Some(&grid));
    let single = made(&worker, work).await.expect("one picture");
    assert_eq!(
        (single.files[0].width, single.files[0].height),
        (1024, 1024)
    );
    assert_eq!(painted(&stand.asked("extra-single")[0], "image").width, 512);
    let single = studio.settle(job, single);

    let (work, _) = studio.work("artgen.action", &act(&grid, "variation3"), Some(&grid));
    assert_eq!(
        made(&worker, work).await.expect("a grid").files[0].width,
        1024
    );
    let (work, _) = studio.work("artgen.action", &act(&single, "zoom_out_2"), Some(&single));
    assert_eq!(made(&worker, work).await.expect("a grid").made, 4);
    let outpaint = stand.asked("img2img").pop().expect("a call");
    let mask = painted(&outpaint, "mask");
    assert_eq!(
        (
            mask.pixel(2, 2)[0],
            mask.pixel(mask.width / 2, mask.height / 2)[0]
        ),
        (255, 0)
    );

    let (work, _) = studio.work(
        "artgen.seed",
        &json!({"jobId": grid.id.as_str()}),
        Some(&grid),
    );
    let told = made(&worker, work).await.expect("a seed").seed;
    let used = stand.asked("txt2img")[0].json()["seed"].as_u64();
    assert_eq!(told.and_then(|seed| seed.parse().ok()), used);
}

/// Only one of the four has something to repaint: one call, and the other three stay as they were.
#[tokio::test]
async fn each_picture_of_a_grid_is_repainted_by_its_own_part_of_the_mask() {
    let (stand, studio) = (Stand::new(paint), Studio::new());
    let grid = parent_grid(&studio, &stand).await;
    let worker = Stand::new(|seen| match paint(seen) {
        Reply::Whole(200, ..) if seen.line.contains("img2img") => {
            answer(&json!({"images": [base64(png(512, 512, [10, 10, 200, 255]))], "info": "{}"}))
        }
        other => other,
    });
    let mask = Picture::drawn(1024, 1024, |x, y| {
        if x < 200 && y < 200 {
            [255; 4]
        } else {
            [0, 0, 0, 255]
        }
    });
    let data = atelier_media::encode(&mask, atelier_media::Encoding::Png, None);
    let body = json!({"jobId": grid.id.as_str(), "prompt": "blue", "mask": format!("data:image/png;base64,{}", base64(data))});
    let (work, _) = studio.work("artgen.inpaint", &body, Some(&grid));
    let made = made(&worker.worker_under("sdwebui", "", Value::Null), work)
        .await
        .expect("a grid");
    assert_eq!(worker.asked("img2img").len(), 1);
    let got = decode(&made.files[0].bytes, Limits::default()).expect("a picture");
    assert!(
        got.pixel(100, 100)[2] > 150 && got.pixel(700, 700) == RED && got.pixel(400, 400) == RED
    );
}

#[tokio::test]
async fn tasks_of_the_other_families_come_to_their_routes() {
    let (stand, studio) = (Stand::new(paint), Studio::new());
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let image = studio.host("a.png", &Picture::filled(100, 60, [1, 2, 3, 255]));
    let mask = studio.host("m.png", &Picture::filled(100, 60, [255; 4]));
    let anime = json!({"prompt": "a girl", "model": "anime-diffusion-4-5-full", "width": 512, "height": 768, "steps": 9,
                       "sampler": "Euler Ancestral", "character_prompts": [{"prompt": "red hair"}]});
    let cases = [
        (
            "design.image_to_image",
            json!({"image": image, "prompt": "x", "strength": 0.3}),
            "img2img",
            (100, 60),
        ),
        (
            "design.inpaint",
            json!({"image": image, "mask": mask, "prompt": "x"}),
            "img2img",
            (100, 60),
        ),
        (
            "design.crisp_upscale",
            json!({"image": image}),
            "extra-single",
            (400, 240),
        ),
        (
            "design.creative_upscale",
            json!({"image": image}),
            "img2img",
            (400, 240),
        ),
        (
            "imgmodel.legacy",
            json!({"prompt": "x", "size": "1024x1792"}),
            "txt2img",
            (1024, 1792),
        ),
        ("animegen.text_to_image", anime, "txt2img", (512, 768)),
    ];
    for (operation, body, route, size) in cases {
        let (work, _) = studio.work(operation, &body, None);
        let made = made(&worker, work).await.expect(operation);
        assert_eq!(
            (made.files[0].width, made.files[0].height),
            size,
            "{operation}"
        );
        let seen = stand
            .seen()
            .into_iter()
            .rev()
            // Work that takes long is asked about meanwhile.
            .find(|seen| seen.line.starts_with("POST") && !seen.line.contains("progress"))
            .expect("a call");
        assert!(seen.line.contains(route), "{operation}: {}", seen.line);
    }
    assert_eq!(
        stand.asked("img2img")[0].json()["denoising_strength"],
        json!(0.3)
    );
    let sent = stand.asked("txt2img").pop().expect("a call").json();
    assert_eq!(sent["prompt"], "a girl, red hair");
    assert_eq!(
        (&sent["sampler_name"], &sent["scheduler"], &sent["steps"]),
        (&json!("Euler a"), &json!("Karras"), &json!(9))
    );
}

#[tokio::test]
async fn failures_have_their_class() {
    let memory = json!({"error": "OutOfMemoryError", "detail": "", "body": "", "errors": "CUDA out of memory"});
    let cases = [
        (status(500, &memory), Class::Retry, Acceptance::No),
        (
            status(422, &json!({"detail": [{"msg": "field required"}]})),
            Class::BadRequest,
            Acceptance::No,
        ),
        (
            status(404, &json!({"detail": "Sampler not found"})),
            Class::Unable,
            Acceptance::No,
        ),
        (
            status(404, &json!({"detail": "Not Found"})),
            Class::Retry,
            Acceptance::No,
        ),
        (
            status(401, &json!({"detail": "Incorrect username"})),
            Class::Dead,
            Acceptance::No,
        ),
        (page(200), Class::Retry, Acceptance::Perhaps),
        (
            answer(&json!({"images": [], "info": "{}"})),
            Class::Retry,
            Acceptance::Perhaps,
        ),
        (
            answer(&json!({"images": [base64("no picture")]})),
            Class::Gone,
            Acceptance::No,
        ),
        (
            Reply::Truncated(b"{\"images\":[\"".to_vec()),
            Class::Retry,
            Acceptance::Perhaps,
        ),
        (Reply::Cut, Class::Retry, Acceptance::Perhaps),
    ];
    for (reply, class, taken) in cases {
        let stand = Stand::always(reply);
        let worker = stand.worker_under("sdwebui", "", json!({"timeout_seconds": 3}));
        let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
        let fault = made(&worker, work).await.expect_err("a fault");
        assert_eq!((fault.class, fault.taken), (class, taken), "{fault:?}");
    }
}

#[tokio::test]
async fn an_interrupted_call_is_not_taken_for_a_finished_one() {
    let stand = Stand::new(|seen| {
        if seen.line.contains("/progress") {
            answer(&json!({"progress": 0, "state": {"interrupted": true, "job_count": 0}}))
        } else {
            paint(seen)
        }
    });
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let fault = made(&worker, work).await.expect_err("a fault");
    assert_eq!(fault.class, Class::Retry);
}

/// Waits until nothing is left that could ask the vendor for something more.
async fn until_no_tasks() {
    let none = async {
        while tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
            > 0
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let none = tokio::time::timeout(Duration::from_mins(1), none).await;
    none.expect("every task ends");
}

/// The runner waits a while for the start of a cancelled job: it must not wait for the whole painting.
#[tokio::test]
async fn a_cancelled_task_is_interrupted_at_once_and_its_start_ends() {
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /internal/progress" => answer(&json!({"active": true, "progress": 0.4})),
        "POST /sdapi/v1/txt2img" => Reply::After(Duration::from_secs(20), Box::new(Reply::Cut)),
        _ => paint(seen),
    });
    let worker = stand.worker_under("sdwebui", "", Value::Null);
    let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
    let cancelled = work.cancelled.clone();
    let cancel = async {
        stand.until_asked("txt2img", 1).await;
        cancelled.cancel();
    };
    let both = async { tokio::join!(worker.start(work), cancel).0 };
    let ended = tokio::time::timeout(Duration::from_secs(15), both).await;
    let fault = ended.expect("it ends").expect_err("nothing was made");
    assert_eq!((fault.class, fault.taken), (Class::Service, Acceptance::No));
    stand.until_asked("interrupt", 1).await;
    drop(worker);
    until_no_tasks().await;
    assert_eq!(stand.asked("interrupt").len(), 1);
}

#[tokio::test]
async fn progress_is_asked_for_beside_the_call_and_only_our_task_is_stopped() {
    let ours = Arc::new(AtomicBool::new(true));
    let active = Arc::clone(&ours);
    let stand = Stand::new(move |seen| match &*seen.line {
        "POST /internal/progress" => {
            let ours = active.load(Ordering::SeqCst);
            answer(&json!({"active": ours, "queued": false, "completed": !ours, "progress": 0.4}))
        }
        "POST /sdapi/v1/txt2img" => Reply::After(Duration::from_secs(20), Box::new(Reply::Cut)),
        _ => paint(seen),
    });
    for runs in [true, false] {
        ours.store(runs, Ordering::SeqCst);
        let worker = stand.worker_under("sdwebui", "", Value::Null);
        let (work, _) = Studio::new().work("imgmodel.chat", &json!({"prompt": "draw"}), None);
        let gauge = work.progress.clone();
        let told = async {
            while gauge.get() < 30 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        // The runner drops the start when the job is cancelled.
        tokio::select! {
            _ = worker.start(work) => panic!("nothing was told of it"),
            () = told => {}
        }
        assert!(gauge.get() < 60, "{}", gauge.get());
        let asked = stand.asked("internal/progress").len();
        // It is asked whether the task still runs, and stopped right after.
        stand.until_asked("internal/progress", asked + 1).await;
        stand.until_asked("interrupt", 1).await;
        drop(worker);
        until_no_tasks().await;
        assert_eq!(
            stand.asked("interrupt").len(),
            1,
            "only the task that runs is stopped: {runs}"
        );
    }
    let asked = stand.asked("internal/progress")[0].json();
    assert_eq!(
        asked["id_task"],
        stand.asked("txt2img")[0].json()["force_task_id"]
    );
}
