//! What vendors take, in what they count in: dollars, credits, tokens, seconds.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::fields::words;

/// The most that one amount may be: a billion, far inside what JSON numbers carry exactly.
const MOST: f64 = 1e9;

/// An amount in millionths; on the wire a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i64);

impl Amount {
    /// An amount given in millionths.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The amount in millionths.
    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1_000_000 == 0 {
            serializer.serialize_i64(self.0 / 1_000_000)
        } else {
            serializer.serialize_f64(self.0 as f64 / 1e6)
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let amount = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let amount = amount.filter(|amount| (0.0..=MOST).contains(amount));
        let amount =
            amount.ok_or_else(|| de::Error::custom("must be a number from 0 to 1000000000"))?;
        Ok(Self((amount * 1e6).round() as i64))
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": MOST })
    }
}

/// Total cost in one unit of a vendor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostSum {
    /// `USD`, or the vendor's unit, such as `tokens`.
    pub currency: String,
    /// The sum, in that currency.
    pub amount: Amount,
}

words! {
    /// What a unit cost counts.
    pub CostUnit {
        /// Each job, whatever it makes.
        Call "call",
        /// Each result.
        Item "item",
        /// Each second of each result.
        Second "second",
        /// Each million pixels of each result.
        Megapixel "megapixel",
        /// Each of what the vendor reports that is no money, such as a second of computing.
        Reported "reported",
        /// Each million of it, such as tokens.
        MillionReported "million_reported",
    }
}

/// Unit cost entered by the operator, for a vendor that reports no dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitCost {
    /// Unit.
    pub unit: CostUnit,
    /// Dollars for each unit.
    pub usd: Amount,
}
