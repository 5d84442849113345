//! Money of other programs, exactly: amounts in millionths of their unit, and what they come to here.

use std::fmt;

use atelier_contract::Quota;

const MILLION: i128 = 1_000_000;
const THOUSAND: i128 = 1_000;
/// Amounts beyond this are no money: whoever wrote them meant "without limit". In units.
const MOST: i128 = 1_000_000_000_000_000;

/// An amount in another program's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Units(i128);

impl Units {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Whole units.
    pub const fn whole(units: i64) -> Self {
        Self(units as i128 * MILLION)
    }

    /// Reads a decimal number, also with an exponent; digits behind the sixth place are cut off.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        if !(-40..=40).contains(&exponent) {
            return None;
        }
        let (sign, number) = match number.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits: String = [whole, fraction].concat();
        if digits.is_empty() || digits.len() > 60 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // The point stands behind so many of the digits.
        let point = whole.len() as i32 + exponent + 6;
        let kept = usize::try_from(point.max(0)).ok()?;
        let mut padded = digits;
        while padded.len() < kept {
            padded.push('0');
        }
        let micros = padded.get(..kept).unwrap_or_default();
        let micros = micros.trim_start_matches('0');
        if micros.len() > 30 {
            return None;
        }
        let micros: i128 = if micros.is_empty() {
            0
        } else {
            micros.parse().ok()?
        };
        Some(Self(sign * micros))
    }

    /// Whether it is below nothing.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Whether it can be money at all.
    pub const fn is_plausible(self) -> bool {
        self.0.abs() <= MOST * MILLION
    }

    /// So much of this as is used is left.
    #[must_use]
    pub const fn less(self, used: Self) -> Self {
        Self(self.0 - used.0)
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// So many times as much.
    #[must_use]
    pub const fn times(self, factor: Self) -> Self {
        Self(self.0.saturating_mul(factor.0) / MILLION)
    }

    /// As thousandths, rounded towards nothing.
    pub const fn thousandths(self) -> i128 {
        self.0 / THOUSAND
    }

    /// Nothing in the place of what is below it.
    #[must_use]
    pub fn at_least_zero(self) -> Self {
        Self(self.0.max(0))
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.abs() / MILLION, self.0.abs() % MILLION);
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let rest = format!("{rest:06}");
        write!(f, "{sign}{whole}.{}", rest.trim_end_matches('0'))
    }
}

/// How many of their units are one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange(i128);

impl Exchange {
    /// So many of theirs for one of ours; nothing unless that is more than nothing.
    pub fn new(per_quota: Units) -> Option<Self> {
        (per_quota.0 > 0).then_some(Self(per_quota.0))
    }

    /// What an amount comes to, rounded towards nothing, and what of it is too little for the last place.
    pub fn quota(self, units: Units) -> (Quota, Units) {
        let thousandths = units.0 * THOUSAND / self.0;
        let thousandths = thousandths.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        // What is left over is below a thousandth of ours, and is told in their unit.
        let taken = i128::from(thousandths) * self.0 / THOUSAND;
        (Quota::from_thousandths(thousandths), Units(units.0 - taken))
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Units(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_databases_write_them() {
        for (text, written) in [
            ("0", "0"),
            ("500000", "500000"),
            ("-12", "-12"),
            ("1.5", "1.5"),
            ("0.0000019", "0.000001"),
            ("1e-05", "0.00001"),
            ("1.25E3", "1250"),
            ("7.", "7"),
            (".5", "0.5"),
        ] {
            let read = Units::parse(text).map(|units| units.to_string());
            assert_eq!(read.as_deref(), Some(written), "{text}");
        }
        for text in ["", "-", "a", "1,5", "1e999", "NaN", "inf", "0x1"] {
            assert_eq!(Units::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_taken_and_what_is_left_over_meet() {
        let exchange = Exchange::new(Units::whole(500_000)).expect("an exchange");
        for (units, quota, rest) in [
            (500_000, 1_000, 0),
            (499, 0, 499),
            (1_234_567, 2_469, 67),
            (-750_000, -1_500, 0),
            (-501, -1, -1),
        ] {
            let (taken, left) = exchange.quota(Units::whole(units));
            assert_eq!(taken.thousandths(), quota, "{units}");
            assert_eq!(left, Units::whole(rest), "{units}");
        }
        assert_eq!(Exchange::new(Units::ZERO), None);
    }
}
