//! The console: its files, and the sessions of those who sign in.

mod bare;
mod catalogue;
pub(super) mod files;
mod modules;
pub(super) mod session;
