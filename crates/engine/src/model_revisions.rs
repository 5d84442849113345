//! The operator's models as this node knows them: the current ones as one snapshot that is replaced as a whole, and the earlier
//! revisions that jobs were accepted with. What operators do with them is `admin/models.rs`.

use std::sync::{Arc, PoisonError, RwLock};

use atelier_contract::body::Fields;
use atelier_contract::models::{ModelCatalogue, ModelDefinition, ModelRevision, model_key};
use atelier_store::{MODEL_EDITION, RevisionRow};
use quick_cache::sync::Cache;
use serde_json::Value;

use crate::context::Context;

/// Earlier revisions that are remembered; one that is not is read again.
const REVISIONS_REMEMBERED: usize = 1_024;
/// Says in a stored definition that it is the configuration's. No operator can write it: it is no field of a model.
const DECLARED: &str = "declared";

/// The current models, and what was read of them last.
#[derive(Default)]
struct CurrentModels {
    catalogue: Arc<ModelCatalogue>,
    edition: Option<String>,
}

/// A stored revision of a model.
#[derive(Clone, Debug)]
pub(crate) struct StoredModel {
    pub(crate) row: ModelRevision,
    /// Whether it is as the configuration declares it.
    pub(crate) declared: bool,
}

impl StoredModel {
    /// Reads a row; an error for what only another release can read.
    fn read(row: &RevisionRow) -> Result<Self, serde_json::Error> {
        let mut fields: Fields = serde_json::from_str(&row.definition)?;
        let declared = fields.remove(DECLARED) == Some(Value::Bool(true));
        let definition = serde_json::from_value(Value::Object(fields))?;
        let row = ModelRevision {
            definition,
            revision: row.revision,
            removed: row.removed,
            changed_ms: row.changed_ms,
        };
        Ok(Self { row, declared })
    }

    /// Whether it has a name, in any case; an alias is none.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.row.definition.name.eq_ignore_ascii_case(name)
    }
}

/// The JSON that the store keeps of a definition.
pub(crate) fn stored_definition(definition: &ModelDefinition, declared: bool) -> String {
    let mut value = serde_json::to_value(definition).unwrap_or_default();
    if declared {
        value[DECLARED] = Value::Bool(true);
    }
    value.to_string()
}

/// The operator's models as this node knows them.
pub(crate) struct ModelRevisions {
    context: Arc<Context>,
    current: RwLock<CurrentModels>,
    revisions: Cache<(String, u32), Arc<ModelRevision>>,
}

impl ModelRevisions {
    pub(crate) fn new(context: Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            context,
            current: RwLock::default(),
            revisions: Cache::new(REVISIONS_REMEMBERED),
        })
    }

    /// The current models; the same snapshot until something changes.
    pub(crate) fn catalogue(&self) -> Arc<ModelCatalogue> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.catalogue)
    }

    /// Takes over the models as they are stored now.
    pub(crate) async fn load(&self) -> Result<(), atelier_store::Error> {
        // The edition is read first: models that change in between are looked at once more.
        let edition = self.stored_edition().await?;
        if edition == self.edition() {
            return Ok(());
        }
        let rows = self.rows().await?;
        let catalogue = ModelCatalogue::new(rows.into_iter().map(|one| one.row).collect());
        for (name, refusal) in catalogue.unusable() {
            tracing::warn!(name, %refusal, "a stored model cannot be used any more");
        }
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = CurrentModels {
            catalogue: Arc::new(catalogue),
            edition,
        };
        Ok(())
    }

    /// The edition of what is stored: another one after every change, and none before the first.
    pub(crate) async fn stored_edition(&self) -> Result<Option<String>, atelier_store::Error> {
        self.context.store().settings().get(MODEL_EDITION).await
    }

    /// The latest revision of every model, of removed ones as well.
    pub(crate) async fn rows(&self) -> Result<Vec<StoredModel>, atelier_store::Error> {
        let rows = self.context.store().models().current().await?;
        let read = |row: RevisionRow| {
            let (name, revision) = (row.name.clone(), row.revision);
            let unread =
                |error| tracing::warn!(%error, name, revision, "a stored model cannot be read");
            StoredModel::read(&row).map_err(unread).ok()
        };
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// A revision of a model, be it current or not; `None` when there is none that this release can read.
    pub(crate) async fn revision(
        &self,
        name: &str,
        revision: u32,
    ) -> Result<Option<Arc<ModelRevision>>, atelier_store::Error> {
        let catalogue = self.catalogue();
        let current = catalogue.find(name);
        // What is found may be another model that has the name as an alias.
        let is_it = |row: &&Arc<ModelRevision>| {
            row.revision == revision && row.definition.name.eq_ignore_ascii_case(name)
        };
        if let Some(row) = current.filter(is_it) {
            return Ok(Some(Arc::clone(row)));
        }
        let key = (model_key(name), revision);
        if let Some(row) = self.revisions.get(&key) {
            return Ok(Some(row));
        }
        let row = self
            .context
            .store()
            .models()
            .revision(name, revision)
            .await?;
        let Some(read) = row.and_then(|row| StoredModel::read(&row).ok()) else {
            return Ok(None);
        };
        let row = Arc::new(read.row);
        self.revisions.insert(key, Arc::clone(&row));
        Ok(Some(row))
    }

    /// What was read last.
    fn edition(&self) -> Option<String> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.edition.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_definition_is_read_as_it_was_written() {
        for declared in [false, true] {
            let definition = ModelDefinition {
                like: Some("imgmodel/image-1".to_owned()),
                ..ModelDefinition::named("gpt-image-2")
            };
            let stored = RevisionRow {
                name: definition.name.clone(),
                revision: 3,
                definition: stored_definition(&definition, declared),
                removed: false,
                changed_ms: 7,
            };
            let read = StoredModel::read(&stored).expect("a model");
            assert_eq!(read.row.definition, definition);
            assert_eq!((read.row.revision, read.declared), (3, declared));
        }
    }
}
