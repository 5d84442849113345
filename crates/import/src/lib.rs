//! Other gateways, as their databases know them: who calls, with which keys, what is left of their money, and which vendors they call.
//!
//! Invariants: nothing is written to what is read; every page of rows is bounded; what cannot be taken over has a row in the report
//! that says why and what to do.

#![warn(missing_docs)]

mod cipher;
mod database;
mod error;
mod media_models;
mod money;
mod programs;
mod records;
mod report;
mod vendors;

pub use database::SourceDatabase;
pub use error::ImportError;
pub use media_models::like_of;
pub use money::{Exchange, Units};
pub use programs::{ImportSource, Program, SourceOptions};
pub use records::{
    ForeignKey, SourceAccount, SourceChannel, SourceCredential, SourceGroup, SourceKey,
    SourceModel, SourcePrice, SourceState,
};
pub use report::{ReportAction, ReportRow};
pub use vendors::VendorTarget;
