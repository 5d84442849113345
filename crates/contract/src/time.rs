//! The one time format of the interface.

/// `YYYY-MM-DD HH:MM:SS` in UTC, the one time format of the interface.
pub fn timestamp(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from a day count, counting eras of 400 years from 1 March of year 0.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// A moment by RFC 3339 in UTC, to the millisecond, for what other programs read.
pub fn rfc3339(milliseconds: i64) -> String {
    let at = timestamp(milliseconds).replacen(' ', "T", 1);
    format!("{at}.{:03}Z", milliseconds.rem_euclid(1000))
}

/// A date of an operator: `YYYY-MM-DD` (its midnight UTC) or RFC 3339.
pub(crate) fn date_ms(text: &str) -> Option<i64> {
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let day: jiff::civil::Date = text.parse().ok().filter(|_| text.len() == 10)?;
        let midnight = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(midnight.timestamp())
    });
    at.map(jiff::Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn times_read_as_the_interface_writes_them() {
        assert_eq!(timestamp(0), "1970-01-01 00:00:00");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(timestamp(1_794_700_799_999), "2026-11-14 23:59:59");
        assert_eq!(timestamp(4_107_542_399_000), "2100-02-28 23:59:59");
    }
}
