//! Plans: quota that comes again and again. What an operator says of one, and when its periods begin and end.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::fields::as_text;
use crate::models::{NOT_A_NAME, is_name};
use crate::quota::Quota;

/// The most days of a period.
const DAYS_MOST: i64 = 3_660;

/// A plan as an operator describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PlanDefinition")]
pub struct PlanDefinition {
    /// Its name: 1 to 64 of `a-z 0-9 . _ : / -`; large letters are made small.
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._:/-]+$"))]
    pub name: String,
    /// How long a period is: `month`, `year`, or so many days. Months and years end on the day that the plan began on, or on the last
    /// of a month that has no such day.
    pub every: Every,
    /// Quota of each period; the rest expires with the period.
    #[serde(deserialize_with = "amount")]
    #[schemars(range(min = 0.001))]
    pub quota: Quota,
    /// Unused quota that carries over into the next period.
    #[serde(default, deserialize_with = "cap")]
    #[schemars(range(min = 0))]
    pub rollover_cap: Quota,
    /// The group that an account is in while it has the plan; it stays in its own without.
    #[serde(
        default,
        deserialize_with = "group",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 64))]
    pub group: Option<String>,
    /// What can be spent after the plan's quota: `stop` for nothing, `pay_as_you_go` for the account's other quota.
    #[serde(default)]
    pub then: Then,
}

/// How long a period is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Every {
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
    /// So many days.
    #[serde(untagged)]
    Days {
        /// From 1 to 3,660.
        #[serde(deserialize_with = "days")]
        #[schemars(range(min = 1, max = 3660))]
        days: i64,
    },
}

/// What can be spent after a plan's quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    #[default]
    /// Nothing.
    Stop,
    /// The account's other quota.
    PayAsYouGo,
}

/// A part of the time of a plan: from a moment on until another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Counts from 0, the one that begins with the first day.
    pub number: i64,
    /// When it begins, in milliseconds since 1970.
    pub from_ms: i64,
    /// When the next one does.
    pub until_ms: i64,
}

impl Every {
    /// A period of a plan that began at a moment.
    pub fn period(self, first_ms: i64, number: i64) -> Period {
        Period {
            number,
            from_ms: self.begin(first_ms, number),
            until_ms: self.begin(first_ms, number + 1),
        }
    }

    /// The period that a moment is in, of a plan that began at another; the first one before that.
    pub fn at(self, first_ms: i64, at_ms: i64) -> Period {
        let (mut low, mut high) = (0, 1);
        while self.begin(first_ms, high) <= at_ms {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.begin(first_ms, middle) <= at_ms {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.period(first_ms, low)
    }

    /// When a period begins. It is counted from the first day, so that a month without that day does not shorten those after it.
    fn begin(self, first_ms: i64, number: i64) -> i64 {
        let step: Span = match self {
            Self::Month => Span::new().try_months(number).unwrap_or_default(),
            Self::Year => Span::new().try_years(number).unwrap_or_default(),
            Self::Days { days } => {
                let length = SignedDuration::from_hours(24 * days.saturating_mul(number));
                return first_ms.saturating_add(length.as_millis() as i64);
            }
        };
        let first = Timestamp::from_millisecond(first_ms).unwrap_or_default();
        let first = DateTime::from(first.to_zoned(TimeZone::UTC));
        let begin = first
            .checked_add(step)
            .and_then(|at| at.to_zoned(TimeZone::UTC));
        begin.map_or(i64::MAX, |at| at.timestamp().as_millisecond())
    }
}

impl PlanDefinition {
    /// What an upgrade gives for the rest of a period of a plan that began at a moment, rounded down. Months are as long as they are.
    pub fn prorated(&self, period: Period, first_ms: i64, now_ms: i64) -> Quota {
        let whole = self.every.at(first_ms, period.from_ms);
        let length = i128::from(whole.until_ms - whole.from_ms).max(1);
        let left = i128::from((period.until_ms - now_ms.max(period.from_ms)).max(0));
        let amount = i128::from(self.quota.thousandths()) * left / length;
        Quota::from_thousandths(i64::try_from(amount).unwrap_or(i64::MAX))
    }

    /// Whether it gives more than another in the same time.
    pub fn is_above(&self, other: &Self) -> bool {
        let of = |plan: &Self, by: &Self| {
            let period = by.every.period(0, 0);
            i128::from(plan.quota.thousandths()) * i128::from(period.until_ms - period.from_ms)
        };
        of(self, other) > of(other, self)
    }
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = as_text(deserializer)?;
    if is_name(&text) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(D::Error::custom(NOT_A_NAME))
    }
}

fn group<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    let text = text.map(|text| text.trim().to_ascii_lowercase());
    Ok(text.filter(|text| !text.is_empty()))
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quota, D::Error> {
    let amount = Quota::deserialize(deserializer)?;
    if amount > Quota::ZERO {
        Ok(amount)
    } else {
        Err(D::Error::custom("must be more than 0"))
    }
}

fn cap<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Quota, D::Error> {
    let amount = Quota::deserialize(deserializer)?;
    if amount >= Quota::ZERO {
        Ok(amount)
    } else {
        Err(D::Error::custom("must not be negative"))
    }
}

fn days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let days = i64::deserialize(deserializer)?;
    if (1..=DAYS_MOST).contains(&days) {
        Ok(days)
    } else {
        Err(D::Error::custom("must be a whole number from 1 to 3660"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{date_ms, timestamp};
    use serde_json::{Value, json};

    fn ms(text: &str) -> i64 {
        date_ms(text).expect("a date")
    }

    fn plan(every: Every, quota: i64) -> PlanDefinition {
        PlanDefinition {
            name: "small".into(),
            every,
            quota: Quota::from_thousandths(quota * 1000),
            rollover_cap: Quota::ZERO,
            group: None,
            then: Then::Stop,
        }
    }

    #[test]
    fn months_end_on_the_day_that_the_plan_began_on() {
        let begin = |first: &str, number| {
            timestamp(Every::Month.period(ms(first), number).from_ms)[..10].to_owned()
        };
        let of = |first: &str| [0, 1, 2, 3, 12, 13].map(|number| begin(first, number));
        assert_eq!(
            of("2027-01-31"),
            [
                "2027-01-31",
                "2027-02-28",
                "2027-03-31",
                "2027-04-30",
                "2028-01-31",
                "2028-02-29"
            ]
        );
        assert_eq!(begin("2027-06-15", 7), "2028-01-15");
        let leap = Every::Year.period(ms("2028-02-29"), 1);
        assert_eq!(timestamp(leap.from_ms), "2029-02-28 00:00:00");
        assert_eq!(timestamp(leap.until_ms), "2030-02-28 00:00:00");
        let leap = Every::Year.period(ms("2028-02-29"), 4);
        assert_eq!(timestamp(leap.from_ms), "2032-02-29 00:00:00");
        let tenth = Every::Days { days: 10 }.period(ms("2027-01-01T12:30:00Z"), 3);
        assert_eq!(timestamp(tenth.from_ms), "2027-01-31 12:30:00");
    }

    #[test]
    fn every_moment_is_in_one_period() {
        for every in [Every::Month, Every::Year, Every::Days { days: 3 }] {
            let first_ms = ms("2027-01-31T07:00:00Z");
            let mut last = every.period(first_ms, 0);
            for hour in 0..20_000 {
                let at_ms = first_ms + hour * 7 * 3_600_000 + hour;
                let now = every.at(first_ms, at_ms);
                assert!(now.from_ms <= at_ms && at_ms < now.until_ms);
                assert!(now == last || now.from_ms == last.until_ms);
                last = now;
            }
            let begin = every.at(first_ms, last.from_ms);
            assert_eq!((begin, every.at(first_ms, 0).number), (last, 0));
        }
    }

    #[test]
    fn an_upgrade_gives_what_is_left_of_the_time() {
        let period = Every::Month.period(ms("2027-04-01"), 0);
        let big = plan(Every::Month, 100);
        let at = |day: &str| big.prorated(period, period.from_ms, ms(day)).to_string();
        assert_eq!(at("2027-04-01"), "100");
        assert_eq!(at("2027-04-16"), "50");
        assert_eq!(at("2027-04-11"), "66.666");
        assert_eq!(at("2027-05-01"), "0");
        // A year of which a month is left.
        let year = plan(Every::Year, 365);
        let from_ms = period.from_ms;
        assert_eq!(
            year.prorated(period, from_ms, from_ms).to_string(),
            "29.918"
        );
        // The month from 28 February on of a plan that began on the last day of January.
        let first_ms = ms("2027-01-31");
        let short = Every::Month.period(first_ms, 1);
        assert_eq!(short.until_ms, ms("2027-03-31"));
        let at_once = big.prorated(short, first_ms, short.from_ms);
        assert_eq!(at_once.to_string(), "100");
        // A clock that was set back makes no period longer.
        assert_eq!(big.prorated(short, first_ms, first_ms), at_once);
        assert!(big.is_above(&plan(Every::Month, 99)) && !big.is_above(&big));
        assert!(plan(Every::Days { days: 1 }, 4).is_above(&big));
        assert!(big.is_above(&plan(Every::Year, 1_000)));
    }

    #[test]
    fn a_plan_is_read_with_its_bounds() {
        let read = |value: Value| serde_json::from_value::<PlanDefinition>(value);
        let small = json!({ "name": "Small", "every": "month", "quota": 5 });
        let read_small = read(small).expect("a plan");
        assert_eq!(read_small, plan(Every::Month, 5));
        let days = json!({ "name": "a", "every": { "days": 30 }, "quota": "0.5", "rollover_cap": 2, "then": "pay_as_you_go", "group": "VIP" });
        let days = read(days).expect("a plan");
        assert_eq!(
            (days.every, days.then),
            (Every::Days { days: 30 }, Then::PayAsYouGo)
        );
        assert_eq!(days.group.as_deref(), Some("vip"));
        let again = serde_json::to_value(&days).expect("JSON");
        assert_eq!(again["every"], json!({ "days": 30 }));
        assert_eq!(read(again).expect("a plan"), days);
        for (field, wrong) in [
            ("every", json!("week")),
            ("every", json!({ "days": 0 })),
            ("every", json!({ "days": 4_000 })),
            ("quota", json!(0)),
            ("rollover_cap", json!(-1)),
            ("then", json!("go")),
            ("name", json!("ä")),
        ] {
            let mut plan = json!({ "name": "a", "every": "month", "quota": 5 });
            plan[field] = wrong.clone();
            assert!(read(plan).is_err(), "{field} {wrong}");
        }
    }
}
