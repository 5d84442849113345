//! Videos by the Interactions interface. Which picture is what is said by tags in the words, so callers' own tags are
//! taken out of theirs.

use atelier_contract::brief::{Brief, Task};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::faults::{RULES, words};
use super::images::tokens;
use crate::backend::{Class, Fault, Work};
use crate::http::{VendorRequest, encoded};
use crate::images::FinishOptions;
use crate::inputs::{self, media_type};
use crate::task_vendor::{
    FileSource, Lengths, Passes, TaskPlan, TaskReply, TaskResult, TaskStatus, VideoCapabilities,
    VideoRequest, id, nearest_ratio, prompt_text as words_of,
};
use crate::vendor_errors;

/// Pictures for the words of one video.
const REFERENCES: usize = 6;
const RESOLUTIONS: &[(&str, u32)] = &[("360p", 360), ("720p", 720), ("1080p", 1080), ("4k", 2160)];
/// What an extension of one call may add.
const EXTENSION: (u32, u32) = (3, 10);

/// The longest videos, where an operator says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxSeconds {
    pub(super) pass: Option<u32>,
    pub(super) total: Option<u32>,
}

/// The passes of a model.
fn passes(model: &str, most: MaxSeconds) -> Passes {
    let (pass, total) = if model.contains("1.1") {
        (10, 40)
    } else {
        (15, 30)
    };
    Passes {
        first: (3, most.pass.unwrap_or(pass)),
        later: EXTENSION,
        total: most.total.unwrap_or(total),
    }
}

/// What a model can do anew.
pub(super) fn films(model: &str, most: MaxSeconds, brief: &Brief) -> VideoCapabilities {
    able(passes(model, most).lengths(brief))
}

fn able(lengths: Lengths) -> VideoCapabilities {
    VideoCapabilities {
        lengths,
        ends: true,
        loops: false,
        references: REFERENCES,
    }
}

pub(super) async fn plan<'a>(
    work: &'a Work,
    model: &str,
    most: MaxSeconds,
) -> Result<TaskPlan<'a>, Fault> {
    let extends = matches!(work.brief.task, Task::Extend(_));
    let notes = inputs::parent_notes(work);
    let known = notes["interaction"].as_str();
    if let Some(earlier) = known.filter(|_| extends) {
        let can = able(Lengths::Between(EXTENSION.0, EXTENSION.1));
        let scene = VideoRequest::of(work, &can).await?;
        let resolution = scene.resolution(RESOLUTIONS);
        let body = extension(model, earlier, &scene.prompt, resolution, scene.seconds);
        let call = VendorRequest::post_json("interactions", &body);
        return Ok(TaskPlan::alike(work, call, FinishOptions::default()));
    }
    let scene = VideoRequest::of(work, &films(model, most, &work.brief)).await?;
    let (first, later) = passes(model, most).split(scene.seconds);
    let (input, task) = input(&scene);
    let mut format = format(scene.resolution(RESOLUTIONS), first);
    format["aspect_ratio"] = json!(nearest_ratio(scene.size, &["16:9", "9:16"]));
    let body = body(model, &input, &format, task);
    let call = VendorRequest::post_json("interactions", &body);
    Ok(TaskPlan::alike(work, call, FinishOptions::default()).then(later))
}

/// The call that adds so many seconds to what an interaction made.
pub(super) fn next_pass(
    work: &Work,
    model: &str,
    made: &Value,
    seconds: u32,
) -> Result<VendorRequest, Fault> {
    let earlier = made["interaction"].as_str();
    let earlier = earlier.ok_or_else(|| Fault::ours("a part without an interaction"))?;
    let resolution = VideoRequest::later_resolution(work, RESOLUTIONS);
    let body = extension(model, earlier, &words_of(&work.brief), resolution, seconds);
    Ok(VendorRequest::post_json("interactions", &body))
}

/// The body of an extension; the earlier video has its shape already.
fn extension(model: &str, earlier: &str, prompt: &str, resolution: &str, seconds: u32) -> Value {
    let input = [text(prompt, "")];
    let mut body = body(model, &input, &format(resolution, seconds), "extend");
    body["previous_interaction_id"] = json!(earlier);
    body
}

fn format(resolution: &str, seconds: u32) -> Value {
    json!({
        "type": "video",
        "delivery": "uri",
        "resolution": resolution,
        "duration": format!("{seconds}s"),
    })
}

fn body(model: &str, input: &[Value], format: &Value, task: &str) -> Value {
    json!({
        "model": model,
        "background": true,
        "store": true,
        "input": [{"type": "user_input", "content": input}],
        "response_format": format,
        "generation_config": {"video_config": {"task": task}},
    })
}

/// Pictures with their tags and the words, and what kind of task that is.
fn input(scene: &VideoRequest) -> (Vec<Value>, &'static str) {
    let mut images = Vec::new();
    let mut tags = String::new();
    let mut put = |tag: &str, place: usize| tags = format!("{tags} <{tag}>@Image{place}");
    if let Some(first) = &scene.first {
        images.push(image(first));
        put("FIRST_FRAME", 1);
        if let Some(last) = &scene.last {
            if !scene.looped || last != first {
                images.push(image(last));
            }
            put("LAST_FRAME", images.len());
        }
    }
    for (index, reference) in scene.references.iter().enumerate() {
        images.push(image(reference));
        put(&format!("IMAGE_REF_{index}"), images.len());
    }
    let task = match (&scene.first, scene.references.is_empty()) {
        (Some(_), _) => "image_to_video",
        (None, false) => "reference_to_video",
        (None, true) => "text_to_video",
    };
    let head = if tags.is_empty() {
        String::new()
    } else {
        format!("[# Sources{tags}]\n")
    };
    images.push(text(&scene.prompt, &head));
    (images, task)
}

fn image(bytes: &[u8]) -> Value {
    json!({"type": "image", "data": STANDARD.encode(bytes), "mime_type": media_type(bytes)})
}

fn text(prompt: &str, head: &str) -> Value {
    let words = without_tags(prompt);
    json!({"type": "text", "text": format!("{head}{words}\nA single continuous shot.")})
}

/// A caller's words without what would be read as a tag.
fn without_tags(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '[']) {
        let (before, tag) = rest.split_at(at);
        kept.push_str(before);
        let end = match tag.as_bytes()[0] {
            b'<' => tag.find('>').filter(|&end| is_tag(&tag[1..end])),
            _ => tag.find(']').filter(|_| tag.starts_with("[# Sources")),
        };
        if let Some(end) = end {
            rest = &tag[end + 1..];
        } else {
            kept.push_str(&tag[..1]);
            rest = &tag[1..];
        }
    }
    kept + rest
}

fn is_tag(name: &str) -> bool {
    const TAGS: &[&str] = &["FIRST_FRAME", "LAST_FRAME", "IMAGE_REF_", "VIDEO_REF_"];
    TAGS.iter().any(|tag| name.starts_with(tag))
}

/// The task of an answer to a start.
pub(super) fn started(reply: &TaskReply) -> Result<TaskStatus, Fault> {
    match id(&reply.body["id"]) {
        Some(id) => Ok(TaskStatus::Task(json!({"interaction": id}))),
        None => Err(reply.nonsense()),
    }
}

/// The question about an interaction, or about the file it made.
pub(super) fn poll_request(task: &Value) -> VendorRequest {
    let text = |name: &str| encoded(task[name].as_str().unwrap_or_default());
    if task["file"].is_string() {
        return VendorRequest::get(format!("files/{}", text("file")));
    }
    VendorRequest::get(format!("interactions/{}", text("interaction")))
}

/// What the answer says.
pub(super) fn task_status(task: &Value, mut reply: TaskReply) -> Result<TaskStatus, Fault> {
    if task["file"].is_string() {
        return file(task, &reply);
    }
    let body = std::mem::take(&mut reply.body);
    match body["status"].as_str() {
        None => Err(reply.nonsense()),
        Some("completed") => Ok(completed(task, &body, reply)),
        Some("cancelled") => {
            let fault = Fault::vendor(Class::Gone, "the vendor cancelled the work");
            Ok(TaskStatus::Failed(fault))
        }
        Some(state @ ("failed" | "incomplete" | "budget_exceeded" | "requires_action")) => {
            let mut said = words(&body).unwrap_or_default();
            said.code = format!("{state} {}", said.code);
            Ok(TaskStatus::Failed(vendor_errors::failed_by(RULES, &said)))
        }
        // Queued, in progress, or a word this program does not know yet.
        Some(_) => Ok(TaskStatus::Running(None)),
    }
}

fn completed(task: &Value, body: &Value, mut reply: TaskReply) -> TaskStatus {
    let steps = body["steps"].as_array().into_iter().flatten();
    let output = steps.filter(|step| step["type"] == "model_output");
    let content = output.flat_map(|step| step["content"].as_array().into_iter().flatten());
    let (videos, rest): (Vec<_>, Vec<_>) = content.partition(|item| item["type"] == "video");
    let Some(video) = videos.first() else {
        // Words in place of a video are the way of a review that says nothing.
        let said = rest.iter().find_map(|item| item["text"].as_str());
        return TaskStatus::Failed(Fault {
            detail: vendor_errors::shortened(said.unwrap_or_default()),
            ..vendor_errors::refused_by_review()
        });
    };
    let notes = json!({"interaction": task["interaction"]});
    let cost = tokens(&body["usage"]["total_tokens"]);
    if let Some(bytes) = reply.file(&video["data"]) {
        return TaskStatus::Done(TaskResult {
            files: vec![FileSource::File(bytes)],
            notes,
            cost,
            ..TaskResult::default()
        });
    }
    let address = video["uri"].as_str().unwrap_or_default();
    let name = address.split("/files/").nth(1).unwrap_or_default();
    let name = name.split([':', '?', '/']).next().unwrap_or_default();
    match id(&json!(name)) {
        Some(name) => TaskStatus::Task(json!({
            "file": name,
            "address": address,
            "interaction": task["interaction"],
            "tokens": body["usage"]["total_tokens"],
        })),
        None => TaskStatus::Done(TaskResult {
            notes,
            cost,
            ..TaskResult::at(Some(address))
        }),
    }
}

/// A file is there once it is active.
fn file(task: &Value, reply: &TaskReply) -> Result<TaskStatus, Fault> {
    match reply.body["state"].as_str() {
        Some("ACTIVE") => Ok(TaskStatus::Done(TaskResult {
            notes: json!({"interaction": task["interaction"]}),
            cost: tokens(&task["tokens"]),
            ..TaskResult::at(task["address"].as_str())
        })),
        Some("FAILED") => Ok(TaskStatus::Failed(Fault::useless(
            "the vendor could not keep its file",
        ))),
        Some(_) => Ok(TaskStatus::Running(Some(95))),
        None => Err(reply.nonsense()),
    }
}

#[cfg(test)]
mod tests {
    use super::without_tags;

    #[test]
    fn a_caller_cannot_give_pictures_other_roles() {
        assert_eq!(
            without_tags(
                "a <LAST_FRAME>@Image1 cat [# Sources <FIRST_FRAME>@Image2] in a <b>hat</b> [red]"
            ),
            "a @Image1 cat  in a <b>hat</b> [red]"
        );
        assert_eq!(without_tags("5 < 6 <IMAGE_REF_0"), "5 < 6 <IMAGE_REF_0");
    }
}
