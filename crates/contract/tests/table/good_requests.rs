//! Good requests to start from: the example of an operation, and others where one example cannot show every value.

use atelier_contract::family::SubmitEndpoint;
use atelier_contract::job::Output;
use atelier_contract::{FAMILIES, File, FileRole, Job};
use serde_json::{Value, json};

use crate::sample::{drawn, file, finish, order};

/// Every operation of the table.
pub(crate) fn submits() -> impl Iterator<Item = &'static SubmitEndpoint> {
    FAMILIES.iter().flat_map(|family| family.submits)
}

/// The example of an operation.
pub(crate) fn example(name: &str) -> Value {
    let (_, submit) = atelier_contract::operation(name).expect(name);
    serde_json::from_str(submit.example).expect("an example is JSON")
}

/// A good request with the jobs it follows.
pub(crate) struct GoodRequest {
    pub(crate) body: Value,
    pub(crate) parent: Option<Job>,
}

fn good(body: Value) -> GoodRequest {
    GoodRequest { body, parent: None }
}

/// The example with some fields changed.
fn changed(name: &str, change: &Value) -> Value {
    let mut body = example(name);
    for (field, value) in change.as_object().expect("fields") {
        body[field] = value.clone();
    }
    body
}

/// An accepted example, finished with videos.
pub(crate) fn filmed(name: &str, change: &Value) -> Job {
    let (order, job) = order(name, &changed(name, change), None).expect("accepted");
    let size = (order.brief.width.max(640), order.brief.height.max(640));
    let videos =
        (0..order.brief.count as usize).map(|n| file(FileRole::Main, "video/mp4", size, n));
    let mut files: Vec<File> = videos.collect();
    files.push(file(FileRole::FirstFrame, "image/jpeg", size, 10));
    files.push(file(FileRole::LastFrame, "image/jpeg", size, 11));
    finish(job, files)
}

/// A finished character called `fox`.
pub(crate) fn character() -> Job {
    let (_, job) =
        order("vidgen.characters", &example("vidgen.characters"), None).expect("accepted");
    let job = finish(job, vec![file(FileRole::Main, "image/png", (512, 512), 0)]);
    let output = job.output.clone().map(|output| Output {
        alias: Some("fox".into()),
        ..output
    });
    Job { output, ..job }
}

/// Pictures of every kind an action may follow, in every mode and in versions with different follow-ups.
fn art_parents() -> Vec<Job> {
    let mut parents = Vec::new();
    for mode in ["relax", "fast", "turbo"] {
        for (flags, upscale) in [
            ("", None),
            ("--v 5", Some("upscale2")),
            ("--v 6", Some("upscale_subtle")),
        ] {
            let follow = |parent: &Job, action: &str| {
                drawn(
                    "artgen.action",
                    &json!({ "jobId": "x", "action": action }),
                    Some(parent),
                )
            };
            let body = json!({ "prompt": format!("x --ar 3:2 {flags}"), "mode": mode });
            let grid = drawn("artgen.imagine", &body, None);
            let single = follow(&grid, "upsample1");
            if let Some(upscale) = upscale {
                parents.push(follow(&single, upscale));
            }
            parents.extend([single, grid]);
        }
    }
    parents
}

fn square_parents() -> Vec<Job> {
    let modes = ["relax", "fast", "turbo"].into_iter();
    let bodies = modes
        .flat_map(|mode| ["x", "x --v 6"].map(|prompt| json!({ "prompt": prompt, "mode": mode })));
    bodies
        .map(|body| drawn("artgen.imagine", &body, None))
        .collect()
}

fn following(name: &str, parents: Vec<Job>) -> Vec<GoodRequest> {
    let with = |parent| GoodRequest {
        body: example(name),
        parent: Some(parent),
    };
    parents.into_iter().map(with).collect()
}

fn changes(name: &str, changes: &[Value]) -> Vec<GoodRequest> {
    let bodies = changes.iter().map(|change| changed(name, change));
    bodies.map(good).collect()
}

/// Good requests that together can show every allowed value of every field; the example comes first.
pub(crate) fn good_requests(name: &str) -> Vec<GoodRequest> {
    match name {
        "artgen.imagine" => changes(
            name,
            &[
                json!({}),
                json!({ "prompt": "x --v 6" }),
                json!({ "timeout": null }),
            ],
        ),
        "artgen.action" => {
            let mut parents = art_parents();
            parents.insert(0, drawn("artgen.imagine", &json!({ "prompt": "x" }), None));
            following(name, parents)
        }
        "artgen.seed" | "artgen.inpaint" => following(name, square_parents()),
        "artgen.describe" => {
            let picture = example("artgen.blend")["imgBase64Array"][0].clone();
            vec![good(example(name)), good(json!({ "base64": picture }))]
        }
        "artgen.video.extend" => following(
            name,
            ["sd", "hd"]
                .map(|word| filmed("artgen.video.submit", &json!({ "resolution": word })))
                .into(),
        ),
        "motion.extend" => following(
            name,
            ["720p", "1080p"]
                .map(|word| filmed("motion.generations", &json!({ "resolution": word })))
                .into(),
        ),
        "vidgen.no_watermark" => {
            let mut all = following(name, vec![filmed("vidgen.generations", &json!({}))]);
            all.push(good(json!({ "url": "https://example.com/clip.mp4" })));
            all
        }
        "vidgen_partner.generations" => vec![
            good(example(name)),
            GoodRequest {
                body: changed(name, &json!({ "remixed_from_video_id": "x" })),
                parent: Some(filmed(name, &json!({}))),
            },
        ],
        "vidgen.generations" => changes(name, &[json!({}), json!({ "model": "video-2-pro" })]),
        "imgmodel.generations" => changes(
            name,
            &[
                json!({}),
                json!({ "model": "art-2", "quality": null }),
                json!({ "model": "image-1", "quality": null }),
                json!({ "model": "image-1", "quality": null, "output_format": "webp" }),
            ],
        ),
        "imgmodel.edits" => changes(
            name,
            &[
                json!({}),
                json!({ "model": "image-1", "size": null }),
                json!({ "model": "image-1", "size": null, "output_format": "webp" }),
            ],
        ),
        _ => vec![good(example(name))],
    }
}
