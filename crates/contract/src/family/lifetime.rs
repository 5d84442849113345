//! How long results can be had.

/// How long the addresses of a family's results work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultLifetime {
    /// 60 minutes.
    Hour,
    /// 24 hours.
    Day,
    /// 72 hours.
    ThreeDays,
    /// 31 days.
    Month,
}
