//! Providers of OpenID Connect that were asked for their addresses and keys: one for each that the configuration names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_identity::Provider;

/// A provider, and when it was asked for its addresses and keys.
#[derive(Clone)]
pub(super) struct KnownProvider {
    pub(super) provider: Arc<Provider>,
    pub(super) since_ms: i64,
}

/// Providers that were asked for their addresses and keys.
#[derive(Default)]
pub(super) struct KnownProviders(Mutex<HashMap<String, KnownProvider>>);

impl KnownProviders {
    /// What is known of a provider, by its name here.
    pub(super) fn find(&self, name: &str) -> Option<KnownProvider> {
        self.all().get(name).cloned()
    }

    /// Keeps what is known of one.
    pub(super) fn keep(&self, name: &str, known: KnownProvider) {
        self.all().insert(name.to_owned(), known);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, KnownProvider>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
