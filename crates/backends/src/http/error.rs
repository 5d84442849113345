//! What goes wrong on the way out. The caller learns one fixed sentence; the rest is for the log of the operator.

use std::error::Error;
use std::io;

use crate::guard::BlockReason;

/// The kind of trouble, for logs and for the decision to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundError {
    /// The policy forbids the address.
    Blocked,
    /// The name has no usable addresses.
    Unresolved,
    /// Nobody answered at the address.
    Unreachable,
    /// The certificate is not to be trusted, or TLS failed otherwise.
    Insecure,
    /// It took too long.
    TimedOut,
    /// The answer was not HTTP, was cut off, or its head was too large.
    Protocol,
    /// The answer had another status than the one hoped for.
    Status(u16),
    /// Too many redirects, or one that may not be followed.
    Redirect,
    /// More bytes or pixels than allowed.
    TooLarge,
    /// Not one of the image formats.
    NotAnImage,
    /// Too many requests to this destination are already under way.
    Busy,
}

impl OutboundError {
    /// A short phrase for a delivery log, which the owner of the receiver reads.
    pub fn words(self) -> &'static str {
        match self {
            Self::Blocked => "the address is not allowed",
            Self::Unresolved => "the host name could not be resolved",
            Self::Unreachable => "the receiver could not be reached",
            Self::Insecure => "the receiver's certificate was not accepted",
            Self::TimedOut => "the receiver took too long",
            Self::Protocol => "the receiver's answer was not understood",
            Self::Status(_) => "the receiver answered with another status than 2xx",
            Self::Redirect => "the receiver answered with a redirect",
            Self::TooLarge => "the answer was too large",
            Self::NotAnImage => "the answer was not an image",
            Self::Busy => "too many requests to this receiver are under way",
        }
    }

    /// Whether the same request may well succeed later.
    pub fn may_pass(self) -> bool {
        match self {
            Self::Unresolved | Self::Unreachable | Self::TimedOut | Self::Protocol | Self::Busy => {
                true
            }
            Self::Status(status) => status == 429 || status >= 500,
            Self::Blocked | Self::Insecure | Self::Redirect | Self::TooLarge | Self::NotAnImage => {
                false
            }
        }
    }
}

/// An address whose content could not be had. Its text is the same for every reason, so that nobody can feel their
/// way through a network by asking for images in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no usable file could be read from this address")]
pub struct FetchError {
    /// The kind of trouble; for the operator's log, never for the caller.
    pub trouble: OutboundError,
}

impl From<OutboundError> for FetchError {
    fn from(trouble: OutboundError) -> Self {
        Self { trouble }
    }
}

/// Why no connection was opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Blocked(#[from] BlockReason),
    #[error("the name could not be resolved")]
    Unresolved,
    #[error("connecting took too long")]
    TimedOut,
    #[error("too many connections to this address are open")]
    Busy,
    #[error("connecting failed")]
    Unreachable(#[source] io::Error),
}

impl From<&ConnectError> for OutboundError {
    fn from(cause: &ConnectError) -> Self {
        match cause {
            ConnectError::Blocked(_) => Self::Blocked,
            ConnectError::Unresolved => Self::Unresolved,
            ConnectError::TimedOut => Self::TimedOut,
            ConnectError::Busy => Self::Busy,
            ConnectError::Unreachable(_) => Self::Unreachable,
        }
    }
}

/// The kind of trouble with a client's request.
pub(crate) fn classify(error: &hyper_util::client::legacy::Error) -> OutboundError {
    let otherwise = if error.is_connect() {
        OutboundError::Unreachable
    } else {
        OutboundError::Protocol
    };
    find_error(error).unwrap_or(otherwise)
}

/// Finds the kind of trouble in the chain of causes of an error, if one of them says it.
pub(crate) fn find_error(error: &(dyn Error + 'static)) -> Option<OutboundError> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(own) = cause.downcast_ref::<ConnectError>() {
            return Some(own.into());
        }
        if cause.is::<rustls::Error>() {
            return Some(OutboundError::Insecure);
        }
        let inner = cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    None
}
