//! MiniMax: Hailuo videos by the second version of its interface, pictures by the first.

use atelier_contract::brief::Task;
use serde_json::{Value, json};

use super::dialect::{Dialect, Order, State};
use crate::answers::{ErrorWords, Rule};
use crate::backend::Class;
use crate::http::{VendorCall, encoded};
use crate::inputs::data_uri;
use crate::models::Makes;
use crate::tasks::{
    Brought, Films, Found, Heard, Lengths, Masks, Pictures, Scene, Sheet, id, nearest_ratio,
};

/// Its table.
pub(super) const DIALECT: Dialect = Dialect {
    video_model: "MiniMax-H3",
    image_model: Some("image-01"),
    makes: Makes {
        images: &[Task::Draw],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: Pictures {
        masks: Masks::None,
        references: 1,
        negative: false,
        transparent: false,
        backgrounds: false,
    },
    seeds: (false, true),
    film,
    paint,
    task: |body| Some(json!({"id": id(&body["task_id"])?})),
    painted,
    question: |task| VendorCall::get(format!("v2/query/video_generation/{}", name(task))),
    told,
    stop: Some(|task| {
        let path = format!("v2/video_generation/{}", name(task));
        VendorCall::new(http::Method::DELETE, path)
    }),
    refusal,
    rules: RULES,
    lost: None,
    found: |_| None,
    probe: || VendorCall::get("v2/query/video_generation?page_size=1"),
};

const RATIOS: &[&str] = &["21:9", "16:9", "4:3", "1:1", "3:4", "9:16"];

/// Numbers are those of the first version.
const RULES: &[Rule] = &[
    Rule::words(0, "record not found", Class::Gone),
    Rule::code("1004", Class::Dead),
    Rule::code("authorized_error", Class::Dead),
    Rule::code("1008", Class::Quota),
    Rule::code("insufficient_balance", Class::Quota),
    Rule::code("1026", Class::Reject),
    Rule::code("1027", Class::Reject),
    Rule::code("sensitive", Class::Reject),
    Rule::code("1002", Class::Rate),
    Rule::code("rate_limit", Class::Rate),
    Rule::code("2013", Class::BadRequest),
    Rule::code("bad_request", Class::BadRequest),
    Rule::code("1000", Class::Retry),
    Rule::status(422, Class::Reject),
];

fn name(task: &Value) -> String {
    encoded(task["id"].as_str().unwrap_or_default())
}

fn films(model: &str) -> Films {
    let max = model.ends_with("Max");
    Films {
        lengths: Lengths::Between(if max { 5 } else { 4 }, 15),
        ends: true,
        loops: false,
        references: if max { 0 } else { 9 },
    }
}

fn film(order: &Order<'_>, scene: &Scene) -> VendorCall {
    let image = |bytes: &[u8], role: &str| json!({"type": "image_url", "image_url": {"url": data_uri(bytes)}, "role": role});
    let mut content = vec![json!({"type": "text", "text": scene.prompt})];
    let first = scene.first.iter().map(|bytes| image(bytes, "first_frame"));
    let last = scene.last.iter().map(|bytes| image(bytes, "last_frame"));
    content.extend(first.chain(last));
    let others = scene.references.iter();
    content.extend(others.map(|bytes| image(bytes, "reference_image")));
    let resolutions: &[(&str, u32)] = if order.model.ends_with("Max") {
        &[("480P", 480), ("768P", 768)]
    } else {
        &[("768P", 768), ("2K", 1440)]
    };
    let mut body = json!({
        "model": order.model,
        "content": content,
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "aigc_watermark": false,
    });
    if scene.first.is_none() {
        body["ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    }
    let body = order.settings.with_fields(body);
    VendorCall::post_json("v2/video_generation", &body)
}

fn paint(order: &Order<'_>, sheet: &Sheet) -> VendorCall {
    const SHAPES: &[&str] = &["1:1", "16:9", "4:3", "3:2", "2:3", "3:4", "9:16", "21:9"];
    let mut body = json!({
        "model": order.model,
        "prompt": sheet.prompt,
        "n": 1,
        "response_format": "url",
    });
    if let Some(size) = sheet.size {
        body["aspect_ratio"] = json!(nearest_ratio(size, SHAPES));
    }
    if let Some(seed) = order.seed {
        body["seed"] = json!(seed);
    }
    if let Some(image) = sheet.images.first() {
        body["subject_reference"] = json!([{"type": "character", "image_file": data_uri(image)}]);
    }
    VendorCall::post_json("v1/image_generation", &order.settings.with_fields(body))
}

fn painted(heard: &mut Heard) -> Brought {
    let items = heard.body["data"]["image_urls"].as_array();
    let addresses = items.into_iter().flatten().filter_map(Value::as_str);
    Brought {
        files: addresses
            .map(|address| Found::Address(address.to_owned()))
            .collect(),
        ..Brought::default()
    }
}

/// The first version says everything with a good status.
fn refusal(body: &Value) -> Option<ErrorWords> {
    let answer = &body["base_resp"];
    match answer["status_code"].as_i64() {
        Some(0) | None => body.get("error").and_then(|_| ErrorWords::read(body)),
        Some(code) => Some(ErrorWords {
            code: code.to_string(),
            message: answer["status_msg"].as_str().unwrap_or_default().to_owned(),
        }),
    }
}

fn told(body: &Value) -> Option<State> {
    let task = &body["task"];
    Some(match task["status"].as_str()? {
        "succeeded" => State::Done(Brought::at(task["content"]["url"].as_str())),
        "failed" => State::Failed(ErrorWords::read(task).unwrap_or_default()),
        "cancelled" | "expired" => State::Gone,
        _ => State::Running,
    })
}
