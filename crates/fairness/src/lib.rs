//! What many callers share, and how it is handed out to them: shares, limits, rates and background threads, for every part
//! of the service.
//!
//! Invariants: nothing here knows what is shared, or waits for anything but its turn.

pub mod background;
pub mod limits;
pub mod rate;
pub mod reservation;
pub mod share;
pub mod threads;
pub mod throughput;
