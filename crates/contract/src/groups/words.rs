//! The words of rules that are no names, and which keys of the tariff are prices.

/// What a rule for everything matches.
pub(super) const EVERYTHING: &str = "*";
/// What a rule for the callers' own worker accounts matches; no other rule is for those.
pub(super) const CUSTODY: &str = "custody";

/// Whether a key of the tariff is what an order begins with; the others are what it is multiplied by, or belong to the callers' own
/// worker accounts.
pub(super) fn is_base_key(key: &str) -> bool {
    let mut parts = key.split('.');
    parts.next() != Some(CUSTODY) && parts.all(|part| part != "factor")
}
