//! Durable state on SQLite or PostgreSQL.
//!
//! Invariants: every public change is one commit and is answered only after it; quota moves only together with its ledger
//! row; a final job never changes; time and identifiers come from the caller. The order of the queue (`batch/decide.rs`) is
//! the one policy here.

pub mod accounts;
mod archive;
pub mod assets;
pub mod audit;
mod audit_chain;
mod audited_change;
mod backup;
mod batch;
mod clock;
mod db;
mod db_config;
pub mod deliveries;
mod dialect;
mod error;
pub mod files;
mod invariants;
pub mod jobs;
pub mod keys;
pub mod ledger;
pub mod migrate;
pub mod nodes;
pub mod operators;
mod pending;
mod process_lock;
mod readers;
mod refused_prompts;
mod retention;
mod row;
pub mod sessions;
pub mod settings;
mod time;
pub mod uploads;
pub mod wake;
pub mod workers;
mod writer;

pub use accounts::{Account, AccountLimits, AccountLimitsPatch, AccountPatch, NewAccount};
pub use archive::{ArchiveCut, ArchiveFile};
pub use assets::{Asset, DELETING_MS, NewAsset};
pub use audit::AuditRow;
pub use clock::ClockNote;
pub use deliveries::{
    AccountSlots, Claim, Delivery, DeliveryResult, DeliveryState, DeliveryTry, RouteSlots,
};
pub use error::{Error, Result};
pub use invariants::{AccountsCheck, CheckOptions, Violation, account_invariants};
pub use jobs::JobRow;
pub use jobs::accept::{AcceptOutcome, Acceptance, Idempotency, Lease, NewJob};
pub use jobs::attempt::{
    Attempt, AttemptStart, ProgressNote, REJECTED, RequeueRequest, StartLimits, UNABLE,
};
pub use jobs::bulk::{
    Bulk, BulkEntry, BulkItem, BulkItemOutcome, BulkOutcome, NewBulk, NewBulkItem,
};
pub use jobs::filter::{JobFilter, JobPage};
pub use jobs::history::{AttemptRow, Backlog, FinishedJobRow};
pub use jobs::lease::{LeaseRequest, read_work_kind, work_kind};
pub use jobs::margins::MarginRow;
pub use jobs::settle::{Cost, Guard, Outcome, SettleOutcome, Settlement};
pub use jobs::short_work::{ShortWork, YieldRule};
pub use jobs::statistics::{JobCounts, UsageRow};
pub use jobs::summaries::{JobSummary, SUMMARIES_MAX};
pub use keys::{AddKeyOutcome, Key, NewKey};
pub use ledger::{Credit, CreditKind, CreditOutcome, LedgerRow};
pub use nodes::Node;
pub use operators::{NewOperator, OperatorRow};
pub use sessions::SessionRow;
pub use time::boot_ms;
pub use uploads::Upload;
pub use wake::WakeListener;
pub use workers::change::{
    BackendChange, BackendChangeOutcome, ExpectedRevision, RemoveOutcome, WorkerNote, WorkerUpsert,
};
pub use workers::{BackendRow, WorkerRow};

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::metrics::HistogramVec;
use atelier_fairness::share::FairSemaphore;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use db::Conn;
use db_config::DbConfig;
use dialect::Dialect;
use jobs::outline::OutlineCache;
use pending::{ChangeFuture, PendingChange, SingleChange};
use readers::Db;
use time::DatabaseClock;
use writer::status::WriterStatus;
use writer::{BatchedChange, Change, Writer};

/// A store that has committed nothing for this long is not ready.
const READY: Duration = Duration::from_secs(5);
/// A commit this young needs no other to show that writing works.
const FRESH: Duration = Duration::from_secs(1);
/// How long closing waits for readers, and for the writer to commit what waits.
const CLOSING: Duration = Duration::from_secs(5);

/// Searches at once. They take a processor each, and others need one too.
const SEARCHES: u64 = 2;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that read.
    pub readers: u32,
    /// The most changes in one commit.
    pub batch_most: usize,
    /// The most changes that may be in the queue; one more is [`Error::Busy`] for callers, and waits for its place otherwise.
    pub queue_most: usize,
    /// Whether SQLite is to look whether anything refers to what is deleted. Archiving makes sure of that itself: looking
    /// would read whole tables for every job.
    pub references: bool,
    /// Whether every step at SQLite is waited for in place, with nothing else happening meanwhile: for simulations, whose
    /// virtual time must not move before a commit has come to its end.
    pub in_place: bool,
    /// The address of a pooler before PostgreSQL that lends connections for one transaction at a time. Reads and commits
    /// go there; the schema is changed and hints are heard at the database itself.
    pub pooler: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            readers: 8,
            batch_most: 256,
            queue_most: 4096,
            references: true,
            in_place: false,
            pooler: None,
        }
    }
}

/// The durable state; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    db: Db,
    writer: mpsc::Sender<Change>,
    pulse: Arc<WriterStatus>,
    time: Arc<DatabaseClock>,
    address: DbConfig,
    alone: Arc<Mutex<Option<File>>>,
    outlines: Arc<OutlineCache>,
    /// Searches that are under way.
    searches: Arc<FairSemaphore>,
    tasks: TaskTracker,
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
        Ok(Store {
            db,
            writer,
            pulse,
            time,
            address,
            alone: Arc::default(),
            outlines: Arc::default(),
            searches: FairSemaphore::elastic("searches", SEARCHES),
            tasks,
        })
    }

    /// Says that this process is the one that works on the jobs of a SQLite database, until the store is closed; refused
    /// while another one does. Nodes that share PostgreSQL need no such word.
    pub fn lock_exclusively(&self) -> Result<()> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), None) = (self.address.file(), &*alone) {
            *alone = Some(process_lock::lock_database(file)?);
        }
        Ok(())
    }

    /// Whether this is PostgreSQL, which several nodes may share.
    pub fn is_postgres(&self) -> bool {
        self.db.dialect() == Dialect::Postgres
    }

    /// Milliseconds since 1970 by the clock of PostgreSQL, which all nodes agree on; `None` on SQLite, whose one process
    /// has a clock of its own. It costs nothing: the clock is read with every change.
    pub fn database_now_ms(&self) -> Option<i64> {
        self.time.now_ms()
    }

    /// What commits were like: how long they took, and how many changes each had.
    pub fn commits(&self) -> [&HistogramVec; 2] {
        self.pulse.series()
    }

    /// Changes that wait to be committed.
    pub fn waiting_changes(&self) -> usize {
        self.writer.max_capacity() - self.writer.capacity()
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<()> {
        self.db
            .one::<i64>("SELECT CAST(1 AS BIGINT)", &[])
            .await
            .map(|_| ())
    }

    /// Whether something can be written, and was within the last five seconds.
    pub async fn ready(&self) -> Result<()> {
        if self.writer.is_closed() || self.pulse.is_stuck(READY) {
            return Err(Error::Busy);
        }
        if self.pulse.is_fresh(FRESH) {
            return Ok(());
        }
        // The mark that every transaction leaves is all that is written.
        let nothing = self.change((), |_, ()| Box::pin(async { Ok(()) }));
        timeout(READY, nothing).await.unwrap_or(Err(Error::Busy))
    }

    /// Commits what waits, then closes every connection. A commit that hangs is left to itself after a while.
    pub async fn close(&self) {
        // Readers go first: SQLite can only empty its log when nobody looks at it.
        let readers = timeout(CLOSING, self.db.close()).await;
        let (stop, stopped) = oneshot::channel();
        let stop = async {
            if self.writer.send(Change::Stop(stop)).await.is_ok() {
                // An error means that the writer has stopped already, which is all that is wanted.
                let _: std::result::Result<(), oneshot::error::RecvError> = stopped.await;
            }
            self.tasks.close();
            self.tasks.wait().await;
        };
        let writer = timeout(CLOSING, stop).await;
        if readers.is_err() || writer.is_err() {
            tracing::warn!("the database did not come to rest; what it was doing is left to it");
        }
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        *alone = None;
    }

    fn db(&self) -> &Db {
        &self.db
    }

    /// What accounts share of reading: connections, and searches.
    pub fn shares(&self) -> [&Arc<FairSemaphore>; 2] {
        [self.db.shares(), &self.searches]
    }

    fn searches(&self) -> &Arc<FairSemaphore> {
        &self.searches
    }

    fn outlines(&self) -> &OutlineCache {
        &self.outlines
    }

    /// Has the writer do a change; answered after its commit.
    async fn change<I, T>(
        &self,
        input: I,
        act: for<'a> fn(&'a mut Conn, &'a I) -> ChangeFuture<'a, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let write_slot = self.write_slot().await?;
        self.change_in(write_slot, input, act).await
    }

    /// Has the writer do a change together with the others of its kind; answered after their commit.
    async fn commit<I: BatchedChange>(&self, input: I) -> Result<I::Answer> {
        let write_slot = self.write_slot().await?;
        self.commit_in(write_slot, input).await
    }

    /// The same as [`Self::change`] with a place that is had already.
    async fn change_in<I, T>(
        &self,
        write_slot: WriteSlot<'_>,
        input: I,
        act: for<'a> fn(&'a mut Conn, &'a I) -> ChangeFuture<'a, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (pending, answer) = PendingChange::new(input);
        write_slot
            .0
            .send(Change::Other(Box::new(SingleChange { pending, act })));
        await_answer(answer).await
    }

    /// The same as [`Self::commit`] with a place that is had already.
    async fn commit_in<I: BatchedChange>(
        &self,
        write_slot: WriteSlot<'_>,
        input: I,
    ) -> Result<I::Answer> {
        let (pending, answer) = PendingChange::new(input);
        write_slot.0.send(I::change(pending));
        await_answer(answer).await
    }

    /// Waits for a place in the queue. It is to be used at once: others wait behind it.
    pub async fn write_slot(&self) -> Result<WriteSlot<'_>> {
        let permit = self.writer.reserve().await;
        permit.map(WriteSlot).map_err(|_| Error::Busy)
    }

    /// A place for what a caller asks for, which is refused when the queue is full. Whatever else happens waits for its turn: an
    /// ending that was refused would be lost until a lease runs out.
    fn try_write_slot(&self) -> Result<WriteSlot<'_>> {
        let permit = self.writer.try_reserve();
        permit.map(WriteSlot).map_err(|_| Error::Busy)
    }
}

/// A place in the writer's queue. What is dated when it is had is not old before it is written down.
pub struct WriteSlot<'a>(mpsc::Permit<'a, Change>);

/// What the writer says of a change.
async fn await_answer<T>(answer: oneshot::Receiver<Result<T>>) -> Result<T> {
    // A writer that was stopped leaves unanswered only what it had not begun.
    answer.await.unwrap_or(Err(Error::Busy))
}
