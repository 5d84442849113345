//! Months of the calendar in UTC, as statements have them.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::fields::as_text;

/// Months of a year.
const YEAR: i64 = 12;
/// A month behind the last one of the calendar is never over.
const NEVER_MS: i64 = i64::MAX / 2;

/// A month, counted from the beginning of year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month(i64);

impl Month {
    /// The month with a number, as stored.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Reads `2026-10`.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let plain = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !plain(year, 4) || !plain(month, 2) {
            return None;
        }
        let (year, month): (i64, i64) = (year.parse().ok()?, month.parse().ok()?);
        (1..=YEAR)
            .contains(&month)
            .then_some(Self(year * YEAR + month - 1))
    }

    /// The month that a moment is in, in milliseconds since 1970.
    pub fn at(ms: i64) -> Self {
        let at = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
        let date = at.to_zoned(TimeZone::UTC).date();
        Self(i64::from(date.year()) * YEAR + i64::from(date.month()) - 1)
    }

    /// When it begins.
    pub fn from_ms(self) -> i64 {
        let first = Date::new(self.year() as i16, (self.0.rem_euclid(YEAR) + 1) as i8, 1);
        let begin = first.and_then(|first| first.to_zoned(TimeZone::UTC));
        begin.map_or(NEVER_MS, |begin| begin.timestamp().as_millisecond())
    }

    /// When the next one begins.
    pub fn until_ms(self) -> i64 {
        self.next().from_ms()
    }

    /// The month after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The month before it.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0 - 1)
    }

    /// Its year.
    pub const fn year(self) -> i64 {
        self.0.div_euclid(YEAR)
    }

    /// Its place in the year, from 0.
    pub const fn index(self) -> usize {
        self.0.rem_euclid(YEAR) as usize
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.index() + 1)
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Month {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = as_text(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("must be a month such as 2026-10"))
    }
}

impl JsonSchema for Month {
    fn schema_name() -> Cow<'static, str> {
        "Month".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::timestamp;

    #[test]
    fn the_last_month_of_the_calendar_is_not_over() {
        let last = Month::parse("9999-12").expect("a month");
        assert!(last.until_ms() > last.from_ms());
    }

    #[test]
    fn months_are_read_and_written_as_the_calendar_has_them() {
        let month = Month::parse("2026-12").expect("a month");
        assert_eq!(month.to_string(), "2026-12");
        assert_eq!(timestamp(month.from_ms()), "2026-12-01 00:00:00");
        assert_eq!(timestamp(month.until_ms()), "2027-01-01 00:00:00");
        assert_eq!(Month::at(month.until_ms()), month.next());
        assert_eq!(Month::at(month.until_ms() - 1), month);
        assert_eq!(
            (month.previous().to_string(), month.index()),
            ("2026-11".into(), 11)
        );
        assert_eq!(Month::at(0).to_string(), "1970-01");
        for wrong in [
            "2026", "2026-13", "2026-00", "26-10", "2026-1", "2026-010", "x026-10", "+026-10",
        ] {
            assert_eq!(Month::parse(wrong), None, "{wrong}");
        }
    }
}
