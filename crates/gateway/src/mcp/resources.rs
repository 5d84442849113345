//! Results as resources: every file of a finished job has an address of its own kind and can be read whole.

use std::sync::Arc;

use atelier_contract::{Code, JobId, Refusal};
use atelier_engine::Caller;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::results::{PREFIX, address_of, bytes_of, newest};
use crate::app::App;

/// Jobs whose files are listed.
const JOBS: i64 = 50;

/// How such addresses look.
pub(super) fn templates() -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": format!("{PREFIX}{{jobId}}/files/{{number}}"),
        "name": "result",
        "description": "A file that a finished job made, counted from 0.",
    }] })
}

/// The files of the newest jobs.
pub(super) async fn list(app: &Arc<App>, caller: &Caller) -> Result<Value, Refusal> {
    let jobs = newest(app, &caller.account_id, JOBS).await?;
    let files = jobs.iter().flat_map(|job| {
        let files = job.output().map(|output| output.files.as_slice()).unwrap_or_default();
        let prompt = job.request.get("prompt").and_then(Value::as_str).unwrap_or_default();
        files.iter().enumerate().map(move |(number, file)| {
            json!({
                "uri": address_of(&job.id, number), "name": format!("{} {}", job.operation, number + 1),
                "description": prompt, "mimeType": file.media_type, "size": file.bytes,
            })
        })
    });
    Ok(json!({ "resources": files.collect::<Vec<_>>() }))
}

/// Reads one result file into the answer.
pub(super) async fn read(
    app: &Arc<App>,
    caller: &Caller,
    params: &Value,
) -> Result<Value, Refusal> {
    let uri = params["uri"].as_str().unwrap_or_default();
    let unknown = || Refusal::new(Code::NotFound, format!("there is no resource `{uri}`"));
    let (id, number) = uri
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once("/files/"))
        .ok_or_else(unknown)?;
    let number: usize = number.parse().map_err(|_| unknown())?;
    let job = app
        .engine
        .jobs()
        .job(&caller.account_id, &JobId::new(id))
        .await?;
    let file = job
        .output()
        .and_then(|output| output.files.get(number))
        .ok_or_else(unknown)?;
    let bytes = bytes_of(app, file).await?;
    let blob = STANDARD.encode(&bytes);
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": file.media_type, "blob": blob }] }))
}
