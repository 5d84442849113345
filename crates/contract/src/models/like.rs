//! What a model is like: the operations that may name it, and the built-in word that stands for it there.

use std::sync::LazyLock;

use super::builtin::{Model, builtin_model, models};
use super::definition::ModelDefinition;
use super::facts::{SubmitFacts, facts_of};
use crate::families::FAMILIES;
use crate::names::canonical_name;
use crate::refusal::Refusal;

/// What `like` comes to.
#[derive(Clone)]
pub(super) struct LikeTarget {
    /// The operations whose requests may name the model, of one family; for the settings of a built-in model, of all that
    /// have it.
    pub(super) submits: Vec<&'static SubmitFacts>,
    /// The built-in model that stands for it; `None` in an operation without models.
    pub(super) model: Option<String>,
}

impl LikeTarget {
    /// Reads `family/model`, an operation, or a built-in name that only one family has.
    pub(super) fn of(like: &str) -> Result<Self, Refusal> {
        if let Some((family, model)) = like.split_once('/') {
            return Self::of_family(family, model);
        }
        if let Some(facts) = canonical_name(like).and_then(facts_of) {
            return Ok(Self {
                submits: vec![facts],
                model: facts
                    .default_model
                    .clone()
                    .or_else(|| facts.models.first().cloned()),
            });
        }
        let families: Vec<&str> = FAMILIES
            .iter()
            .map(|family| family.name)
            .filter(|family| !in_family(family, like).is_empty())
            .collect();
        match families.as_slice() {
            [family] => Self::of_family(family, like),
            [] => Err(like_of_nothing(like)),
            several => {
                let names: Vec<_> = several
                    .iter()
                    .map(|family| format!("{family}/{like}"))
                    .collect();
                let names = names.join(" or ");
                let message = format!("several families have {like}; write {names}");
                Err(Refusal::invalid("like", message))
            }
        }
    }

    /// The settings of a built-in model: every operation that has it, of any family.
    pub(super) fn of_builtin(model: &Model) -> Self {
        let submits = model.submits.iter();
        Self {
            submits: submits.filter_map(|submit| facts_of(submit.name)).collect(),
            model: Some(model.name.clone()),
        }
    }

    fn of_family(family: &str, model: &str) -> Result<Self, Refusal> {
        let submits = in_family(family, model);
        if submits.is_empty() {
            return Err(like_of_nothing(&format!("{family}/{model}")));
        }
        Ok(Self {
            submits,
            model: Some(model.to_owned()),
        })
    }

    /// The facts of an operation, where its requests may name the model.
    pub(super) fn in_submit(&self, operation: &str) -> Option<&'static SubmitFacts> {
        let mut submits = self.submits.iter();
        submits
            .find(|facts| facts.submit.name == operation)
            .copied()
    }
}

/// The operations of a family that may name a built-in model.
fn in_family(family: &str, model: &str) -> Vec<&'static SubmitFacts> {
    let family = canonical_name(family);
    let family = family.and_then(|name| FAMILIES.iter().find(|one| one.name == name));
    let submits = family.into_iter().flat_map(|family| family.submits);
    submits
        .filter_map(|submit| facts_of(submit.name))
        .filter(|facts| facts.names(model))
        .collect()
}

fn like_of_nothing(like: &str) -> Refusal {
    /// What a model may be like, as a list for people.
    static KNOWN: LazyLock<String> = LazyLock::new(|| {
        let names: Vec<_> = models()
            .iter()
            .map(|model| format!("{}/{}", model.family.name, model.name))
            .collect();
        names.join(", ")
    });
    let shown: String = like.chars().take(100).collect();
    Refusal::invalid(
        "like",
        format_args!(
            "nothing is called `{shown}`; name a built-in model as family/model ({}) or an operation such as design.generations",
            *KNOWN
        ),
    )
}

/// The operations whose requests may name a model; none for a definition that does not fit any more.
pub fn operations_of(definition: &ModelDefinition) -> Vec<&'static str> {
    let target = target_of(definition);
    let submits = target.iter().flat_map(|target| &target.submits);
    submits.map(|facts| facts.submit.name).collect()
}

pub(super) fn target_of(definition: &ModelDefinition) -> Option<LikeTarget> {
    match &definition.like {
        Some(like) => LikeTarget::of(like).ok(),
        None => builtin_model(&definition.name).map(LikeTarget::of_builtin),
    }
}
