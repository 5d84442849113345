//! What is made of the operator's models: made again when they have changed, and once for each edition of them.

use std::sync::{Arc, Mutex, PoisonError};

use atelier_contract::models::ModelCatalogue;

/// The models with what was made of them.
type Edition<T> = (Arc<ModelCatalogue>, Arc<T>);

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
        make: impl FnOnce(&ModelCatalogue) -> T,
    ) -> Arc<T> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // The models are kept beside, so that no other edition can be in their place in memory.
        if let Some((known, made)) = &*held
            && Arc::ptr_eq(known, models)
        {
            return Arc::clone(made);
        }
        let made = Arc::new(make(models));
        *held = Some((Arc::clone(models), Arc::clone(&made)));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: a document is written once for each edition, however often it is asked for.
    #[test]
    fn each_edition_is_made_once() {
        let cache = EditionCache::new();
        let mut made = 0;
        let first = Arc::new(ModelCatalogue::default());
        for models in [&first, &first, &Arc::new(ModelCatalogue::default()), &first] {
            cache.get(models, |_| made += 1);
        }
        assert_eq!(made, 3);
    }
}
