//! The rows of a catalogue with the ways to find them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::builtin::builtin_model;
use super::definition::{ModelDefinition, ModelRevision};
use super::names::model_key;
use super::row::CatalogueRow;
use crate::refusal::Refusal;

/// The rows with the ways to find them.
#[derive(Default)]
pub(super) struct CatalogueIndex {
    /// The rows that can be used, by name without regard to case.
    pub(super) rows: BTreeMap<String, Arc<CatalogueRow>>,
    /// The same by every name and alias.
    places: HashMap<String, Arc<CatalogueRow>>,
    /// What was taken away, for follow-ups of its jobs.
    pub(super) gone: BTreeMap<String, Arc<CatalogueRow>>,
    /// The rows that requests of an operation may name.
    pub(super) by_submit: HashMap<&'static str, Vec<Arc<CatalogueRow>>>,
    pub(super) unusable: Vec<(String, Refusal)>,
}

impl CatalogueIndex {
    pub(super) fn row(&self, name: &str) -> Option<&Arc<CatalogueRow>> {
        let key = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(model_key(name))
        } else {
            Cow::Borrowed(name)
        };
        self.places.get(&*key)
    }

    /// The row of a model, also when it was taken away.
    pub(super) fn last_known(&self, name: &str) -> Option<Arc<CatalogueRow>> {
        let key = model_key(name);
        let row = self.rows.get(&key).or_else(|| self.gone.get(&key));
        row.cloned()
    }

    /// Why a model that is switched off or retired cannot be named; it names the one in its place if that can.
    pub(super) fn closed(
        &self,
        row: &CatalogueRow,
        field: &str,
        group: &str,
        now_ms: i64,
    ) -> Refusal {
        let usable = self.successor(&row.revision.definition, group, now_ms);
        row.closed(field, now_ms, usable)
    }

    /// The model in the place of one, as far as a group may know of it and can name it now.
    pub(super) fn successor<'a>(
        &self,
        definition: &'a ModelDefinition,
        group: &str,
        now_ms: i64,
    ) -> Option<&'a str> {
        let is_open = |row: &Arc<CatalogueRow>| {
            row.is_usable(now_ms) && row.revision.definition.is_visible_to(group)
        };
        let successor = definition.successor.as_deref();
        successor.filter(|name| self.row(name).is_none_or(is_open))
    }

    /// The rows of other names, to be linked again.
    pub(super) fn without(&self, key: &str) -> Self {
        let mut rest = Self {
            rows: self.rows.clone(),
            gone: self.gone.clone(),
            unusable: self.unusable.clone(),
            ..Self::default()
        };
        rest.rows.remove(key);
        rest.gone.remove(key);
        rest.unusable.retain(|(name, _)| model_key(name) != key);
        rest
    }

    pub(super) fn take(&mut self, revision: Arc<ModelRevision>) {
        let (name, key) = (revision.definition.name.clone(), revision.definition.key());
        let removed = revision.removed;
        match CatalogueRow::of(revision) {
            Ok(row) if removed => drop(self.gone.insert(key, Arc::new(row))),
            Ok(row) => drop(self.rows.insert(key, Arc::new(row))),
            Err(_) if removed => {}
            Err(refusal) => self.unusable.push((name, refusal)),
        }
    }

    /// Makes the ways to find the rows. A name goes before an alias, and an alias that is taken is left out.
    pub(super) fn link(&mut self) {
        for (key, row) in &self.rows {
            self.places.insert(key.clone(), Arc::clone(row));
            for submit in &row.submits {
                let rows = self.by_submit.entry(submit.name).or_default();
                rows.push(Arc::clone(row));
            }
        }
        for row in self.rows.values() {
            for alias in &row.revision.definition.aliases {
                let key = model_key(alias);
                if builtin_model(&key).is_none() {
                    self.places.entry(key).or_insert_with(|| Arc::clone(row));
                }
            }
        }
    }
}
