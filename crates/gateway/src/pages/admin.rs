//! The operator API. Every change leaves a line in the audit record.

pub(super) mod account_keys;
pub(super) mod accounts;
pub(super) mod backends;
mod note;
pub(super) mod prices;
pub(super) mod views;
