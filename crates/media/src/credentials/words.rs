//! What a manifest says, in the words of the standard.

use serde_json::{Value, json};

use super::statement::{Act, Ingredient, Relation, Statement};

const GENERATED: &str = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";
const COMPOSITE: &str =
    "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia";
/// The parameter of an action that names the model.
const MODEL: &str = "atelier.model";

impl Act {
    const fn word(self) -> &'static str {
        match self {
            Self::Created => "c2pa.created",
            Self::Edited => "c2pa.edited",
            Self::Transcoded => "c2pa.transcoded",
            Self::Repackaged => "c2pa.repackaged",
        }
    }
}

impl Relation {
    const fn word(self) -> &'static str {
        match self {
            Self::Parent => "parentOf",
            Self::Component => "componentOf",
            Self::Input => "inputTo",
        }
    }
}

/// The manifest without its ingredients.
pub(super) fn manifest(
    statement: &Statement<'_>,
    media_type: &str,
    ingredients: &[Ingredient<'_>],
) -> Value {
    let (name, version) = statement.program;
    let labels = |relation: Relation| -> Vec<String> {
        let all = ingredients.iter().enumerate();
        let these = all.filter(|(_, one)| one.relation == relation);
        these.map(|(number, _)| label(number)).collect()
    };
    let agent = json!({ "name": name, "version": version });
    let (parents, components) = (labels(Relation::Parent), labels(Relation::Component));
    let mut actions = Vec::new();
    // The rules want a file to begin as an original or as somebody else's.
    if !parents.is_empty() {
        actions.push(json!({
            "action": "c2pa.opened",
            "when": statement.when,
            "softwareAgent": agent,
            "parameters": { "ingredientIds": parents },
        }));
    }
    let mut parameters = json!({});
    if !statement.model.is_empty() {
        parameters[MODEL] = statement.model.into();
    }
    let inputs = labels(Relation::Input);
    if !inputs.is_empty() && parents.is_empty() {
        parameters["ingredientIds"] = inputs.into();
    }
    actions.push(json!({
        "action": if parents.is_empty() { Act::Created } else { statement.act }.word(),
        "when": statement.when,
        "softwareAgent": agent,
        "digitalSourceType": if statement.composite { COMPOSITE } else { GENERATED },
        "parameters": parameters,
    }));
    for component in components {
        actions.push(json!({
            "action": "c2pa.placed",
            "when": statement.when,
            "softwareAgent": agent,
            "parameters": { "ingredientIds": [component] },
        }));
    }
    json!({
        "claim_generator_info": [agent],
        "format": media_type,
        "assertions": [{ "label": "c2pa.actions.v2", "data": { "actions": actions } }],
    })
}

/// An ingredient, as it is told to be added.
pub(super) fn ingredient(number: usize, one: &Ingredient<'_>, media_type: Option<&str>) -> Value {
    let mut told = json!({
        "title": one.title,
        "relationship": one.relation.word(),
        "label": label(number),
    });
    if let Some(media_type) = media_type {
        told["format"] = media_type.into();
    }
    told
}

/// How actions name an ingredient.
fn label(number: usize) -> String {
    format!("ingredient-{number}")
}
