//! The names of a request's fields in the order they are written down in, which is the order people want to read.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The names a type reads, as it lists them to whoever reads it; none for what is no plain structure.
pub fn field_order<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It always fails: the names are all that is wanted.
    let _: Result<T, EarlyStop> = T::deserialize(FieldLister(&mut names));
    names
}

struct FieldLister<'a>(&'a mut &'static [&'static str]);

#[derive(Debug)]
struct EarlyStop;

impl fmt::Display for EarlyStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stop")
    }
}

impl std::error::Error for EarlyStop {}

impl Error for EarlyStop {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for FieldLister<'_> {
    type Error = EarlyStop;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, EarlyStop> {
        Err(EarlyStop)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, EarlyStop> {
        *self.0 = fields;
        Err(EarlyStop)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::field_order;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its names are looked at")]
    struct SampleFields {
        words: String,
        a_size: u32,
        best: bool,
    }

    #[test]
    fn names_come_in_the_order_they_are_written_down() {
        assert_eq!(field_order::<SampleFields>(), ["words", "aSize", "best"]);
        assert!(field_order::<String>().is_empty());
    }
}
