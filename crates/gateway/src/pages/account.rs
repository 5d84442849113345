//! Self-service of an account: keys, movements of quota, usage, callbacks, quotes.

pub(super) mod callbacks;
pub(super) mod keys;
pub(super) mod ledger;
pub(super) mod quote;
pub(super) mod secret;
pub(super) mod usage;
