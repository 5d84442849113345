//! What the compiled operations allow, read from their schemas once: the fields of each, their words and bounds, and which of
//! their words each built-in model really takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use super::names::SPELLINGS;
use super::words::{FreeKind, is_same, text_of};
use crate::body::Fields;
use crate::families::FAMILIES;
use crate::family::{Family, SubmitEndpoint};
use crate::operation::ReferencedJobs;

/// What one operation allows.
pub(super) struct SubmitFacts {
    pub(super) family: &'static Family,
    pub(super) submit: &'static SubmitEndpoint,
    /// The field that names a model; `None` for an operation without one.
    pub(super) model_field: Option<&'static str>,
    /// The model of a request that names none.
    pub(super) default_model: Option<String>,
    /// The models it may name.
    pub(super) models: Vec<String>,
    pub(super) fields: BTreeMap<String, FieldFacts>,
    /// The required fields of its example: the smallest request there is.
    base: Fields,
    /// The words of sizes, seconds and qualities that each model takes, by model and field.
    known: HashMap<(String, String), Vec<Value>>,
}

/// What one field allows.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldFacts {
    /// Its words, where only some are allowed.
    pub(super) words: Option<Vec<Value>>,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    /// What kind of value it has: `string`, `integer`, `number`, `boolean`, or something that rules are not for.
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) default: Option<Value>,
}

impl FieldFacts {
    pub(super) fn is_number(&self) -> bool {
        matches!(&*self.kind, "integer" | "number")
    }

    /// Whether it has one value, not a list or an object of them.
    pub(super) fn is_scalar(&self) -> bool {
        self.is_number() || matches!(&*self.kind, "string" | "boolean")
    }
}

impl SubmitFacts {
    /// What the model of a request is called, or `model` where nobody asked for one before.
    pub(super) fn model_spelling(&self) -> &'static str {
        self.model_field.unwrap_or(SPELLINGS[0])
    }

    /// Whether its requests may name a built-in model.
    pub(super) fn names(&self, model: &str) -> bool {
        self.models.iter().any(|one| one == model)
    }

    /// The words of a size, a length or a quality that a model takes.
    pub(super) fn known_words(&self, model: Option<&str>, field: &str) -> &[Value] {
        let key = (model.unwrap_or_default().to_owned(), field.to_owned());
        self.known.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Whether the type of a field takes a value, whatever else is asked for.
    pub(super) fn takes(&self, model: Option<&str>, field: &str, value: &Value) -> bool {
        let fields = self.smallest(model, field, value);
        (self.submit.parse)(fields).is_ok()
    }

    /// Whether a model takes a word, as far as a request without a parent can tell.
    fn accepts(&self, model: Option<&str>, field: &str, word: &Value) -> bool {
        let request = (self.submit.parse)(self.smallest(model, field, word));
        request.is_ok_and(|request| request.order(ReferencedJobs::default()).is_ok())
    }

    fn smallest(&self, model: Option<&str>, field: &str, value: &Value) -> Fields {
        let mut fields = self.base.clone();
        if let (Some(spelling), Some(model)) = (self.model_field, model) {
            fields.insert(spelling.to_owned(), model.into());
        }
        fields.insert(field.to_owned(), value.clone());
        fields
    }

    fn read(family: &'static Family, submit: &'static SubmitEndpoint) -> Self {
        let mut generator = SchemaGenerator::default();
        let schema = (submit.schema)(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        let schema = resolved(&schema, &definitions);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = schema["properties"].as_object();
        let fields: BTreeMap<String, FieldFacts> = properties
            .into_iter()
            .flatten()
            .map(|(name, field)| {
                let mut facts = field_facts(field, &definitions);
                facts.required = required.contains(&&**name);
                (name.clone(), facts)
            })
            .collect();
        let model_field = SPELLINGS
            .into_iter()
            .find(|name| fields.contains_key(*name));
        let model = model_field.and_then(|name| fields.get(name));
        let words = model.and_then(|facts| facts.words.clone());
        let mut base: Fields = serde_json::from_str(submit.example).unwrap_or_default();
        base.retain(|name, _| required.contains(&&**name));
        let mut facts = Self {
            family,
            submit,
            model_field,
            default_model: model
                .and_then(|facts| facts.default.as_ref())
                .map(|word| text_of(word).into_owned()),
            models: words
                .unwrap_or_default()
                .iter()
                .map(|word| text_of(word).into_owned())
                .collect(),
            fields,
            base,
            known: HashMap::new(),
        };
        facts.known = facts.probe();
        facts
    }

    /// Finds out which words each model takes: the schema has those of all models of an operation.
    fn probe(&self) -> HashMap<(String, String), Vec<Value>> {
        let mut models: Vec<Option<&str>> =
            self.models.iter().map(|model| Some(&**model)).collect();
        if models.is_empty() {
            models.push(None);
        }
        let mut known = HashMap::new();
        for (field, facts) in &self.fields {
            let Some(words) = facts
                .words
                .as_ref()
                .filter(|_| FreeKind::of(field).is_some())
            else {
                continue;
            };
            for model in &models {
                let taken = words
                    .iter()
                    .filter(|word| self.accepts(*model, field, word));
                let key = (model.unwrap_or_default().to_owned(), field.clone());
                known.insert(key, taken.cloned().collect());
            }
        }
        known
    }
}

/// The facts of every operation, by its name.
fn table() -> &'static HashMap<&'static str, SubmitFacts> {
    static TABLE: LazyLock<HashMap<&'static str, SubmitFacts>> = LazyLock::new(|| {
        let pairs = FAMILIES
            .iter()
            .flat_map(|family| family.submits.iter().map(move |submit| (family, submit)));
        pairs
            .map(|(family, submit)| (submit.name, SubmitFacts::read(family, submit)))
            .collect()
    });
    &TABLE
}

/// What an operation allows.
pub(super) fn facts_of(operation: &str) -> Option<&'static SubmitFacts> {
    table().get(operation)
}

/// The word of a list that is the same as a value.
pub(super) fn same_word<'a>(
    words: &'a [Value],
    kind: Option<FreeKind>,
    value: &Value,
) -> Option<&'a Value> {
    words.iter().find(|word| is_same(kind, word, value))
}

/// The definition that a schema refers to, or the schema itself.
fn resolved<'a>(schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    let name = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next());
    name.and_then(|name| definitions.get(name))
        .unwrap_or(schema)
}

/// Reads the schema of a field. One that may be null says so in its type, its words or a choice; null means absent.
fn field_facts(field: &Value, definitions: &Map<String, Value>) -> FieldFacts {
    let default = field
        .get("default")
        .filter(|value| !value.is_null())
        .cloned();
    let mut shape = resolved(field, definitions);
    if let Some(choices) = shape["anyOf"].as_array() {
        let real = choices.iter().find(|choice| choice["type"] != "null");
        shape = real.map_or(shape, |real| resolved(real, definitions));
    }
    let kind = match &shape["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let real = kinds
                .iter()
                .filter_map(Value::as_str)
                .find(|kind| *kind != "null");
            real.unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    let words = shape["enum"].as_array().map(|words| {
        let real = words.iter().filter(|word| !word.is_null());
        real.cloned().collect()
    });
    FieldFacts {
        words,
        least: shape["minimum"].as_f64(),
        most: shape["maximum"].as_f64(),
        kind,
        required: false,
        default,
    }
}
