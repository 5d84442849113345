//! Exports that are made each day.

use atelier_contract::pages::exports::ExportFormat;
use serde::{Deserialize, Deserializer, de};

const MINUTE_MS: i64 = 60_000;

/// When exports are made, and where they go.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportSettings {
    /// The time of day; never without one.
    pub schedule: DailyTime,
    /// A folder or a bucket; the asset store where it is empty.
    pub url: String,
    /// How rows are written.
    pub format: ExportFormat,
}

/// A time of day in UTC, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailyTime(Option<i64>);

impl DailyTime {
    /// How long after midnight.
    pub const fn ms(self) -> Option<i64> {
        self.0
    }
}

impl<'de> Deserialize<'de> for DailyTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self(None));
        }
        let wrong = || {
            de::Error::custom("must be a time of day in UTC such as \"02:30\", or empty for never")
        };
        let (hours, minutes) = text.split_once(':').ok_or_else(wrong)?;
        let number = |text: &str, most: i64| {
            let plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|_| plain);
            number
                .filter(|number: &i64| *number < most)
                .ok_or_else(wrong)
        };
        let minutes = number(hours, 24)? * 60 + number(minutes, 60)?;
        Ok(Self(Some(minutes * MINUTE_MS)))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    #[test]
    fn a_time_of_day_is_hours_and_minutes() {
        let read = |text: &'static str| {
            let text: StrDeserializer<'_, Error> = text.into_deserializer();
            DailyTime::deserialize(text).map(DailyTime::ms).ok()
        };
        assert_eq!(read(""), Some(None));
        assert_eq!(read("02:30"), Some(Some(9_000_000)));
        assert_eq!(read("00:00"), Some(Some(0)));
        for wrong in ["2:30", "24:00", "12:60", "12", "+1:30", "noon"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
