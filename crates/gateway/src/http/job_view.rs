//! One view of any job, whatever its family.

use atelier_contract::family::timestamp;
use atelier_contract::{File, Job, JobState, Quota, operation};
use serde_json::{Value, json};

/// The whole view.
pub(super) fn of(job: &Job) -> Value {
    let mut view = without_request(job);
    view["request"] = Value::Object(job.request.clone());
    view
}

/// The view without what was asked, for events: it does not change.
pub(super) fn without_request(job: &Job) -> Value {
    let held = if job.state.is_final() {
        Quota::ZERO
    } else {
        job.price
    };
    let family = operation(&job.operation).map(|(family, _)| family);
    let result = family
        .filter(|_| job.state.is_final())
        .map(|family| (family.render)(family, job));
    let files: Vec<Value> = job
        .output()
        .into_iter()
        .flat_map(|output| &output.files)
        .map(file)
        .collect();
    json!({
        "jobId": job.id,
        "family": family.map(|family| family.name),
        "operation": job.operation,
        "status": job.state.word(),
        "progress": if job.state == JobState::Succeeded { 100 } else { job.progress },
        "message": job.message,
        "quota": job.quota,
        "held": held,
        "createdAt": timestamp(job.created_ms),
        "startedAt": job.started_ms.map(timestamp),
        "finishedAt": job.finished_ms.map(timestamp),
        "deadline": timestamp(job.deadline_ms),
        "parentJobId": job.parent,
        "hookUrl": job.hook_url,
        "hookTimes": job.hook_times,
        "files": files,
        "result": result,
    })
}

fn file(file: &File) -> Value {
    json!({
        "url": file.origin_url,
        "type": file.media_type,
        "width": file.width,
        "height": file.height,
        "bytes": file.bytes,
        "expiresAt": timestamp(file.expires_ms),
    })
}
