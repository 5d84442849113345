//! What the back end that made a job keeps for follow-ups. Nobody else looks inside, so it stays the text it was stored as:
//! most readers of a job never take it apart.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Private notes on a finished job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Notes(Option<Box<RawValue>>);

impl Notes {
    /// Notes to be stored; there are none when it is null.
    pub fn of(value: &Value) -> Self {
        let text = Some(value).filter(|value| !value.is_null());
        Self(text.and_then(|value| serde_json::value::to_raw_value(value).ok()))
    }

    /// Their text; empty when there are none.
    pub fn text(&self) -> &str {
        self.0.as_ref().map_or("", |text| text.get())
    }

    /// What they say, for who understands them.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.0.as_ref()?.get()).ok()
    }

    /// What they say, whatever it is.
    pub fn value(&self) -> Value {
        self.read().unwrap_or_default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl PartialEq for Notes {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Output;

    /// What was stored before is read, and what is stored now reads the same.
    #[test]
    fn notes_are_stored_as_they_were_given() {
        let text = r#"{"made":1,"notes":{"kind":"scene","seed":18446744073709551615,"worlds":[{"x":0.1}]}}"#;
        let output: Output = serde_json::from_str(text).expect("an output");
        assert_eq!(output.notes.value()["seed"], u64::MAX);
        let again = serde_json::to_string(&output).expect("text");
        assert!(again.contains(r#""notes":{"kind":"scene","seed":18446744073709551615"#));
        let given = Notes::of(&json!({"kind": "scene", "seed": u64::MAX, "worlds": [{"x": 0.1}]}));
        assert_eq!(output.notes, given);
        #[derive(Deserialize)]
        struct Seed {
            seed: u64,
        }
        let seed: Option<Seed> = given.read();
        assert_eq!(seed.map(|one| one.seed), Some(u64::MAX));
    }

    #[test]
    fn no_notes_are_not_written() {
        for text in [r#"{"made":1}"#, r#"{"made":1,"notes":null}"#] {
            let output: Output = serde_json::from_str(text).expect("an output");
            assert!(output.notes.is_empty() && output.notes.value().is_null());
            let again = serde_json::to_string(&output).expect("text");
            assert_eq!(again, r#"{"made":1}"#);
        }
        assert!(Notes::of(&Value::Null).is_empty());
    }
}
