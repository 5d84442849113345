//! What the compiled operations allow, read from their schemas once: the fields of each, their words and bounds, and which of
//! their words each built-in model really takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, OnceLock};

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
    /// The values of each field that each model takes, by model and field. Finding out takes a request for each of them.
    known: OnceLock<HashMap<(String, String), Vec<Value>>>,
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

    /// The values to try: every word, or the ends of what a number may be; none of what no single value tells anything about.
    fn samples(&self) -> Vec<Value> {
        if let Some(words) = &self.words {
            return words.clone();
        }
        let whole = |bound: Option<f64>| bound.map(|bound| Value::from(bound as i64));
        match &*self.kind {
            "integer" => {
                let ends = [whole(self.least), whole(self.most)];
                ends.into_iter().flatten().collect()
            }
            "boolean" => vec![Value::Bool(false), Value::Bool(true)],
            _ => Vec::new(),
        }
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

    /// The words of a field that a model takes, where the field has words.
    pub(super) fn known_words(&self, model: Option<&str>, field: &str) -> &[Value] {
        let has_words = |facts: &FieldFacts| facts.words.is_some();
        if !self.fields.get(field).is_some_and(has_words) {
            return &[];
        }
        self.known_values(model, field).unwrap_or_default()
    }

    /// Whether requests of a model may have a field at all: not where only other models take a value of it.
    pub(super) fn is_open(&self, model: Option<&str>, field: &str) -> bool {
        let takes = |model| {
            let known = self.known_values(model, field);
            known.is_none_or(|values| !values.is_empty())
        };
        let mut models = self.models.iter();
        takes(model) || !models.any(|other| takes(Some(&**other)))
    }

    /// The values of a field that were tried and are taken; `None` of a field that none was tried of.
    fn known_values(&self, model: Option<&str>, field: &str) -> Option<&[Value]> {
        let known = self.known.get_or_init(|| self.probe());
        let key = (model.unwrap_or_default().to_owned(), field.to_owned());
        known.get(&key).map(Vec::as_slice)
    }

    /// Whether a request of a model that does not have a field says all the same what holds for it. Of an operation that follows
    /// another job only that job can tell.
    pub(super) fn is_settled(&self, model: Option<&str>, field: &str) -> bool {
        let mut fields = self.base.clone();
        self.name_model(&mut fields, model);
        fields.remove(field);
        let Ok(request) = (self.submit.parse)(fields) else {
            return true;
        };
        let Ok(order) = request.order(ReferencedJobs::default()) else {
            return true;
        };
        let stored = request.to_fields();
        let said = order.resolved.get(field).or(stored.get(field));
        said.is_some_and(|value| !value.is_null())
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
        self.name_model(&mut fields, model);
        fields.insert(field.to_owned(), value.clone());
        fields
    }

    fn name_model(&self, fields: &mut Fields, model: Option<&str>) {
        if let (Some(spelling), Some(model)) = (self.model_field, model) {
            fields.insert(spelling.to_owned(), model.into());
        }
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
        Self {
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
            known: OnceLock::new(),
        }
    }

    /// Finds out which values each model takes: the schema has those of all models of an operation. A value that no model takes
    /// by itself may need another field beside it, where the model takes the field at all; of sizes, lengths and qualities only
    /// what is taken for sure is known.
    fn probe(&self) -> HashMap<(String, String), Vec<Value>> {
        let mut models: Vec<Option<&str>> =
            self.models.iter().map(|model| Some(&**model)).collect();
        if models.is_empty() {
            models.push(None);
        }
        let mut known: HashMap<(String, String), Vec<Value>> = HashMap::new();
        for (field, facts) in &self.fields {
            let key = |model: Option<&str>| (model.unwrap_or_default().to_owned(), field.clone());
            let mut untaken = Vec::new();
            for value in facts.samples() {
                let mut takers = models.clone();
                takers.retain(|model| self.accepts(*model, field, &value));
                for model in &models {
                    let values = known.entry(key(*model)).or_default();
                    values.extend(takers.contains(model).then(|| value.clone()));
                }
                untaken.extend(takers.is_empty().then_some(value));
            }
            if FreeKind::of(field).is_some() {
                continue;
            }
            let is_taken = models.iter().any(|model| {
                known
                    .get(&key(*model))
                    .is_some_and(|values| !values.is_empty())
            });
            for model in &models {
                if let Some(values) = known.get_mut(&key(*model))
                    && (!values.is_empty() || !is_taken)
                {
                    values.extend(untaken.iter().cloned());
                }
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
