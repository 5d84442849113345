//! From a remote's answer to files of this house.

use atelier_contract::Role;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

use super::notes::Notes;
use super::shape::{Part, Shape};
use crate::backend::{Class, Cost, Fault, Made, MadeFile, Work};
use crate::downloads::Downloads;
use crate::files;
use crate::http::VendorHttp;

/// Small images and frames: never more than four of a role.
const MOST_BESIDE: usize = 4;

/// Fetches everything an answer speaks of.
pub(super) async fn made(
    http: &VendorHttp,
    work: &Work,
    (shape, body): (&Shape, &Value),
    remote_id: &str,
) -> Result<Made, Fault> {
    let asked = work.brief.count.max(1) as usize;
    let most = if work.brief.grid { 1 } else { asked };
    let mut files = Vec::new();
    let mut downloads = Downloads::new(http);
    for list in shape.read(body, Part::Bytes).iter().take(1) {
        for text in list.iter().take(most) {
            let bytes = STANDARD
                .decode(text)
                .map_err(|_| Fault::useless("b64_json is not base64"))?;
            files.push(files::file(work, Role::Main, Bytes::from(bytes))?);
        }
    }
    if files.is_empty() {
        let lists = shape.read(body, Part::File(Role::Main));
        files = fetched(&mut downloads, work, (Role::Main, most), &lists).await?;
    }
    let mains = files.len();
    for role in [Role::Small, Role::FirstFrame, Role::LastFrame] {
        let lists = shape.read(body, Part::File(role));
        files.extend(fetched(&mut downloads, work, (role, MOST_BESIDE), &lists).await?);
    }
    let has_small = files.iter().any(|file| file.role == Role::Small);
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
    let seed = first(Part::Seed);
    if files.is_empty() && prompts.is_empty() && seed.is_none() {
        let detail = "the remote says that it succeeded, but shows no result";
        return Err(Fault::vendor(Class::Gone, detail));
    }
    let alias = first(Part::Alias);
    let notes = Notes::new(remote_id, alias.clone());
    Ok(Made {
        made: count(work, mains, prompts.len()),
        files,
        prompts,
        seed,
        revised_prompt: first(Part::Revised),
        alias,
        notes: notes.write(),
        cost: cost(body),
        ignored: Vec::new(),
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

fn first_list(shape: &Shape, body: &Value) -> Vec<String> {
    let lists = shape.read(body, Part::Prompts);
    lists.into_iter().next().unwrap_or_default()
}

/// The files behind addresses. An answer may name each file twice, on two hosts: the second is tried when the first
/// does not give it.
async fn fetched(
    downloads: &mut Downloads<'_>,
    work: &Work,
    (role, most): (Role, usize),
    lists: &[Vec<String>],
) -> Result<Vec<MadeFile>, Fault> {
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
