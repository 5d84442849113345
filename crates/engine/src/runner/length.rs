//! Long and short work: what an account's own calls give way to each other by.

/// Whether work of an operation is long, by itself or as one of many that came together.
pub(crate) fn is_long(operation: &str, batched: bool) -> bool {
    batched || atelier_contract::operation(operation).is_some_and(|(_, submit)| submit.is_long())
}
