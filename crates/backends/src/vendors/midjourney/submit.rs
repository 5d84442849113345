//! From work to the proxy's calls.

use atelier_contract::Job;
use atelier_contract::brief::Task;
use atelier_contract::fields::{ImageData, ImageHeader};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::buttons;
use super::notes::MidjourneyNotes;
use super::settings::{MidjourneySettings, ProxyDialect};
use crate::backend::{Fault, Work};

/// A call that begins a task: the route after `submit/` or the whole one, and its body.
#[derive(Debug)]
pub(super) struct ProxyCall {
    pub(super) route: &'static str,
    pub(super) body: Value,
}

/// The call for a piece of work.
pub(super) fn call(work: &Work, settings: &MidjourneySettings) -> Result<ProxyCall, Fault> {
    let mut call = match work.brief.task {
        Task::Draw => imagine(work)?,
        Task::Blend => ProxyCall {
            route: "submit/blend",
            body: json!({
                "botType": "MID_JOURNEY",
                "base64Array": pictures(work)?,
                "dimensions": work.request["dimensions"],
            }),
        },
        Task::Describe => ProxyCall {
            route: "submit/describe",
            body: json!({ "botType": "MID_JOURNEY", "base64": picture(work, 0)? }),
        },
        Task::Shorten => ProxyCall {
            route: "submit/shorten",
            body: json!({ "botType": "MID_JOURNEY", "prompt": work.brief.prompt }),
        },
        Task::Repaint => region(work)?,
        Task::Animate => animate(work)?,
        Task::Extend(index) => extend(work, index)?,
        Task::SwapFace => ProxyCall {
            route: "insight-face/swap",
            body: json!({ "sourceBase64": picture(work, 1)?, "targetBase64": picture(work, 0)? }),
        },
        _ => action(work, settings.dialect)?,
    };
    call.body["state"] = work.attempt_id.as_str().into();
    if let Some(hook) = &work.hook_url {
        call.body["notifyHook"] = hook.as_str().into();
    }
    if let Some(filter) = &settings.account_filter {
        call.body["accountFilter"] = filter.clone();
    }
    Ok(call)
}

/// What the window of an action is confirmed with.
pub(super) fn window(work: &Work, task: &str, prompt: Option<&str>) -> Value {
    let own = work.request.get("prompt").and_then(Value::as_str);
    // A repaint has words of its own; the others go on with those the proxy has.
    let prompt = match work.brief.task {
        Task::Repaint => own,
        _ => prompt.or(own),
    };
    let mut body = json!({
        "taskId": task,
        "prompt": prompt.unwrap_or_default(),
        "state": work.attempt_id,
    });
    if let Some(mask) = &work.mask {
        body["maskBase64"] = data_uri(mask).into();
    }
    body
}

/// The words as they came, with the pictures before them sent along: the vendor may not reach where they are.
fn imagine(work: &Work) -> Result<ProxyCall, Fault> {
    let prompt = work.request["prompt"].as_str().unwrap_or_default();
    let mut words = prompt.trim_start();
    let is_source = |word: &str| {
        let mut sources = work.brief.sources.iter();
        sources.any(|source| matches!(&source.image, ImageData::Url(url) if url.as_str() == word))
    };
    while let Some(word) = words.split_whitespace().next()
        && is_source(word)
    {
        words = words[word.len()..].trim_start();
    }
    Ok(ProxyCall {
        route: "submit/imagine",
        body: json!({
            "botType": "MID_JOURNEY",
            "prompt": words,
            "base64Array": pictures(work)?,
        }),
    })
}

fn action(work: &Work, dialect: ProxyDialect) -> Result<ProxyCall, Fault> {
    let (_, notes) = parent(work)?;
    let missing = || offered_not("action", "the back end does not offer this for the picture");
    if dialect == ProxyDialect::Change {
        let (word, index) = buttons::change(work.brief.task).ok_or_else(missing)?;
        return Ok(ProxyCall {
            route: "submit/change",
            body: json!({ "taskId": notes.task, "action": word, "index": index }),
        });
    }
    let button = buttons::find(&notes.buttons, work.brief.task).ok_or_else(missing)?;
    Ok(ProxyCall {
        route: "submit/action",
        body: json!({ "taskId": notes.task, "customId": button }),
    })
}

fn region(work: &Work) -> Result<ProxyCall, Fault> {
    let (_, notes) = parent(work)?;
    let why = "the back end repaints single pictures only; upsample one of the four first";
    let button = buttons::find_region(&notes.buttons).ok_or_else(|| offered_not("jobId", why))?;
    Ok(ProxyCall {
        route: "submit/action",
        body: json!({ "taskId": notes.task, "customId": button }),
    })
}

fn animate(work: &Work) -> Result<ProxyCall, Fault> {
    let mut body = json!({
        "prompt": work.brief.prompt,
        "motion": motion(work),
        "image": picture(work, 0)?,
        "videoType": video_type(work),
        "batchSize": work.brief.count,
    });
    if let Some(last) = work.brief.last_frame {
        body["endImage"] = picture(work, last)?.into();
    }
    Ok(ProxyCall {
        route: "submit/video",
        body,
    })
}

fn extend(work: &Work, index: u8) -> Result<ProxyCall, Fault> {
    let (_, notes) = parent(work)?;
    Ok(ProxyCall {
        route: "submit/video",
        body: json!({
            "action": "extend",
            "taskId": notes.task,
            "index": index,
            // The proxy wants words even when the extension is to decide for itself.
            "prompt": work.brief.prompt,
            "motion": motion(work),
            "videoType": video_type(work),
            "batchSize": work.brief.count,
        }),
    })
}

fn motion(work: &Work) -> &'static str {
    if work.brief.high_motion {
        "high"
    } else {
        "low"
    }
}

fn video_type(work: &Work) -> &'static str {
    if work.brief.short_side >= 720 {
        "vid_1.1_i2v_720"
    } else {
        "vid_1.1_i2v_480"
    }
}

/// The job that is followed, and the vendor's names for it.
pub(super) fn parent(work: &Work) -> Result<(&Job, MidjourneyNotes), Fault> {
    let parent = work.parent.as_deref();
    let parent = parent.ok_or_else(|| Fault::ours("a follow-up without a parent"))?;
    let notes = MidjourneyNotes::of(parent)
        .ok_or_else(|| offered_not("jobId", "names something that another back end made"))?;
    Ok((parent, notes))
}

fn offered_not(field: &str, why: &str) -> Fault {
    Fault {
        field: Some(field.to_owned()),
        ..Fault::unusable(why)
    }
}

fn picture(work: &Work, index: usize) -> Result<String, Fault> {
    let bytes = work.sources.get(index);
    let bytes = bytes.ok_or_else(|| Fault::ours(format!("source {index} is missing")))?;
    Ok(data_uri(bytes))
}

fn pictures(work: &Work) -> Result<Vec<String>, Fault> {
    (0..work.brief.sources.len())
        .map(|index| picture(work, index))
        .collect()
}

fn data_uri(bytes: &[u8]) -> String {
    let media_type = ImageHeader::read(bytes).map_or("image/png", |header| header.media_type);
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}
