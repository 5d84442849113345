//! What an answer looks like: a value that a schema allows, with the values that a field of that name usually has.

use atelier_contract::FAMILIES;
use serde_json::{Map, Value, json};

/// Schemas inside of each other, and items inside of those, up to this depth.
const DEEPEST: usize = 8;

/// The pattern of an amount of quota as text; no other is understood.
const DECIMAL: &str = r"^[0-9]+(\.[0-9]{1,3})?$";

/// A URL of a result.
const URL: &str = "https://media.example.com/assets/out/1.png?e=1893456000&s=c2ln";

/// The usual values of fields, by the end of their names without case and underscores; the first that fits and is allowed counts.
const USUAL: &[(&str, &str)] = &[
    ("status", "\"SUCCESS\""),
    ("message", "\"success\""),
    ("nextpage", "null"),
    ("apikey", "\"at_4rQ0Xn1sYdW8kTfB6uLzGvHcJpMeRaQiNoSx\""),
    ("token", "\"adm_0f3c9d5e7a1b4c2d8e6f0a9b7c5d3e1f2a4b6c8d\""),
    ("secret", "\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\""),
    ("email", "\"someone@example.com\""),
    ("prompt", "\"a lighthouse at dawn\""),
    ("jobid", "\"019a0000-0000-7000-8000-000000000001\""),
    ("id", "\"019a0000-0000-7000-8000-000000000002\""),
    ("hookurl", "\"https://example.com/hook\""),
    (
        "originimage",
        "\"https://media.example.com/assets/out/1.png?e=1893456000&s=c2ln\"",
    ),
    (
        "cdnimage",
        "\"https://media.example.com/assets/out/1.png?e=1893456000&s=c2ln\"",
    ),
    (
        "videourl",
        "\"https://media.example.com/assets/out/1.mp4?e=1893456000&s=c2ln\"",
    ),
    (
        "imageurl",
        "\"https://media.example.com/assets/out/1.png?e=1893456000&s=c2ln\"",
    ),
    ("baseurl", "\"https://vendor.example\""),
    (
        "url",
        "\"https://media.example.com/assets/out/1.png?e=1893456000&s=c2ln\"",
    ),
    (
        "poll",
        "\"https://media.example.com/jobs/v1/019a0000-0000-7000-8000-000000000001/answer\"",
    ),
    ("model", "\"image-1\""),
    ("vendor", "\"openai\""),
    ("group", "\"default\""),
    ("currency", "\"USD\""),
    ("day", "\"2030-01-31\""),
    ("expires", "\"2030-01-31 12:00:00\""),
    ("retires", "\"2030-01-31\""),
    ("time", "\"2030-01-31 12:00:00\""),
    ("at", "\"2030-01-31 12:00:00\""),
    ("seconds", "\"4\""),
    ("size", "\"1024x1024\""),
    ("progress", "\"100\""),
    ("quota", "\"4\""),
    ("balance", "\"96\""),
    ("amount", "\"4\""),
    ("tookms", "2400"),
    ("ms", "1893456000000"),
    ("created", "1893456000"),
    ("createdat", "1893456000"),
    ("width", "1024"),
    ("height", "1024"),
    ("total", "1"),
    ("page", "1"),
    ("limit", "20"),
    ("rank", "100"),
    ("quota", "4"),
    ("balance", "96"),
    ("amount", "4"),
    ("progress", "100"),
];

/// A value that a schema allows.
pub(super) fn of(schemas: &Value, schema: &Value) -> Value {
    Sampler { schemas }.value(schema, "", &mut Vec::new())
}

struct Sampler<'a> {
    schemas: &'a Value,
}

impl Sampler<'_> {
    /// A value for a field with a name. The stack has the names of the schemas that it is inside of.
    fn value(&self, schema: &Value, name: &str, inside: &mut Vec<String>) -> Value {
        if let Some(path) = schema["$ref"].as_str() {
            let referred = path.rsplit('/').next().unwrap_or_default();
            if inside.iter().any(|one| one == referred) || inside.len() > DEEPEST {
                return Value::Null;
            }
            inside.push(referred.to_owned());
            let value = self.value(&self.schemas[referred], name, inside);
            inside.pop();
            return value;
        }
        for known in ["example", "const"] {
            if let Some(value) = schema.get(known) {
                return value.clone();
            }
        }
        if let Some(words) = schema["enum"].as_array() {
            let usual = usual(name, &["string"], schema).filter(|usual| words.contains(usual));
            let known = schema.get("default").or(words.first()).cloned();
            return usual.or(known).unwrap_or_default();
        }
        for choice in ["anyOf", "oneOf"] {
            let others = schema[choice].as_array().into_iter().flatten();
            let mut others = others.filter(|one| one["type"] != "null");
            if let Some(first) = others.next() {
                return self.value(first, name, inside);
            }
        }
        if let Some(all) = schema["allOf"].as_array() {
            let parts = all.iter().map(|one| self.value(one, name, inside));
            let fields = parts.filter_map(|part| part.as_object().cloned()).flatten();
            return Value::Object(fields.collect());
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one],
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ => Vec::new(),
        };
        if let Some(usual) = usual(name, &kinds, schema) {
            return usual;
        }
        match kinds.iter().find(|kind| **kind != "null") {
            Some(&"object") => self.object(schema, inside),
            Some(&"array") => self.array(schema, name, inside),
            Some(&"string") if schema["format"] == "uri" => URL.into(),
            Some(&"string") => "text".into(),
            Some(&"integer" | &"number") => number(schema),
            Some(&"boolean") => schema.get("default").cloned().unwrap_or(true.into()),
            _ => Value::Null,
        }
    }

    fn object(&self, schema: &Value, inside: &mut Vec<String>) -> Value {
        let fields = schema["properties"].as_object().into_iter().flatten();
        let shown = fields.filter(|(_, inner)| inner["writeOnly"] != true);
        let mut made: Map<String, Value> = shown
            .map(|(name, inner)| (name.clone(), self.value(inner, name, inside)))
            .collect();
        if let Some(others) = schema
            .get("additionalProperties")
            .filter(|one| one.is_object())
            && made.is_empty()
        {
            made.insert("name".to_owned(), self.value(others, "", inside));
        }
        Value::Object(made)
    }

    fn array(&self, schema: &Value, name: &str, inside: &mut Vec<String>) -> Value {
        let Some(item) = schema.get("items") else {
            return json!([]);
        };
        // A list is named after what is in it.
        let item = self.value(item, name.trim_end_matches('s'), inside);
        match item {
            Value::Null if schema["minItems"].as_u64() > Some(0) => json!(["text"]),
            Value::Null => json!([]),
            item => json!([item]),
        }
    }
}

/// What a field of this name usually has, if its schema allows it.
fn usual(name: &str, kinds: &[&str], schema: &Value) -> Option<Value> {
    let squeezed = name.replace('_', "").to_lowercase();
    let first = FAMILIES.first().filter(|_| kinds.contains(&"string"));
    match (first, &*squeezed) {
        (Some(first), "operation") => return first.submits.first().map(|one| one.name.into()),
        (Some(first), "family") => return Some(first.name.into()),
        _ => {}
    }
    let mut fitting = USUAL.iter().filter(|(end, _)| squeezed.ends_with(end));
    fitting.find_map(|(_, text)| {
        let value: Value = serde_json::from_str(text).ok()?;
        let kind = match &value {
            Value::Null => "null",
            Value::String(_) => "string",
            _ => "integer",
        };
        let allowed = kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number");
        (allowed && is_within(&value, schema)).then_some(value)
    })
}

fn is_within(value: &Value, schema: &Value) -> bool {
    if let Some(number) = value.as_f64() {
        let least = schema["minimum"].as_f64();
        let most = schema["maximum"].as_f64();
        return least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most);
    }
    let length = value.as_str().map_or(0, str::len) as u64;
    let most = schema["maxLength"].as_u64();
    let fits = schema["pattern"].as_str().is_none_or(|pattern| {
        let number = value.as_str().and_then(|text| text.parse::<u32>().ok());
        pattern == DECIMAL && number.is_some()
    });
    fits && most.is_none_or(|most| length <= most)
}

fn number(schema: &Value) -> Value {
    if let Some(usual) = schema.get("default").filter(|one| one.is_number()) {
        return usual.clone();
    }
    match schema["minimum"].as_i64() {
        Some(least) if least > 1 => least.into(),
        _ => 1.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_every_field_with_a_value_of_its_kind() {
        let schemas = json!({
            "Row": { "type": "object", "properties": {
                "jobId": { "type": "string" },
                "mode": { "type": "string", "enum": ["relax", "fast"], "default": "fast" },
                "tookMs": { "type": "integer" },
                "width": { "type": "integer", "maximum": 512 },
                "parent": { "anyOf": [{ "$ref": "#/components/schemas/Row" }, { "type": "null" }] },
                "note": { "type": ["string", "null"] },
                "urls": { "type": "array", "items": { "type": "string" } },
                "anything": { "type": "array", "items": {} },
            } },
        });
        let schema = json!({ "$ref": "#/components/schemas/Row" });
        let made = of(&schemas, &schema);
        assert_eq!(made["jobId"], "019a0000-0000-7000-8000-000000000001");
        assert_eq!(
            (&made["mode"], &made["tookMs"], &made["width"]),
            (&json!("fast"), &json!(2400), &json!(1))
        );
        assert_eq!(
            (&made["parent"], &made["note"], &made["anything"]),
            (&Value::Null, &json!("text"), &json!([]))
        );
        assert!(
            made["urls"][0]
                .as_str()
                .is_some_and(|url| url.starts_with("https://"))
        );
    }
}
