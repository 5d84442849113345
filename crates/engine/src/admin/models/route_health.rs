//! How the routes of a model are: whether each leads to somebody who takes work, and what the vendor said that speaks against it.

use atelier_contract::models::{ModelDefinition, Route};
use atelier_contract::pages::workers::Condition;
use atelier_contract::time::timestamp;
use atelier_store::BackendRow;

use crate::runner::{WorkerReport, unknown_model};

/// How a route is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteHealth {
    /// The back end, as the route names it.
    pub backend: String,
    /// Whether a worker account there takes work now.
    pub usable: bool,
    /// What an operator has to look at, in one sentence.
    pub problem: Option<String>,
}

/// How a route of a model is, as this node knows its worker accounts. Where the route does not say what the vendor calls the
/// model, the evidence has the name that callers know, or the built-in model that it is like.
pub(super) fn health(
    definition: &ModelDefinition,
    route: &Route,
    backends: &[BackendRow],
    reports: &[WorkerReport],
) -> RouteHealth {
    let Some(id) = id_of(&route.backend, backends, reports) else {
        return RouteHealth {
            backend: route.backend.clone(),
            usable: false,
            problem: Some("there is no such back end".to_owned()),
        };
    };
    if let Some(why) = &route.paused {
        return RouteHealth {
            backend: route.backend.clone(),
            usable: false,
            problem: Some(format!("paused: {why}")),
        };
    }
    let there = || reports.iter().filter(|one| one.backend.as_str() == id);
    let usable = there().any(|one| one.usable);
    let like = definition
        .like
        .as_deref()
        .and_then(|like| like.rsplit('/').next());
    let names: Vec<&str> = match &route.model {
        Some(model) => vec![model],
        None => [Some(definition.name.as_str()), like]
            .into_iter()
            .flatten()
            .collect(),
    };
    let words: Vec<String> = names.into_iter().map(unknown_model).collect();
    let unknown = there().find_map(|one| words.iter().find_map(|words| said(one, words)));
    let idle = (!usable).then(|| "no worker account there takes work now".to_owned());
    let is_tested = |one: &WorkerReport| one.health.condition != Condition::Untested;
    let untested = || "nobody has asked the vendor anything yet: probe the back end".to_owned();
    let untested = (usable && !there().filter(|one| one.usable).any(is_tested)).then(untested);
    let problem = unknown.or(idle).or(untested);
    RouteHealth {
        backend: route.backend.clone(),
        usable,
        problem,
    }
}

/// The identifier of the operator's back end that a route names, be it inside this process.
pub(super) fn id_of<'a>(
    name: &str,
    backends: &'a [BackendRow],
    reports: &'a [WorkerReport],
) -> Option<&'a str> {
    let stored = backends.iter();
    let stored = stored
        .filter(|row| row.id == name || &*row.spec.name == name)
        .map(|row| row.id.as_str());
    let inside = reports.iter().filter(|one| one.inside);
    let inside = inside.map(|one| one.backend.as_str());
    stored.chain(inside.filter(|id| *id == name)).next()
}

/// When a worker account's vendor said something lately, with its own words.
fn said(report: &WorkerReport, words: &str) -> Option<String> {
    let mut latest = report.health.recent.iter();
    // One model's name may begin with another's.
    let is_it = |detail: &str| {
        let rest = detail.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    let found = latest.find(|one| is_it(&one.detail))?;
    Some(format!("{} ({})", found.detail, timestamp(found.at_ms)))
}
