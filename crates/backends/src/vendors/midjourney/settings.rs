//! What an operator may say about a proxy.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::errors::OwnReasons;
use crate::backend::Class;
use crate::field_error::FieldError;
use crate::vendor::read_settings;

/// Which of the two programs it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProxyDialect {
    /// The newer one: follow-ups by button.
    #[default]
    Action,
    /// The older one: follow-ups by word and number.
    Change,
}

/// The settings of one way into a proxy.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MidjourneySettings {
    /// Which of the two programs it is.
    pub(super) dialect: ProxyDialect,
    /// Which of its accounts the proxy may use.
    #[serde(rename = "accountFilter")]
    pub(super) account_filter: Option<Value>,
    /// Whether the list of tasks is open, so that a lost submit can be looked up.
    pub(super) task_list: Option<bool>,
    /// Milliseconds between two questions about a task.
    pub(super) poll_ms: Option<u64>,
    /// Phrases of failure reasons with the class they mean, looked at before the usual ones.
    pub(super) fail_reasons: BTreeMap<String, String>,
}

impl MidjourneySettings {
    /// Reads what the operator wrote.
    pub(super) fn read(given: Value) -> Result<Self, FieldError> {
        read_settings(given)
    }

    /// The operator's own reasons, or what is wrong with them.
    pub(super) fn own_reasons(&self) -> Result<OwnReasons, FieldError> {
        let classes = [
            Class::Retry,
            Class::Rate,
            Class::Quota,
            Class::Dead,
            Class::Reject,
            Class::BadRequest,
            Class::Unable,
            Class::Gone,
        ];
        let class = |word: &str| classes.into_iter().find(|class| class.word() == word);
        self.fail_reasons
            .iter()
            .map(|(phrase, word)| match class(word) {
                Some(class) => Ok((phrase.to_lowercase(), class)),
                None => Err(FieldError::new(
                    "settings.fail_reasons",
                    format!("unknown class `{word}`"),
                )),
            })
            .collect()
    }
}
