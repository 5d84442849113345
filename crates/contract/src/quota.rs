//! Quota: exact decimals, kept as whole thousandths so that no sum ever drifts.

use std::fmt;
use std::ops::{Add, Neg, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// An amount of quota in thousandths. On the wire a number without trailing zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quota(i64);

impl Quota {
    /// No quota at all.
    pub const ZERO: Self = Self(0);
    /// The most that any one amount may be: a billion, far inside what JSON numbers carry exactly.
    pub const MOST: Self = Self(1_000_000_000_000);

    /// An amount given in thousandths.
    pub const fn from_thousandths(thousandths: i64) -> Self {
        Self(thousandths)
    }

    /// The amount in thousandths.
    pub const fn thousandths(self) -> i64 {
        self.0
    }

    /// The sum, or `None` when it would leave the allowed range.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0
            .checked_add(other.0)
            .map(Self)
            .filter(|sum| *sum <= Self::MOST)
    }

    /// The amount times a whole number, or `None` when it would leave the allowed range.
    pub fn checked_times(self, count: u32) -> Option<Self> {
        self.0
            .checked_mul(i64::from(count))
            .map(Self)
            .filter(|product| *product <= Self::MOST)
    }

    /// Parses a plain decimal with at most three places, such as `1.8`.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty()
            || whole.len() > 10
            || places.len() > 3
            || !plain(whole)
            || !plain(places)
        {
            return None;
        }
        let thousandths: i64 = format!("{places:0<3}").parse().ok()?;
        let amount = whole.parse::<i64>().ok()? * 1000 + thousandths;
        let amount = Self(if negative { -amount } else { amount });
        (amount.0.abs() <= Self::MOST.0).then_some(amount)
    }
}

impl Add for Quota {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Quota {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Quota {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, places) = (self.0.abs() / 1000, self.0.abs() % 1000);
        if places == 0 {
            return write!(f, "{sign}{whole}");
        }
        let places = format!("{places:03}");
        write!(f, "{sign}{whole}.{}", places.trim_end_matches('0'))
    }
}

impl Serialize for Quota {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1000 == 0 {
            serializer.serialize_i64(self.0 / 1000)
        } else {
            // Thousandths below a billion print back exactly as the shortest decimal.
            serializer.serialize_f64(self.0 as f64 / 1000.0)
        }
    }
}

impl<'de> Deserialize<'de> for Quota {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => return Err(de::Error::custom("must be a number")),
        };
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom("must be a decimal number with at most three places"))
    }
}

impl JsonSchema for Quota {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quota".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "multipleOf": 0.001 })
    }
}

/// The same amount where the interface documents text: `"8"`, `"0.5"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaText(pub Quota);

impl Serialize for QuotaText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for QuotaText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "QuotaText".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,3})?$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_prints_without_trailing_zeros() {
        for (thousandths, text) in [
            (0, "0"),
            (8000, "8"),
            (500, "0.5"),
            (1800, "1.8"),
            (1, "0.001"),
            (-2500, "-2.5"),
        ] {
            let amount = Quota::from_thousandths(thousandths);
            assert_eq!(amount.to_string(), text);
            assert_eq!(serde_json::to_string(&amount).expect("a number"), text);
            assert_eq!(Quota::parse(text), Some(amount));
        }
    }

    #[test]
    fn what_is_not_a_plain_decimal_is_not_an_amount() {
        for text in [
            "",
            ".5",
            "1.2345",
            "1e3",
            "0x1",
            "99999999999",
            " 1",
            "1,5",
            "--1",
        ] {
            assert_eq!(Quota::parse(text), None, "{text}");
        }
    }
}
