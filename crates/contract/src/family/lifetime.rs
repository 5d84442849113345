//! How long results can be had.

/// How long the addresses of a family's results work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultLifetime {
    /// URLs work for 60 minutes.
    Hour,
    /// URLs work for 24 hours.
    Day,
    /// URLs work for 72 hours.
    ThreeDays,
    /// URLs work for 31 days.
    Month,
}
