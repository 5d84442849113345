//! What stands in for the way to a mail server in a program that was built without one.

use crate::letter::Letter;
use crate::mail_error::MailError;
use crate::settings::MailSettings;

/// A mail server that cannot be.
#[derive(Debug)]
pub struct NoMailServer;

impl NoMailServer {
    /// Refuses a server; without one there is nothing to refuse.
    pub fn connect(settings: &MailSettings) -> Result<Option<Self>, String> {
        if settings.url.is_empty() {
            return Ok(None);
        }
        Err(
            "mail.url: this program was built without the feature `people` and sends no e-mail"
                .into(),
        )
    }

    /// Sends nothing.
    pub async fn send(&self, _: &Letter, _: &str, _: i64) -> Result<(), MailError> {
        Err(MailError {
            is_final: true,
            what: "this program sends no e-mail".into(),
        })
    }
}
