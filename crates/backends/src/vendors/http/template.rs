//! A JSON document with placeholders. Values are put in as values, so no text can end a string or add a field; what comes in
//! is not looked at for placeholders again, so nothing loops.
//!
//! An object `{"$each": "images", "$do": …}` inside a list stands for one entry for each picture, and
//! `{"$if": "image", "$then": …, "$else": …}` for one of two values. There is nothing else of the kind.

use serde_json::{Map, Value};

use super::names::{ITEM, LIST, PICTURES, TemplateScope};
use super::pointer::text_of;
use super::text::{TextTemplate, ValueOf};
use crate::field_error::FieldError;

/// A document is not deeper.
const MOST_DEPTH: usize = 24;
/// Pictures that a list is reckoned to have, when it is asked how large a call may become.
const LIST_WEIGHT: usize = 16;

/// A document with places for values.
#[derive(Clone, Debug)]
pub(super) enum JsonTemplate {
    Plain(Value),
    Text(TextTemplate),
    List(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
    /// An entry for each picture.
    Each(Box<JsonTemplate>),
    Choice(Box<ChoiceTemplate>),
}

/// One value where something is given, another where not.
#[derive(Clone, Debug)]
pub(super) struct ChoiceTemplate {
    name: String,
    /// The values that count; any when empty.
    is: Vec<String>,
    then: Option<JsonTemplate>,
    otherwise: Option<JsonTemplate>,
}

impl JsonTemplate {
    /// A document whose placeholders are known where it stands.
    pub(super) fn parse(
        written: &Value,
        scope: &TemplateScope<'_>,
        place: &str,
    ) -> Result<Self, FieldError> {
        Parsing { scope, depth: 0 }.one(written, place, false)
    }

    /// The document with its placeholders filled; `None` where all of it is left out.
    pub(super) fn filled(&self, of: ValueOf<'_>) -> Option<Value> {
        match self {
            Self::Plain(value) => Some(value.clone()),
            Self::Text(text) => text.value(of),
            Self::List(all) => {
                let mut list = Vec::new();
                for one in all {
                    match one {
                        Self::Each(each) => list.extend(entries(each, of)),
                        one => list.extend(one.filled(of)),
                    }
                }
                Some(Value::Array(list))
            }
            Self::Object(fields) => {
                let pairs = fields.iter();
                let pairs =
                    pairs.filter_map(|(name, value)| Some((name.clone(), value.filled(of)?)));
                Some(Value::Object(pairs.collect()))
            }
            Self::Each(each) => Some(Value::Array(entries(each, of))),
            Self::Choice(choice) => choice.chosen(of)?.filled(of),
        }
    }

    /// Shows every placeholder, with how often its value may come to stand in the document.
    pub(super) fn visit(&self, weight: usize, see: &mut dyn FnMut(&str, usize)) {
        match self {
            Self::Plain(_) => {}
            Self::Text(text) => text.names().for_each(|name| see(name, weight)),
            Self::List(all) => all.iter().for_each(|one| one.visit(weight, see)),
            Self::Object(fields) => fields.iter().for_each(|(_, one)| one.visit(weight, see)),
            Self::Each(each) => {
                see(LIST, 0);
                each.visit(weight * LIST_WEIGHT, see);
            }
            Self::Choice(choice) => {
                see(&choice.name, 0);
                for one in choice.then.iter().chain(&choice.otherwise) {
                    one.visit(weight, see);
                }
            }
        }
    }
}

/// An entry for each picture of the list.
fn entries(each: &JsonTemplate, of: ValueOf<'_>) -> Vec<Value> {
    // The types alone: whoever counts pictures needs none of their bytes.
    let count = match of(&format!("{LIST}.type")) {
        Value::Array(all) => all.len(),
        _ => 0,
    };
    let entry = |index: usize| {
        each.filled(&|name: &str| match name.strip_prefix(ITEM) {
            Some(form) if form.is_empty() || form.starts_with('.') => {
                of(&format!("{LIST}#{index}{form}"))
            }
            _ => of(name),
        })
    };
    (0..count).filter_map(entry).collect()
}

impl ChoiceTemplate {
    fn chosen(&self, of: ValueOf<'_>) -> Option<&JsonTemplate> {
        let value = if PICTURES.contains(&&*self.name) || self.name == LIST {
            of(&format!("{}.type", self.name))
        } else {
            of(&self.name)
        };
        let holds = match &value {
            Value::Null | Value::Bool(false) => false,
            value if self.is.is_empty() => *value != Value::String(String::new()),
            value => text_of(value).is_some_and(|text| self.is.contains(&text)),
        };
        if holds {
            self.then.as_ref()
        } else {
            self.otherwise.as_ref()
        }
    }
}

struct Parsing<'a> {
    scope: &'a TemplateScope<'a>,
    depth: usize,
}

impl Parsing<'_> {
    fn deeper(&self) -> Parsing<'_> {
        Parsing {
            scope: self.scope,
            depth: self.depth + 1,
        }
    }

    fn one(
        &self,
        written: &Value,
        place: &str,
        is_entry: bool,
    ) -> Result<JsonTemplate, FieldError> {
        if self.depth > MOST_DEPTH {
            let why = format!("is deeper than {MOST_DEPTH} levels");
            return Err(FieldError::new(place, why));
        }
        let inner = self.deeper();
        Ok(match written {
            Value::String(text) if text.contains("{{") => {
                JsonTemplate::Text(TextTemplate::parse(text, self.scope, place)?)
            }
            Value::Array(all) => {
                let entry = |(index, one)| inner.one(one, &format!("{place}.{index}"), true);
                JsonTemplate::List(
                    all.iter()
                        .enumerate()
                        .map(entry)
                        .collect::<Result<_, _>>()?,
                )
            }
            Value::Object(fields) if fields.contains_key("$each") => {
                self.each(fields, place, is_entry)?
            }
            Value::Object(fields) if fields.contains_key("$if") => self.choice(fields, place)?,
            Value::Object(fields) => {
                let field = |(name, one): (&String, &Value)| {
                    let place = format!("{place}.{name}");
                    Ok((plain_name(name, &place)?, inner.one(one, &place, false)?))
                };
                JsonTemplate::Object(fields.iter().map(field).collect::<Result<_, _>>()?)
            }
            plain => JsonTemplate::Plain(plain.clone()),
        })
    }

    fn each(
        &self,
        fields: &Map<String, Value>,
        place: &str,
        is_entry: bool,
    ) -> Result<JsonTemplate, FieldError> {
        let wrong = |why: &str| Err(FieldError::new(place, why));
        if self.scope.in_list {
            return wrong("goes through a list inside another one");
        }
        if fields["$each"] != LIST {
            return wrong("$each must be \"images\"");
        }
        if !is_entry {
            return wrong(
                "$each must stand in a list, such as [{\"$each\": \"images\", \"$do\": …}]",
            );
        }
        known(fields, &["$each", "$do"], place)?;
        let Some(each) = fields.get("$do") else {
            return wrong("$do is missing");
        };
        let scope = TemplateScope {
            in_list: true,
            ..*self.scope
        };
        let inside = Parsing {
            scope: &scope,
            depth: self.depth + 1,
        };
        let each = inside.one(each, &format!("{place}.$do"), false)?;
        Ok(JsonTemplate::Each(Box::new(each)))
    }

    fn choice(&self, fields: &Map<String, Value>, place: &str) -> Result<JsonTemplate, FieldError> {
        let wrong = |why: String| FieldError::new(place, why);
        known(fields, &["$if", "$is", "$then", "$else"], place)?;
        let name = fields["$if"].as_str();
        let name = name.ok_or_else(|| wrong("$if must name a placeholder".to_owned()))?;
        self.scope.check(name).map_err(wrong)?;
        let is = match fields.get("$is") {
            None => Vec::new(),
            Some(Value::Array(all)) => all.iter().filter_map(text_of).collect(),
            Some(one) => text_of(one).into_iter().collect(),
        };
        if fields.contains_key("$is") && is.is_empty() {
            return Err(wrong(
                "$is must be a word, a number or a list of them".to_owned(),
            ));
        }
        let branch = |name: &str| {
            let branch = fields.get(name);
            branch
                .map(|one| self.deeper().one(one, &format!("{place}.{name}"), false))
                .transpose()
        };
        let (then, otherwise) = (branch("$then")?, branch("$else")?);
        if then.is_none() && otherwise.is_none() {
            return Err(wrong("$then is missing".to_owned()));
        }
        let choice = ChoiceTemplate {
            name: name.to_owned(),
            is,
            then,
            otherwise,
        };
        Ok(JsonTemplate::Choice(Box::new(choice)))
    }
}

/// Refuses a field that is none of these.
fn known(fields: &Map<String, Value>, names: &[&str], place: &str) -> Result<(), FieldError> {
    match fields.keys().find(|name| !names.contains(&name.as_str())) {
        Some(other) => {
            let why = format!(
                "{other} does not belong there, only {} do",
                names.join(", ")
            );
            Err(FieldError::new(place, why))
        }
        None => Ok(()),
    }
}

/// The name of a field; one that begins with a dollar is written with two.
fn plain_name(name: &str, place: &str) -> Result<String, FieldError> {
    match name.strip_prefix('$') {
        None => Ok(name.to_owned()),
        Some(rest) if rest.starts_with('$') => Ok(rest.to_owned()),
        Some(_) => {
            let why = "is not known, there are $each with $do, and $if with $is, $then and $else; write $$ for a field \
                       whose name begins with a dollar";
            Err(FieldError::new(place, why))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::super::names::TemplatePlace;
    use super::*;

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|&one| one.to_owned()).collect()
    }

    fn parsed(written: &Value) -> Result<JsonTemplate, FieldError> {
        let (with, none) = (names(&["route"]), names(&[]));
        let scope = TemplateScope {
            place: TemplatePlace::Order,
            task: &none,
            with: &with,
            maps: &none,
            in_list: false,
        };
        JsonTemplate::parse(written, &scope, "json")
    }

    fn filled(written: &Value, of: impl Fn(&str) -> Value) -> Value {
        let template = parsed(written).unwrap_or_else(|wrong| panic!("{wrong}"));
        template.filled(&of).expect("a document")
    }

    #[test]
    fn values_keep_their_kind_and_what_is_not_given_is_left_out() {
        let written = json!({
            "prompt": "{{prompt}}", "seconds": "{{seconds}}", "text": "{{seconds}}s", "seed": "{{seed}}",
            "note": "seed {{seed}}", "quality": "{{quality|high}}", "fixed": [1, true, null], "$$ref": "a",
        });
        let made = filled(&written, |name| match name {
            "prompt" => json!("a \"{{seconds}}\" \\ \u{7} cat"),
            "seconds" => json!(5),
            _ => Value::Null,
        });
        assert_eq!(
            made,
            json!({"prompt": "a \"{{seconds}}\" \\ \u{7} cat", "seconds": 5, "text": "5s", "quality": "high",
                "fixed": [1, true, null], "$ref": "a"})
        );
        // Whatever a prompt has, the document is one that parses, with the very words in it.
        let again: Value = serde_json::from_str(&made.to_string()).expect("JSON");
        assert_eq!(again, made);
    }

    #[test]
    fn a_list_has_an_entry_for_each_picture_and_branches_are_chosen() {
        let written = json!({
            "content": [
                {"type": "text", "text": "{{prompt}}"},
                {"$each": "images", "$do": {"url": "{{item}}", "bare": "{{item.base64}}", "for": "{{prompt}}"}},
            ],
            "mode": {"$if": "images", "$then": "edit", "$else": "draw"},
            "long": {"$if": "seconds", "$is": [10, 15], "$then": true},
            "hook": {"$if": "hook", "$then": {"url": "{{hook}}"}},
        });
        let of = |images: Vec<Value>, seconds: u32| {
            move |name: &str| match name {
                "prompt" => json!("x"),
                "images.type" if images.is_empty() => Value::Null,
                "images.type" => json!(vec!["image/png"; images.len()]),
                "images#0" => images[0].clone(),
                "images#1" => images[1].clone(),
                "images#0.base64" | "images#1.base64" => json!("b"),
                "seconds" => json!(seconds),
                _ => Value::Null,
            }
        };
        let two = vec![json!("data:1"), json!("data:2")];
        assert_eq!(
            filled(&written, of(two, 10)),
            json!({"content": [{"type": "text", "text": "x"}, {"url": "data:1", "bare": "b", "for": "x"},
                {"url": "data:2", "bare": "b", "for": "x"}], "mode": "edit", "long": true})
        );
        assert_eq!(
            filled(&written, of(vec![], 5)),
            json!({"content": [{"type": "text", "text": "x"}], "mode": "draw"})
        );
    }

    #[test]
    fn what_cannot_be_said_is_refused_with_its_place() {
        let mut deep = json!("{{prompt}}");
        for _ in 0..40 {
            deep = json!([deep]);
        }
        for (written, place, word) in [
            (
                json!({"a": {"b": "{{prmpt}}"}}),
                "json.a.b",
                "there are prompt",
            ),
            (
                json!({"a": "{{job.prompt}}"}),
                "json.a",
                "not a placeholder",
            ),
            (
                json!({"a": "{{parent.prompt}}"}),
                "json.a",
                "not a placeholder",
            ),
            (
                json!({"a": "{{credential}}"}),
                "json.a",
                "not a placeholder",
            ),
            (json!({"a": "{{task.id}}"}), "json.a", "not a placeholder"),
            (json!({"a": "{{with.other}}"}), "json.a", "with.route"),
            (json!({"a": "{{item}}"}), "json.a", "not a placeholder"),
            (json!({"a": "{{prompt"}), "json.a", "without }}"),
            (json!({"a": {"$for": "images"}}), "json.a.$for", "$each"),
            (
                json!({"$each": "images", "$do": 1}),
                "json",
                "stand in a list",
            ),
            (json!([{"$each": "prompt", "$do": 1}]), "json.0", "images"),
            (json!([{"$each": "images"}]), "json.0", "$do"),
            (
                json!([{"$each": "images", "$do": [{"$each": "images", "$do": 1}]}]),
                "json.0.$do.0",
                "inside another",
            ),
            (json!({"$if": "imge", "$then": 1}), "json", "placeholder"),
            (json!({"$if": "image", "then": 1}), "json", "then"),
            (json!({"$if": "image"}), "json", "$then"),
            (
                json!({"$if": "image", "$is": [], "$then": 1}),
                "json",
                "$is",
            ),
            (deep, "json.0", "deeper"),
        ] {
            let wrong = parsed(&written).expect_err("it cannot be said");
            assert!(wrong.field.starts_with(place), "{wrong}");
            assert!(wrong.why.contains(word), "{wrong}");
        }
    }
}
