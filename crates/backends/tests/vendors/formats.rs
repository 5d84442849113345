//! How each vendor speaks, as far as an order, a question and a result go: the table, and the programs that operators run
//! themselves.

use serde_json::{Value, json};

use crate::described::described;
use crate::hosted::{
    ark, bedrock, bfl, cog, cog_settings, dashscope, fal, google, ideogram, jimeng, kling,
    kling_v1, luma, minimax, minimax_v1, new_api, novelai, piapi, recraft, renamed_relay,
    replicate, runway, stability, vertex, vidu, xai,
};
use crate::local::{
    Act, Format, Kind, Local, after, asks, at, kind, nothing, picture, posts, takes,
};
use crate::stand::{RecordedRequest, base64, json as answer};

/// Every vendor, in every dialect that is another format.
pub(crate) const FORMATS: &[Format] = &[
    one(
        "relay",
        "",
        || json!({"poll_ms": 100}),
        "artgen.imagine",
        relay,
    ),
    one(
        "relay",
        "renamed",
        || json!({"poll_ms": 100, "key_header": "tt-api-key", "paths": {"artgen": "/midjourney/v1"}}),
        "artgen.imagine",
        renamed_relay,
    ),
    one(
        "midjourney-proxy",
        "",
        || json!({"poll_ms": 100}),
        "artgen.imagine",
        midjourney,
    ),
    one(
        "openai",
        "",
        || json!({"image_model": "m", "video_model": "m"}),
        "vidgen_partner.generations",
        openai,
    ),
    one("sdwebui", "", || json!({}), "imgmodel.chat", sdwebui),
    one("comfyui", "", workflow, "imgmodel.chat", comfyui),
    one("google", "", || json!({}), "clipgen.generations", google),
    one(
        "roletask",
        "ark",
        || json!({"dialect": "ark"}),
        "clipgen.generations",
        ark,
    ),
    one(
        "roletask",
        "minimax",
        || json!({"dialect": "minimax"}),
        "clipgen.generations",
        minimax,
    ),
    one(
        "roletask",
        "dashscope",
        || json!({"dialect": "dashscope"}),
        "clipgen.generations",
        dashscope,
    ),
    one(
        "roletask",
        "kling",
        || json!({"dialect": "kling"}),
        "clipgen.generations",
        kling,
    ),
    one(
        "roletask",
        "kling_v1",
        || json!({"dialect": "kling_v1"}),
        "clipgen.generations",
        kling_v1,
    ),
    one(
        "roletask",
        "minimax_v1",
        || json!({"dialect": "minimax_v1"}),
        "clipgen.generations",
        minimax_v1,
    ),
    one(
        "replicate",
        "",
        || json!({}),
        "clipgen.generations",
        replicate,
    ),
    one("cog", "", cog_settings, "imgmodel.chat", cog),
    one(
        "fal",
        "",
        || json!({"schema_url": ""}),
        "imgmodel.chat",
        fal,
    ),
    one("runway", "", || json!({}), "clipgen.generations", runway),
    one("recraft", "", || json!({}), "imgmodel.chat", recraft),
    one("bfl", "", || json!({}), "clipgen.generations", bfl),
    one("xai", "", || json!({}), "clipgen.generations", xai),
    one("luma", "", || json!({}), "clipgen.generations", luma),
    one("ideogram", "", || json!({}), "imgmodel.chat", ideogram),
    one("piapi", "", || json!({}), "facegen.swap", piapi),
    one(
        "novelai",
        "",
        || json!({}),
        "animegen.text_to_image",
        novelai,
    ),
    one(
        "new-api",
        "",
        new_api_models,
        "clipgen.generations",
        new_api,
    ),
    one("vertex", "", || json!({}), "clipgen.generations", vertex),
    one("bedrock", "", || json!({}), "imgmodel.chat", bedrock),
    one("vidu", "", || json!({}), "clipgen.generations", vidu),
    one("jimeng", "", || json!({}), "clipgen.generations", jimeng),
    one("stability", "", || json!({}), "imgmodel.chat", stability),
    one(
        "http",
        "",
        || described("luma"),
        "clipgen.generations",
        luma,
    ),
    one(
        "http",
        "recraft",
        || described("recraft"),
        "imgmodel.chat",
        recraft,
    ),
    one(
        "http",
        "piapi",
        || described("piapi"),
        "facegen.swap",
        piapi,
    ),
    one(
        "http",
        "kling",
        || described("kling"),
        "clipgen.generations",
        kling,
    ),
];

/// The server of a vendor, in the dialect that settings name.
pub(crate) fn server(vendor: &str, settings: &Value) -> Local {
    let named = settings["dialect"].as_str().unwrap_or_default();
    let known = |one: &&Format| one.vendor == vendor;
    let exact = FORMATS
        .iter()
        .find(|one| known(one) && one.dialect == named);
    let format = exact.or_else(|| FORMATS.iter().find(known));
    Local::speaking(format.unwrap_or_else(|| panic!("{vendor} has no local server")))
}

const fn one(
    vendor: &'static str,
    dialect: &'static str,
    settings: fn() -> Value,
    operation: &'static str,
    act: fn(&RecordedRequest) -> Act,
) -> Format {
    Format {
        vendor,
        dialect,
        settings,
        operation,
        act,
    }
}

/// Models that a reseller has.
fn new_api_models() -> Value {
    json!({"image_model": "m", "video_model": "m"})
}

fn workflow() -> Value {
    let node = |name: &str| json!({"1": {"class_type": name, "inputs": {"text": "{{prompt}}"}}});
    json!({"workflows": {"imgmodel.chat": node("SaveImage")}})
}

fn openai(seen: &RecordedRequest) -> Act {
    let form = seen.head.contains("multipart");
    if seen.line.contains("/images/") {
        let count = if form {
            seen.text("n").and_then(|text| text.parse().ok())
        } else {
            seen.json()["n"].as_u64()
        };
        return takes(
            Kind::Picture,
            move |_| json!({"data": vec![json!({"b64_json": base64(picture())}); count.unwrap_or(1) as usize]}),
        );
    }
    if seen.line.starts_with("POST ") {
        return takes(
            Kind::Film,
            |id| json!({"id": id, "object": "video", "status": "queued"}),
        );
    }
    match after(seen, "/videos/") {
        Some(id) => {
            let state = |id: &str, word: &str| json!({"id": id, "object": "video", "status": word});
            let (running, name) = (state(id, "in_progress"), id.to_owned());
            asks(id, &running, move |_| state(&name, "completed"))
        }
        None => nothing(),
    }
}

fn sdwebui(seen: &RecordedRequest) -> Act {
    let body = seen.json();
    let number = |name: &str| body[name].as_u64().unwrap_or(1) as usize;
    if posts(seen, "2img") {
        let count = number("batch_size") * number("n_iter");
        return takes(
            Kind::Picture,
            move |_| json!({"images": vec![base64(picture()); count], "info": "{\"seed\": 1}"}),
        );
    }
    if posts(seen, "/extra-single-image") {
        return takes(Kind::Picture, |_| json!({"image": base64(picture())}));
    }
    Act::Say(answer(
        &json!({"progress": 0.5, "state": {"interrupted": false, "job_count": 0}}),
    ))
}

/// Its names are the caller's own.
fn comfyui(seen: &RecordedRequest) -> Act {
    if posts(seen, "/prompt") {
        let token = seen.json()["prompt_id"].as_str().map(str::to_owned);
        let named = token.clone();
        return Act::Take(
            Kind::Picture,
            token,
            Box::new(move |_| answer(&json!({"prompt_id": named, "number": 1, "node_errors": {}}))),
        );
    }
    if posts(seen, "/upload/image") {
        return Act::Say(answer(
            &json!({"name": "up.png", "subfolder": "atelier", "type": "input"}),
        ));
    }
    if seen.line.starts_with("GET ") && seen.line.ends_with("/queue") {
        return Act::List(Box::new(|all| {
            let items: Vec<_> = all
                .iter()
                .map(|(_, token)| json!([1, token, {}, {}, []]))
                .collect();
            answer(&json!({"queue_running": items, "queue_pending": []}))
        }));
    }
    match after(seen, "/history/").map(str::to_owned) {
        Some(id) => asks(&id.clone(), &json!({}), move |_| {
            let file = json!({"filename": "made.png", "subfolder": "atelier", "type": "output"});
            json!({&id: {"outputs": {"1": {"images": [file]}},
                "status": {"status_str": "success", "completed": true, "messages": []}}})
        }),
        None => nothing(),
    }
}

fn midjourney(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.contains("/task/list") {
        return Act::List(Box::new(|all| {
            let tasks: Vec<_> = all
                .iter()
                .map(|(id, token)| json!({"id": id, "state": token}))
                .collect();
            answer(&json!(tasks))
        }));
    }
    if seen.line.contains("/image-seed") {
        return Act::Say(answer(&json!({"code": 1, "result": "12345"})));
    }
    if seen.line.starts_with("POST ") {
        let token = seen.json()["state"].as_str().map(str::to_owned);
        let kind = match &*seen.line {
            line if line.contains("video") => Kind::Film,
            line if line.contains("describe") => Kind::Words,
            _ => Kind::Picture,
        };
        let reply = |id: &str| {
            answer(&json!({"code": 1, "description": "ok", "result": id, "properties": {}}))
        };
        return Act::Take(kind, token, Box::new(reply));
    }
    match after(seen, "/task/") {
        Some(id) => asks(
            id,
            &json!({"id": id, "status": "IN_PROGRESS", "progress": "45%"}),
            move |kind| {
                let numbered = (1..=4).map(|n| json!({"customId": format!("MJ::JOB::upsample::{n}::abc"), "label": format!("U{n}")}));
                let more = [json!({"customId": "MJ::Inpaint::1::abc", "label": "Vary (Region)"})];
                let buttons: Vec<Value> = numbered.chain(more).collect();
                json!({"status": "SUCCESS", "progress": "100%", "imageUrl": at(kind), "buttons": buttons,
                "videoUrls": if kind == Kind::Film { vec![at(kind); 4] } else { Vec::new() },
                "properties": {"finalPrompt": "one\n\ntwo\n\nthree\n\nfour"}})
            },
        ),
        None => nothing(),
    }
}

/// Another service of the same kind; what is asked twice with one key is taken once.
fn relay(seen: &RecordedRequest) -> Act {
    let at = at(seen);
    if seen.line.starts_with("POST ") {
        let key = seen
            .head
            .lines()
            .find_map(|line| line.strip_prefix("idempotency-key: "));
        let film = ["video", "vidgen", "motion", "clipgen"];
        let filmed = film.iter().any(|word| seen.line.contains(word));
        let kind = kind(filmed && !seen.line.contains("character"));
        let reply = |id: &str| answer(&json!({"status": "SUCCESS", "data": {"jobId": id}}));
        return Act::Take(kind, key.map(str::to_owned), Box::new(reply));
    }
    match after(seen, "jobId=") {
        Some(id) => asks(
            id,
            &json!({"status": "ON_QUEUE", "progress": 40}),
            move |kind| {
                let files = json!({"originImage": at(kind), "videoUrl": at(kind), "previewUrl": at(kind), "username": "fox"});
                json!({"status": "SUCCESS", "progress": "100", "quota": 4, "data": files})
            },
        ),
        None => nothing(),
    }
}
