//! From a remote's answer to files of this service.

use atelier_contract::FileRole;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

use super::notes::RelayNotes;
use super::shape::{ResultPart, ResultShape};
use crate::backend::{Class, Cost, Fault, OutputFile, Work, WorkOutput};
use crate::downloads::Downloader;
use crate::files;
use crate::http::VendorHttp;

/// Small images and frames: never more than four of a role.
const MOST_BESIDE: usize = 4;

/// Fetches everything an answer speaks of.
pub(super) async fn made(
    http: &VendorHttp,
    work: &Work,
    shape: &ResultShape,
    body: &Value,
    remote_id: &str,
) -> Result<WorkOutput, Fault> {
    let asked = work.brief.count.max(1) as usize;
    let most = if work.brief.grid { 1 } else { asked };
    let mut files = Vec::new();
    let mut downloads = Downloader::new(http);
    for list in shape.read(body, ResultPart::Bytes).iter().take(1) {
        for text in list.iter().take(most) {
            let bytes = STANDARD
                .decode(text)
                .map_err(|_| Fault::useless("b64_json is not base64"))?;
            files.push(files::file(work, FileRole::Main, Bytes::from(bytes))?);
        }
    }
    if files.is_empty() {
        let lists = shape.read(body, ResultPart::File(FileRole::Main));
        files = fetched(&mut downloads, work, FileRole::Main, most, &lists).await?;
    }
    let mains = files.len();
    for role in [FileRole::Small, FileRole::FirstFrame, FileRole::LastFrame] {
        let lists = shape.read(body, ResultPart::File(role));
        files.extend(fetched(&mut downloads, work, role, MOST_BESIDE, &lists).await?);
    }
    let has_small = files.iter().any(|file| file.role == FileRole::Small);
    if work.brief.small_images
        && !has_small
        && let Some(grid) = files.first()
    {
        let four = files::quarters(grid).await?;
        files.extend(four);
    }
    let first = |part| shape.read(body, part).into_iter().flatten().next();
    let prompts: Vec<String> = first_list(shape, body)
        .iter()
        .flat_map(|text| text.lines())
        .map(str::to_owned)
        .collect();
    let seed = first(ResultPart::Seed);
    if files.is_empty() && prompts.is_empty() && seed.is_none() {
        let detail = "the remote says that it succeeded, but shows no result";
        return Err(Fault::vendor(Class::Gone, detail));
    }
    let alias = first(ResultPart::Alias);
    let notes = RelayNotes::new(remote_id, alias.clone());
    Ok(WorkOutput {
        made: count(work, mains, prompts.len()),
        files,
        prompts,
        seed,
        revised_prompt: first(ResultPart::Revised),
        alias,
        notes: notes.write(),
        cost: cost(body),
        ignored: Vec::new(),
        enlarged_from: None,
    })
}

/// What the remote charged, in its quota; answers of the calls that wait do not say.
fn cost(body: &Value) -> Option<Cost> {
    let told = [&body["quota"], &body["data"]["quota"]];
    let amount = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    let amount = told.into_iter().find_map(amount)?;
    Cost::of(amount, "quota")
}

/// How many of the asked-for items were made: a grid is all of its pictures.
fn count(work: &Work, files: usize, prompts: usize) -> u32 {
    match (files, prompts) {
        (0, 0) => 1,
        (0, prompts) => prompts as u32,
        _ if work.brief.grid => work.brief.count,
        (files, _) => files as u32,
    }
}

fn first_list(shape: &ResultShape, body: &Value) -> Vec<String> {
    let lists = shape.read(body, ResultPart::Prompts);
    lists.into_iter().next().unwrap_or_default()
}

/// The files behind addresses. An answer may name each file twice, on two hosts: the second is tried when the first
/// does not give it.
async fn fetched(
    downloads: &mut Downloader<'_>,
    work: &Work,
    role: FileRole,
    most: usize,
    lists: &[Vec<String>],
) -> Result<Vec<OutputFile>, Fault> {
    let count = lists.first().map_or(0, Vec::len).min(most);
    let mut files = Vec::with_capacity(count);
    for index in 0..count {
        let addresses = lists.iter().filter_map(|list| list.get(index));
        let mut outcome = Err(Fault::ours("a file without an address"));
        for address in addresses {
            let bytes = downloads.file(address).await;
            outcome = bytes.and_then(|bytes| files::file(work, role, bytes));
            if outcome.is_ok() {
                break;
            }
        }
        files.push(outcome?);
    }
    Ok(files)
}
