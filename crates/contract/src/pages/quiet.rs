//! Quiet hours: a span of the day in which nothing is sent.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::hours::clock;
use crate::fields::as_text;

/// Minutes of a day.
const DAY: i64 = 24 * 60;
const MINUTE_MS: i64 = 60_000;
/// No place is further from UTC, in minutes.
const OFFSET_MOST: i64 = 14 * 60;

/// A span of the day, in UTC or so many minutes away from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    text: String,
    /// In minutes since midnight.
    from: i64,
    to: i64,
    offset: i64,
}

impl Quiet {
    /// Reads `22:00-07:00` or `22:00-07:00 +02:00`.
    pub fn parse(text: &str) -> Option<Self> {
        let (span, offset) = text
            .trim()
            .split_once(' ')
            .unwrap_or((text.trim(), "+00:00"));
        let (from, to) = span.split_once('-')?;
        let (from, to) = (clock(from)? % DAY, clock(to)? % DAY);
        let sign = match offset.chars().next()? {
            '+' => 1,
            '-' => -1,
            _ => return None,
        };
        let offset = sign * clock(&offset[1..])?;
        (from != to && offset.abs() <= OFFSET_MOST).then(|| Self {
            text: text.trim().to_owned(),
            from,
            to,
            offset,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When something may be sent, at the earliest: now, or when the quiet hours end that now is in.
    pub fn over_ms(&self, now_ms: i64) -> i64 {
        let minutes = now_ms.div_euclid(MINUTE_MS);
        let minute = (minutes + self.offset).rem_euclid(DAY);
        let length = (self.to - self.from).rem_euclid(DAY);
        let into = (minute - self.from).rem_euclid(DAY);
        if into >= length {
            return now_ms;
        }
        (minutes + length - into) * MINUTE_MS
    }
}

impl Serialize for Quiet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Quiet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::custom(
                "must be hours such as 22:00-07:00, in UTC, or with an offset: 22:00-07:00 +02:00",
            )
        })
    }
}

impl JsonSchema for Quiet {
    fn schema_name() -> Cow<'static, str> {
        "Quiet".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}( [+-][0-9]{2}:[0-9]{2})?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2027-01-15 08:00:00 UTC.
    const EIGHT: i64 = 1_800_000_000_000;
    const HOUR: i64 = 3_600_000;

    #[test]
    fn what_comes_in_quiet_hours_waits_for_their_end() {
        let night = Quiet::parse("22:00-07:00").expect("hours");
        assert_eq!(night.over_ms(EIGHT), EIGHT);
        assert_eq!(
            night.over_ms(EIGHT + 14 * HOUR),
            EIGHT + 23 * HOUR,
            "at its beginning"
        );
        assert_eq!(night.over_ms(EIGHT + 14 * HOUR - 1), EIGHT + 14 * HOUR - 1);
        assert_eq!(
            night.over_ms(EIGHT + 20 * HOUR),
            EIGHT + 23 * HOUR,
            "behind midnight"
        );
        assert_eq!(
            night.over_ms(EIGHT + 23 * HOUR),
            EIGHT + 23 * HOUR,
            "at its end"
        );
        let berlin = Quiet::parse("22:00-10:00 +01:00").expect("hours");
        assert_eq!(berlin.over_ms(EIGHT), EIGHT + HOUR);
        let there = Quiet::parse("22:00-07:00 -08:00").expect("hours");
        assert_eq!(there.over_ms(EIGHT), EIGHT + 7 * HOUR);
    }

    #[test]
    fn anything_else_is_no_span_of_the_day() {
        for wrong in [
            "",
            "22-7",
            "22:00",
            "22:00-22:00",
            "25:00-07:00",
            "22:00-07:00 02:00",
            "22:00-07:00 +15:00",
            "22:00-07:00 CET",
        ] {
            assert_eq!(Quiet::parse(wrong), None, "{wrong}");
        }
    }
}
