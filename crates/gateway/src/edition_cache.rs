//! What is made of the operator's models: made again when they have changed or one of them has retired, and once until then.

use std::sync::{Arc, Mutex, PoisonError};

use atelier_contract::models::{DatedModels, ModelCatalogue};

/// The models with what was made of them.
struct Edition<T> {
    models: Arc<ModelCatalogue>,
    made: Arc<T>,
    /// Since when it holds, and until when: the next retirement.
    from_ms: i64,
    until_ms: Option<i64>,
}

/// Something that is made of the models of the latest edition.
pub(crate) struct EditionCache<T> {
    held: Mutex<Option<Edition<T>>>,
}

impl<T> EditionCache<T> {
    /// Nothing has been made yet.
    pub(crate) const fn new() -> Self {
        Self {
            held: Mutex::new(None),
        }
    }

    /// What was made of these models, or is now. Whoever asks meanwhile waits, so that it is made once.
    pub(crate) fn get(
        &self,
        models: &Arc<ModelCatalogue>,
        now_ms: i64,
        make: impl FnOnce(DatedModels<'_>) -> T,
    ) -> Arc<T> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(edition) = held.as_ref().filter(|held| held.holds(models, now_ms)) {
            return Arc::clone(&edition.made);
        }
        let made = Arc::new(make(models.at(now_ms)));
        *held = Some(Edition {
            models: Arc::clone(models),
            made: Arc::clone(&made),
            from_ms: now_ms,
            until_ms: models.changes_ms(now_ms),
        });
        made
    }
}

impl<T> Edition<T> {
    /// Whether it is of these models and of this time. They are kept beside, so that no other edition can be in their place in
    /// memory; a clock that was put back may bring a retired model back.
    fn holds(&self, models: &Arc<ModelCatalogue>, now_ms: i64) -> bool {
        Arc::ptr_eq(&self.models, models)
            && self.from_ms <= now_ms
            && self.until_ms.is_none_or(|until_ms| now_ms < until_ms)
    }
}

#[cfg(test)]
mod tests {
    use atelier_contract::models::{ModelDefinition, ModelRevision};

    use super::*;

    /// The promise: a document is written once for each edition, however often it is asked for.
    #[test]
    fn each_edition_is_made_once() {
        let cache = EditionCache::new();
        let mut made = 0;
        let first = Arc::new(ModelCatalogue::default());
        for models in [&first, &first, &Arc::new(ModelCatalogue::default()), &first] {
            cache.get(models, 7, |_| made += 1);
        }
        assert_eq!(made, 3);
    }

    /// The promise: what was made while a model was sold is made again when its day has come, and only then.
    #[test]
    fn an_edition_ends_with_a_model() {
        let cache = EditionCache::new();
        let definition = ModelDefinition {
            like: Some("facegen.swap".to_owned()),
            retires: Some("2027-01-01".to_owned()),
            ..ModelDefinition::named("soon")
        };
        let until_ms = definition.retires_ms().expect("a day");
        let row = ModelRevision {
            definition,
            revision: 1,
            removed: false,
            changed_ms: 0,
        };
        let models = Arc::new(ModelCatalogue::new(vec![row]));
        let mut made = Vec::new();
        for now_ms in [
            until_ms - 9,
            until_ms - 1,
            until_ms,
            until_ms + 9,
            until_ms - 5,
        ] {
            cache.get(&models, now_ms, |_| made.push(now_ms - until_ms));
        }
        assert_eq!(made, [-9, 0, -5]);
    }
}
