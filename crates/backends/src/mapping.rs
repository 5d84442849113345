//! How our fields become the inputs of any model: `{{prompt}}` inside a text is replaced by words, a text that is nothing
//! but a placeholder becomes the value itself, and an input whose value is not given is left out.

mod order_values;
mod placeholder_set;
mod placeholders;
mod values;

use std::collections::BTreeMap;

use atelier_contract::brief::{Brief, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::backend::{Class, Fault, Work};
use crate::field_error::FieldError;
use crate::inputs::unsupported;
use crate::task_vendor::{Capabilities, ImageCapabilities, Lengths, VideoCapabilities};
use crate::vendor_errors;
pub(crate) use order_values::OrderValues;
pub(crate) use placeholder_set::PlaceholderSet;
pub(crate) use placeholders::pieces;
use values::PlaceholderValues;
pub(crate) use values::UploadFn;

/// A model and what its inputs are filled with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Mapping {
    /// The vendor's name of the model.
    pub(crate) model: String,
    /// Values for the inputs of the model; placeholders are filled from the request.
    pub(crate) input: Map<String, Value>,
    /// The lengths that it offers; any when empty.
    seconds: Vec<u32>,
    /// The shapes that it offers, such as `16:9`.
    ratios: Vec<String>,
    /// What it serves without being named for it, in tables that come with a vendor.
    operations: Vec<String>,
}

/// A model that has a mapping already, or one with its own.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum MappingSetting {
    Ready(String),
    Own(Mapping),
}

/// The models that an operator may set by mappings. Flattened into the settings of a vendor, so its fields have no comments:
/// they would be shown in every form.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct MappedModelSettings {
    models: BTreeMap<String, MappingSetting>,
    grids: bool,
}

/// The mappings of a worker account, by operation; `operation/image` and `operation/mask` are preferred where there are
/// pictures or a mask.
#[derive(Debug)]
pub(crate) struct Mappings(BTreeMap<String, Mapping>);

impl Mappings {
    /// The written ones, or every ready one when nothing is written.
    pub(crate) fn read(ready: &str, settings: MappedModelSettings) -> Result<Self, FieldError> {
        let MappedModelSettings {
            models: written,
            grids,
        } = settings;
        let ready: Vec<Mapping> = serde_json::from_str(ready).map_err(FieldError::settings)?;
        let mut all = BTreeMap::new();
        if written.is_empty() {
            for mapping in ready {
                for key in mapping.operations.clone() {
                    let (operation, _) = split(&key);
                    let in_fours = atelier_contract::operation(operation)
                        .is_some_and(|(_, submit)| submit.in_fours && !films(submit));
                    if grids || !in_fours {
                        all.entry(key).or_insert_with(|| mapping.clone());
                    }
                }
            }
            return Ok(Self(all));
        }
        for (key, written) in written {
            let mapping = match written {
                MappingSetting::Own(mapping) => mapping,
                MappingSetting::Ready(model) => {
                    let known = ready.iter().find(|mapping| mapping.model == model);
                    known.cloned().ok_or_else(|| {
                        let models: Vec<_> = ready.iter().map(|one| &*one.model).collect();
                        let why = format!(
                            "{model} has no ready mapping, write one with model and input; ready are {}",
                            models.join(", ")
                        );
                        FieldError::new(format!("models.{key}"), why)
                    })?
                }
            };
            check(&key, &mapping)?;
            all.insert(key, mapping);
        }
        Ok(Self(all))
    }

    /// Every model with the names of the inputs that it is sent.
    pub(crate) fn models(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for mapping in self.0.values() {
            let names = models.entry(&mapping.model).or_default();
            names.extend(mapping.input.keys().map(String::as_str));
        }
        models
    }

    /// Compares the inputs that a model is sent with those it has.
    pub(crate) fn check_inputs(model: &str, sent: &[&str], known: &[&str]) -> Result<(), Fault> {
        match sent.iter().find(|name| !known.contains(name)) {
            Some(other) => {
                let detail = format!("{model} has no input {other}, it has {}", known.join(", "));
                let detail = vendor_errors::shortened(&detail);
                Err(Fault::vendor(Class::Unable, detail))
            }
            None => Ok(()),
        }
    }

    /// Whether there is a mapping for an operation.
    pub(crate) fn serves(&self, operation: &str) -> bool {
        self.0.keys().any(|key| split(key).0 == operation)
    }

    /// The mapping for a piece of work.
    pub(crate) fn of(&self, work: &Work) -> Result<&Mapping, Fault> {
        self.for_brief(&work.operation, &work.brief)
    }

    /// The mapping for a request.
    fn for_brief(&self, operation: &str, brief: &Brief) -> Result<&Mapping, Fault> {
        let variant = |name: &str| self.0.get(&format!("{operation}/{name}"));
        let masked = variant("mask").filter(|_| brief.mask.is_some());
        let pictured = || variant("image").filter(|_| !brief.sources.is_empty());
        let found = masked.or_else(pictured).or_else(|| self.0.get(operation));
        found.ok_or_else(|| unsupported("prompt", "no back end for such a request is available"))
    }
}

impl Mappings {
    /// What the model for a request can do.
    pub(crate) fn capabilities(
        &self,
        operation: &str,
        brief: &Brief,
    ) -> Result<Capabilities, Fault> {
        let mapping = self.for_brief(operation, brief)?;
        mapping.places().check_frames(brief)?;
        Ok(Capabilities {
            films: Some(mapping.films()),
            pictures: Some(mapping.pictures()),
            seeds: mapping.places().has(&["seed"]),
            strength: mapping.places().has(&["strength"]),
            ..Capabilities::default()
        })
    }
}

impl Mapping {
    /// The vendor's name of the model for a request: the one that its route says gets the same inputs.
    pub(crate) fn model_for<'a>(&'a self, brief: &'a Brief) -> &'a str {
        brief.vendor_model.as_deref().unwrap_or(&self.model)
    }

    /// What it has places for.
    fn places(&self) -> PlaceholderSet {
        let mut found = Vec::new();
        self.input
            .values()
            .for_each(|value| placeholders::names(value, &mut found));
        found.into_iter().collect()
    }

    /// What its model can do, if it makes videos.
    fn films(&self) -> VideoCapabilities {
        self.places().films(match self.seconds.as_slice() {
            [] => Lengths::Between(1, 60),
            some => Lengths::Of(some.to_vec()),
        })
    }

    /// What its model can do, if it makes pictures.
    fn pictures(&self) -> ImageCapabilities {
        self.places().pictures()
    }

    /// What its placeholders stand for in a piece of work, its pictures put where the vendor finds them.
    pub(crate) async fn values(
        &self,
        work: &Work,
        place: UploadFn<'_>,
    ) -> Result<PlaceholderValues, Fault> {
        self.places().check_frames(&work.brief)?;
        PlaceholderValues::of_work(work, &self.films(), &self.pictures(), place).await
    }

    /// The inputs for a piece of work.
    pub(crate) fn filled(&self, values: &PlaceholderValues, place: u32) -> Value {
        placeholders::filled(&self.input, &|name| values.of(name, place, &self.ratios))
    }
}

fn films(submit: &atelier_contract::family::SubmitEndpoint) -> bool {
    submit.makes_only(&[Task::Animate, Task::Extend(0)])
}

fn split(key: &str) -> (&str, Option<&str>) {
    match key.split_once('/') {
        Some((operation, variant)) => (operation, Some(variant)),
        None => (key, None),
    }
}

fn check(key: &str, mapping: &Mapping) -> Result<(), FieldError> {
    let (operation, variant) = split(key);
    let wrong = |why: String| Err(FieldError::new(format!("models.{key}"), why));
    if atelier_contract::operation(operation).is_none() {
        return wrong(atelier_contract::unknown_name(operation));
    }
    if !matches!(variant, None | Some("image" | "mask")) {
        return wrong("is an unknown variant, there are image and mask".to_owned());
    }
    if mapping.model.is_empty() || mapping.input.is_empty() {
        return wrong("model and input must be given".to_owned());
    }
    let mut found = Vec::new();
    for value in mapping.input.values() {
        placeholders::names(value, &mut found);
    }
    match found.iter().find(|name| !values::NAMES.contains(name)) {
        Some(other) => wrong(format!(
            "{{{{{other}}}}} is not a placeholder, there are {}",
            values::NAMES.join(", ")
        )),
        None => Ok(()),
    }
}
