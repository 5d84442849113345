//! The service's own pages: what a line of their table says of one, and the types of theirs that several crates use. The
//! table itself stands in the gateway, beside the functions that answer; router, documents and tests read it.

mod access;
pub mod accounts;
pub mod answers;
pub mod backends;
pub mod banned;
pub mod batches;
pub mod callbacks;
pub mod cost;
pub mod credential;
pub mod credits;
pub mod files;
mod groups;
pub mod home;
pub mod hours;
pub mod jobs;
pub mod keys;
pub mod links;
pub mod list;
pub mod models;
pub mod name;
pub mod operators;
pub mod overview;
mod page;
pub mod patch;
pub mod payments;
pub mod plans;
pub mod preview;
pub mod price_groups;
pub mod quote;
pub mod ready;
pub mod receipts;
pub mod session;
pub mod spending;
pub mod stats;
pub mod vendors;
pub mod verify;
pub mod vouchers;
pub mod workers;

pub use access::Access;
pub use groups::{OperationGroup, group_of, groups};
pub use page::{FieldsSpec, Method, Page, PageInput, PageListeners, PageOutput, SchemaFn};
