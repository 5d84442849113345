//! The working house: submit, run, settle, deliver, sweep.
//!
//! Invariants: the engine never sees an HTTP status code or a socket of a caller; a job becomes final in one place
//! ([`Engine::settle`] and nowhere else); quota moves only inside the store's commits; every loop is a step that
//! can be called by hand; time and identifiers are parameters.

mod address_keys;
mod adopt;
mod callbacks;
mod callers;
mod clock;
mod courier;
pub mod crash;
mod engine;
mod expiry;
mod flight;
mod ids;
mod inputs;
mod jobs;
pub mod key;
mod keyring;
mod lanes;
mod office;
mod order;
mod orphans;
mod polling;
mod pool;
mod pool_step;
mod prepare;
mod reseal;
mod result_cache;
mod runner;
mod running;
pub mod seal;
mod settings;
mod settle;
pub mod sign;
mod status;
mod submit;
mod sweeper;
mod tidy;
mod vault;
mod views;
mod wake;
mod workbench;

pub use clock::Clock;
pub use engine::{Engine, Parts};
pub use ids::{Ids, random_bytes};
pub use keyring::Keyring;
pub use office::{BackendChange, Declared, WorkerChange};
pub use pool::Worker;
pub use reseal::ResealError;
pub use running::Running;
pub use settings::Settings;
pub use submit::{Call, Submitted};
pub use vault::{ASSETS, Asset};
pub use views::{
    AccountChange, AccountView, AuditView, CallbackView, Caller, JobsFilter, KeyView, LedgerView,
    NewAccountRequest, TryView, UsageView,
};
pub use wake::Changes;
