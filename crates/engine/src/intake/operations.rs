//! The operations that a call may name.

use atelier_contract::family::{Family, SubmitEndpoint};
use atelier_contract::{FAMILIES, Refusal};

/// The operation of a name; one that is not known is refused with those that are.
pub(super) fn find(name: &str) -> Result<(&'static Family, &'static SubmitEndpoint), Refusal> {
    atelier_contract::operation(name).ok_or_else(|| {
        let submits = FAMILIES.iter().flat_map(|family| family.submits);
        let known: Vec<&str> = submits.map(|submit| submit.name).collect();
        let message = format!("unknown operation; known are {}", known.join(", "));
        Refusal::invalid("operation", message)
    })
}
