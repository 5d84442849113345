//! Lists with a least and a most length. One element may stand for a list of one.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::StringDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, de};

/// From `LEAST` to `MOST` elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct List<T, const LEAST: usize, const MOST: usize>(Vec<T>);

impl<T, const L: usize, const M: usize> Default for List<T, L, M> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const L: usize, const M: usize> Deref for List<T, L, M> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const L: usize, const M: usize> IntoIterator for List<T, L, M> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

struct ListVisitor<T, const L: usize, const M: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const L: usize, const M: usize> Visitor<'de>
    for ListVisitor<T, L, M>
{
    type Value = List<T, L, M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {L} to {M} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
            if list.len() > M {
                let message = format_args!("must have {L} to {M} elements, has more");
                return Err(de::Error::custom(message));
            }
        }
        if list.len() < L {
            let length = list.len();
            let message = format_args!("must have {L} to {M} elements, has {length}");
            return Err(de::Error::custom(message));
        }
        Ok(List(list))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
        if L > 1 {
            let message = format_args!("must be an array of {L} to {M} elements, is text");
            return Err(E::custom(message));
        }
        T::deserialize(StringDeserializer::new(text)).map(|item| List(vec![item]))
    }
}

impl<'de, T: Deserialize<'de>, const L: usize, const M: usize> Deserialize<'de> for List<T, L, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

impl<T: JsonSchema, const L: usize, const M: usize> JsonSchema for List<T, L, M> {
    fn schema_name() -> Cow<'static, str> {
        format!("List_{L}_{M}_{}", T::schema_name()).into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": items, "minItems": L, "maxItems": M })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::ImageUrl;
    use serde_json::{Value, json};

    fn list(value: Value) -> Result<usize, String> {
        serde_json::from_value::<List<ImageUrl, 0, 2>>(value)
            .map(|list| list.len())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn one_text_stands_for_a_list_of_one() {
        assert_eq!(list(json!("https://example.com/a.png")), Ok(1));
    }

    #[test]
    fn a_list_out_of_bounds_says_the_bounds() {
        let address = "https://example.com/a.png";
        let error = list(json!([address, address, address])).expect_err("too long");
        assert_eq!(error, "must have 0 to 2 elements, has more");
        let pair = serde_json::from_value::<List<ImageUrl, 2, 5>>(json!([address]));
        let error = pair.expect_err("too short").to_string();
        assert_eq!(error, "must have 2 to 5 elements, has 1");
    }
}
