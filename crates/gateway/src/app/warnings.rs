//! What a start warns of. With `strict` it is refused.

use std::fmt;

use super::addresses::Addresses;
use crate::config::Config;

/// A setting that a service works with, although not as its operator may think.
pub(crate) struct Warning {
    pub(crate) setting: &'static str,
    /// What is wrong.
    pub(crate) cause: String,
    /// What to do.
    pub(crate) remedy: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.setting, self.cause, self.remedy)
    }
}

/// What a start with these settings warns of.
pub(crate) fn warnings(config: &Config, addresses: &Addresses) -> Vec<Warning> {
    let mut found = Vec::new();
    if let Some(listener) = addresses.unnamed {
        let why = if config.proxies.trusted.is_empty() {
            format!("the service listens on {listener}")
        } else {
            "there is a trusted proxy".to_owned()
        };
        found.push(Warning {
            setting: "base_url",
            cause: format!(
                "not set although {why}: URLs in responses start as the request's own host, those in callbacks with {}",
                addresses.base_url
            ),
            remedy: "set it to the URL that callers use, such as https://media.example.com",
        });
    }
    if !config.database.is_empty() && config.master_key.is_empty() {
        found.push(Warning {
            setting: "master_key",
            cause: "not set: the key is kept in the database beside the secrets that it encrypts".to_owned(),
            remedy: "set it before the first start, to a text of your own such as the output of `openssl rand -hex 32`",
        });
    }
    found
}
