//! A workflow with placeholders: `{{prompt}}` inside a text is replaced by words; a text that is nothing but a
//! placeholder becomes the value itself, so that numbers stay numbers.

use serde_json::{Map, Value};

/// The placeholders that are always known.
pub(super) const NAMES: &[&str] = &[
    "prompt",
    "negative",
    "model",
    "seed",
    "width",
    "height",
    "count",
    "strength",
    "seconds",
    "frames",
    "frames_per_second",
    "image",
    "image2",
    "image3",
    "image4",
    "image5",
    "end_image",
    "mask",
    "video",
    "prefix",
    "loop",
];

/// A workflow in the API format of ComfyUI.
#[derive(Clone, Debug)]
pub(super) struct Template(Map<String, Value>);

impl Template {
    /// Reads a workflow: an object of nodes, or the text of one.
    pub(super) fn read(graph: Value) -> Result<Self, String> {
        let graph = match graph {
            Value::String(text) => {
                serde_json::from_str(&text).map_err(|error| error.to_string())?
            }
            graph => graph,
        };
        let Value::Object(nodes) = graph else {
            return Err("must be an object of nodes, in the API format".to_owned());
        };
        for (id, node) in &nodes {
            if !node["class_type"].is_string() || !node["inputs"].is_object() {
                return Err(format!(
                    "node {id} has no class_type and inputs; export the API format"
                ));
            }
        }
        if nodes.is_empty() {
            return Err("has no nodes".to_owned());
        }
        Ok(Self(nodes))
    }

    /// The placeholders it has, each once.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for node in self.0.values() {
            collect(node, &mut names);
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The same workflow, whose pictures go to the folder that the server empties when it starts.
    pub(super) fn temporary(mut self) -> Self {
        for node in self.0.values_mut() {
            if node["class_type"] == "SaveImage" {
                node["class_type"] = "PreviewImage".into();
                if let Some(inputs) = node["inputs"].as_object_mut() {
                    inputs.remove("filename_prefix");
                }
            }
        }
        self
    }

    /// What a server lacks of it, by the server's own list of nodes: a kind of node, or a file such as a model.
    pub(super) fn missing(&self, known: &Value) -> Option<String> {
        self.0.values().find_map(|node| {
            let class = node["class_type"].as_str().unwrap_or_default();
            let Some(node_known) = known.get(class) else {
                return Some(format!("the node {class}"));
            };
            let inputs = node["inputs"].as_object().into_iter().flatten();
            inputs
                .filter_map(|(name, value)| Some((name, value.as_str()?)))
                .filter(|(_, value)| placeholders(value).next().is_none())
                .find(|(name, value)| {
                    choices(node_known, name).is_some_and(|all| !all.iter().any(|one| one == value))
                })
                .map(|(name, value)| format!("{value} as {name} of {class}"))
        })
    }

    /// How many nodes it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The workflow with its placeholders filled in; says which value is missing.
    pub(super) fn filled(&self, values: &Map<String, Value>) -> Result<Value, String> {
        let filled = self
            .0
            .iter()
            .map(|(id, node)| Ok((id.clone(), fill(node, values)?)));
        filled
            .collect::<Result<Map<_, _>, String>>()
            .map(Value::Object)
    }
}

/// The only values that an input of a node may have, where the server lists them.
fn choices<'a>(node: &'a Value, name: &str) -> Option<&'a Vec<Value>> {
    let found = ["required", "optional"].iter().find_map(|kind| {
        let input = &node["input"][kind][name];
        (!input.is_null()).then_some(input)
    })?;
    found[0]
        .as_array()
        .or_else(|| found[1]["options"].as_array())
}

fn collect<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => names.extend(placeholders(text)),
        Value::Array(all) => all.iter().for_each(|one| collect(one, names)),
        Value::Object(all) => all.values().for_each(|one| collect(one, names)),
        _ => {}
    }
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{").skip(1).filter_map(|rest| {
        let name = rest.split_once("}}")?.0;
        is_name(name).then_some(name)
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn fill(value: &Value, values: &Map<String, Value>) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill_text(text, values)?,
        Value::Array(all) => {
            let all = all.iter().map(|one| fill(one, values));
            Value::Array(all.collect::<Result<_, _>>()?)
        }
        Value::Object(all) => {
            let all = all
                .iter()
                .map(|(name, one)| Ok((name.clone(), fill(one, values)?)));
            Value::Object(all.collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

fn fill_text(text: &str, values: &Map<String, Value>) -> Result<Value, String> {
    let whole = text
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"));
    if let Some(name) = whole.filter(|name| is_name(name)) {
        return values.get(name).cloned().ok_or_else(|| name.to_owned());
    }
    // What is filled in is never looked at again: a prompt cannot bring placeholders of its own.
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        match after.split_once("}}") {
            Some((name, then)) if is_name(name) => {
                match values.get(name).ok_or_else(|| name.to_owned())? {
                    Value::String(text) => out.push_str(text),
                    other => out.push_str(&other.to_string()),
                }
                rest = then;
            }
            _ => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graph(inputs: &Value) -> Template {
        Template::read(json!({"1": {"class_type": "X", "inputs": inputs}})).expect("a workflow")
    }

    fn filled(inputs: &Value, values: Value) -> Result<Value, String> {
        let Value::Object(values) = values else {
            panic!("an object");
        };
        graph(inputs)
            .filled(&values)
            .map(|graph| graph["1"]["inputs"].clone())
    }

    #[test]
    fn a_whole_placeholder_keeps_its_type_and_others_become_text() {
        let inputs = json!({"a": "{{seed}}", "b": "best, {{prompt}} {{seed}}", "c": ["4", 0], "d": "{{ no }} {{"});
        let values = json!({"seed": 7, "prompt": "a {{negative}} cat"});
        let wanted =
            json!({"a": 7, "b": "best, a {{negative}} cat 7", "c": ["4", 0], "d": "{{ no }} {{"});
        assert_eq!(filled(&inputs, values), Ok(wanted));
    }

    #[test]
    fn a_missing_value_is_named() {
        assert_eq!(
            filled(&json!({"a": "{{image2}}"}), json!({})),
            Err("image2".to_owned())
        );
        let template = graph(&json!({"a": "{{seed}} {{x}}", "b": {"c": ["{{seed}}"]}}));
        assert_eq!(template.names(), ["seed", "x"]);
    }

    #[test]
    fn only_the_api_format_is_taken() {
        assert!(Template::read(json!({"nodes": [], "links": []})).is_err());
        assert!(Template::read(json!([])).is_err());
        assert!(Template::read(json!("{\"1\":{\"class_type\":\"X\",\"inputs\":{}}}")).is_ok());
    }
}
