//! Work hours: spans of the day, in UTC, in which a worker account may be given work.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::fields::as_text;

/// Characters of work hours.
const MOST: usize = 200;
/// Minutes of a day.
const DAY: i64 = 24 * 60;
const MINUTE_MS: i64 = 60_000;

/// Spans of the day; none means always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hours {
    text: String,
    spans: Vec<(i64, i64)>,
}

impl Hours {
    /// Reads `08:00-20:00` or several spans with commas between; a span may pass midnight.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be spans such as 08:00-20:00, in UTC, with commas between".to_owned();
        let mut spans = Vec::new();
        for span in text
            .split(',')
            .map(str::trim)
            .filter(|span| !span.is_empty())
        {
            let (from, to) = span.split_once('-').ok_or_else(wrong)?;
            let (from, to) = (clock(from).ok_or_else(wrong)?, clock(to).ok_or_else(wrong)?);
            if from % DAY == to % DAY {
                return Err("a span must not begin and end at the same time".into());
            }
            spans.push((from % DAY, to % DAY));
        }
        Ok(Self {
            text: text.to_owned(),
            spans,
        })
    }

    /// As they were written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When work may be given, at the earliest: now, or the beginning of the next span.
    pub fn opens_ms(&self, now_ms: i64) -> i64 {
        let minute = now_ms.div_euclid(MINUTE_MS).rem_euclid(DAY);
        let within = |(from, to): &(i64, i64)| {
            if from < to {
                (*from..*to).contains(&minute)
            } else {
                minute >= *from || minute < *to
            }
        };
        if self.spans.is_empty() || self.spans.iter().any(within) {
            return now_ms;
        }
        let ahead = self
            .spans
            .iter()
            .map(|(from, _)| (from - minute).rem_euclid(DAY));
        let ahead = ahead.min().unwrap_or_default();
        (now_ms.div_euclid(MINUTE_MS) + ahead) * MINUTE_MS
    }
}

impl Serialize for Hours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        if text.len() > MOST {
            return Err(de::Error::custom(format_args!(
                "must be at most {MOST} characters"
            )));
        }
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Hours {
    fn schema_name() -> Cow<'static, str> {
        "Hours".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MOST })
    }
}

/// Minutes since midnight of `HH:MM`; 24:00 is the end of the day.
pub(super) fn clock(text: &str) -> Option<i64> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hours) || !digits(minutes) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let minute = hours * 60 + minutes;
    (minutes < 60 && minute <= DAY).then_some(minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2027-01-15 08:00:00 UTC, a Friday.
    const EIGHT: i64 = 1_800_000_000_000;
    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_worker_works_in_its_hours_only() {
        let day = Hours::parse("08:00-20:00").expect("a span");
        assert_eq!(day.opens_ms(EIGHT), EIGHT);
        assert_eq!(day.opens_ms(EIGHT - 1), EIGHT);
        assert_eq!(day.opens_ms(EIGHT + 12 * HOUR), EIGHT + 24 * HOUR);
        let night = Hours::parse("22:30-06:00, 12:00-13:00").expect("two spans");
        assert_eq!(night.opens_ms(EIGHT), EIGHT + 4 * HOUR);
        assert_eq!(night.opens_ms(EIGHT - 3 * HOUR), EIGHT - 3 * HOUR);
        assert_eq!(
            night.opens_ms(EIGHT + 14 * HOUR),
            EIGHT + 14 * HOUR + HOUR / 2
        );
        assert_eq!(Hours::default().opens_ms(7), 7);
    }

    #[test]
    fn anything_else_is_refused_in_words() {
        for wrong in [
            "8-20",
            "08:00",
            "08:00-08:00",
            "25:00-26:00",
            "08:60-09:00",
            "a:b-c:d",
        ] {
            assert!(Hours::parse(wrong).is_err(), "{wrong}");
        }
        assert!(
            Hours::parse("00:00-24:00").is_err(),
            "that is always: leave it empty"
        );
    }
}
