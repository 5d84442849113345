//! A moment: a date, or a date with a time, always in UTC.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::values::as_text;

/// `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS`, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    /// The moment in milliseconds since 1970.
    pub const fn ms(self) -> i64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        let text = text.trim();
        let at = text
            .parse::<DateTime>()
            .or_else(|_| text.parse::<Date>().map(|day| day.at(0, 0, 0, 0)));
        let at = at.and_then(|at| at.to_zoned(TimeZone::UTC));
        at.map(|at| Self(at.timestamp().as_millisecond()))
            .map_err(|_| {
                de::Error::custom("must be a date such as 2026-01-31 or 2026-01-31 12:00:00 (UTC)")
            })
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2})?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn moments_are_dates_with_or_without_a_time() {
        let read = |value: Value| serde_json::from_value::<Moment>(value).map(Moment::ms).ok();
        assert_eq!(read(json!("1970-01-02")), Some(86_400_000));
        assert_eq!(read(json!("1970-01-01 00:00:01")), Some(1000));
        assert_eq!(read(json!("1970-01-01T00:00:02")), Some(2000));
        for wrong in [json!("yesterday"), json!(7), json!(true), json!("")] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
