//! From untyped fields to a typed request. Where a mistake is is put together on the way out of it, so that a request
//! without one pays nothing for it, and one reader of every type is enough.

use std::fmt;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::{Map, Value, map};

/// Gives a value its type.
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Mistake> {
    T::deserialize(ValueDeserializer(value))
}

/// What is wrong, and where.
#[derive(Debug)]
pub(crate) struct Mistake(Box<MistakeDetail>);

#[derive(Debug)]
struct MistakeDetail {
    /// The innermost step first.
    steps: Vec<Step>,
    message: String,
}

#[derive(Debug)]
enum Step {
    Field(String),
    Item(usize),
}

impl Mistake {
    /// The field in wire names, such as `a.b[1]`; empty when the whole is meant.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.0.steps.iter().rev() {
            match step {
                Step::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Step::Item(index) => {
                    path.push('[');
                    path.push_str(&index.to_string());
                    path.push(']');
                }
            }
        }
        path
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    #[cold]
    fn within(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    #[cold]
    fn of(message: String) -> Self {
        Self(Box::new(MistakeDetail {
            steps: Vec::new(),
            message,
        }))
    }

    #[cold]
    fn type_mismatch(what: &str, is: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::of(match is {
            Unexpected::Unit => format!("invalid {what}: null, expected {wanted}"),
            is => format!("invalid {what}: {is}, expected {wanted}"),
        })
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::of(message.to_string())
    }

    fn invalid_type(is: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::type_mismatch("type", is, wanted)
    }

    fn invalid_value(is: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::type_mismatch("value", is, wanted)
    }
}

#[derive(Clone, Copy)]
struct ValueDeserializer<'de>(&'de Value);

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(given) => visitor.visit_bool(*given),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                let mut list = ItemsAccess {
                    rest: items.iter(),
                    next: 0,
                };
                let made = visitor.visit_seq(&mut list)?;
                match list.rest.len() {
                    0 => Ok(made),
                    _ => Err(de::Error::invalid_length(
                        items.len(),
                        &"fewer elements in array",
                    )),
                }
            }
            Value::Object(fields) => visitor.visit_map(FieldsAccess::of(fields)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(Variant { name, value: None }),
            Value::Object(fields) if fields.len() == 1 => {
                let (name, value) = fields.iter().next().expect("there is one");
                let value = Some(value);
                visitor
                    .visit_enum(Variant { name, value })
                    .map_err(|mistake| mistake.within(Step::Field(name.clone())))
            }
            Value::Object(_) => Err(de::Error::invalid_value(
                Unexpected::Map,
                &"map with a single key",
            )),
            other => Err(de::Error::invalid_type(kind(other), &"string or map")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

fn kind(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(given) => Unexpected::Bool(*given),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Unexpected::Unsigned(number),
            (None, Some(number)) => Unexpected::Signed(number),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

struct ItemsAccess<'de> {
    rest: std::slice::Iter<'de, Value>,
    next: usize,
}

impl<'de> SeqAccess<'de> for &mut ItemsAccess<'de> {
    type Error = Mistake;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(value) = self.rest.next() else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        match seed.deserialize(ValueDeserializer(value)) {
            Ok(made) => Ok(Some(made)),
            Err(mistake) => Err(mistake.within(Step::Item(index))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct FieldsAccess<'de> {
    rest: map::Iter<'de>,
    field: Option<(&'de String, &'de Value)>,
}

impl<'de> FieldsAccess<'de> {
    fn of(fields: &'de Map<String, Value>) -> Self {
        Self {
            rest: fields.iter(),
            field: None,
        }
    }
}

impl<'de> MapAccess<'de> for FieldsAccess<'de> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        self.field = self.rest.next();
        let Some((name, _)) = self.field else {
            return Ok(None);
        };
        match seed.deserialize(BorrowedStrDeserializer::new(name)) {
            Ok(key) => Ok(Some(key)),
            Err(mistake) => Err(Mistake::within(mistake, Step::Field(name.clone()))),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mistake> {
        let (name, value) = self.field.take().expect("asked for after its name");
        match seed.deserialize(ValueDeserializer(value)) {
            Ok(made) => Ok(made),
            Err(mistake) => Err(mistake.within(Step::Field(name.clone()))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

struct Variant<'de> {
    name: &'de str,
    value: Option<&'de Value>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Mistake;
    type Variant = VariantBody<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantBody<'de>), Mistake> {
        let variant = seed.deserialize(BorrowedStrDeserializer::new(self.name))?;
        Ok((variant, VariantBody(self.value)))
    }
}

/// What stands beside a variant's name.
struct VariantBody<'de>(Option<&'de Value>);

impl<'de> VariantBody<'de> {
    fn given(self, wanted: &'static str) -> Result<ValueDeserializer<'de>, Mistake> {
        let value = self.0.map(ValueDeserializer);
        value.ok_or_else(|| de::Error::invalid_type(Unexpected::UnitVariant, &wanted))
    }
}

impl<'de> VariantAccess<'de> for VariantBody<'de> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.0 {
            None | Some(Value::Null) => Ok(()),
            Some(other) => Err(de::Error::invalid_type(kind(other), &"unit")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(self.given("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.given("tuple variant")?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.given("struct variant")?.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Shape {
        Point,
        Circle(f64),
        Box { wide: u32 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Outer {
        list: Vec<Part>,
        #[serde(default)]
        shape: Option<Shape>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Part {
        count: u8,
    }

    #[test]
    fn a_mistake_names_its_place_in_wire_names() {
        let cases = [
            (
                json!({ "list": [{ "count": 1 }, { "count": "x" }] }),
                "list[1].count",
            ),
            (json!({ "list": [{}] }), "list[0]"),
            (json!({ "list": 5 }), "list"),
            (json!([]), ""),
            (
                json!({ "list": [], "shape": { "box": { "wide": -1 } } }),
                "shape.box.wide",
            ),
            (
                json!({ "list": [], "shape": { "circle": "x" } }),
                "shape.circle",
            ),
            (json!({ "list": [], "shape": "oval" }), "shape"),
        ];
        for (value, path) in cases {
            let mistake = read::<Outer>(&value).expect_err("a mistake");
            assert_eq!(mistake.path(), path, "{value}: {mistake}");
        }
    }

    #[test]
    fn a_value_is_read_as_the_usual_reader_reads_it() {
        for value in [
            json!({ "list": [{ "count": 1, "other": [1, {}] }] }),
            json!({ "list": [[7]], "shape": "point" }),
            json!({ "list": [], "shape": { "circle": 2 } }),
            json!({ "list": [], "shape": { "box": { "wide": 3 } } }),
            json!({ "list": [], "shape": null }),
            json!({ "list": [], "shape": { "point": null } }),
            json!({ "list": [], "shape": {} }),
            json!({ "list": [], "shape": "box" }),
            json!({ "list": [{ "count": 1.5 }] }),
            json!({ "list": [{ "count": 300 }] }),
            json!({ "list": [{ "count": null }] }),
            json!({ "list": [[1, 2]] }),
            json!({ "list": {} }),
            json!(true),
        ] {
            let usual = Outer::deserialize(&value).map_err(|error| error.to_string());
            let ours = read::<Outer>(&value).map_err(|error| error.to_string());
            assert_eq!(ours, usual, "{value}");
        }
    }
}
