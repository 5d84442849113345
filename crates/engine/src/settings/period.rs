//! Times of the settings: read in their own unit, used in milliseconds.

use serde::{Deserialize, Deserializer, de};

/// A time that is written as a whole number of units of so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period<const UNIT_MS: i64>(i64);

/// A time in seconds.
pub type Seconds = Period<1_000>;
/// A time in minutes.
pub type Minutes = Period<60_000>;
/// A time in hours.
pub type Hours = Period<3_600_000>;
/// A time in days.
pub type Days = Period<86_400_000>;

impl<const UNIT_MS: i64> Period<UNIT_MS> {
    /// The same in milliseconds.
    pub const fn ms(self) -> i64 {
        self.0
    }
}

impl<'de, const UNIT_MS: i64> Deserialize<'de> for Period<UNIT_MS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = i64::deserialize(deserializer)?;
        let ms = units.checked_mul(UNIT_MS);
        ms.map(Self)
            .ok_or_else(|| de::Error::custom("is too long to be counted in milliseconds"))
    }
}

/// Reads a pause, which cannot be negative.
pub(super) fn pause<'de, D: Deserializer<'de>, const UNIT_MS: i64>(
    deserializer: D,
) -> Result<Period<UNIT_MS>, D::Error> {
    let units = u64::deserialize(deserializer)?;
    Period::deserialize(de::value::U64Deserializer::new(units))
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, I64Deserializer};

    use super::*;

    fn read<const UNIT_MS: i64>(units: i64) -> Result<i64, String> {
        let units: I64Deserializer<Error> = units.into_deserializer();
        let period = Period::<UNIT_MS>::deserialize(units);
        period.map(Period::ms).map_err(|error| error.to_string())
    }

    #[test]
    fn times_are_read_in_their_own_unit() {
        assert_eq!(read::<1_000>(30), Ok(30_000));
        assert_eq!(read::<86_400_000>(31), Ok(31 * 24 * 3_600_000));
    }

    #[test]
    fn a_time_that_no_clock_reaches_is_refused() {
        let refused = read::<86_400_000>(i64::MAX).expect_err("too long");
        assert!(refused.contains("too long"), "{refused}");
    }

    #[test]
    fn a_pause_is_not_negative() {
        let units: I64Deserializer<Error> = (-1_i64).into_deserializer();
        let refused = pause::<_, 1_000>(units).expect_err("negative");
        assert!(refused.to_string().contains("expected u64"), "{refused}");
    }
}
