//! A vendor's own words about a failure: what they mean, and what of them a caller may read.

use serde_json::Value;

/// How much of a vendor's reason a caller reads.
const REASON_CHARACTERS: usize = 160;
/// Longer words are keys, addresses or identifiers.
const WORD_CHARACTERS: usize = 32;

/// Codes and phrases of a review that refused the content.
const REVIEW: &[&str] = &[
    "moderation",
    "content_policy",
    "content policy",
    "safety system",
    "safety_violation",
    "sensitive",
];
/// Codes and phrases of an account without money.
const MONEY: &[&str] = &[
    "insufficient_quota",
    "billing_hard_limit",
    "billing_not_active",
    "insufficient_credits",
    "budget_exceeded",
    "payment required",
];

/// Codes of credentials that are not taken, which some servers put into another status than 401.
const KEY: &[&str] = &[
    "401",
    "auth_error",
    "authentication_error",
    "expired_key",
    "invalid_api_key",
    "no_db_connection",
    "token_not_found_in_db",
];

/// Codes of a model that the vendor does not have, or not for this worker account.
const MODEL: &[&str] = &[
    "invalid_model",
    "model_not_available",
    "model_not_exist",
    "model_not_found",
    "model_not_supported",
    "modelnotfound",
    "modelnotopen",
    "unknown_model",
    "unsupported_model",
];

/// What a vendor says about a failure.
#[derive(Debug, Default)]
pub(crate) struct VendorError {
    /// A code for programs, with the type beside it; empty when there is none.
    pub(crate) code: String,
    /// An explanation for people; it may repeat the prompt.
    pub(crate) message: String,
}

impl VendorError {
    /// From the fields that hold code and words; empty where there are none.
    pub(crate) fn of(code: &Value, message: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            code: text(code),
            message: text(message),
        }
    }

    /// Reads the usual forms: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}`, `{"message": "…"}`.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        let text = |value: &Value, name: &str| {
            let value = value.get(name)?.as_str()?;
            Some(value.to_owned())
        };
        let code = |value: &Value| {
            let code = match &value["code"] {
                Value::String(code) => code.clone(),
                Value::Number(code) => code.to_string(),
                _ => String::new(),
            };
            let kind = text(value, "type").unwrap_or_default();
            format!("{code} {kind}").trim().to_owned()
        };
        match body.get("error") {
            Some(error @ Value::Object(_)) => {
                return Some(Self {
                    code: code(error),
                    message: text(error, "message").unwrap_or_default(),
                });
            }
            Some(Value::String(error)) if !error.is_empty() => {
                let more = text(body, "detail").or_else(|| text(body, "message"));
                return Some(Self {
                    code: error.clone(),
                    message: more
                        .filter(|more| !more.is_empty())
                        .unwrap_or_else(|| error.clone()),
                });
            }
            _ => {}
        }
        let message = match body.get("detail") {
            Some(Value::String(detail)) => detail.clone(),
            Some(Value::Array(all)) => all.iter().find_map(|one| text(one, "msg"))?,
            _ => text(body, "message")?,
        };
        Some(Self {
            code: code(body),
            message,
        })
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let all = format!("{} {}", self.code, self.message).to_ascii_lowercase();
        words.iter().any(|word| all.contains(word))
    }

    /// Whether a review refused the content.
    pub(crate) fn is_review(&self) -> bool {
        self.mentions(REVIEW)
    }

    /// Whether the credentials are not taken. Only the code tells: the words may be the caller's.
    pub(super) fn is_key(&self) -> bool {
        self.has_code(KEY)
    }

    /// Whether the vendor does not have the model. Only the code tells: the words may be the caller's.
    pub(super) fn is_model(&self) -> bool {
        self.has_code(MODEL)
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        let code = self.code.to_ascii_lowercase();
        code.split_whitespace().any(|word| codes.contains(&word))
    }

    /// Whether the worker account has no money left.
    pub(crate) fn is_money(&self) -> bool {
        self.mentions(MONEY)
    }
}

/// The first sentence of a vendor's reason, without addresses, keys and identifiers.
pub(crate) fn reason_for_caller(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    let plain = |word: &&str| {
        let long = word.chars().count() > WORD_CHARACTERS;
        let private = word.contains("://") || word.contains('@') || word.contains("sk-");
        let number = word.contains('_') && word.chars().any(|c| c.is_ascii_digit());
        !long && !private && !number
    };
    let mut reason = String::new();
    let printable: String = text[..end]
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    for word in printable.split_whitespace().filter(plain) {
        if reason.chars().count() + word.chars().count() >= REASON_CHARACTERS {
            reason.push('…');
            break;
        }
        if !reason.is_empty() {
            reason.push(' ');
        }
        reason.push_str(word);
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_loses_addresses_keys_and_all_but_its_first_sentence() {
        let text =
            "Your request\n was refused (req_12ab34). See https://help.example/x or mail a@b.c";
        assert_eq!(reason_for_caller(text), "Your request was refused");
        let key = "Bad key sk-abcdef given";
        assert_eq!(reason_for_caller(key), "Bad key given");
        assert!(reason_for_caller(&"word ".repeat(500)).chars().count() <= 165);
    }
}
