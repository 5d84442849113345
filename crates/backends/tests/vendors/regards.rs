//! What becomes of every field at every vendor: `docs/fields.md` is made from what the adapters declare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use atelier_backends::support::SupportLevel;
use atelier_contract::body::parse_object;
use atelier_contract::brief::Brief;
use atelier_contract::operation::ReferencedJobs;
use atelier_contract::{FAMILIES, operation};
use serde_json::{Value, json};

use crate::described::described;
use crate::stand::worker;

const PICTURE: &str = "https://example.com/picture.png";

/// What is asked beyond the examples of the interface, so that every field is there once.
fn more() -> Vec<(&'static str, Value)> {
    vec![
        (
            "artgen.imagine",
            json!({"prompt": "https://example.com/picture.png a fox --ar 3:2 --no dogs --seed 7 --sref https://example.com/picture.png --cref https://example.com/picture.png"}),
        ),
        ("artgen.video.submit", json!({"endingUrl": PICTURE})),
        (
            "imgmodel.generations",
            json!({"model": "image-1", "background": "transparent", "quality": "high", "moderation": "low"}),
        ),
        ("imgmodel.generations", json!({"style": "vivid"})),
        (
            "animegen.text_to_image",
            json!({"negative_prompt": "hat", "steps": 28, "scale": 5, "quality_toggle": true}),
        ),
        (
            "animegen.text_to_image",
            json!({"vibe_transfer": [{"image": PICTURE}]}),
        ),
        ("design.image_to_image", json!({"negative_prompt": "text"})),
        (
            "motion.generations",
            json!({"modelName": "motion-v1", "imageEndUrl": PICTURE}),
        ),
        ("motion.generations", json!({"loop": true})),
        ("motion.generations", json!({"duration": "10s"})),
        ("vidgen.generations", json!({"referImages": [PICTURE]})),
        ("vidgen.generations", json!({"duration": 15})),
        (
            "vidgen.generations",
            json!({"character_url": "https://example.com/clip.mp4", "character_timestamps": "1,3"}),
        ),
        ("vidgen_partner.generations", json!({"seconds": 12})),
        (
            "clipgen.generations",
            json!({"video_length": "30", "refer_images": [PICTURE]}),
        ),
    ]
}

/// A vendor as the table names it, and settings under which it does all it can.
fn vendors() -> Vec<(String, &'static str, Value)> {
    let grids = json!({"grids": true});
    let mut all = vec![
        ("relay".into(), "relay", json!({})),
        ("midjourney-proxy".into(), "midjourney-proxy", json!({})),
        ("sdwebui".into(), "sdwebui", json!({})),
    ];
    for dialect in ["openai", "localai", "sglang", "vllm_omni", "sdcpp"] {
        let settings =
            json!({"dialect": dialect, "image_model": "m", "video_model": "m", "grids": true});
        all.push((format!("openai ({dialect})"), "openai", settings));
    }
    for dialect in [
        "ark",
        "minimax",
        "minimax_v1",
        "dashscope",
        "kling",
        "kling_v1",
    ] {
        let settings = json!({"dialect": dialect, "grids": true});
        all.push((format!("roletask ({dialect})"), "roletask", settings));
    }
    for name in ["google", "runway", "fal", "replicate", "bfl", "xai", "luma"] {
        all.push((name.to_owned(), name, grids.clone()));
    }
    for name in ["recraft", "ideogram", "piapi", "novelai"] {
        all.push((name.to_owned(), name, json!({})));
    }
    for name in ["vertex", "bedrock", "vidu", "jimeng", "stability"] {
        all.push((name.to_owned(), name, grids.clone()));
    }
    let models = json!({"image_model": "m", "video_model": "m", "grids": true});
    all.push(("new-api".to_owned(), "new-api", models));
    for vendor in ["luma", "recraft", "piapi"] {
        all.push((format!("http ({vendor})"), "http", described(vendor)));
    }
    all
}

/// The briefs of an operation: its example, and with each further wish; none for what follows an earlier job.
fn briefs(name: &str) -> Vec<Brief> {
    let (_, submit) = operation(name).expect("an operation");
    let example: Value = serde_json::from_str(submit.example).expect("an example");
    let merged = |wish: &Value| {
        let mut body = example.clone();
        for (field, value) in wish.as_object().expect("an object") {
            body[field] = value.clone();
        }
        body
    };
    let wishes = more().into_iter().filter(|(of, _)| *of == name);
    let bodies = wishes.map(|(_, wish)| merged(&wish));
    let bodies: Vec<Value> = std::iter::once(example.clone()).chain(bodies).collect();
    let brief = |body: &Value| {
        let fields = parse_object(body.to_string().as_bytes()).expect("an object");
        let request = (submit.parse)(fields).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        if request.parent().is_some() {
            return None;
        }
        let order = request.order(ReferencedJobs {
            parent: None,
            cited: &[],
        });
        let order = order.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        Some(*order.brief)
    };
    bodies.iter().filter_map(brief).collect()
}

type Cells = BTreeMap<String, BTreeSet<SupportLevel>>;

/// What becomes of the fields of a family at a vendor; empty when it does not serve it.
fn cells(family: &atelier_contract::family::Family, vendor: &str, settings: Value) -> Cells {
    let worker = worker(vendor, "http://127.0.0.1:9", settings).expect("good settings");
    let mut cells = Cells::new();
    let served = family.submits.iter().filter(|one| worker.serves(one.name));
    for submit in served {
        for brief in briefs(submit.name) {
            for one in worker.support(submit.name, &brief) {
                let field = one.field.split('[').next().unwrap_or_default().to_owned();
                cells.entry(field).or_default().insert(one.support);
            }
        }
    }
    cells
}

fn table() -> String {
    let mut text = String::from(
        "# What becomes of fields\n\n\
         For every family, what each vendor makes of the fields that vendors differ in, as its adapter declares it under the\n\
         settings in which it does most. Fields that every vendor honours, such as the words, are left out; ComfyUI has places\n\
         for whatever a workflow names.\n\n\
         - honoured: it is done. approximated: something close to it is done, such as a negative prompt said in words.\n\
         - ignored: it has no effect; the job's view names the field (`ignored`).\n\
         - refused: the job goes to the next back end. When every connected one would refuse it, the call is refused with 400\n  \
           `invalid_parameter` and the field.\n\
         - Two words: it depends on the value, such as a length that is not offered.\n",
    );
    for family in FAMILIES {
        let rows: Vec<(String, Cells)> = vendors()
            .into_iter()
            .map(|(label, vendor, settings)| (label, cells(family, vendor, settings)))
            .filter(|(_, cells)| !cells.is_empty())
            .collect();
        let fields: BTreeSet<&String> = rows.iter().flat_map(|(_, cells)| cells.keys()).collect();
        if fields.is_empty() {
            continue;
        }
        let names: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            text,
            "\n## {}\n\n| Vendor | {} |",
            family.name,
            names.join(" | ")
        );
        let _ = writeln!(text, "|---{}|", "|---".repeat(fields.len()));
        for (label, cells) in &rows {
            let cell = |field: &&String| {
                let words = cells.get(*field).into_iter().flatten();
                words.map(|one| one.word()).collect::<Vec<_>>().join(", ")
            };
            let row: Vec<String> = fields.iter().map(cell).collect();
            let _ = writeln!(text, "| {label} | {} |", row.join(" | "));
        }
    }
    text
}

#[test]
fn the_table_of_fields_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fields.md");
    let made = table();
    if std::env::var_os("ATELIER_TEST_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/fields.md is old; ATELIER_TEST_UPDATE=1 makes it anew"
    );
}

/// What is declared is what a start does: a wish that is said to be refused is refused, and no other is.
#[tokio::test]
async fn a_start_refuses_what_was_said_to_be_refused() {
    use crate::studio::Studio;
    use atelier_backends::Class;
    let studio = Studio::new();
    let picture = studio.host(
        "a.png",
        &atelier_media::Picture::filled(720, 1280, [9, 9, 9, 255]),
    );
    let wishes = [
        (
            "motion.generations",
            json!({"userPrompt": "x", "loop": true}),
        ),
        (
            "motion.generations",
            json!({"userPrompt": "x", "imageUrl": picture, "imageEndUrl": picture, "modelName": "motion-v1"}),
        ),
        (
            "clipgen.generations",
            json!({"prompt": "x", "video_length": "30"}),
        ),
        (
            "vidgen_partner.generations",
            json!({"prompt": "x", "seconds": 12}),
        ),
        (
            "imgmodel.chat",
            json!({"prompt": "draw x", "referImages": [picture, picture]}),
        ),
        (
            "imgmodel.chat",
            json!({"prompt": "draw x", "referImages": [picture]}),
        ),
    ];
    let mut refusals = 0;
    for (label, vendor, settings) in vendors() {
        let worker = worker(vendor, "http://127.0.0.1:9", settings).expect("good settings");
        for (operation, body) in &wishes {
            if !worker.serves(operation) {
                continue;
            }
            let (work, _) = studio.work(operation, body, None);
            let said = worker.support(operation, &work.brief);
            let said = said
                .into_iter()
                .find(|one| one.support == SupportLevel::Refused);
            let fault = worker.start(work).await.expect_err("nobody is there");
            let refused = fault.class == Class::Unable;
            assert_eq!(
                said.is_some(),
                refused,
                "{label}, {operation} {body}: {said:?}, {fault:?}"
            );
            refusals += usize::from(refused);
        }
    }
    assert!(refusals > 10, "{refusals}");
}
