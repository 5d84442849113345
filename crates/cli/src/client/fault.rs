//! Why a command came to nothing, and the exit code that says so.

use std::fmt;
use std::process::ExitCode;

use serde_json::Value;

/// Makes the closed set of ends and the table that documents it.
macro_rules! ends {
    ($($variant:ident $code:literal $meaning:literal;)*) => {
        /// How a command ended badly.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ExitReason {
            $(#[doc = $meaning] $variant,)*
        }

        impl ExitReason {
            /// Every end with its exit code and meaning, in the order of the documents.
            pub(crate) const ALL: &[(u8, &str)] = &[$(($code, $meaning),)*];

            pub(crate) const fn code(self) -> u8 {
                match self { $(ExitReason::$variant => $code,)* }
            }
        }
    };
}

ends! {
    Other       1   "Any other error, including an answer that cannot be written.";
    Usage       2   "The command line is invalid.";
    Refused     3   "The service rejected the request: a parameter, the queue, the state of a job. serve and config check: the settings are rejected.";
    NotAllowed  4   "The key is missing, wrong or not allowed to do this.";
    Quota       5   "The balance does not cover the price.";
    Failed      6   "The job failed; its quota was returned.";
    Unavailable        7   "The service cannot be reached or cannot take the request now.";
    TimedOut        8   "The wait timed out before the job ended.";
    Interrupted 130 "Interrupted; an accepted job continues.";
}

/// Why a command failed: its exit code and a message.
#[derive(Debug)]
pub struct Fault {
    /// How the command ends.
    pub(crate) end: ExitReason,
    pub(crate) message: String,
}

impl Fault {
    /// A fault with a sentence.
    pub fn new(end: ExitReason, message: impl Into<String>) -> Self {
        Self {
            end,
            message: message.into(),
        }
    }

    /// What a refusal of the service means.
    pub(crate) fn refused(status: u16, body: &Value) -> Self {
        let code = body["code"].as_str().unwrap_or_default();
        let end = match status {
            _ if code == "insufficient_quota" => ExitReason::Quota,
            401 | 403 => ExitReason::NotAllowed,
            429 | 503 => ExitReason::Unavailable,
            // A proxy says so of a service that is away; the service itself has a word for what it means.
            502 | 504 if code.is_empty() => ExitReason::Unavailable,
            502 | 504 => ExitReason::Failed,
            400..=499 => ExitReason::Refused,
            _ => ExitReason::Other,
        };
        let message = body["message"].as_str().unwrap_or_default();
        let message = match (message, code) {
            ("", _) => format!("the service responded with status {status}"),
            (message, "") => message.to_owned(),
            (message, code) => format!("{message} ({code})"),
        };
        Self { end, message }
    }

    /// The exit code of any error.
    pub fn exit_code(error: &anyhow::Error) -> ExitCode {
        let end = error.chain().find_map(|cause| cause.downcast_ref::<Self>());
        ExitCode::from(end.map_or(ExitReason::Other, |fault| fault.end).code())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_two_ends_share_an_exit_code() {
        let codes: std::collections::HashSet<u8> =
            ExitReason::ALL.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.len(), ExitReason::ALL.len());
    }

    #[test]
    fn a_script_can_tell_a_refusal_from_too_little_quota() {
        let end = |status, code: &str| Fault::refused(status, &json!({ "code": code })).end;
        assert_eq!(end(400, "invalid_parameter"), ExitReason::Refused);
        assert_eq!(end(400, "insufficient_quota"), ExitReason::Quota);
        assert_eq!(end(401, "unauthorized"), ExitReason::NotAllowed);
        assert_eq!(end(503, "overloaded"), ExitReason::Unavailable);
        assert_eq!(end(502, "backend_failed"), ExitReason::Failed);
        assert_eq!(
            end(502, ""),
            ExitReason::Unavailable,
            "a proxy before the service"
        );
    }
}
