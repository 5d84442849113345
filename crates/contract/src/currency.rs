//! Currencies by ISO 4217: three letters, and how many digits an amount of theirs has behind the point.

/// Currencies without a smaller unit.
const NONE: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND",
    "VUV", "XAF", "XOF", "XPF",
];
/// Currencies of which a thousand of the smaller units are one.
const THREE: &[&str] = &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
/// Those of ten thousand.
const FOUR: &[&str] = &["CLF", "UYW"];

/// What is said of a text that is none.
pub const NOT_A_CURRENCY: &str = "must be a currency by ISO 4217, like EUR";

/// The code of a currency in large letters, if it can be one.
pub fn currency(text: &str) -> Option<String> {
    let text = text.trim();
    let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| text.to_ascii_uppercase())
}

/// How many digits an amount has behind the point.
pub fn digits(currency: &str) -> u32 {
    match currency {
        _ if NONE.contains(&currency) => 0,
        _ if THREE.contains(&currency) => 3,
        _ if FOUR.contains(&currency) => 4,
        _ => 2,
    }
}

/// An amount of smaller units with its point, as people write it.
pub fn decimal(money: i64, currency: &str) -> String {
    let digits = digits(currency);
    let unit = 10_i64.pow(digits);
    if digits == 0 {
        return money.to_string();
    }
    let sign = if money < 0 { "-" } else { "" };
    let money = money.unsigned_abs();
    let unit = unit.unsigned_abs();
    let width = digits as usize;
    format!("{sign}{}.{:0width$}", money / unit, money % unit)
}

/// The smaller units of an amount that people wrote; `None` for what is none or has more digits than the currency.
pub fn minor(text: &str, currency: &str) -> Option<i64> {
    let digits = digits(currency) as usize;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || !is_number(whole) || !is_number(part) {
        return None;
    }
    // Noughts behind the last digit of a currency are nothing.
    let kept = part.trim_end_matches('0');
    if kept.len() > digits {
        return None;
    }
    format!("{whole}{kept:0<digits$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        for (money, code, text) in [
            (1234, "EUR", "12.34"),
            (5, "USD", "0.05"),
            (1234, "JPY", "1234"),
            (1234, "KWD", "1.234"),
            (1, "CLF", "0.0001"),
            (100, "CNY", "1.00"),
        ] {
            assert_eq!(decimal(money, code), text);
            assert_eq!(minor(text, code), Some(money));
        }
        assert_eq!(decimal(-5, "EUR"), "-0.05");
        assert_eq!(minor("12", "CNY"), Some(1200));
        assert_eq!(minor("12.5", "CNY"), Some(1250));
        assert_eq!(minor("12.500", "CNY"), Some(1250));
        for wrong in ["", ".5", "-1", "1e3", "1.005", "1,5", " 1", "1.2.3", "９"] {
            assert_eq!(minor(wrong, "CNY"), None, "{wrong}");
        }
        assert_eq!(minor("1.5", "JPY"), None);
        assert_eq!(currency(" eur "), Some("EUR".into()));
        assert_eq!(currency("EURO").or(currency("E1R")), None);
    }
}
