//! Durable state on SQLite or PostgreSQL.
//!
//! Invariants: every public change is one commit and is answered only after it; quota moves only together with its ledger
//! row; a final job never changes; time, identifiers and the delay of a job's turn come from the caller.

pub mod accounts;
mod archive;
pub mod assets;
mod attribution;
pub mod audit;
mod audit_chain;
mod audited_change;
mod backup;
mod batch;
mod changes;
mod clock;
mod credits;
mod db;
mod db_config;
pub mod deliveries;
mod dialect;
mod error;
pub mod files;
mod first_use;
mod groups;
mod invariants;
pub mod jobs;
pub mod keys;
pub mod ledger;
mod ledger_filter;
mod links;
pub mod migrate;
pub mod models;
pub mod nodes;
pub mod operators;
mod options;
mod payments;
mod pending;
mod period;
mod plans;
mod process_lock;
mod products;
mod readers;
mod receipts;
mod refused_prompts;
mod retention;
mod revisions;
mod row;
pub mod sessions;
pub mod settings;
mod store_core;
mod subscriptions;
mod time;
mod topups;
pub mod uploads;
mod vouchers;
pub mod wake;
pub mod workers;
mod writer;

pub use accounts::{
    Account, AccountFilter, AccountLimits, AccountLimitsPatch, AccountPatch, Accounts, NewAccount,
};
pub use archive::{Archive, ArchiveCut, ArchiveFile};
pub use assets::Assets;
pub use attribution::Attribution;
pub use audit::{Admin, AuditRow};
pub use changes::accept::{AcceptOutcome, Acceptance, Idempotency, KeyLimitReached, Lease, NewJob};
pub use changes::asset::{Asset, DELETING_MS, NewAsset};
pub use changes::attempt::{Attempt, AttemptStart, StartLimits};
pub use changes::bulk::{
    Bulk, BulkEntry, BulkItem, BulkItemOutcome, BulkOutcome, NewBulk, NewBulkItem,
};
pub use changes::delivery::{Delivery, DeliveryResult, DeliveryState};
pub use changes::settle::{Cost, FileHash, Guard, Outcome, SettleOutcome, Settlement};
pub use clock::ClockNote;
pub use credits::{AccountCredits, CreditRow, Credits};
pub use db_config::check_address;
pub use deliveries::claim::{AccountSlots, Claim, RouteSlots};
pub use deliveries::{Deliveries, DeliveryTry};
pub use error::{Error, Result};
pub use groups::{GROUP_EDITION, GroupSize, Groups};
pub use invariants::{AccountsCheck, CheckOptions, Invariants, Violation, account_invariants};
pub use jobs::attempt::{Attempts, ProgressNote, REJECTED, RequeueRequest, UNABLE};
pub use jobs::filter::{JobFilter, JobPage};
pub use jobs::history::{AttemptRow, Backlog, FinishedJobRow};
pub use jobs::lease::{LeaseRequest, read_work_kind, work_kind};
pub use jobs::margins::{MarginRow, TakingRow};
pub use jobs::queue::Queue;
pub use jobs::short_work::{ShortWork, YieldRule};
pub use jobs::spender::SpenderFilter;
pub use jobs::statistics::{JobCounts, Statistics, UsageRow};
pub use jobs::summaries::{JobSummary, SUMMARIES_MAX};
pub use jobs::usage::{GroupedUsage, UsageGroup, UsageKind, UsageQuestion};
pub use jobs::{JobRow, Jobs};
pub use keys::change::{KeyChange, KeyChangeOutcome, KeyRotation, RotateOutcome};
pub use keys::limits::{KeyLimit, KeySpending};
pub use keys::{AddKeyOutcome, Key, KeyTerms, Keys, NewKey};
pub use ledger::{Credit, CreditEnd, CreditKind, CreditOutcome, Ledger, LedgerRow};
pub use ledger_filter::LedgerFilter;
pub use links::{Link, NewLink};
pub use models::{MODEL_EDITION, Models};
pub use nodes::{Node, Nodes};
pub use operators::{NewOperator, OperatorRow};
pub use options::Options;
pub use payments::{
    EventOutcome, EventRow, NewPayment, NewRefund, PaymentEvent, PaymentFilter, PaymentNews,
    PaymentOutcome, PaymentPlace, PaymentRow, PaymentState, Payments, RefundOutcome, RefundRow,
    TopupOutcome, TopupPurchase,
};
pub use period::Period;
pub use plans::{AccountPlan, PLAN_EDITION, PlanAssignment, PlanOutcome, Plans};
pub use products::{PRODUCT_EDITION, Products};
pub use receipts::{NewReceiptKey, ReceiptKeyRow, ReceiptRow, Receipts};
pub use retention::Retention;
pub use revisions::{RevisionChange, RevisionDraft, RevisionOutcome, RevisionRow, SeenEdition};
pub use sessions::{OverdueSessions, SessionRow, Sessions};
pub use settings::Settings;
pub use store_core::WriteSlot;
pub use subscriptions::{EndingSubscription, Subscriptions};
pub use time::boot_ms;
pub use topups::{NewTopup, TopupRow, Topups};
pub use uploads::Upload;
pub use vouchers::{
    NewVouchers, RedeemOutcome, Redeemed, Redemption, VoucherBatch, VoucherTerms, Vouchers,
};
pub use wake::WakeListener;
pub use workers::change::{
    BackendChange, BackendChangeOutcome, ExpectedRevision, RemoveOutcome, WorkerNote, WorkerUpsert,
};
pub use workers::{BackendRow, WorkerRow, Workers};

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::metrics::HistogramVec;
use atelier_fairness::share::FairSemaphore;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use db_config::DbConfig;
use readers::Db;
use store_core::StoreCore;
use time::DatabaseClock;
use writer::status::WriterStatus;
use writer::{Change, Writer};

/// A store that has committed nothing for this long is not ready.
const READY: Duration = Duration::from_secs(5);
/// A commit this young needs no other to show that writing works.
const FRESH: Duration = Duration::from_secs(1);
/// How long closing waits for readers, and for the writer to commit what waits.
const CLOSING: Duration = Duration::from_secs(5);

/// Searches at once. They take a processor each, and others need one too.
const SEARCHES: u64 = 2;

/// The durable state; cheap to clone. What it can do is in groups: `store.jobs().list()`, `store.accounts().list()`, ….
#[derive(Clone, Debug)]
pub struct Store {
    core: StoreCore,
    pulse: Arc<WriterStatus>,
    time: Arc<DatabaseClock>,
    alone: Arc<Mutex<Option<File>>>,
    tasks: TaskTracker,
}

/// How much a store has to do.
#[derive(Debug)]
pub struct StoreLoad<'a> {
    /// What commits were like: how long they took, and how many changes each had.
    pub commits: [&'a HistogramVec; 2],
    /// How many changes wait for one.
    pub waiting: usize,
    /// What accounts share of reading: connections, and searches.
    pub shares: [&'a Arc<FairSemaphore>; 2],
}

impl Store {
    /// Opens a database, creating and migrating it as needed: `sqlite:/path/file.db` or `postgres://…`.
    pub async fn open(url: &str, options: Options) -> Result<Store> {
        let address = DbConfig::parse(url)?.with(&options)?;
        address.make_private();
        let mut conn = address.builder().await?;
        let migrated = migrate::migrate(&mut conn).await;
        conn.close().await;
        migrated?;
        let db = Db::new(address.clone(), options.readers);
        let tasks = TaskTracker::new();
        let time = Arc::new(DatabaseClock::default());
        let shared = Arc::clone(&time);
        let (writer, pulse) = Writer::start(address.clone(), &options, &tasks, shared).await?;
        Ok(Self {
            core: StoreCore {
                db,
                writer,
                address,
                outlines: Arc::default(),
                searches: FairSemaphore::elastic("searches", SEARCHES),
            },
            pulse,
            time,
            alone: Arc::default(),
            tasks,
        })
    }

    /// Says that this process is the one that works on the jobs of a SQLite database, until the store is closed; refused
    /// while another one does. Nodes that share PostgreSQL need no such word.
    pub fn lock_exclusively(&self) -> Result<()> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), None) = (self.core.address.file(), &*alone) {
            *alone = Some(process_lock::lock_database(file)?);
        }
        Ok(())
    }

    /// Writes a copy to a file that must not be there yet. PostgreSQL has tools of its own for this.
    pub async fn backup_to(&self, file: &Path) -> Result<()> {
        backup::write_copy(&self.core, file).await
    }

    /// Whether this is PostgreSQL, which several nodes may share.
    pub fn is_postgres(&self) -> bool {
        self.core.is_postgres()
    }

    /// Milliseconds since 1970 by the clock of PostgreSQL, which all nodes agree on; `None` on SQLite, whose one process
    /// has a clock of its own. It costs nothing: the clock is read with every change.
    pub fn database_now_ms(&self) -> Option<i64> {
        self.time.now_ms()
    }

    /// How much it has to do.
    pub fn load(&self) -> StoreLoad<'_> {
        StoreLoad {
            commits: self.pulse.series(),
            waiting: self.core.writer.max_capacity() - self.core.writer.capacity(),
            shares: [self.core.db.shares(), &self.core.searches],
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        self.core
            .db
            .one::<i64>("SELECT CAST(1 AS BIGINT)", &[])
            .await
            .map(|_| ())
    }

    /// Whether something can be written, and was within the last five seconds.
    pub async fn ready(&self) -> Result<()> {
        if self.core.writer.is_closed() || self.pulse.is_stuck(READY) {
            return Err(Error::Busy);
        }
        if self.pulse.is_fresh(FRESH) {
            return Ok(());
        }
        // The mark that every transaction leaves is all that is written.
        let nothing = self.core.change((), |_, ()| Box::pin(async { Ok(()) }));
        timeout(READY, nothing).await.unwrap_or(Err(Error::Busy))
    }

    /// Commits what waits, then closes every connection. A commit that hangs is left to itself after a while.
    pub async fn close(&self) {
        // Readers go first: SQLite can only empty its log when nobody looks at it.
        let readers = timeout(CLOSING, self.core.db.close()).await;
        let (stop, stopped) = oneshot::channel();
        let stop = async {
            if self.core.writer.send(Change::Stop(stop)).await.is_ok() {
                // An error means that the writer has stopped already, which is all that is wanted.
                let _: std::result::Result<(), oneshot::error::RecvError> = stopped.await;
            }
            self.tasks.close();
            self.tasks.wait().await;
        };
        let writer = timeout(CLOSING, stop).await;
        if readers.is_err() || writer.is_err() {
            tracing::warn!("the database did not finish in time; its last work is left to it");
        }
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        *alone = None;
    }

    /// Waits for a place in the queue. It is to be used at once: others wait behind it.
    pub async fn write_slot(&self) -> Result<WriteSlot<'_>> {
        self.core.write_slot().await
    }
}

impl Store {
    /// Jobs: accepted, read, listed, settled and deleted.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs(&self.core)
    }

    /// Jobs that wait or run, and the leases of those that run.
    pub fn queue(&self) -> Queue<'_> {
        Queue(&self.core)
    }

    /// Attempts of jobs at worker accounts.
    pub fn attempts(&self) -> Attempts<'_> {
        Attempts(&self.core)
    }

    /// Sums and counts over jobs.
    pub fn statistics(&self) -> Statistics<'_> {
        Statistics(&self.core)
    }

    pub fn accounts(&self) -> Accounts<'_> {
        Accounts(&self.core)
    }

    /// API keys of accounts.
    pub fn keys(&self) -> Keys<'_> {
        Keys(&self.core)
    }

    /// Operators and the audit log.
    pub fn admin(&self) -> Admin<'_> {
        Admin(&self.core)
    }

    /// Sessions of the console.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.core)
    }

    /// Credits and ledger rows.
    pub fn ledger(&self) -> Ledger<'_> {
        Ledger(&self.core)
    }

    pub fn deliveries(&self) -> Deliveries<'_> {
        Deliveries(&self.core)
    }

    /// Back ends and worker accounts.
    pub fn workers(&self) -> Workers<'_> {
        Workers(&self.core)
    }

    /// Models of the catalogue, with all their revisions.
    pub fn models(&self) -> Models<'_> {
        Models(&self.core)
    }

    /// Groups of accounts, with all their revisions.
    pub fn groups(&self) -> Groups<'_> {
        Groups(&self.core)
    }

    /// Nodes: heartbeats, hints and notes of their clocks.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes(&self.core)
    }

    /// Rows of results, inputs and uploads; the bytes are in [`crate::files`].
    pub fn assets(&self) -> Assets<'_> {
        Assets(&self.core)
    }

    /// Named values that all nodes share.
    pub fn settings(&self) -> Settings<'_> {
        Settings(&self.core)
    }

    /// Old ledger rows, jobs and attempts that move into files.
    pub fn archive(&self) -> Archive<'_> {
        Archive(&self.core)
    }

    /// Checks of what must always be true.
    pub fn invariants(&self) -> Invariants<'_> {
        Invariants(&self.core)
    }

    /// Rows past their retention.
    pub fn retention(&self) -> Retention<'_> {
        Retention(&self.core)
    }
}
