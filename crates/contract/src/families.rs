//! The table: every family, in the order of the documents.

use crate::family::{Family, Submit};

pub mod artgen;
pub mod facegen;

/// Every family of endpoints.
pub const FAMILIES: &[Family] = &[artgen::FAMILY, facegen::FAMILY];

/// The family and the submit with a name such as `facegen.swap`.
pub fn operation(name: &str) -> Option<(&'static Family, &'static Submit)> {
    FAMILIES.iter().find_map(|family| {
        family
            .submits
            .iter()
            .find(|submit| submit.name == name)
            .map(|submit| (family, submit))
    })
}

/// The valid request that stands beside the table, one file per operation.
macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../examples/", $name, ".json"))
    };
}
pub(crate) use example;
