//! The console: its files, and the sessions of those who sign in.

pub(super) mod files;
pub(super) mod session;
