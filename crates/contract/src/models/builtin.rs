//! The built-in models, read from the table: a family's new model is known here by itself.

use std::sync::LazyLock;

use schemars::SchemaGenerator;
use serde_json::Value;

use super::names::SPELLINGS;
use super::note::CATALOGUE_FIELD;
use crate::body::Fields;
use crate::families::FAMILIES;
use crate::family::{Family, SubmitEndpoint};

/// A model that requests may name.
pub struct Model {
    /// Its name as requests give it.
    pub name: String,
    /// The first family that has it.
    pub family: &'static Family,
    /// The operations whose requests may name it, of any family.
    pub submits: Vec<&'static SubmitEndpoint>,
}

/// The model that a stored request names; that of the catalogue where it keeps one.
pub fn model_of(request: &Fields) -> Option<&str> {
    let noted = request.get(CATALOGUE_FIELD);
    let noted = noted.and_then(|note| note["name"].as_str());
    noted.or_else(|| {
        let mut spellings = SPELLINGS.iter();
        spellings.find_map(|spelling| request.get(*spelling)?.as_str())
    })
}

/// Every model, in the order of the table.
pub fn models() -> &'static [Model] {
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(collect);
    &MODELS
}

fn collect() -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for family in FAMILIES {
        for submit in family.submits {
            for name in names(submit) {
                match models.iter_mut().find(|model| model.name == name) {
                    Some(known) => known.submits.push(submit),
                    None => models.push(Model {
                        name,
                        family,
                        submits: vec![submit],
                    }),
                }
            }
        }
    }
    models
}

/// The words that a request's schema allows for its model.
fn names(submit: &SubmitEndpoint) -> Vec<String> {
    let mut generator = SchemaGenerator::default();
    let schema = (submit.schema)(&mut generator).to_value();
    let named = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    let schema = named
        .and_then(|name| generator.definitions().get(name))
        .unwrap_or(&schema);
    let field = SPELLINGS
        .iter()
        .find_map(|spelling| schema["properties"].get(spelling));
    let words = field.and_then(|field| field["enum"].as_array());
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    words.map(str::to_owned).collect()
}

/// The built-in model with a name, in any case.
pub(crate) fn builtin_model(key: &str) -> Option<&'static Model> {
    models()
        .iter()
        .find(|model| model.name.eq_ignore_ascii_case(key))
}
