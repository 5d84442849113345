//! A row of the catalogue, made ready: what it is like is looked up once, not for every request.

use std::collections::HashMap;
use std::sync::Arc;

use super::builtin::builtin_model;
use super::definition::ModelRevision;
use super::facts::SubmitFacts;
use super::like::LikeTarget;
use super::names::{NOT_A_NAME, is_name};
use super::price::UnitPrice;
use super::rules::{RowRule, rules_of};
use crate::family::SubmitEndpoint;
use crate::refusal::Refusal;

/// A row of the catalogue with all that follows from it.
pub(super) struct CatalogueRow {
    pub(super) revision: Arc<ModelRevision>,
    pub(super) target: LikeTarget,
    /// Whether it only sets a built-in model.
    pub(super) builtin: bool,
    pub(super) submits: Vec<&'static SubmitEndpoint>,
    pub(super) retires_ms: Option<i64>,
    rules: HashMap<&'static str, Vec<RowRule>>,
}

impl CatalogueRow {
    /// Makes a row ready, or says why it does not fit any more.
    pub(super) fn of(revision: Arc<ModelRevision>) -> Result<Self, Refusal> {
        let definition = &revision.definition;
        if !is_name(&definition.name) {
            return Err(Refusal::invalid("name", NOT_A_NAME));
        }
        let target = match (&definition.like, builtin_model(&definition.name)) {
            (Some(_), Some(_)) => return Err(taken(&definition.name)),
            (Some(like), None) => LikeTarget::of(like)?,
            (None, Some(model)) => LikeTarget::of_builtin(model),
            (None, None) => {
                let message = "is required: what the model is like, as family/model or an operation; only built-in models go without";
                return Err(Refusal::invalid("like", message));
            }
        };
        let model = target.model.as_deref();
        let rules = target.submits.iter();
        let rules = rules.map(|facts| (facts.submit.name, rules_of(definition, facts, model)));
        Ok(Self {
            builtin: definition.like.is_none(),
            retires_ms: definition.retires_ms(),
            submits: target.submits.iter().map(|facts| facts.submit).collect(),
            rules: rules.collect(),
            target,
            revision,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.revision.definition.name
    }

    /// The facts of an operation, where its requests may name the model.
    pub(super) fn in_submit(&self, operation: &str) -> Option<&'static SubmitFacts> {
        self.target.in_submit(operation)
    }

    pub(super) fn rules(&self, operation: &str) -> &[RowRule] {
        self.rules.get(operation).map_or(&[], Vec::as_slice)
    }

    pub(super) fn price(&self, operation: &str) -> Option<&UnitPrice> {
        let price = self.revision.definition.price.as_ref()?;
        price.of(operation, self.in_submit(operation).is_some())
    }

    /// Whether requests may name it now.
    pub(super) fn is_usable(&self, now_ms: i64) -> bool {
        self.revision.definition.enabled && self.retires_ms.is_none_or(|from| from > now_ms)
    }

    /// Why a request may not name it now.
    pub(super) fn closed(&self, field: &str, now_ms: i64, successor: Option<&str>) -> Refusal {
        let definition = &self.revision.definition;
        let state = match (&definition.retires, definition.is_retired(now_ms)) {
            (Some(date), true) => format!("was retired on {date}"),
            _ => "is switched off".to_owned(),
        };
        let instead = successor.map_or(String::new(), |name| format!("; use {name}"));
        Refusal::invalid(field, format_args!("{} {state}{instead}", definition.name))
    }
}

pub(super) fn taken(name: &str) -> Refusal {
    let message = format!(
        "{name} is the name of a built-in model; leave `like` out to set its routes, price and aliases, or choose another name"
    );
    Refusal::invalid("name", message)
}
