//! Who may call what.

use crate::scopes::Scope;

/// Who may call a page or an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Anybody, without a key.
    Open,
    /// An account whose key has a scope.
    Caller(Scope),
    /// A person who is signed in.
    Person,
    /// An operator, also one who may only look.
    Viewer,
    /// An operator who may change things.
    Operator,
}

impl Access {
    /// What a credential must be good for, in one word; nothing when none is needed.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Open => None,
            Self::Caller(scope) => Some(scope.word()),
            Self::Person => Some("person"),
            Self::Viewer => Some("viewer"),
            Self::Operator => Some("operator"),
        }
    }
}
