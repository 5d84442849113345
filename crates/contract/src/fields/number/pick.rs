//! Whole numbers of which only some are allowed: one of three, or steps in a range.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::fields::values::{as_shown, whole};

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(Option<i64>, Value), D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Number(number) => whole(number),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    Ok((number, value))
}

/// One of three whole numbers; `DEFAULT` when absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberChoice<const A: i64, const B: i64, const C: i64, const DEFAULT: i64>(i64);

impl<const A: i64, const B: i64, const C: i64, const D: i64> NumberChoice<A, B, C, D> {
    /// The number that was chosen.
    pub const fn count(self) -> u32 {
        self.0 as u32
    }
}

impl<const A: i64, const B: i64, const C: i64, const D: i64> Default for NumberChoice<A, B, C, D> {
    fn default() -> Self {
        Self(D)
    }
}

impl<const A: i64, const B: i64, const C: i64, const D: i64> Serialize
    for NumberChoice<A, B, C, D>
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, const A: i64, const B: i64, const C: i64, const D: i64> Deserialize<'de>
    for NumberChoice<A, B, C, D>
{
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        match number(deserializer)? {
            (Some(number), _) if [A, B, C].contains(&number) => Ok(Self(number)),
            (_, value) => Err(de::Error::custom(format_args!(
                "must be {A}, {B} or {C}, is {}",
                as_shown(&value)
            ))),
        }
    }
}

impl<const A: i64, const B: i64, const C: i64, const D: i64> JsonSchema
    for NumberChoice<A, B, C, D>
{
    fn schema_name() -> Cow<'static, str> {
        format!("Pick_{A}_{B}_{C}_{D}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": [A, B, C] })
    }
}

/// A multiple of `STEP` from `LEAST` to `MOST`; `DEFAULT` when absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteppedCount<const LEAST: i64, const MOST: i64, const STEP: i64, const DEFAULT: i64>(
    i64,
);

impl<const L: i64, const M: i64, const S: i64, const D: i64> SteppedCount<L, M, S, D> {
    /// The number, a multiple of the step.
    pub const fn count(self) -> u32 {
        self.0 as u32
    }
}

impl<const L: i64, const M: i64, const S: i64, const D: i64> Default for SteppedCount<L, M, S, D> {
    fn default() -> Self {
        Self(D)
    }
}

impl<const L: i64, const M: i64, const S: i64, const D: i64> Serialize
    for SteppedCount<L, M, S, D>
{
    fn serialize<Se: Serializer>(&self, serializer: Se) -> Result<Se::Ok, Se::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, const L: i64, const M: i64, const S: i64, const D: i64> Deserialize<'de>
    for SteppedCount<L, M, S, D>
{
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        match number(deserializer)? {
            (Some(number), _) if (L..=M).contains(&number) && number % S == 0 => Ok(Self(number)),
            (_, value) => Err(de::Error::custom(format_args!(
                "must be a multiple of {S} from {L} to {M}, is {}",
                as_shown(&value)
            ))),
        }
    }
}

impl<const L: i64, const M: i64, const S: i64, const D: i64> JsonSchema
    for SteppedCount<L, M, S, D>
{
    fn schema_name() -> Cow<'static, str> {
        format!("Stepped_{L}_{M}_{S}_{D}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": L, "maximum": M, "multipleOf": S })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pick_takes_its_three_numbers_also_as_text() {
        let pick = |value| serde_json::from_value::<NumberChoice<1, 2, 4, 4>>(value);
        assert_eq!(pick(json!("4")).expect("four").count(), 4);
        let error = pick(json!(3)).expect_err("three");
        assert_eq!(error.to_string(), "must be 1, 2 or 4, is 3");
    }

    #[test]
    fn a_step_in_between_is_refused() {
        let side = |value| serde_json::from_value::<SteppedCount<64, 2048, 8, 1024>>(value);
        for (value, good) in [
            (json!(64), true),
            (json!("2048"), true),
            (json!(56), false),
            (json!(100), false),
            (json!(2056), false),
        ] {
            assert_eq!(side(value.clone()).is_ok(), good, "{value}");
        }
    }
}
