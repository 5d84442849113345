//! What a call for pictures took: the tokens that its answer counts, or their price where the operator says what they cost.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::backend::Cost;

/// Tokens that prices are for.
const MILLION: f64 = 1e6;

/// What a million tokens costs, in dollars.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TokenPrices {
    /// Words that are sent.
    text_in: f64,
    /// Pictures that are sent.
    image_in: f64,
    /// What is made.
    out: f64,
}

impl TokenPrices {
    /// Whether every price can be one.
    pub(super) fn is_sensible(&self) -> bool {
        let all = [self.text_in, self.image_in, self.out];
        all.iter().all(|price| (0.0..=MILLION).contains(price))
    }
}

/// What the `usage` of an answer comes to; `None` where there is none.
pub(super) fn cost_of(usage: &Value, prices: Option<TokenPrices>) -> Option<Cost> {
    let count = |value: &Value| value.as_f64();
    let Some(prices) = prices else {
        return Cost::of(count(&usage["total_tokens"])?, "tokens");
    };
    let out = count(&usage["output_tokens"])?;
    let all_in = count(&usage["input_tokens"]).unwrap_or(0.0);
    let images = count(&usage["input_tokens_details"]["image_tokens"]).unwrap_or(0.0);
    let words = (all_in - images).max(0.0);
    let dollars = words * prices.text_in + images * prices.image_in + out * prices.out;
    Cost::of(dollars / MILLION, "USD")
}

/// Two costs of one kind.
pub(super) fn sum(one: Option<Cost>, other: Option<Cost>) -> Option<Cost> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Cost {
            micros: one.micros + other.micros,
            ..one
        }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_counted_and_priced_by_their_kind() {
        let usage = json!({"input_tokens": 1_050, "output_tokens": 4_160, "total_tokens": 5_210,
            "input_tokens_details": {"text_tokens": 50, "image_tokens": 1_000}});
        assert_eq!(cost_of(&usage, None), Cost::of(5_210.0, "tokens"));
        let prices = TokenPrices {
            text_in: 5.0,
            image_in: 8.0,
            out: 30.0,
        };
        assert_eq!(cost_of(&usage, Some(prices)), Cost::of(0.133_05, "USD"));
        assert_eq!(cost_of(&Value::Null, Some(prices)), None);
        assert_eq!(cost_of(&Value::Null, None), None);
    }
}
