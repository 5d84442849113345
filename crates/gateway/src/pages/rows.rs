//! Records as pages show them: each file has the type on the wire and its one conversion from the stored record.

pub(super) mod accounts;
pub(super) mod audit;
pub(super) mod callbacks;
pub(super) mod credits;
pub(super) mod exports;
pub(super) mod files;
pub(super) mod keys;
pub(super) mod ledger;
pub(super) mod links;
pub(super) mod models;
pub(super) mod notices;
pub(super) mod operators;
pub(super) mod payments;
pub(super) mod statements;
pub(super) mod trail;
pub(super) mod usage;
pub(super) mod vouchers;
