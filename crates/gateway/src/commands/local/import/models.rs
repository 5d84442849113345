//! Groups of prices there become groups here, and models of pictures and videos become models with routes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use atelier_contract::Code;
use atelier_contract::body::Fields;
use atelier_contract::models::DEFAULT_GROUP;
use atelier_engine::{GroupEdit, ModelEdit};
use atelier_import::{ImportSource, ReportAction, ReportRow, SourcePrice, Units, like_of};
use serde_json::json;

use super::report::ImportReport;
use super::{ACTOR, ImportRun};

/// A factor that changes nothing.
const ONE: Units = Units::whole(1);

/// A way to a model, at a back end that is there.
pub(super) struct ImportedRoute {
    pub(super) backend: String,
    pub(super) upstream: String,
    pub(super) weight: i64,
    pub(super) rank: i64,
}

/// Makes the groups of a source; the names of all that accounts may be in.
pub(super) async fn groups(
    run: &ImportRun,
    source: &mut ImportSource,
    report: &mut ImportReport,
) -> Result<BTreeSet<String>> {
    let groups = run.engine.admin().groups();
    let there = groups.list().await?.into_iter();
    let mut names: BTreeSet<String> = there
        .map(|one| one.row.definition.name.to_lowercase())
        .collect();
    for group in source.groups() {
        let name = group.name.to_lowercase();
        let say = |action, reason: String| ReportRow::new("groups", &*group.name, action, reason);
        if names.contains(&name) || (name == DEFAULT_GROUP && group.factor == ONE) {
            report.row(say(ReportAction::Unchanged, String::new()))?;
            continue;
        }
        let rules = if group.factor == ONE {
            json!([])
        } else {
            let factor: serde_json::Value = serde_json::from_str(&group.factor.to_string())?;
            json!([{ "match": "*", "factor": factor }])
        };
        let fields = fields_of(json!({ "name": name, "rules": rules }));
        let checked = groups
            .preview(GroupEdit::Create(fields.clone()), None)
            .await;
        let row = match checked {
            Ok(_) => say(ReportAction::Import, String::new()),
            Err(refusal) if refusal.code == Code::Overloaded => return Err(refusal.into()),
            Err(refusal) => say(ReportAction::Skip, refusal.message),
        };
        if row.action == ReportAction::Import {
            if !run.dry {
                groups.create(ACTOR, fields).await?;
            }
            names.insert(name);
        }
        report.row(row)?;
    }
    Ok(names)
}

/// Makes the models that channels have, with their routes.
pub(super) async fn models(
    run: &ImportRun,
    models: BTreeMap<String, Vec<ImportedRoute>>,
    prices: &[SourcePrice],
    report: &mut ImportReport,
) -> Result<()> {
    let there = run.engine.admin().models().catalogue();
    for (name, routes) in models {
        let say = |action, reason: String| ReportRow::new("models", &*name, action, reason);
        if there.find(&name).is_some() {
            report.row(say(ReportAction::Unchanged, String::new()))?;
            continue;
        }
        let Some(like) = like_of(&name) else { continue };
        let routes: Vec<_> = routes
            .iter()
            .map(|route| {
                json!({ "backend": route.backend, "model": route.upstream, "weight": route.weight, "rank": route.rank })
            })
            .collect();
        let mut definition = json!({ "name": name, "like": like, "routes": routes });
        let price = prices.iter().find(|price| price.model == name);
        if let Some(price) = price {
            let (quota, _) = run.exchange.quota(price.amount);
            definition["price"] = json!({ "unit": "call", "amount": quota });
        }
        // Routes lead to back ends that a dry run does not make; the rest of it is judged alike.
        let mut fields = fields_of(definition);
        let routes = fields.remove("routes");
        let models = run.engine.admin().models();
        let checked = models.preview(ModelEdit::Create(fields.clone())).await;
        let row = match checked {
            Ok(_) if price.is_none() => say(
                ReportAction::Partly,
                format!("it costs what {like} costs; give it a price of its own"),
            ),
            Ok(_) => say(ReportAction::Import, String::new()),
            Err(refusal) if refusal.code == Code::Overloaded => return Err(refusal.into()),
            Err(refusal) => say(ReportAction::Skip, refusal.message),
        };
        if row.action != ReportAction::Skip && !run.dry {
            fields.extend(routes.map(|routes| ("routes".to_owned(), routes)));
            models.create(ACTOR, fields).await?;
        }
        report.row(row)?;
    }
    Ok(())
}

fn fields_of(value: serde_json::Value) -> Fields {
    match value {
        serde_json::Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}
