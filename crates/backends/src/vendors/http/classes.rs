//! The classes of faults by the words that operators write.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::backend::Class;

/// What an error says about the request, the worker account and the vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorClass {
    /// The vendor is down, slow or broken: it may pass.
    Retry,
    /// The account is over its rate: it rests for a while.
    Rate,
    /// The account has no money left.
    Quota,
    /// The credential is wrong, or the account is closed.
    Dead,
    /// A review refused the content.
    Reject,
    /// The request cannot be worked with.
    BadRequest,
    /// This vendor cannot do it: another back end may.
    Unable,
    /// The vendor does not have the model.
    Model,
    /// The result or the task is gone.
    Gone,
}

impl From<ErrorClass> for Class {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Retry => Self::Retry,
            ErrorClass::Rate => Self::Rate,
            ErrorClass::Quota => Self::Quota,
            ErrorClass::Dead => Self::Dead,
            ErrorClass::Reject => Self::Reject,
            ErrorClass::BadRequest => Self::BadRequest,
            ErrorClass::Unable => Self::Unable,
            ErrorClass::Model => Self::Model,
            ErrorClass::Gone => Self::Gone,
        }
    }
}

/// What a word for the state of a task means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum StateMeaning {
    /// Not yet; a word that nobody named means the same.
    Running,
    /// The result is there.
    Done,
    /// It failed; the error says why.
    Failed,
    /// It failed: it may pass.
    Retry,
    /// It failed: the account is over its rate.
    Rate,
    /// It failed: the account has no money left.
    Quota,
    /// It failed: the credential is wrong, or the account is closed.
    Dead,
    /// A review refused the content.
    Reject,
    /// The request cannot be worked with.
    BadRequest,
    /// This vendor cannot do it: another back end may.
    Unable,
    /// The vendor does not have the model.
    Model,
    /// The vendor does not know the task any more, or cancelled it.
    Gone,
}

impl StateMeaning {
    /// The class of an end without a result that needs no further word.
    pub(super) fn class(self) -> Option<Class> {
        Some(match self {
            Self::Running | Self::Done | Self::Failed => return None,
            Self::Retry => Class::Retry,
            Self::Rate => Class::Rate,
            Self::Quota => Class::Quota,
            Self::Dead => Class::Dead,
            Self::Reject => Class::Reject,
            Self::BadRequest => Class::BadRequest,
            Self::Unable => Class::Unable,
            Self::Model => Class::Model,
            Self::Gone => Class::Gone,
        })
    }
}
