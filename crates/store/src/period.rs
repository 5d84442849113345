//! The part of a list between two moments.

/// From one moment to before another; either may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    pub from_ms: Option<i64>,
    pub to_ms: Option<i64>,
}

impl Period {
    /// The first millisecond of it.
    pub(crate) fn first_ms(self) -> i64 {
        self.from_ms.unwrap_or(i64::MIN)
    }

    /// The first millisecond behind it.
    pub(crate) fn end_ms(self) -> i64 {
        self.to_ms.unwrap_or(i64::MAX)
    }
}
