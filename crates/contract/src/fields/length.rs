//! Lengths of time: seconds documented as text, and a span from one second to another.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::values::{as_text, shown};

/// Whole seconds from `LEAST` to `MOST`, on the wire as text; `LEAST` when absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondsText<const LEAST: u32, const MOST: u32>(u32);

impl<const L: u32, const M: u32> SecondsText<L, M> {
    /// The length in whole seconds.
    pub const fn seconds(self) -> u32 {
        self.0
    }
}

impl<const L: u32, const M: u32> Default for SecondsText<L, M> {
    fn default() -> Self {
        Self(L)
    }
}

impl<const L: u32, const M: u32> Serialize for SecondsText<L, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, const L: u32, const M: u32> Deserialize<'de> for SecondsText<L, M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        match text.trim().parse() {
            Ok(seconds) if (L..=M).contains(&seconds) => Ok(Self(seconds)),
            _ => Err(de::Error::custom(format_args!(
                "must be whole seconds from {L} to {M}, is {}",
                shown(&text)
            ))),
        }
    }
}

impl<const L: u32, const M: u32> JsonSchema for SecondsText<L, M> {
    fn schema_name() -> Cow<'static, str> {
        format!("Seconds_{L}_{M}").into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = (L..=M).map(|seconds| seconds.to_string()).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// `"start,end"` in seconds; the span is 1 to 3 seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    start: f64,
    end: f64,
    text: String,
}

impl Span {
    /// From and to, in seconds.
    pub const fn bounds(&self) -> (f64, f64) {
        (self.start, self.end)
    }
}

fn second(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    let text = text.trim();
    let number: f64 = text.chars().all(plain).then(|| text.parse().ok())??;
    (number <= 86_400.0).then_some(number)
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let bounds = text
            .split_once(',')
            .and_then(|(start, end)| Some((second(start)?, second(end)?)));
        // Decimal fractions are not exact: 4.3 - 3.3 must still count as one second.
        const SLACK: f64 = 1e-9;
        match bounds {
            Some((start, end)) if (1.0 - SLACK..=3.0 + SLACK).contains(&(end - start)) => {
                Ok(Self { start, end, text })
            }
            Some(_) => Err(de::Error::custom(format_args!(
                "must span 1 to 3 seconds, is {}",
                shown(&text)
            ))),
            None => Err(de::Error::custom(format_args!(
                "must be start,end in seconds with a span of 1 to 3 seconds, is {}",
                shown(&text)
            ))),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^\s*[0-9.]+\s*,\s*[0-9.]+\s*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_span_is_one_to_three_seconds() {
        let span = |text: &str| serde_json::from_value::<Span>(json!(text)).is_ok();
        for good in ["0,1", "1,4", "0.5,1.5", "3.3,4.3", " 2 , 5 "] {
            assert!(span(good), "{good}");
        }
        for bad in [
            "0,0.9", "0,3.1", "4,1", "1", "a,b", "1,2,3", "-1,1", "nan,nan", ",", "1e0,2",
        ] {
            assert!(!span(bad), "{bad}");
        }
    }

    #[test]
    fn seconds_are_text_and_may_come_as_a_number() {
        let read = |value| serde_json::from_value::<SecondsText<10, 30>>(value);
        assert_eq!(read(json!(11)).expect("a number").seconds(), 11);
        assert_eq!(json!(read(json!("30")).expect("text")), json!("30"));
        assert!(
            read(json!("9")).is_err() && read(json!(31)).is_err() && read(json!("10.5")).is_err()
        );
    }
}
