//! Placeholders in a document, found and filled.

use serde_json::{Map, Value};

/// The placeholders of a document.
pub(super) fn names<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.extend(pieces(text).filter_map(|(_, name)| name)),
        Value::Array(all) => all.iter().for_each(|one| names(one, found)),
        Value::Object(all) => all.values().for_each(|one| names(one, found)),
        _ => {}
    }
}

/// The document with its placeholders filled; what has no value is left out.
pub(super) fn filled(fields: &Map<String, Value>, value_of: &dyn Fn(&str) -> Value) -> Value {
    let pairs = fields.iter();
    let pairs = pairs.filter_map(|(name, value)| Some((name.clone(), one(value, value_of)?)));
    Value::Object(pairs.collect())
}

fn one(value: &Value, value_of: &dyn Fn(&str) -> Value) -> Option<Value> {
    match value {
        Value::String(text) => self::text(text, value_of),
        Value::Array(all) => {
            let all = all.iter().filter_map(|item| one(item, value_of));
            Some(Value::Array(all.collect()))
        }
        Value::Object(fields) => Some(filled(fields, value_of)),
        plain => Some(plain.clone()),
    }
}

fn text(text: &str, value_of: &dyn Fn(&str) -> Value) -> Option<Value> {
    let mut whole = String::new();
    for (before, name) in pieces(text) {
        whole.push_str(before);
        let Some(name) = name else { continue };
        let value = value_of(name);
        if text.len() == name.len() + 4 {
            return (!value.is_null()).then_some(value);
        }
        match value {
            Value::Null => return None,
            Value::String(words) => whole.push_str(&words),
            other => whole.push_str(&other.to_string()),
        }
    }
    Some(Value::String(whole))
}

/// What stands before each placeholder, and its name; the last piece has none.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let found = current.find("{{").and_then(|at| {
            let end = current[at..].find("}}")?;
            Some((at, at + end))
        });
        let Some((at, end)) = found else {
            rest = None;
            return Some((current, None));
        };
        rest = Some(&current[end + 2..]);
        Some((&current[..at], Some(&current[at + 2..end])))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_stay_numbers_and_what_is_not_given_is_left_out() {
        let fields = json!({
            "prompt": "{{prompt}}", "duration": "{{seconds}}", "length": "{{seconds}}s", "seed": "{{seed}}",
            "note": "seed {{seed}}", "deep": {"list": ["{{prompt}}", "{{seed}}", 1]}, "fixed": true,
        });
        let value_of = |name: &str| match name {
            "prompt" => json!("a {{seconds}} cat"),
            "seconds" => json!(5),
            _ => Value::Null,
        };
        let found = filled(fields.as_object().expect("an object"), &value_of);
        assert_eq!(
            found,
            json!({
                "prompt": "a {{seconds}} cat", "duration": 5, "length": "5s",
                "deep": {"list": ["a {{seconds}} cat", 1]}, "fixed": true,
            })
        );
    }
}
