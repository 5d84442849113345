//! Exact numbers of prices: whole thousandths, and fractions that are rounded once, at the end.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::quota::Quota;
use crate::refusal::{Code, Refusal};

/// The largest amount of one unit, in thousandths: a million.
pub(crate) const AMOUNT_MOST: i64 = 1_000_000_000;
/// The largest factor, in thousandths: a hundred.
pub(crate) const FACTOR_MOST: i64 = 100_000;

/// An exact number: what is multiplied is never rounded before the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fraction {
    above: i128,
    below: i128,
}

impl Fraction {
    pub(crate) const ONE: Self = Self { above: 1, below: 1 };

    /// A factor that is written as quota are.
    pub(crate) fn of_quota(factor: Quota) -> Self {
        Self {
            above: factor.thousandths().into(),
            below: 1000,
        }
    }

    pub(crate) fn times(self, above: i128, below: i128) -> Result<Self, Refusal> {
        let above = self.above.checked_mul(above).ok_or_else(too_large)?;
        let below = self.below.checked_mul(below).ok_or_else(too_large)?;
        Ok(Self { above, below })
    }

    pub(crate) fn times_fraction(self, other: Self) -> Result<Self, Refusal> {
        self.times(other.above, other.below)
    }

    pub(crate) fn rounded_up(self) -> Result<Quota, Refusal> {
        let up = self.above / self.below + i128::from(self.above % self.below > 0);
        let up = i64::try_from(up).map_err(|_| too_large())?;
        let total = Quota::from_thousandths(up);
        if total > Quota::MOST {
            return Err(too_large());
        }
        Ok(total)
    }

    /// The same number in its smallest terms.
    pub(crate) fn reduced(self) -> Self {
        let shared = common_divisor(self.above, self.below);
        Self {
            above: self.above / shared,
            below: self.below / shared,
        }
    }

    /// The nearest number that JSON can carry, for people: nothing is computed from it.
    pub(crate) fn decimal(self) -> f64 {
        let Self { above, below } = self.reduced();
        above as f64 / below as f64
    }
}

/// The largest number that divides both; 1 when there is none.
fn common_divisor(one: i128, other: i128) -> i128 {
    let (mut larger, mut smaller) = (one.max(other), one.min(other));
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger.max(1)
}

fn too_large() -> Refusal {
    Refusal::new(
        Code::InvalidParameter,
        "the price of this request is larger than any account could hold; ask for less at once",
    )
}

/// A number of quota from 0 to so many thousandths.
pub(crate) fn bounded<'de, D: Deserializer<'de>>(
    deserializer: D,
    most: i64,
) -> Result<Quota, D::Error> {
    let amount = Quota::deserialize(deserializer)?;
    if (0..=most).contains(&amount.thousandths()) {
        return Ok(amount);
    }
    let most = Quota::from_thousandths(most);
    Err(D::Error::custom(format_args!(
        "must be from 0 to {most} with at most three places, is {amount}"
    )))
}
