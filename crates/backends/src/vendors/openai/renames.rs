//! Fields of a call for pictures under other names, for servers that have OpenAI's path and fields of their own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::field_error::FieldError;

/// The fields that can have another name.
const KNOWN: &[&str] = &[
    "background",
    "model",
    "moderation",
    "n",
    "negative_prompt",
    "prompt",
    "quality",
    "response_format",
    "seed",
    "size",
    "style",
];
/// The size as two numbers.
const SIDES: &str = "width,height";

/// What the fields of a call for pictures are called. Flattened into the settings, so its fields have no comments.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct FieldNames {
    rename: BTreeMap<String, String>,
    fields: BTreeMap<String, Value>,
    inline_image: Option<String>,
}

impl FieldNames {
    /// Refuses a name of ours that is none, and one of theirs that is taken twice.
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let wrong = |name: &str, why: String| Err(FieldError::new(format!("rename.{name}"), why));
        let mut taken = Vec::new();
        for (ours, theirs) in &self.rename {
            if !KNOWN.contains(&&**ours) {
                return wrong(ours, format!("is no field, there are {}", KNOWN.join(", ")));
            }
            if theirs.contains(',') && (ours != "size" || theirs != SIDES) {
                return wrong(ours, format!("must be one name; size may be {SIDES:?}"));
            }
            if !theirs.is_empty() && taken.contains(&theirs) {
                return wrong(
                    ours,
                    format!("{theirs} is the name of another field already"),
                );
            }
            taken.push(theirs);
        }
        Ok(())
    }

    /// Whether a field is named, and so to be sent.
    pub(super) fn names(&self, ours: &str) -> bool {
        self.rename.get(ours).is_some_and(|name| !name.is_empty())
    }

    /// The field of a JSON body that takes a picture as a `data:` address, in place of a form.
    pub(super) fn inline_image(&self) -> Option<&str> {
        self.inline_image.as_deref()
    }

    /// The fields under their names there, with those that every call has.
    pub(super) fn applied(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let mut renamed = Map::new();
        for (ours, value) in fields {
            match self.rename.get(&ours).map(String::as_str) {
                None => {
                    renamed.insert(ours, value);
                }
                Some("") => {}
                Some(SIDES) => renamed.extend(sides(&value)),
                Some(theirs) => {
                    renamed.insert(theirs.to_owned(), value);
                }
            }
        }
        for (name, value) in &self.fields {
            renamed.insert(name.clone(), value.clone());
        }
        renamed
    }
}

/// Width and height of a size such as `1024x1536`; nothing of one that leaves them open.
fn sides(size: &Value) -> Vec<(String, Value)> {
    let sides = size.as_str().and_then(|text| text.split_once('x'));
    let number = |text: &str| text.parse::<u32>().ok();
    match sides.and_then(|(width, height)| Some((number(width)?, number(height)?))) {
        Some((width, height)) => vec![
            ("width".to_owned(), width.into()),
            ("height".to_owned(), height.into()),
        ],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(written: Value) -> FieldNames {
        serde_json::from_value(written).expect("names")
    }

    #[test]
    fn fields_are_renamed_left_out_split_and_added() {
        let names = names(json!({
            "rename": {"size": "width,height", "n": "batch_size", "quality": ""},
            "fields": {"steps": 4},
        }));
        names.check().expect("good names");
        let fields = json!({"model": "m", "size": "1024x1536", "n": 2, "quality": "high"});
        let made = names.applied(fields.as_object().cloned().expect("fields"));
        assert_eq!(
            Value::Object(made),
            json!({"model": "m", "width": 1024, "height": 1536, "batch_size": 2, "steps": 4})
        );
        let open = names.applied(Map::from_iter([("size".to_owned(), json!("auto"))]));
        assert_eq!(Value::Object(open), json!({"steps": 4}));
    }

    #[test]
    fn wrong_names_are_refused() {
        for (written, word) in [
            (json!({"rename": {"sise": "a"}}), "sise"),
            (json!({"rename": {"n": "a,b"}}), "rename.n"),
            (json!({"rename": {"n": "a", "size": "a"}}), "another field"),
        ] {
            let wrong = names(written).check().expect_err("wrong").to_string();
            assert!(wrong.contains(word), "{wrong}");
        }
    }
}
