//! Why a letter was not sent, and whether another try makes sense.

/// Why a letter was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailError {
    /// Whether another try makes no sense: the server refused the letter, or there is none to ask.
    pub is_final: bool,
    /// What happened, for the log of the service.
    pub what: String,
}

impl std::fmt::Display for MailError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for MailError {}
