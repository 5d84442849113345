//! The service itself: health, counters, documents, files, vendors' callbacks.

pub(super) mod assets;
pub(super) mod docs;
pub(super) mod health;
pub(super) mod home;
pub(super) mod hooks;
pub(super) mod metrics;
