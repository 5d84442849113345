//! What becomes of the wishes in a request at one back end.

/// What becomes of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupportLevel {
    /// The result follows it.
    Honoured,
    /// Something close to it is done.
    Approximated,
    /// It has no effect.
    Ignored,
    /// The request is not taken because of it.
    Refused,
}

impl SupportLevel {
    /// The word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Honoured => "honoured",
            Self::Approximated => "approximated",
            Self::Ignored => "ignored",
            Self::Refused => "refused",
        }
    }

    /// Done, or without effect.
    pub(crate) const fn done(done: bool) -> Self {
        if done { Self::Honoured } else { Self::Ignored }
    }

    /// Done, or something close to it.
    pub(crate) const fn exact(exact: bool) -> Self {
        if exact {
            Self::Honoured
        } else {
            Self::Approximated
        }
    }
}

/// A wish of a request and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSupport {
    /// The field it came in.
    pub field: String,
    /// What becomes of it.
    pub support: SupportLevel,
    /// Why it is refused, for the caller.
    pub why: String,
}

impl FieldSupport {
    /// A wish that is not refused.
    pub fn new(field: impl Into<String>, support: SupportLevel) -> Self {
        Self {
            field: field.into(),
            support,
            why: String::new(),
        }
    }
}

/// The fields that have no effect, each once.
pub(crate) fn ignored(all: Vec<FieldSupport>) -> Vec<String> {
    let ignored = all
        .into_iter()
        .filter(|one| one.support == SupportLevel::Ignored);
    let mut fields: Vec<String> = ignored.map(|one| one.field).collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}
