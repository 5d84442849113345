//! Who makes the media: one file per vendor, and the embedded engine.
//!
//! Invariants: backends never see an API key of a caller, never read or write the store, and treat everything that
//! comes back over the network as hostile.

pub mod backend;
pub mod embedded;
pub mod guard;
pub mod http;
pub mod midjourney;
mod received;
pub mod relay;
pub mod vendor;

pub use backend::{Backend, Class, Fault, Made, MadeFile, Progress, Started, Work};
pub use vendor::{Secret, Setup, Vendor};

/// Every vendor, by name.
pub const VENDORS: &[Vendor] = &[relay::VENDOR, midjourney::VENDOR];
