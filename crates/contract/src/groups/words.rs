//! The words of rules that are no names, and which keys of the tariff are prices.

use crate::families::FAMILIES;
use crate::names::is_spelled;

/// What a rule for everything matches.
pub(super) const EVERYTHING: &str = "*";
/// What a rule for the callers' own worker accounts matches; no other rule is for those.
pub(super) const CUSTODY: &str = "custody";

/// What a rule matches, as such words are compared: in lower case, and what has two spellings in that of the tables.
pub(super) fn rule_key(written: &str) -> String {
    let key = written.to_ascii_lowercase();
    table_word(&key).map_or(key, str::to_owned)
}

/// Whether rules mean something else by a word, so that no model can have it: no group could name such a model, or would mean
/// less by the word than its operator thinks.
pub(crate) fn is_rule_word(key: &str) -> bool {
    key == CUSTODY || table_word(key).is_some()
}

/// The family, the operation or the price of one that a word is in either spelling.
fn table_word(key: &str) -> Option<&'static str> {
    let words = || {
        FAMILIES.iter().flat_map(|family| {
            let submits = family.submits.iter();
            let words =
                submits.flat_map(|submit| submit.prices.iter().copied().chain([submit.name]));
            words.chain([family.name])
        })
    };
    // Names of models have hyphens that mean no other spelling.
    let is_it = words().find(|word| *word == key);
    is_it.or_else(|| words().find(|word| is_spelled(word, key)))
}

/// Whether a key of the tariff is what an order begins with; the others are what it is multiplied by, or belong to the callers' own
/// worker accounts.
pub(super) fn is_base_key(key: &str) -> bool {
    let mut parts = key.split('.');
    parts.next() != Some(CUSTODY) && parts.all(|part| part != "factor")
}
