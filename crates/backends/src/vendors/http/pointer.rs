//! Where something is in an answer: a JSON pointer, in which `*` stands for every member of a list or an object. A text that
//! is a document itself is entered like any other.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

/// A pointer is not longer.
const MOST_POINTER: usize = 300;
/// No more than this is taken from one answer.
const MOST_FOUND: usize = 64;
/// A text within an answer that is read as a document is not longer.
const MOST_INNER: usize = 256 * 1024;
/// What stands for every member.
const EVERY: &str = "*";

/// One pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct JsonPointer(Vec<String>);

impl JsonPointer {
    fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MOST_POINTER {
            return Err(format!("is longer than {MOST_POINTER} characters"));
        }
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!(
                "{text:?} does not begin with /, such as /data/0/url"
            ));
        };
        let steps = rest.split('/').map(|step| {
            // The order matters: what was `~1` must not become a slash twice.
            let plain = step.replace("~1", "/").replace("~0", "~");
            let tildes = step.matches('~').count();
            let known = step.matches("~0").count() + step.matches("~1").count();
            (tildes == known).then_some(plain)
        });
        let steps: Option<Vec<String>> = steps.collect();
        let steps = steps.ok_or_else(|| format!("{text:?} has a ~ without 0 or 1 behind it"));
        Ok(Self(steps?))
    }

    fn collect(&self, value: &Value, found: &mut Vec<Value>) {
        walk(&self.0, value, found);
    }
}

fn walk(steps: &[String], value: &Value, found: &mut Vec<Value>) {
    if found.len() >= MOST_FOUND {
        return;
    }
    let Some((step, rest)) = steps.split_first() else {
        // An empty text is what many write where there is nothing.
        if !value.is_null() && *value != "" {
            found.push(value.clone());
        }
        return;
    };
    match value {
        Value::Array(all) if step == EVERY => all.iter().for_each(|one| walk(rest, one, found)),
        Value::Object(all) if step == EVERY => all.values().for_each(|one| walk(rest, one, found)),
        Value::Array(all) => {
            if let Some(one) = step.parse::<usize>().ok().and_then(|at| all.get(at)) {
                walk(rest, one, found);
            }
        }
        Value::Object(all) => {
            if let Some(one) = all.get(step) {
                walk(rest, one, found);
            }
        }
        Value::String(text) if text.len() <= MOST_INNER => {
            // Some answers carry another one as text.
            if let Ok(inner @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
                walk(steps, &inner, found);
            }
        }
        _ => {}
    }
}

/// One pointer or several, of which the first that leads to something counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct JsonPointers(Vec<JsonPointer>);

impl TryFrom<Value> for JsonPointers {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let texts = match written {
            Value::String(text) => vec![text],
            Value::Array(all) => {
                let texts: Option<Vec<String>> = all
                    .into_iter()
                    .map(|one| one.as_str().map(str::to_owned))
                    .collect();
                texts.ok_or("must be a JSON pointer, or a list of them")?
            }
            _ => {
                return Err("must be a JSON pointer such as /data/0/url, or a list of them".into());
            }
        };
        if texts.is_empty() {
            return Err("must name a JSON pointer such as /data/0/url".into());
        }
        let pointers: Result<_, _> = texts.iter().map(|text| JsonPointer::parse(text)).collect();
        pointers.map(Self)
    }
}

impl JsonSchema for JsonPointers {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JsonPointers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A JSON pointer such as `/data/0/url`, or several of which the first that leads to something counts. `*` is every member.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        })
    }
}

impl JsonPointers {
    /// Whether none is written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that the first pointer leads to which leads anywhere.
    pub(super) fn all(&self, document: &Value) -> Vec<Value> {
        let mut found = Vec::new();
        for pointer in &self.0 {
            pointer.collect(document, &mut found);
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// The first of it.
    pub(super) fn first(&self, document: &Value) -> Option<Value> {
        self.all(document).into_iter().next()
    }

    /// The first of it as a text; numbers and truths are texts, too.
    pub(super) fn text(&self, document: &Value) -> Option<String> {
        text_of(&self.first(document)?)
    }

    /// The first of it as a number, which may come as a text such as `12.5` or `40%`.
    pub(super) fn number(&self, document: &Value) -> Option<f64> {
        number_of(&self.first(document)?)
    }

    /// All numbers together.
    pub(super) fn sum(&self, document: &Value) -> Option<f64> {
        let numbers = self.all(document).into_iter();
        let numbers = numbers.filter_map(|one| number_of(&one));
        numbers.reduce(|one, other| one + other)
    }

    /// The names of the fields that the pointers end at; `None` where one ends at a member without a name.
    pub(super) fn names(&self) -> Option<Vec<&str>> {
        let is_name = |step: &&String| *step != EVERY && step.parse::<usize>().is_err();
        let last = |pointer: &'_ JsonPointer| pointer.0.iter().rposition(|step| is_name(&step));
        let names = self.0.iter().map(|pointer| {
            let at = last(pointer)?;
            Some(pointer.0[at].as_str())
        });
        names.collect()
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_end_matches('%').trim().parse().ok(),
        _ => None,
    }
}

/// A value as a text, where it is a single one.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointers(written: Value) -> JsonPointers {
        JsonPointers::try_from(written).expect("a pointer")
    }

    #[test]
    fn members_lists_and_inner_documents_are_found() {
        let document = json!({
            "data": [{"url": "a"}, {"url": null}, {"url": "b"}],
            "a/b": {"~": 7},
            "inner": "{\"urls\": [\"c\", \"d\"]}",
            "word": "plain",
            "empty": "",
        });
        let all = |written: Value| pointers(written).all(&document);
        assert_eq!(all(json!("/data/*/url")), [json!("a"), json!("b")]);
        assert_eq!(all(json!("/data/2/url")), [json!("b")]);
        assert_eq!(all(json!("/a~1b/~0")), [json!(7)]);
        assert_eq!(all(json!("/inner/urls/*")), [json!("c"), json!("d")]);
        assert_eq!(all(json!(["/nothing/here", "/word"])), [json!("plain")]);
        assert_eq!(all(json!(["/empty", "/word"])), [json!("plain")]);
        assert!(all(json!("/word/more")).is_empty() && all(json!("/data/9/url")).is_empty());
        assert_eq!(pointers(json!("")).all(&json!(3)), [json!(3)]);
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for (written, word) in [
            (json!("data"), "begin"),
            (json!("/a~2"), "~"),
            (json!(7), "pointer"),
            (json!([]), "pointer"),
            (json!(["/a", 7]), "list"),
            (json!(format!("/{}", "a".repeat(400))), "longer"),
        ] {
            let wrong = JsonPointers::try_from(written).expect_err("no pointer");
            assert!(wrong.contains(word), "{wrong}");
        }
    }

    #[test]
    fn an_answer_of_a_million_members_gives_a_handful() {
        let many = json!({"data": vec![json!({"url": "a"}); 100_000]});
        assert_eq!(pointers(json!("/data/*/url")).all(&many).len(), MOST_FOUND);
    }

    #[test]
    fn numbers_come_as_numbers_or_texts() {
        let document = json!({"a": 1.5, "b": "40%", "c": " 2 ", "d": "x", "e": true});
        let number = |path: &str| pointers(json!(path)).number(&document);
        assert_eq!(number("/a"), Some(1.5));
        assert_eq!(number("/b"), Some(40.0));
        assert_eq!(number("/c"), Some(2.0));
        assert_eq!((number("/d"), number("/e")), (None, None));
    }
}
