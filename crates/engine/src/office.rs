//! The office: accounts and their keys, back ends and worker accounts, prices, the audit record, and what operators see.

mod accounts;
mod audit;
mod backends;
mod callers;
mod custody;
mod keys;
mod operators;
mod prices;
mod served;
mod sessions;
mod stats;

pub use callers::Caller;
pub(crate) use callers::CallerCache;
pub use keys::{KeyHolder, KeyView, KeyWish};
pub use operators::{Operator, OperatorView, ROOT};
pub(crate) use prices::Prices;
pub use served::Served;
pub(crate) use sessions::MOST_MS as SESSION_MOST_MS;
pub use sessions::{Opener, Visitor};
