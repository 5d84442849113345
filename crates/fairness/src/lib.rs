//! What many callers share, and how it is handed out to them: one mechanism for every part of the service.
//!
//! Invariants: nothing here knows what is shared, or waits for anything but its turn.

pub mod limits;
pub mod share;
