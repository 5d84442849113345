//! What a model is told: a job with previews of its pictures, a list, a refusal.

use std::fmt::Write as _;
use std::sync::Arc;

use atelier_contract::body::Fields;
use atelier_contract::pages::jobs::JobProgress;
use atelier_contract::{File, Job, JobId, JobState, Refusal};
use atelier_engine::Caller;
use atelier_fairness::background::{self, ThreadPriority};
use atelier_media::{Encoding, Limits, decode, encode, first_frame};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::results::{address_of, bytes_of, newest};
use super::tools::ToolAction;
use crate::app::App;

/// So many pictures are shown; the others are linked.
const PREVIEWS: usize = 4;
/// Pictures that are smaller are shown as they are.
const SMALL: usize = 256 * 1024;
/// The longer side of a preview.
const PREVIEW_SIDE: u32 = 1024;
/// Jobs that are listed unless told otherwise, and at most.
const LISTED: i64 = 10;
const MOST_LISTED: i64 = 50;

/// A refusal in words that a model can act on.
pub(super) fn refused(refusal: &Refusal) -> Value {
    let text = format!("{} ({})", refusal.message, refusal.code);
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if let Some(limit) = &refusal.limit {
        result["structuredContent"] = json!({ "limit": limit });
    }
    result
}

fn text_result(text: &str, more: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": more, "isError": false })
}

/// What the tools that make nothing say.
pub(super) async fn run_query_tool(
    app: &Arc<App>,
    caller: &Caller,
    tool: &ToolAction,
    arguments: &Fields,
) -> Result<Value, Refusal> {
    let account = &caller.account_id;
    match tool {
        ToolAction::Cancel => {
            let id = arguments.get("jobId").and_then(Value::as_str);
            let id = JobId::new(id.ok_or_else(|| Refusal::missing("jobId"))?);
            let job = app.engine.jobs().cancel(account, &id).await?;
            Ok(text_result(
                &format!("{} is cancelled; its quota came back", job.id),
                &json!({ "jobId": job.id }),
            ))
        }
        ToolAction::List => {
            let limit = arguments.get("limit").and_then(Value::as_i64);
            let limit = limit.unwrap_or(LISTED).clamp(1, MOST_LISTED);
            let rows: Vec<Value> = newest(app, account, limit)
                .await?
                .iter()
                .map(|job| {
                    let shown = JobProgress::of(job);
                    json!({
                        "jobId": shown.job_id, "operation": shown.operation, "status": shown.status,
                        "progress": shown.progress, "createdAt": shown.created_at, "files": shown.files,
                        "message": shown.message, "prompt": job.request.get("prompt"),
                    })
                })
                .collect();
            let rows = Value::from(rows);
            Ok(text_result(&rows.to_string(), &json!({ "jobs": rows })))
        }
        _ => {
            let account = app.engine.admin().accounts().one(account).await?;
            let shown = json!({ "balance": account.balance, "held": account.frozen, "maxQueue": account.max_queue });
            Ok(text_result(
                &format!(
                    "{} quota left, {} held for running jobs",
                    account.balance, account.frozen
                ),
                &shown,
            ))
        }
    }
}

/// A job that is not over yet.
pub(super) fn unfinished(job: &Job) -> Value {
    let text = format!(
        "job {} is still running ({} %); call wait_for_job with this jobId for its result",
        job.id, job.progress
    );
    text_result(
        &text,
        &json!({ "jobId": job.id, "status": job.state.word() }),
    )
}

/// A job that is over.
pub(super) async fn finished(app: &Arc<App>, job: &Job) -> Value {
    let shown = JobProgress::of(job);
    if job.state != JobState::Succeeded {
        let why = job.message.clone().unwrap_or_default();
        let text = format!("job {} failed: {why}; its quota came back", job.id);
        return json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    }
    let files = job
        .output()
        .map(|output| output.files.as_slice())
        .unwrap_or_default();
    let mut text = format!("job {} succeeded, quota {}", job.id, job.quota);
    for file in &shown.files {
        let _ = write!(
            text,
            "\n{} {}×{}, until {}: {}",
            file.media_type, file.width, file.height, file.expires_at, file.url
        );
    }
    if files.is_empty() {
        // Some results are words.
        let words = shown.result.clone().unwrap_or_default();
        let _ = write!(text, "\n{}", words["data"]);
    }
    let mut content = vec![json!({ "type": "text", "text": text })];
    for file in files.iter().take(PREVIEWS) {
        if let Some((media_type, bytes)) = preview(app, file).await {
            content.push(
                json!({ "type": "image", "mimeType": media_type, "data": STANDARD.encode(bytes) }),
            );
        }
    }
    for (number, file) in files.iter().enumerate() {
        let name = format!("{} {}", job.operation, number + 1);
        content.push(json!({ "type": "resource_link", "uri": address_of(&job.id, number), "name": name, "mimeType": file.media_type }));
    }
    let more = json!({ "jobId": job.id, "status": shown.status, "quota": job.quota, "files": shown.files });
    json!({ "content": content, "structuredContent": more, "isError": false })
}

/// A picture, or the first frame of a clip, small enough for a model to look at.
async fn preview(app: &Arc<App>, file: &File) -> Option<(String, Vec<u8>)> {
    let bytes = bytes_of(app, file).await.ok()?;
    let shown_as_it_is = ["image/png", "image/jpeg", "image/webp", "image/gif"];
    if bytes.len() <= SMALL && shown_as_it_is.contains(&file.media_type.as_str()) {
        return Some((file.media_type.clone(), bytes.to_vec()));
    }
    let made = background::spawn(ThreadPriority::Single, move || {
        let picture = decode(&bytes, Limits::default()).ok();
        let picture = picture
            .or_else(|| first_frame(&bytes).ok())?
            .fitted(PREVIEW_SIDE);
        let (encoding, media_type) = if picture.has_alpha() {
            (Encoding::Png, "image/png")
        } else {
            (Encoding::Jpeg { quality: 85 }, "image/jpeg")
        };
        Some((media_type.to_owned(), encode(&picture, encoding, None)))
    });
    made.await.ok().flatten()
}
