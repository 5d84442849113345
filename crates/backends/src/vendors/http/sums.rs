//! What a vendor says that it took, or that is left.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::pointer::JsonPointers;
use crate::backend::Cost;
use crate::field_error::FieldError;

/// What sums are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
enum Currency {
    #[default]
    #[serde(rename = "USD")]
    Usd,
    #[serde(rename = "CNY")]
    Cny,
    #[serde(rename = "EUR")]
    Eur,
    #[serde(rename = "credits")]
    Credits,
    #[serde(rename = "points")]
    Points,
    #[serde(rename = "units")]
    Units,
    #[serde(rename = "tokens")]
    Tokens,
    #[serde(rename = "seconds")]
    Seconds,
    #[serde(rename = "images")]
    Images,
}

impl Currency {
    const fn word(self) -> &'static str {
        match self {
            Self::Usd => "USD",
            Self::Cny => "CNY",
            Self::Eur => "EUR",
            Self::Credits => "credits",
            Self::Points => "points",
            Self::Units => "units",
            Self::Tokens => "tokens",
            Self::Seconds => "seconds",
            Self::Images => "images",
        }
    }
}

/// Where a sum is in an answer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SumPlace {
    at: JsonPointers,
    /// What one of them is in `currency`, such as 0.001 for thousandths of a dollar.
    #[serde(default)]
    times: Option<f64>,
    #[serde(default)]
    currency: Currency,
}

impl SumPlace {
    pub(super) fn check(&self, place: &str) -> Result<(), FieldError> {
        let sensible = self
            .times
            .is_none_or(|times| times.is_finite() && times > 0.0 && times <= 1e9);
        if sensible {
            Ok(())
        } else {
            let place = format!("{place}.times");
            Err(FieldError::new(
                place,
                "must be above 0, and at most 1000000000",
            ))
        }
    }

    /// A sum that was read before, from what a task keeps of it.
    pub(super) fn kept(&self, micros: &Value) -> Option<Cost> {
        Some(Cost {
            micros: micros.as_i64()?,
            currency: self.currency.word(),
        })
    }

    /// The sum in a document: all that the pointer leads to together.
    pub(super) fn read(&self, body: &Value) -> Option<Cost> {
        let count = self.at.sum(body)?;
        Cost::of(count * self.times.unwrap_or(1.0), self.currency.word())
    }
}
