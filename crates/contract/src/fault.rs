//! Why a job ended without a result: a value that programs go by, and its words in the job's message.

use crate::refusal::Code;

/// Why a job ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The content was refused by review.
    Denied,
    /// A word of the prompt is not allowed.
    Banned,
    /// An address did not lead to a usable file.
    BadLink,
    /// The request cannot be worked with.
    BadParameter,
    /// Whoever should have made it could not.
    Internal,
    /// Its caller wanted it no longer.
    Cancelled,
    /// It outlived its time limit.
    TimedOut,
}

/// The message of a job that outlived its time limit; the only one without brackets.
const TIMED_OUT: &str = "Job Timeout";

impl FaultKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 7] = [
        Self::Denied,
        Self::Banned,
        Self::BadLink,
        Self::BadParameter,
        Self::Internal,
        Self::Cancelled,
        Self::TimedOut,
    ];

    /// The word that is stored with the job.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Banned => "banned",
            Self::BadLink => "bad_link",
            Self::BadParameter => "bad_parameter",
            Self::Internal => "internal",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    /// The kind with a stored word; one that only a newer program knows is an internal one.
    pub fn from_word(word: &str) -> Self {
        let known = Self::ALL.into_iter().find(|kind| kind.word() == word);
        known.unwrap_or(Self::Internal)
    }

    /// The words that callers read.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Denied => "Image denied",
            Self::Banned => "Banned prompt detected",
            Self::BadLink => "Invalid link",
            Self::BadParameter => "Invalid parameter",
            Self::Internal => "Internal error",
            Self::Cancelled => "Cancelled",
            Self::TimedOut => TIMED_OUT,
        }
    }

    /// The job's message: `[Kind] explanation`.
    pub fn message(self, explanation: &str) -> String {
        match self {
            Self::TimedOut => TIMED_OUT.to_owned(),
            kind => format!("[{}] {explanation}", kind.words()),
        }
    }

    /// The kind that a message tells of, for jobs that ended before it was stored beside it.
    pub fn from_message(message: &str) -> Self {
        let words = message.strip_prefix('[').unwrap_or(message);
        let words = words.split(']').next().unwrap_or_default();
        let known = Self::ALL.into_iter().find(|kind| kind.words() == words);
        known.unwrap_or(Self::Internal)
    }

    /// The code that a caller gets who waited for the job.
    pub const fn code(self) -> Code {
        match self {
            Self::TimedOut => Code::BackendTimeout,
            Self::Denied => Code::ContentRejected,
            Self::BadLink | Self::BadParameter => Code::ImageUnusable,
            Self::Banned | Self::Internal | Self::Cancelled => Code::BackendFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_as_it_was_written_and_as_it_was_told() {
        for kind in FaultKind::ALL {
            assert_eq!(FaultKind::from_word(kind.word()), kind);
            assert_eq!(FaultKind::from_message(&kind.message("a [b] c")), kind);
        }
        assert_eq!(FaultKind::from_word("of tomorrow"), FaultKind::Internal);
        for other in ["", "no brackets", "[Of tomorrow] why", "Image"] {
            assert_eq!(
                FaultKind::from_message(other),
                FaultKind::Internal,
                "{other}"
            );
        }
    }
}
