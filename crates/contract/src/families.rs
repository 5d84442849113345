//! The table: every family, in the order of the documents.

use crate::family::{Family, SubmitEndpoint};

pub mod animegen;
pub mod artgen;
pub mod clipgen;
pub mod design;
pub mod facegen;
pub mod imgmodel;
pub mod motion;
pub mod shortcuts;
pub mod vidgen;
pub mod vidgen_partner;

/// Every family of endpoints.
pub static FAMILIES: &[Family] = &[
    artgen::FAMILY,
    artgen::video::FAMILY,
    imgmodel::FAMILY,
    imgmodel::chat::FAMILY,
    design::FAMILY,
    vidgen::FAMILY,
    vidgen_partner::FAMILY,
    animegen::FAMILY,
    clipgen::FAMILY,
    facegen::FAMILY,
    motion::FAMILY,
];

/// What is left of a stored request whose words were removed.
pub const WORDLESS_REQUEST: &str = r#"{"prompt":""}"#;

/// The fields of stored requests that hold the main prompt, of all families.
pub fn prompt_fields() -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in FAMILIES.iter().flat_map(|family| family.prompt_fields) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

/// The family and the submit with a name such as `facegen.swap`.
pub fn operation(name: &str) -> Option<(&'static Family, &'static SubmitEndpoint)> {
    FAMILIES.iter().find_map(|family| {
        family
            .submits
            .iter()
            .find(|submit| submit.name == name)
            .map(|submit| (family, submit))
    })
}
