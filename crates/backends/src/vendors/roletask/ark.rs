//! ByteDance Ark, on BytePlus and Volcengine: Seedance videos, Seedream pictures.

use atelier_contract::brief::Task;
use serde_json::{Value, json};

use super::dialect::{Dialect, Order, State};
use crate::answers::{ErrorWords, Rule};
use crate::backend::{Class, Cost};
use crate::fit;
use crate::http::{VendorCall, encoded};
use crate::inputs::data_uri;
use crate::models::Makes;
use crate::tasks::{
    Brought, Films, Found, Heard, Lengths, Masks, Pictures, Scene, Sheet, id, nearest_ratio,
};

/// Its table.
pub(super) const DIALECT: Dialect = Dialect {
    video_model: "dreamina-seedance-2-5-260628",
    image_model: Some("seedream-5-0-260128"),
    makes: Makes {
        images: &[
            Task::Draw,
            Task::Edit,
            Task::Repaint,
            Task::Restyle,
            Task::ReplaceBackground,
        ],
        videos: true,
        clips_in_fours: true,
    },
    films,
    pictures: Pictures {
        masks: Masks::Painted,
        references: 10,
        negative: false,
        transparent: false,
        backgrounds: true,
    },
    seeds: (false, false),
    film,
    paint,
    task: |body| Some(json!({"id": id(&body["id"])?})),
    painted,
    question: |task| VendorCall::get(path(task)),
    told,
    stop: Some(|task| VendorCall::new(http::Method::DELETE, path(task))),
    refusal: |body| {
        let errs = body.get("error").is_some_and(|error| !error.is_null());
        // The error of a task belongs to its status.
        let refused = errs && body.get("status").is_none();
        refused.then(|| ErrorWords::read(body)).flatten()
    },
    rules: RULES,
    lost: None,
    found: |_| None,
    probe: || VendorCall::get(format!("{TASKS}?page_num=1&page_size=1")),
};

const TASKS: &str = "contents/generations/tasks";
const RATIOS: &[&str] = &["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"];
/// Pictures have no fewer pixels.
const LEAST_PIXELS: f64 = 3_686_400.0;
/// And no more.
const MOST_PIXELS: f64 = 4096.0 * 4096.0;

const RULES: &[Rule] = &[
    Rule::code("sensitivecontentdetected", Class::Reject),
    Rule::code("policyviolation", Class::Reject),
    Rule::code("accountoverdue", Class::Quota),
    Rule::code("quotaexceeded", Class::Quota),
    Rule::code("ratelimitexceeded", Class::Rate),
    Rule::code("serveroverloaded", Class::Rate),
    Rule::code("authenticationerror", Class::Dead),
    Rule::code("accessdenied", Class::Unable),
    Rule::code("modelnotopen", Class::Unable),
    Rule::code("invalidparameter", Class::BadRequest),
    Rule::code("missingparameter", Class::BadRequest),
    Rule::code("notfound", Class::Gone),
];

fn path(task: &Value) -> String {
    format!(
        "{TASKS}/{}",
        encoded(task["id"].as_str().unwrap_or_default())
    )
}

fn films(model: &str) -> Films {
    let newest = model.contains("2-5");
    Films {
        lengths: Lengths::Between(4, if newest { 30 } else { 15 }),
        ends: true,
        loops: false,
        references: if newest { 30 } else { 9 },
    }
}

fn film(order: &Order<'_>, scene: &Scene) -> VendorCall {
    let image = |bytes: &[u8], role: &str| json!({"type": "image_url", "image_url": {"url": data_uri(bytes)}, "role": role});
    let mut content = vec![json!({"type": "text", "text": scene.prompt})];
    let first = scene.first.iter().map(|bytes| image(bytes, "first_frame"));
    let last = scene.last.iter().map(|bytes| image(bytes, "last_frame"));
    let others = scene.references.iter();
    content.extend(first.chain(last));
    content.extend(others.map(|bytes| image(bytes, "reference_image")));
    let small = order.model.contains("fast") || order.model.contains("mini");
    let resolutions: &[(&str, u32)] = if small {
        &[("480p", 480), ("720p", 720)]
    } else {
        &[("480p", 480), ("720p", 720), ("1080p", 1080)]
    };
    let mut body = json!({
        "model": order.model,
        "content": content,
        "resolution": scene.resolution(resolutions),
        "duration": scene.seconds,
        "generate_audio": order.settings.audio,
        "watermark": false,
    });
    // Frames have a shape of their own, and no other is taken beside them.
    if scene.first.is_none() {
        body["ratio"] = json!(nearest_ratio(scene.size, RATIOS));
    }
    if let Some(hook) = order.hook_url {
        body["callback_url"] = json!(hook);
    }
    VendorCall::post_json(TASKS, &order.settings.with_fields(body))
}

fn paint(order: &Order<'_>, sheet: &Sheet) -> VendorCall {
    let mut body = json!({
        "model": order.model,
        "prompt": sheet.prompt,
        "response_format": "url",
        "watermark": false,
        "sequential_image_generation": "disabled",
    });
    body["size"] = match sheet.size {
        Some(size) => {
            let (width, height) = fit::stepped(fit::at_least(size, LEAST_PIXELS), 16, MOST_PIXELS);
            json!(format!("{width}x{height}"))
        }
        None => json!("2K"),
    };
    let images: Vec<String> = sheet.images.iter().map(|bytes| data_uri(bytes)).collect();
    match images.as_slice() {
        [] => {}
        [one] => body["image"] = json!(one),
        all => body["image"] = json!(all),
    }
    VendorCall::post_json("images/generations", &order.settings.with_fields(body))
}

fn painted(heard: &mut Heard) -> Brought {
    let items = heard.body["data"].as_array().into_iter().flatten();
    let addresses = items.filter_map(|item| item["url"].as_str());
    Brought {
        files: addresses
            .map(|address| Found::Address(address.to_owned()))
            .collect(),
        cost: tokens(&heard.body["usage"]["output_tokens"]),
        ..Brought::default()
    }
}

fn tokens(count: &Value) -> Option<Cost> {
    Cost::of(count.as_f64()?, "tokens")
}

fn told(body: &Value) -> Option<State> {
    Some(match body["status"].as_str()? {
        "succeeded" => State::Done(Brought {
            cost: tokens(&body["usage"]["completion_tokens"]),
            ..Brought::at(body["content"]["video_url"].as_str())
        }),
        "failed" => State::Failed(ErrorWords::read(body).unwrap_or_default()),
        "cancelled" | "expired" => State::Gone,
        _ => State::Running,
    })
}
