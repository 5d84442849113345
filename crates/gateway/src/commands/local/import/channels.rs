//! Channels there become back ends with worker accounts here: the priority is the rank, several keys are several accounts, and the
//! models are routes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use atelier_contract::Code;
use atelier_contract::body::Fields;
use atelier_contract::pages::patch::Patch;
use atelier_contract::pages::workers::WorkerPatch;
use atelier_import::{ImportSource, ReportAction, ReportRow, SourceChannel, like_of};
use serde_json::{Value, json};

use super::models::{self, ImportedRoute};
use super::report::ImportReport;
use super::{ACTOR, ImportRun};

/// The rank of the first priority, and how far the next one is from it.
const FIRST_RANK: i64 = 100;
const RANKS_APART: i64 = 10;
/// Letters of a channel's name that a back end is called by.
const NAME_MOST: usize = 40;
/// The most that a weight may be.
const WEIGHT_MOST: i64 = 1_000;

/// Makes the back ends of a source, and then its models.
pub(super) async fn take(
    run: &ImportRun,
    source: &mut ImportSource,
    report: &mut ImportReport,
) -> Result<()> {
    let channels = source.channels().await?;
    let prices = source.prices();
    let priorities: BTreeSet<i64> = channels.iter().map(|channel| channel.priority).collect();
    let rank_of = |priority: i64| {
        let higher = priorities.iter().filter(|one| **one > priority).count();
        FIRST_RANK + RANKS_APART * higher as i64
    };
    let there = run.engine.admin().backends().list().await?;
    let there: BTreeSet<String> = there.into_iter().map(|one| one.name).collect();
    let mut routed: BTreeMap<String, Vec<ImportedRoute>> = BTreeMap::new();
    for channel in &channels {
        let name = backend_name(run, channel);
        let rank = rank_of(channel.priority);
        let (action, reason) = if there.contains(&name) {
            (ReportAction::Unchanged, String::new())
        } else {
            make(run, channel, &name, rank).await?
        };
        report.row(ReportRow::new(
            channel.table,
            channel.origin.clone(),
            action,
            reason,
        ))?;
        if action == ReportAction::Skip {
            continue;
        }
        for model in &channel.models {
            if like_of(&model.name).is_some() {
                let routes = routed.entry(model.name.clone()).or_default();
                routes.push(ImportedRoute {
                    backend: name.clone(),
                    upstream: model.upstream.clone(),
                    weight: channel.weight.clamp(1, WEIGHT_MOST),
                    rank,
                });
            }
        }
    }
    models::models(run, routed, &prices, report).await
}

/// What the back end of a channel is called: by its name there and its number, so that a later run finds it.
fn backend_name(run: &ImportRun, channel: &SourceChannel) -> String {
    let plain = |text: &str| -> String {
        let letters = text.chars().flat_map(char::to_lowercase);
        let letters = letters.map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
        let text: String = letters.take(NAME_MOST).collect();
        text.trim_matches('-').to_owned()
    };
    let parts = [
        run.source.clone(),
        plain(&channel.name),
        plain(&channel.origin),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

async fn make(
    run: &ImportRun,
    channel: &SourceChannel,
    name: &str,
    rank: i64,
) -> Result<(ReportAction, String)> {
    let target = match &channel.target {
        Ok(target) => target,
        Err(why) => return Ok((ReportAction::Skip, why.clone())),
    };
    let makes_media = channel
        .models
        .iter()
        .any(|model| like_of(&model.name).is_some());
    let is_proxy = target.vendor == "midjourney-proxy";
    if !makes_media && !is_proxy {
        let why = "none of its models makes pictures or videos";
        return Ok((ReportAction::Skip, why.to_owned()));
    }
    let mut notes = channel.notes.clone();
    let mut spec = json!({
        "name": name, "vendor": target.vendor, "base_url": target.base_url, "settings": target.settings,
        "rank": rank, "enabled": channel.enabled,
    });
    if !is_proxy {
        // Nothing but the models that are routed to it is to go there.
        let families = families_of(channel);
        spec["operations"] = json!(families);
    }
    let accounts = channel.credentials.iter().map(|credential| {
        json!({
            "name": credential.name, "credential": credential.secret,
            "state": if credential.paused { "paused" } else { "active" },
        })
    });
    let accounts = accounts.filter_map(fields_of).map(WorkerPatch::read);
    let accounts: Vec<WorkerPatch> = match accounts.collect() {
        Ok(accounts) => accounts,
        Err(refusal) => return Ok((ReportAction::Skip, refusal.message)),
    };
    if accounts.is_empty() {
        notes.push("it has no worker account; add one".to_owned());
    }
    if !channel.enabled {
        notes.push("it is switched off there, and here".to_owned());
    }
    let Some(spec) = fields_of(spec) else {
        return Ok((ReportAction::Skip, "it cannot be read".to_owned()));
    };
    let (backends, spec) = (run.engine.admin().backends(), Patch::new(spec));
    let made = if run.dry {
        backends.check_whole(&spec, &accounts)
    } else {
        backends.create_whole(ACTOR, &spec, &accounts).await
    };
    match made {
        Ok(()) if notes.is_empty() => Ok((ReportAction::Import, String::new())),
        Ok(()) => Ok((ReportAction::Partly, notes.join("; "))),
        Err(refusal) if refusal.code == Code::Overloaded => Err(refusal.into()),
        Err(refusal) => Ok((ReportAction::Skip, refusal.message)),
    }
}

/// The families that the models of a channel are like.
fn families_of(channel: &SourceChannel) -> Vec<&'static str> {
    let likes = channel
        .models
        .iter()
        .filter_map(|model| like_of(&model.name));
    let families: BTreeSet<&str> = likes.filter_map(|like| like.split('/').next()).collect();
    families.into_iter().collect()
}

fn fields_of(value: Value) -> Option<Fields> {
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}
