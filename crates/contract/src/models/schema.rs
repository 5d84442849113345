//! The schema of a request with the models of the catalogue in it, for documents and forms.

use std::sync::Arc;

use serde_json::{Value, json};

use super::catalogue::ModelCatalogue;
use super::facts::facts_of;
use super::row::CatalogueRow;
use super::words::{FreeKind, is_same, seconds, text_of};
use crate::family::SubmitEndpoint;

/// The operator's models at one moment: some retire.
#[derive(Clone, Copy)]
pub struct DatedModels<'a> {
    models: &'a ModelCatalogue,
    now_ms: i64,
    /// Whose models are among them besides those that everybody may name.
    group: Option<&'a str>,
}

impl ModelCatalogue {
    /// The models as they are at a moment, in milliseconds since 1970.
    pub fn at(&self, now_ms: i64) -> DatedModels<'_> {
        DatedModels {
            models: self,
            now_ms,
            group: None,
        }
    }

    /// Whether any model is sold to a group by its name.
    pub fn is_sold_to(&self, group: &str) -> bool {
        let mut groups = self.rows().flat_map(|row| &row.definition.groups);
        groups.any(|name| name.eq_ignore_ascii_case(group))
    }

    /// When the next of them retires; `None` when none does.
    pub fn changes_ms(&self, now_ms: i64) -> Option<i64> {
        let rows = self.0.rows.values();
        let days = rows.filter_map(|row| row.retires_ms);
        days.filter(|day| *day > now_ms).min()
    }
}

impl<'a> DatedModels<'a> {
    /// The same with the models that a group's accounts may name.
    #[must_use]
    pub fn with_group(self, group: &'a str) -> Self {
        Self {
            group: Some(group),
            ..self
        }
    }

    /// Whether operators said nothing, now or before.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// Widens the schema of a request (the object with its `properties`) by the models that everybody may name, those of the
    /// group if one was given, and by the sizes, lengths and qualities of theirs.
    pub fn schema(&self, submit: &SubmitEndpoint, schema: &mut Value) {
        let index = &self.models.0;
        let (Some(facts), Some(rows)) = (facts_of(submit.name), index.by_submit.get(submit.name))
        else {
            return;
        };
        let field = facts.model_spelling();
        let is_open = |row: &&Arc<CatalogueRow>| {
            let definition = &row.revision.definition;
            let own = self.group;
            definition.groups.is_empty() || own.is_some_and(|own| definition.is_visible_to(own))
        };
        let open = rows.iter().filter(|row| row.is_usable(self.now_ms));
        let open = open.filter(is_open);
        for row in open {
            if !row.builtin {
                add_model(
                    &mut schema["properties"][field],
                    row.name(),
                    facts.model_field.is_some(),
                );
            }
            for alias in &row.revision.definition.aliases {
                add_model(
                    &mut schema["properties"][field],
                    alias,
                    facts.model_field.is_some(),
                );
            }
            add_words(schema, row);
        }
        let closed = rows
            .iter()
            .filter(|row| row.builtin && !row.revision.definition.enabled);
        for row in closed {
            if let Some(words) = schema["properties"][field]["enum"].as_array_mut() {
                words.retain(|word| word != row.name());
            }
        }
    }
}

/// Adds a name to a field that names models, which an operation may not have had.
fn add_model(field: &mut Value, name: &str, known: bool) {
    if !known && !field.is_object() {
        *field = json!({
            "type": "string",
            "description": "The model that makes it, of those that the operator added; another name is ignored.",
            "enum": [],
        });
    }
    add_word(field, Value::from(name));
}

fn add_words(schema: &mut Value, row: &CatalogueRow) {
    for (name, rule) in &row.revision.definition.fields {
        // Not every operation of the family has every field of it.
        let Some(field) = schema["properties"].get_mut(name.as_str()) else {
            continue;
        };
        let Some(kind) = FreeKind::of(name).filter(|_| field.is_object()) else {
            continue;
        };
        for word in rule.allowed.iter().flatten() {
            add_word(field, in_type(field, kind, word));
        }
        // A length between two bounds is no list any more.
        if (rule.min.is_some() || rule.max.is_some())
            && let Some(field) = field.as_object_mut()
        {
            field.remove("enum");
        }
    }
}

/// A word in the type that the field has.
fn in_type(field: &Value, kind: FreeKind, word: &Value) -> Value {
    let known = field["enum"].as_array().and_then(|words| words.first());
    match (kind, known) {
        (FreeKind::Seconds, Some(Value::Number(_))) => {
            seconds(word).map_or_else(|| word.clone(), Value::from)
        }
        (_, Some(Value::String(_))) => text_of(word).into_owned().into(),
        _ => word.clone(),
    }
}

fn add_word(field: &mut Value, word: Value) {
    if let Some(words) = field["enum"].as_array_mut()
        && !words.iter().any(|known| is_same(None, known, &word))
    {
        words.push(word);
    }
}
