//! JSON whose cost in memory is known while it is read: every value, key and object is paid for before it is built.
//! Texts cost what they are long, so a body can never become much more than its own size plus the bound.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The most levels of objects and arrays in each other.
const DEPTH: usize = 32;
/// The longest name of a field, in bytes.
const LONGEST_KEY: usize = 256;
/// What any value takes, with the least that its text or its place in a list takes.
const VALUE: usize = 64;
/// What an object takes as soon as it holds anything: its first node has room for eleven fields.
const OBJECT: usize = 640;

/// Reads one value in which no object has a key twice, no text holds a NUL, and everything but texts takes at most so
/// many bytes.
pub(super) fn parse(bytes: &[u8], structure: usize) -> serde_json::Result<Value> {
    let left = Cell::new(structure);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = BoundedReader {
        left: &left,
        depth: DEPTH,
    }
    .deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// What is left to be spent on the values inside.
#[derive(Clone, Copy)]
struct BoundedReader<'a> {
    left: &'a Cell<usize>,
    depth: usize,
}

impl BoundedReader<'_> {
    fn pay<E: de::Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes);
        let left = left.ok_or_else(|| E::custom("too many values; only texts may be large"))?;
        self.left.set(left);
        Ok(())
    }

    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        let depth = depth.ok_or_else(|| {
            E::custom(format_args!(
                "more than {DEPTH} levels of objects and lists"
            ))
        })?;
        Ok(Self { depth, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for BoundedReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.pay(VALUE)?;
        deserializer.deserialize_any(self)
    }
}

fn without_nul<E: de::Error>(text: &str) -> Result<(), E> {
    if text.contains('\0') {
        Err(E::custom("text must not contain NUL"))
    } else {
        Ok(())
    }
}

impl<'de> Visitor<'de> for BoundedReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        without_nul(text)?;
        Ok(Value::String(text.to_owned()))
    }
    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        without_nul(&text)?;
        Ok(Value::String(text))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        self.pay(OBJECT)?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key.len() > LONGEST_KEY {
                return Err(de::Error::custom(format_args!(
                    "the name of a field is longer than {LONGEST_KEY} bytes"
                )));
            }
            self.pay(key.len() + size_of::<String>())?;
            without_nul(&key)?;
            if object.contains_key(&key) {
                return Err(de::Error::custom(format_args!("duplicate key `{key}`")));
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{USUAL_STRUCTURE, parse_object};

    fn refused(body: &str) -> String {
        parse_object(body.as_bytes()).expect_err("too much").message
    }

    /// A list of so many copies of an item.
    fn many(item: &str, count: usize) -> String {
        format!(r#"{{"a":[{}]}}"#, vec![item; count].join(","))
    }

    #[test]
    fn values_objects_and_names_are_counted() {
        for body in [
            many("{}", 100_000),
            many("[]", 100_000),
            many("1", 100_000),
            many(r#"{"a":1}"#, 2_000),
            many(r#""""#, 100_000),
        ] {
            assert!(refused(&body).contains("too many values"), "{}", body.len());
        }
        let names: Vec<String> = (0..20_000).map(|n| format!(r#""k{n}":0"#)).collect();
        assert!(refused(&format!("{{{}}}", names.join(","))).contains("too many values"));
    }

    #[test]
    fn depth_and_names_have_limits() {
        let deep =
            |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(refused(&deep(100)).contains("more than 32 levels"));
        assert!(parse_object(deep(31).as_bytes()).is_ok());
        let name = "k".repeat(257);
        assert!(refused(&format!(r#"{{"{name}":1}}"#)).contains("longer than 256"));
    }

    #[test]
    fn large_texts_and_ordinary_lists_are_welcome() {
        let text = "x".repeat(8 * USUAL_STRUCTURE);
        assert!(parse_object(format!(r#"{{"image":"{text}"}}"#).as_bytes()).is_ok());
        assert!(parse_object(many(r#"{"url":"https://example.com/"}"#, 1_000).as_bytes()).is_ok());
        assert!(parse_object(many("7", 10_000).as_bytes()).is_ok());
    }
}
