//! The words of rules that are no names, and which keys of the tariff are prices.

use crate::families::FAMILIES;

/// What a rule for everything matches.
pub(super) const EVERYTHING: &str = "*";
/// What a rule for the callers' own worker accounts matches; no other rule is for those.
pub(super) const CUSTODY: &str = "custody";

/// Whether rules mean something else by a word, so that no model can have it: no group could name such a model, or would mean
/// less by the word than its operator thinks.
pub(crate) fn is_rule_word(key: &str) -> bool {
    let mut families = FAMILIES.iter();
    key == CUSTODY
        || families.any(|family| {
            let mut submits = family.submits.iter();
            family.name == key
                || submits.any(|submit| submit.name == key || submit.prices.contains(&key))
        })
}

/// Whether a key of the tariff is what an order begins with; the others are what it is multiplied by, or belong to the callers' own
/// worker accounts.
pub(super) fn is_base_key(key: &str) -> bool {
    let mut parts = key.split('.');
    parts.next() != Some(CUSTODY) && parts.all(|part| part != "factor")
}
