//! Times of the settings: read in their own unit, used in milliseconds.

use atelier_contract::settings::Bounds;
use serde::{Deserialize, Deserializer};

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

/// Longer than anything is kept or waited for: a hundred years.
const MOST_MS: i64 = 36_500 * 86_400_000;

impl<'de, const UNIT_MS: i64> Deserialize<'de> for Period<UNIT_MS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::at_least(0, deserializer)
    }
}

impl<const UNIT_MS: i64> Period<UNIT_MS> {
    fn at_least<'de, D: Deserializer<'de>>(least: i64, deserializer: D) -> Result<Self, D::Error> {
        let most = MOST_MS / UNIT_MS;
        let units = Bounds { least, most }.read(deserializer)?;
        Ok(Self(units * UNIT_MS))
    }
}

/// Reads a pause, which cannot be nothing: whoever pauses would go round without an end.
pub(super) fn pause<'de, D: Deserializer<'de>, const UNIT_MS: i64>(
    deserializer: D,
) -> Result<Period<UNIT_MS>, D::Error> {
    Period::at_least(1, deserializer)
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
        for units in [36_501, i64::MAX] {
            let refused = read::<86_400_000>(units).expect_err("too long");
            assert!(refused.contains("must be from 0"), "{refused}");
        }
        let refused = read::<86_400_000>(-1).expect_err("negative");
        assert!(refused.contains("must be from 0"), "{refused}");
    }

    #[test]
    fn a_pause_is_not_nothing() {
        for units in [0_i64, -1] {
            let units: I64Deserializer<Error> = units.into_deserializer();
            let refused = pause::<_, 1_000>(units).expect_err("no pause");
            assert!(refused.to_string().contains("must be from 1"), "{refused}");
        }
    }
}
