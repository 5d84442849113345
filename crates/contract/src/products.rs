//! Products: what accounts can buy, and for how much.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::currency::{NOT_A_CURRENCY, currency};
use crate::fields::as_text;
use crate::models::{NOT_A_NAME, is_name};
use crate::quota::Quota;
use crate::refusal::Refusal;

/// The most that a product costs, in smaller units of its currency: providers have bounds far below.
const MONEY_MOST: i64 = 99_999_999_999;

/// A product as an operator describes it: quota, or a period of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProductDefinition")]
pub struct ProductDefinition {
    /// Its name: 1 to 64 of `a-z 0-9 . _ : / -`; large letters are made small.
    #[serde(deserialize_with = "name")]
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._:/-]+$"))]
    pub name: String,
    /// What it costs, in whole smaller units of the currency by ISO 4217: 1250 of EUR are 12.50, 1250 of JPY are 1250.
    #[serde(deserialize_with = "money")]
    #[schemars(range(min = 1, max = 99_999_999_999_i64))]
    pub money: i64,
    /// The currency by ISO 4217, like `EUR`.
    #[serde(deserialize_with = "code")]
    #[schemars(length(min = 3, max = 3))]
    pub currency: String,
    /// The quota that it gives; either this or `plan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001))]
    pub quota: Option<Quota>,
    /// The plan that it gives a period of; either this or `quota`.
    #[serde(
        default,
        deserialize_with = "plan",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(length(max = 64))]
    pub plan: Option<String>,
    /// How many days after it was paid for its quota ends, at most 3,660; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3660))]
    pub credit_days: Option<i64>,
}

impl ProductDefinition {
    /// Refuses what says two things, or nothing.
    pub fn check(&self) -> Result<(), Refusal> {
        match (&self.quota, &self.plan) {
            (Some(quota), None) if *quota <= Quota::ZERO => {
                return Err(Refusal::invalid("quota", "must be more than 0"));
            }
            (Some(quota), None) if *quota > Quota::MOST => {
                return Err(Refusal::invalid("quota", "is more than can be granted"));
            }
            (None, None) => {
                return Err(Refusal::field(
                    crate::refusal::Code::MissingParameter,
                    "quota",
                    "either this or plan is required",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid("plan", "cannot stand beside quota"));
            }
            _ => {}
        }
        if self
            .credit_days
            .is_some_and(|days| !(1..=3_660).contains(&days))
        {
            let message = "must be a whole number from 1 to 3660";
            return Err(Refusal::invalid("credit_days", message));
        }
        if self.credit_days.is_some() && self.plan.is_some() {
            let message = "is only for quota; what a plan gives ends with its period";
            return Err(Refusal::invalid("credit_days", message));
        }
        Ok(())
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

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let money = i64::deserialize(deserializer)?;
    if (1..=MONEY_MOST).contains(&money) {
        Ok(money)
    } else {
        Err(D::Error::custom(
            "must be a whole number from 1 to 99999999999",
        ))
    }
}

fn code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = as_text(deserializer)?;
    currency(&text).ok_or_else(|| D::Error::custom(NOT_A_CURRENCY))
}

fn plan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    let text = text.map(|text| text.trim().to_ascii_lowercase());
    Ok(text.filter(|text| !text.is_empty()))
}

/// What is to be taken back of quota once so much of its money went back, rounded down.
pub fn taken_back(quota: Quota, money: i64, back: i64) -> Quota {
    let back = i128::from(back.clamp(0, money));
    let taken = i128::from(quota.thousandths()) * back / i128::from(money.max(1));
    Quota::from_thousandths(i64::try_from(taken).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: Value) -> Result<ProductDefinition, String> {
        let read = serde_json::from_value::<ProductDefinition>(value);
        let read = read.map_err(|error| error.to_string())?;
        read.check().map_err(|refusal| refusal.message)?;
        Ok(read)
    }

    #[test]
    fn a_product_is_quota_or_a_plan() {
        let small = json!({ "name": "Small", "money": 500, "currency": "eur", "quota": 50 });
        let small = read(small).expect("a product");
        assert_eq!((&*small.name, &*small.currency), ("small", "EUR"));
        let again = serde_json::to_value(&small).expect("JSON");
        assert_eq!(read(again), Ok(small));
        let plan = json!({ "name": "m", "money": 500, "currency": "JPY", "plan": "Month" });
        assert_eq!(
            read(plan).expect("a product").plan.as_deref(),
            Some("month")
        );
        for (field, wrong) in [
            ("name", json!("a b")),
            ("money", json!(0)),
            ("money", json!(1.5)),
            ("currency", json!("EURO")),
            ("quota", json!(0)),
            ("quota", Value::Null),
            ("plan", json!("month")),
            ("credit_days", json!(0)),
        ] {
            let mut product =
                json!({ "name": "small", "money": 500, "currency": "EUR", "quota": 50 });
            product[field] = wrong.clone();
            assert!(read(product).is_err(), "{field} {wrong}");
        }
    }

    #[test]
    fn what_is_taken_back_is_rounded_down() {
        let taken = |quota, money, back| {
            taken_back(Quota::from_thousandths(quota), money, back).thousandths()
        };
        assert_eq!(
            [taken(1000, 3, 1), taken(1000, 3, 2), taken(1000, 3, 3)],
            [333, 666, 1000]
        );
        assert_eq!([taken(1000, 3, 9), taken(1000, 3, -1)], [1000, 0]);
        let most = Quota::MOST.thousandths();
        assert_eq!(
            taken(most, MONEY_MOST, MONEY_MOST - 1),
            most - most / MONEY_MOST - 1
        );
    }
}
