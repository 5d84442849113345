//! The models that requests may name, read from the table: a family's new model is known here by itself.

use std::sync::LazyLock;

use schemars::SchemaGenerator;
use serde_json::Value;

use crate::body::Fields;
use crate::families::FAMILIES;
use crate::family::{Family, SubmitEndpoint};

/// How families spell the field that names a model.
const SPELLINGS: [&str; 2] = ["model", "modelName"];

/// A model that requests may name.
pub struct Model {
    /// Its name as requests give it.
    pub name: String,
    /// The first family that has it.
    pub family: &'static Family,
    /// The operations whose requests may name it, of any family.
    pub submits: Vec<&'static SubmitEndpoint>,
}

/// The model that a stored request names.
pub fn model_of(request: &Fields) -> Option<&str> {
    SPELLINGS
        .iter()
        .find_map(|spelling| request.get(*spelling)?.as_str())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_of_the_interface_is_known_once() {
        let names: Vec<&str> = models().iter().map(|model| &*model.name).collect();
        for name in [
            "image-1",
            "art-2",
            "art-3",
            "designv3",
            "designv2",
            "video-2",
            "video-2-pro",
            "anime-diffusion-4-5-full",
            "motion-v1",
            "motion-v3-reasoning",
        ] {
            let times = names.iter().filter(|one| **one == name).count();
            assert_eq!(times, 1, "{name} among {names:?}");
        }
    }

    #[test]
    fn a_model_of_two_families_has_the_operations_of_both() {
        let video = models().iter().find(|model| model.name == "video-2");
        let submits = &video.expect("a model").submits;
        let names: Vec<&str> = submits.iter().map(|submit| submit.name).collect();
        assert_eq!(names, ["vidgen.generations", "vidgen_partner.generations"]);
    }
}
