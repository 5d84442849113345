//! What the service promises: families, fields, prices, result shapes.
//!
//! Invariants: contract never waits, never reads a clock, a file or the network; the table [`FAMILIES`] is the only
//! place that knows a path, a field, a rule, a price key or a result shape.

#![warn(missing_docs)]

pub mod banned;
pub mod body;
pub mod brief;
pub mod catalogue;
pub mod currency;
pub mod families;
pub mod family;
pub mod fault;
pub mod fields;
pub mod groups;
mod hex;
pub mod hooks;
pub mod ids;
pub mod job;
pub mod key_rules;
pub mod limit_window;
pub mod metrics;
pub mod midjourney;
pub mod models;
mod names;
mod nearest;
pub mod notes;
pub mod operation;
pub mod pages;
pub mod plans;
mod prelude;
pub mod products;
pub mod quota;
pub mod receipts;
pub mod refusal;
pub mod scopes;
pub mod secret;
pub mod settings;
pub mod tags;
pub mod tariff;
pub mod time;
pub mod voucher;
pub mod webhook;

pub use banned::{PromptRule, WordList, broken_rule, refuse_banned, refuse_translation};
pub use families::artgen::account::{
    ArtgenStatus as FamilyStatus, EndpointStatus, ModeStatus, PATH as ACCOUNT_PATH,
};
pub use families::shortcuts::{SHORTCUTS, Shortcut};
pub use families::{FAMILIES, operation};
pub use fault::FaultKind;
pub use hex::hex;
pub use ids::{AccountId, AttemptId, BackendId, JobId, WorkerId};
pub use job::{File, FileRole, Job, JobState, Output, Speed, Spender};
pub use limit_window::{LimitWindow, ReachedLimit};
pub use names::{canonical_name, unknown_name};
pub use nearest::did_you_mean;
pub use notes::Notes;
pub use quota::{Quota, QuotaText};
pub use refusal::{Code, Refusal};
pub use scopes::{Scope, Scopes};
pub use secret::Secret;
pub use tariff::{Price, Tariff};
