//! Kling, in the newer of its interfaces. Every start has a name of its own there, so a lost one is found again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::dialect::{Dialect, Order, State};
use crate::answers::{ErrorWords, Rule};
use crate::backend::Class;
use crate::http::{VendorCall, encoded};
use crate::models::Makes;
use crate::tasks::{
    Brought, Films, Heard, Lengths, Masks, Pictures, Scene, Sheet, id, nearest_ratio,
};

/// Its table.
pub(super) const DIALECT: Dialect = Dialect {
    video_model: "kling-3.0",
    image_model: None,
    makes: Makes {
        images: &[],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: Pictures {
        masks: Masks::None,
        references: 0,
        negative: false,
        transparent: false,
        backgrounds: false,
    },
    seeds: (false, false),
    film,
    paint: |_, _: &Sheet| VendorCall::get(""),
    task: |body| Some(json!({"id": id(&body["data"]["id"])?})),
    painted: |_: &mut Heard| Brought::default(),
    question: |task| {
        let name = encoded(task["id"].as_str().unwrap_or_default());
        VendorCall::get(format!("tasks?task_ids={name}"))
    },
    told,
    stop: None,
    refusal,
    rules: RULES,
    lost: Some(|token| VendorCall::get(format!("tasks?external_task_ids={}", encoded(token)))),
    found: |body| Some(json!({"id": id(&body["data"][0]["id"])?})),
    probe: || VendorCall::get("tasks?external_task_ids=atelier-probe"),
};

const RULES: &[Rule] = &[
    // A clock that is off, or a token at its end: the next call is signed anew.
    Rule::code("1003", Class::Retry),
    Rule::code("1004", Class::Retry),
    Rule::code("1000", Class::Dead),
    Rule::code("1001", Class::Dead),
    Rule::code("1002", Class::Dead),
    Rule::code("1100", Class::Dead),
    Rule::code("1101", Class::Quota),
    Rule::code("1102", Class::Quota),
    Rule::code("1103", Class::Dead),
    Rule::code("120", Class::BadRequest),
    Rule::code("1300", Class::Reject),
    Rule::code("1301", Class::Reject),
    Rule::code("1302", Class::Rate),
    Rule::code("1303", Class::Rate),
    Rule::code("1304", Class::Dead),
    Rule::code("500", Class::Retry),
    Rule::words(0, "risk control", Class::Reject),
];

fn films(model: &str) -> Films {
    Films {
        lengths: Lengths::Between(3, if model.contains("-4") { 30 } else { 15 }),
        ends: !model.contains("turbo"),
        loops: false,
        references: if model.contains("omni") { 7 } else { 0 },
    }
}

fn film(order: &Order<'_>, scene: &Scene) -> VendorCall {
    let omni = order.model.contains("omni");
    let image = |bytes: &[u8], kind: &str| json!({"type": kind, "url": STANDARD.encode(bytes)});
    let first = scene.first.iter().map(|bytes| image(bytes, "first_frame"));
    let last = scene.last.iter().map(|bytes| image(bytes, "last_frame"));
    let others = scene.references.iter();
    let others = others.map(|bytes| image(bytes, "refer_image"));
    let mut contents = vec![json!({"type": "prompt", "text": scene.prompt})];
    contents.extend(first.chain(last).chain(others));
    let resolutions: &[(&str, u32)] = if order.model.contains("turbo") {
        &[("720p", 720), ("1080p", 1080)]
    } else {
        &[("720p", 720), ("1080p", 1080), ("4k", 2160)]
    };
    let mut settings = json!({
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "audio": if order.settings.audio { "native" } else { "off" },
    });
    if scene.first.is_none() {
        settings["aspect_ratio"] = json!(nearest_ratio(scene.size, &["16:9", "9:16", "1:1"]));
    }
    let mut options = json!({
        "external_task_id": order.token,
        "watermark_info": {"enabled": false},
    });
    if let Some(hook) = order.hook_url {
        options["callback_url"] = json!(hook);
    }
    let route = match (&scene.first, omni) {
        (_, true) => "omni-video",
        (Some(_), false) => "image-to-video",
        (None, false) => "text-to-video",
    };
    let mut body = json!({
        "settings": order.settings.with_fields(settings),
        "options": options,
    });
    if route == "text-to-video" && order.model.contains("turbo") {
        body["prompt"] = json!(scene.prompt);
    } else {
        body["contents"] = json!(contents);
    }
    VendorCall::post_json(format!("{route}/{}", encoded(order.model)), &body)
}

/// Everything has a code; 0 is a good one.
fn refusal(body: &Value) -> Option<ErrorWords> {
    let code = body["code"].as_i64().filter(|code| *code != 0)?;
    Some(ErrorWords {
        code: code.to_string(),
        message: body["message"].as_str()?.to_owned(),
    })
}

fn told(body: &Value) -> Option<State> {
    let tasks = body["data"].as_array()?;
    let Some(task) = tasks.first() else {
        return Some(State::Gone);
    };
    Some(match task["status"].as_str()? {
        "succeeded" | "succeed" => {
            let outputs = task["outputs"].as_array().into_iter().flatten();
            let videos = outputs.filter(|output| output["type"] == "video");
            State::Done(Brought::at(
                videos.filter_map(|output| output["url"].as_str()),
            ))
        }
        "failed" => State::Failed(ErrorWords {
            code: task["code"]
                .as_i64()
                .map_or_else(String::new, |code| code.to_string()),
            message: task["message"].as_str().unwrap_or_default().to_owned(),
        }),
        _ => State::Running,
    })
}
