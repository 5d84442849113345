//! A date as operators write it: a day, whose midnight is meant, or RFC 3339.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::values::as_text;
use crate::time::date_ms;

/// `YYYY-MM-DD` (its midnight UTC) or RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperatorDate(i64);

impl OperatorDate {
    /// The moment in milliseconds since 1970.
    pub const fn ms(self) -> i64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for OperatorDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        date_ms(text.trim()).map(Self).ok_or_else(|| {
            de::Error::custom("must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
        })
    }
}

impl JsonSchema for OperatorDate {
    fn schema_name() -> Cow<'static, str> {
        "Date".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}([ Tt][0-9:.]+([Zz]|[+-][0-9:]+))?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_date_is_a_day_or_a_moment_with_its_offset() {
        let read = |value: Value| serde_json::from_value(value).map(OperatorDate::ms).ok();
        assert_eq!(read(json!("1970-01-02")), Some(86_400_000));
        assert_eq!(read(json!(" 1970-01-01T00:00:02Z ")), Some(2_000));
        assert_eq!(read(json!("1970-01-01T01:00:00+01:00")), Some(0));
        for wrong in [
            json!("1970-01-01 00:00:01"),
            json!("31.1.2027"),
            json!("2027-02-30"),
            json!(7),
            json!(""),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
