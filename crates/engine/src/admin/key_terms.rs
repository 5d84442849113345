//! What a key may spend and do, between the contract's words and the store's, and what a caller's keys allow together.

use std::net::IpAddr;
use std::sync::Arc;

use atelier_contract::key_rules::KeyRules;
use atelier_contract::pages::keys::{KeyLimit, KeyTerms};
use atelier_contract::{Code, Refusal};
use atelier_store::Key;

/// What the key of a caller and those above it allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPolicy {
    levels: Vec<KeyLevel>,
}

/// One of those keys.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyLevel {
    key_id: Arc<str>,
    rules: KeyRules,
}

impl KeyPolicy {
    /// Of a key and those above it; `None` when all of them allow everything.
    pub(super) fn of<'a>(
        keys: impl Iterator<Item = &'a Key>,
    ) -> Result<Option<Arc<Self>>, Refusal> {
        let mut levels = Vec::new();
        for key in keys {
            let rules = stored_rules(key)?;
            if !rules.is_free() {
                let key_id = key.id.as_str().into();
                levels.push(KeyLevel { key_id, rules });
            }
        }
        Ok((!levels.is_empty()).then(|| Arc::new(Self { levels })))
    }

    /// Refuses an operation that one of them does not allow.
    pub fn check_operation(&self, operation: &str) -> Result<(), Refusal> {
        let mut levels = self.levels.iter();
        levels.try_for_each(|level| level.rules.check_operation(operation))
    }

    /// Refuses a model that one of them does not allow.
    pub fn check_model(&self, operation: &str, model: Option<&str>) -> Result<(), Refusal> {
        let mut levels = self.levels.iter();
        levels.try_for_each(|level| level.rules.check_model(operation, model))
    }

    /// Refuses an address that one of them may not be used from.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Refusal> {
        let mut levels = self.levels.iter();
        levels.try_for_each(|level| level.rules.check_address(address))
    }

    /// The keys that may submit so often in a second.
    pub fn rates(&self) -> impl Iterator<Item = (&Arc<str>, u32)> {
        let rate = |level: &KeyLevel| level.rules.submits_per_second;
        let levels = self.levels.iter();
        levels.filter_map(move |level| Some((&level.key_id, rate(level)?)))
    }
}

/// What a key may do beside its scopes.
fn stored_rules(key: &Key) -> Result<KeyRules, Refusal> {
    let Some(text) = &key.terms.rules else {
        return Ok(KeyRules::default());
    };
    serde_json::from_str(text).map_err(|error| {
        tracing::error!(key = key.id, %error, "a key has unknown rules");
        Refusal::new(Code::Forbidden, "the rules of this key cannot be read")
    })
}

/// What a key may spend and do, as it is stored.
pub fn stored_terms(key: &Key) -> Result<KeyTerms, Refusal> {
    let limit = |limit: &atelier_store::KeyLimit| KeyLimit {
        window: limit.window,
        quota: limit.quota,
    };
    Ok(KeyTerms {
        limits: key.terms.limits.iter().map(limit).collect(),
        rules: stored_rules(key)?,
        max_queue: key.terms.max_queue,
    })
}

/// The same the other way round.
pub(super) fn to_store(terms: &KeyTerms) -> atelier_store::KeyTerms {
    let limit = |limit: &KeyLimit| atelier_store::KeyLimit {
        window: limit.window,
        quota: limit.quota,
    };
    let rules = &terms.rules;
    atelier_store::KeyTerms {
        limits: terms.limits.iter().map(limit).collect(),
        max_queue: terms.max_queue,
        rules: (!rules.is_free()).then(|| serde_json::to_string(rules).unwrap_or_default()),
    }
}
