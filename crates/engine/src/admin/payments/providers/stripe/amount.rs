//! Amounts as Stripe counts them: smaller units by ISO 4217, but for a few currencies.

/// Currencies without a smaller unit that Stripe counts in hundredths all the same.
const IN_HUNDREDTHS: [&str; 2] = ["ISK", "UGX"];
/// Currencies with a smaller unit that Stripe counts whole.
const WHOLE: [&str; 1] = ["MGA"];
/// Currencies of thousandths, of which Stripe takes tens.
const IN_TENS: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];

/// What Stripe is told; `None` for an amount that it does not take.
pub(super) fn to_stripe(money: i64, currency: &str) -> Option<i64> {
    if IN_HUNDREDTHS.contains(&currency) {
        return money.checked_mul(100);
    }
    if WHOLE.contains(&currency) {
        return (money % 100 == 0).then_some(money / 100);
    }
    (!IN_TENS.contains(&currency) || money % 10 == 0).then_some(money)
}

/// What Stripe said, in smaller units by ISO 4217.
pub(super) fn from_stripe(amount: i64, currency: &str) -> Option<i64> {
    if IN_HUNDREDTHS.contains(&currency) {
        return (amount % 100 == 0).then_some(amount / 100);
    }
    if WHOLE.contains(&currency) {
        return amount.checked_mul(100);
    }
    Some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_come_back_as_they_went() {
        for (money, currency, told) in [
            (1234, "EUR", Some(1234)),
            (1234, "JPY", Some(1234)),
            (1234, "ISK", Some(123_400)),
            (1200, "MGA", Some(12)),
            (1234, "MGA", None),
            (1230, "KWD", Some(1230)),
            (1234, "KWD", None),
        ] {
            assert_eq!(to_stripe(money, currency), told, "{currency}");
            if let Some(told) = told {
                assert_eq!(from_stripe(told, currency), Some(money), "{currency}");
            }
        }
    }
}
