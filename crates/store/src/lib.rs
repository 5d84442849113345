//! Durable state on SQLite or PostgreSQL.
//!
//! Invariants: the store never decides, it keeps; every public change is one commit and is answered only after it;
//! quota moves only together with its ledger row; a final job never changes; time and identifiers come from the
//! caller.

pub mod accounts;
pub mod assets;
pub mod audit;
pub mod deliveries;
mod error;
pub mod files;
pub mod jobs;
pub mod keys;
pub mod ledger;
pub mod nodes;
pub mod settings;
pub mod wake;

pub use accounts::{Account, AccountPatch, NewAccount};
pub use assets::{Asset, NewAsset};
pub use audit::AuditRow;
pub use deliveries::{Delivery, DeliveryResult, DeliveryState, DeliveryTry};
pub use error::{Error, Result};
pub use jobs::accept::{Accept, Accepted, Idempotency, Lease, NewJob};
pub use jobs::attempt::{Attempt, ProgressNote, Requeue};
pub use jobs::lease::LeaseRequest;
pub use jobs::settle::{Guard, Outcome, Settled, Settlement};
pub use jobs::statistics::{Counts, UsageRow};
pub use jobs::{JobFilter, JobRow};
pub use keys::{Key, NewKey};
pub use ledger::{Credit, CreditKind, Credited, LedgerRow};
pub use nodes::Node;
pub use wake::Wake;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that read.
    pub readers: u32,
    /// The most changes in one commit.
    pub batch_most: usize,
    /// The most changes that may wait; one more is [`Error::Busy`].
    pub queue_most: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 8,
            batch_most: 256,
            queue_most: 4096,
        }
    }
}

/// The durable state; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {}

impl Store {
    /// Opens a database, creating and migrating it as needed: `sqlite:/path/file.db` or `postgres://…`.
    pub async fn open(_url: &str, _options: Options) -> Result<Store> {
        Err(Error::NotFound)
    }
    /// Whether this is PostgreSQL, which several nodes may share.
    pub fn is_postgres(&self) -> bool {
        false
    }
    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        Err(Error::NotFound)
    }
    /// Commits what waits, then closes every connection.
    pub async fn close(&self) {}
}
