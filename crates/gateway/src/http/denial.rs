//! A refusal on its way out: what the contract says, and what only HTTP knows.

use std::fmt;

use atelier_contract::{Code, Refusal};

/// A refusal with the headers that belong to it.
#[derive(Debug)]
pub(crate) struct Denial {
    pub(crate) refusal: Refusal,
    /// Seconds after which another try makes sense.
    pub(crate) retry_after_s: Option<u64>,
    /// The methods that the path does have.
    pub(crate) allow: Option<String>,
    /// Whether what is left of the request must not be read as a next one.
    pub(crate) hang_up: bool,
}

impl Denial {
    /// Too many requests; come back later.
    pub(crate) fn too_many_requests(message: &str, seconds: u64) -> Self {
        let refusal = Refusal::new(Code::RateLimited, message);
        Self {
            retry_after_s: Some(seconds.max(1)),
            ..refusal.into()
        }
    }

    /// The path exists, with other methods.
    pub(crate) fn method(allow: String) -> Self {
        let message = format!("this path answers {allow} only");
        Self {
            allow: Some(allow),
            ..Refusal::new(Code::MethodNotAllowed, message).into()
        }
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl std::error::Error for Denial {}

impl From<Refusal> for Denial {
    fn from(refusal: Refusal) -> Self {
        let retry_after_s = match refusal.code {
            Code::RateLimited | Code::IdempotencyInFlight => Some(1),
            Code::Overloaded => Some(2),
            Code::QueueFull => Some(5),
            _ => None,
        };
        let hang_up = matches!(refusal.code, Code::RequestTimeout | Code::PayloadTooLarge);
        Self {
            refusal,
            retry_after_s,
            allow: None,
            hang_up,
        }
    }
}
