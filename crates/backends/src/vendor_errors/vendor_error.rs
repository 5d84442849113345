//! A vendor's own words about a failure, and what they mean. Operators read them; callers never do.

use serde_json::Value;

use super::model_words;

/// Codes and phrases of a review that refused the content.
const REVIEW: &[&str] = &[
    "moderation",
    "content_filter",
    "content_policy",
    "content policy",
    "contentfilter",
    "responsibleaipolicy",
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
    "budget has been exceeded",
    "exceeded your current quota",
    "payment required",
];
/// Phrases of a limit that is over soon, which some vendors say together with words about money.
const SOON: &[&str] = &["perminute", "per minute", "persecond", "per second"];

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

/// What a vendor says about a failure.
#[derive(Clone, Debug, Default)]
pub(crate) struct VendorError {
    /// A code for programs, with the type beside it; empty when there is none.
    pub(crate) code: String,
    /// An explanation for people; it may repeat the prompt.
    pub(crate) message: String,
    /// The field that it blames, by the vendor's own name for it; empty when it blames none.
    pub(crate) param: String,
}

impl VendorError {
    /// A code with its explanation.
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            param: String::new(),
        }
    }

    /// From the fields that hold code and words; empty where there are none.
    pub(crate) fn of(code: &Value, message: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self::new(text(code), text(message))
    }

    /// Reads the usual forms: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}`, `{"message": "…"}`.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        match body.get("error") {
            Some(error @ Value::Object(_)) => {
                return Some(Self {
                    code: code(error),
                    message: text(error, "message").unwrap_or_default(),
                    param: text(error, "param").unwrap_or_default(),
                });
            }
            Some(Value::String(error)) if !error.is_empty() => {
                let mut more = ["detail", "message", "errors"]
                    .into_iter()
                    .filter_map(|name| text(body, name));
                return Some(Self {
                    code: error.clone(),
                    message: more
                        .find(|more| !more.is_empty())
                        .unwrap_or_else(|| error.clone()),
                    param: blamed(&body["issues"], "path"),
                });
            }
            _ => {}
        }
        let detail = &body["detail"];
        let message = match detail {
            Value::String(detail) => detail.clone(),
            Value::Array(all) => all.iter().find_map(|one| text(one, "msg"))?,
            _ => text(body, "message")?,
        };
        let title = text(body, "title").unwrap_or_default();
        Some(Self {
            code: format!("{} {title}", code(body)).trim().to_owned(),
            message,
            param: blamed(detail, "loc"),
        })
    }

    /// Code and explanation for operators, each said once.
    pub(crate) fn words(&self) -> String {
        let (code, message) = (self.code.trim(), self.message.trim());
        if code.is_empty() || message.contains(code) {
            message.to_owned()
        } else if message.is_empty() {
            code.to_owned()
        } else {
            format!("{code}: {message}")
        }
    }

    fn all(&self) -> String {
        format!("{} {}", self.code, self.message).to_lowercase()
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let all = self.all();
        words.iter().any(|word| all.contains(word))
    }

    /// Whether a review refused the content.
    pub(crate) fn is_review(&self) -> bool {
        self.mentions(REVIEW)
    }

    /// Whether the credentials are not taken. Only the code tells: the words may be the caller's.
    pub(super) fn is_key(&self) -> bool {
        let code = self.code.to_lowercase();
        code.split_whitespace().any(|word| KEY.contains(&word))
    }

    /// Whether the vendor does not have the model, or not for this worker account, by its code or the field it blames.
    pub(super) fn is_model(&self) -> bool {
        model_words::is_code(&self.code) || model_words::is_field(&self.param)
    }

    /// The same by its explanation, which may also repeat the caller's words.
    pub(super) fn speaks_of_model(&self) -> bool {
        model_words::is_said(&self.all())
    }

    /// Whether it is about the model, by whatever it says.
    pub(crate) fn is_about_model(&self) -> bool {
        self.is_model() || self.speaks_of_model()
    }

    /// Whether the worker account has no money left.
    pub(crate) fn is_money(&self) -> bool {
        self.mentions(MONEY) && !self.mentions(SOON)
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    Some(value.get(name)?.as_str()?.to_owned())
}

fn code(value: &Value) -> String {
    let code = match &value["code"] {
        Value::String(code) => code.clone(),
        Value::Number(code) => code.to_string(),
        _ => String::new(),
    };
    let kind = text(value, "type").unwrap_or_default();
    format!("{code} {kind}").trim().to_owned()
}

/// The field at the end of the first path in a list of what is wrong.
fn blamed(list: &Value, name: &str) -> String {
    let path = list[0][name].as_array();
    let last = path.and_then(|path| path.last()?.as_str());
    last.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_form_is_read_and_said_once() {
        let said = |body: Value| VendorError::read(&body).expect("words").words();
        for (body, words) in [
            (
                json!({"error": {"code": "invalid_value", "message": "Bad size."}}),
                "invalid_value: Bad size.",
            ),
            (json!({"error": "It failed."}), "It failed."),
            (
                json!({"title": "Invalid version or not permitted", "detail": "No.", "status": 422}),
                "Invalid version or not permitted: No.",
            ),
            (
                json!({"detail": [{"loc": ["body", "model"], "msg": "No."}]}),
                "No.",
            ),
            (json!({"code": 7, "message": "7 is wrong"}), "7 is wrong"),
        ] {
            assert_eq!(said(body), words);
        }
    }

    #[test]
    fn the_field_that_is_blamed_is_read_from_each_form() {
        let param = |body: Value| VendorError::read(&body).expect("words").param;
        for body in [
            json!({"error": {"message": "x", "param": "model"}}),
            json!({"detail": [{"loc": ["body", "model"], "msg": "x"}]}),
            json!({"error": "x", "issues": [{"path": ["model"], "message": "x"}]}),
        ] {
            assert_eq!(param(body), "model");
        }
    }

    #[test]
    fn words_about_money_beside_a_limit_that_is_over_soon_are_not_about_money() {
        let said = |text: &str| VendorError::new("429", text).is_money();
        assert!(said(
            "You exceeded your current quota, please check your plan and billing details."
        ));
        assert!(!said(
            "You exceeded your current quota. quotaId: GenerateRequestsPerMinutePerProject"
        ));
    }
}
