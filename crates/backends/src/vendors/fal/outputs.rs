//! What endpoints give: files in a few usual shapes, and a description of their inputs.

use serde_json::Value;

use crate::backend::{Fault, Work};
use crate::task_vendor::{TaskReply, TaskResult, TaskStatus};
use crate::vendor_errors;

/// Fields that hold files.
const FILES: &[&str] = &["images", "image", "video", "videos", "output"];

/// The files of a finished request.
pub(super) fn read(work: &Work, reply: &TaskReply) -> Result<TaskStatus, Fault> {
    let body = &reply.body;
    if !body.is_object() {
        return Err(reply.nonsense());
    }
    let unsafe_ones = body["has_nsfw_concepts"].as_array();
    let shown =
        |index: usize| unsafe_ones.and_then(|all| all.get(index)) != Some(&Value::Bool(true));
    let files = FILES.iter().flat_map(|name| match &body[*name] {
        Value::Array(all) => all.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    });
    let all: Vec<&Value> = files.collect();
    let kept = all.iter().enumerate().filter(|(index, _)| shown(*index));
    let addresses = kept.filter_map(|(_, file)| file["url"].as_str().or(file.as_str()));
    let task_result = TaskResult::at(addresses);
    if task_result.files.is_empty() {
        return Ok(TaskStatus::Failed(if all.is_empty() {
            Fault::useless(format!("{} gave no files", work.operation))
        } else {
            // What a review painted over.
            vendor_errors::refused_by_review()
        }));
    }
    Ok(TaskStatus::Done(TaskResult {
        seed: body["seed"].as_u64(),
        ..task_result
    }))
}

/// The inputs that an endpoint's description has.
pub(super) fn inputs(document: &Value) -> Option<Vec<String>> {
    let paths = document["paths"].as_object()?;
    let posts = paths.values().filter_map(|path| path.get("post"));
    let mut schemas = posts.filter_map(|post| {
        let schema = &post["requestBody"]["content"]["application/json"]["schema"];
        let schema = match schema["$ref"].as_str() {
            Some(name) => &document["components"]["schemas"][name.rsplit('/').next()?],
            None => schema,
        };
        schema["properties"].as_object()
    });
    Some(schemas.next()?.keys().cloned().collect())
}
