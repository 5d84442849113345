//! Numbers and switches. They may arrive as text; anything else of the wrong type is refused.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::values::{as_shown, kind, whole};

mod pick;

pub use pick::{NumberChoice, SteppedCount};

/// A whole number from `LEAST` to `MOST`; `DEFAULT` when absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count<const LEAST: i64, const MOST: i64, const DEFAULT: i64>(i64);

impl<const LEAST: i64, const MOST: i64, const DEFAULT: i64> Count<LEAST, MOST, DEFAULT> {
    /// The number, which is within its bounds.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// A number that was read before, held within the bounds.
    pub const fn clamped(number: i64) -> Self {
        if number < LEAST {
            Self(LEAST)
        } else if number > MOST {
            Self(MOST)
        } else {
            Self(number)
        }
    }

    /// The number as a count of things.
    pub const fn count(self) -> u32 {
        self.0 as u32
    }
}

/// A time limit in seconds; the default depends on other fields, so it is optional where it stands.
pub type Seconds<const LEAST: i64, const MOST: i64> = Count<LEAST, MOST, LEAST>;

impl<const L: i64, const M: i64, const D: i64> Default for Count<L, M, D> {
    fn default() -> Self {
        Self(D)
    }
}

impl<const L: i64, const M: i64, const D: i64> Serialize for Count<L, M, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de, const L: i64, const M: i64, const D: i64> Deserialize<'de> for Count<L, M, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let value = Value::deserialize(deserializer)?;
        let wanted = format!("must be a whole number from {L} to {M}");
        let number = match &value {
            Value::Number(number) => whole(number),
            Value::String(text) => text.trim().parse().ok(),
            other => {
                return Err(de::Error::custom(format_args!(
                    "{wanted}, is {}",
                    kind(other)
                )));
            }
        };
        match number {
            Some(number) if (L..=M).contains(&number) => Ok(Self(number)),
            _ => Err(de::Error::custom(format_args!(
                "{wanted}, is {}",
                as_shown(&value)
            ))),
        }
    }
}

impl<const L: i64, const M: i64, const D: i64> JsonSchema for Count<L, M, D> {
    fn schema_name() -> Cow<'static, str> {
        format!("Count_{L}_{M}_{D}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": L, "maximum": M })
    }
}

/// A number from `LEAST` to `MOST`, bounds and default given in thousandths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real<const LEAST: i64, const MOST: i64, const DEFAULT: i64>(f64);

impl<const L: i64, const M: i64, const D: i64> Real<L, M, D> {
    /// The number, which is within its bounds.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<const L: i64, const M: i64, const D: i64> Default for Real<L, M, D> {
    fn default() -> Self {
        Self(D as f64 / 1000.0)
    }
}

impl<const L: i64, const M: i64, const D: i64> Serialize for Real<L, M, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de, const L: i64, const M: i64, const D: i64> Deserialize<'de> for Real<L, M, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let value = Value::deserialize(deserializer)?;
        let (least, most) = (L as f64 / 1000.0, M as f64 / 1000.0);
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse::<f64>().ok(),
            other => {
                let is = kind(other);
                return Err(de::Error::custom(format_args!(
                    "must be a number from {least} to {most}, is {is}"
                )));
            }
        };
        match number {
            Some(number) if number >= least && number <= most => Ok(Self(number)),
            _ => {
                let is = as_shown(&value);
                Err(de::Error::custom(format_args!(
                    "must be a number from {least} to {most}, is {is}"
                )))
            }
        }
    }
}

impl<const L: i64, const M: i64, const D: i64> JsonSchema for Real<L, M, D> {
    fn schema_name() -> Cow<'static, str> {
        format!("Real_{L}_{M}_{D}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": L as f64 / 1000.0, "maximum": M as f64 / 1000.0 })
    }
}

/// A switch; `DEFAULT` when absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag<const DEFAULT: bool>(bool);

impl<const D: bool> Flag<D> {
    /// Whether it is on.
    pub const fn on(self) -> bool {
        self.0
    }
}

impl<const D: bool> From<bool> for Flag<D> {
    fn from(on: bool) -> Self {
        Self(on)
    }
}

impl<const D: bool> Default for Flag<D> {
    fn default() -> Self {
        Self(D)
    }
}

impl<const D: bool> Serialize for Flag<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(self.0)
    }
}

impl<'de, const D: bool> Deserialize<'de> for Flag<D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::Bool(on) => Ok(Self(*on)),
            Value::String(text) if text == "true" => Ok(Self(true)),
            Value::String(text) if text == "false" => Ok(Self(false)),
            other => Err(de::Error::custom(format_args!(
                "must be true or false, is {}",
                as_shown(other)
            ))),
        }
    }
}

impl<const D: bool> JsonSchema for Flag<D> {
    fn schema_name() -> Cow<'static, str> {
        format!("Flag_{D}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn count(value: Value) -> Result<i64, String> {
        serde_json::from_value::<Count<1, 6, 1>>(value)
            .map(Count::get)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_count_may_arrive_as_text() {
        assert_eq!(count(json!("4")), Ok(4));
        assert_eq!(count(json!(6)), Ok(6));
        assert_eq!(count(json!(3.0)), Ok(3));
    }

    #[test]
    fn a_count_outside_its_range_says_the_range() {
        assert_eq!(
            count(json!(9)),
            Err("must be a whole number from 1 to 6, is 9".into())
        );
        for value in [
            json!(0),
            json!(1.5),
            json!(true),
            json!([1]),
            json!("x"),
            json!(1e300),
        ] {
            assert!(count(value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn a_switch_takes_true_and_false_and_nothing_else() {
        let flag = |value| {
            serde_json::from_value::<Flag<false>>(value)
                .map(Flag::on)
                .ok()
        };
        assert_eq!(flag(json!("true")), Some(true));
        assert_eq!(flag(json!(false)), Some(false));
        assert_eq!(flag(json!("yes")), None);
        assert_eq!(flag(json!(1)), None);
    }
}
