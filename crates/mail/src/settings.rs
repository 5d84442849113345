//! Where e-mail goes and whom it is from.

use atelier_contract::Secret;
use serde::Deserialize;

/// The section `[mail]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailSettings {
    /// The mail server, with user name and password; empty for none.
    pub url: Secret,
    /// The address that e-mail is from, with a name before it or without.
    pub from: String,
}
