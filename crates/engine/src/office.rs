//! The office: accounts and their keys, back ends and worker accounts, prices, the audit record, and what operators see.

mod accounts;
mod backends;
mod custody;
mod prices;

pub use backends::{BackendChange, Declared, WorkerChange};
