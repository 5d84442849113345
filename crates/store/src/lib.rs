//! Durable state on SQLite or PostgreSQL.
//!
//! Invariants: the store judges by nothing but what it is given and what it has (a balance, a queue limit, a fence); every
//! public change is one commit and is answered only after it; quota moves only together with its ledger row; a final job
//! never changes; time and identifiers come from the caller.

pub mod accounts;
mod acts;
mod address;
mod alone;
mod archive;
pub mod assets;
pub mod audit;
mod batch;
mod chain;
mod clock;
mod copy;
mod db;
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
mod reading;
mod refused;
mod retention;
mod row;
pub mod sessions;
pub mod settings;
mod time;
pub mod uploads;
pub mod wake;
pub mod workers;
mod writer;

pub use accounts::{Account, AccountPatch, Allowance, AllowancePatch, NewAccount};
pub use archive::{ArchiveFile, Cut};
pub use assets::{Asset, DELETING_MS, NewAsset};
pub use audit::AuditRow;
pub use clock::ClockNote;
pub use deliveries::{
    AccountPlaces, Claim, Delivery, DeliveryResult, DeliveryState, DeliveryTry, RoutePlaces,
};
pub use error::{Error, Result};
pub use invariants::{AccountsLooked, Fault, Look, of_accounts};
pub use jobs::JobRow;
pub use jobs::accept::{Accept, Accepted, Idempotency, Lease, NewJob};
pub use jobs::attempt::{Attempt, Began, ProgressNote, REJECTED, Requeue, StartLimits, UNABLE};
pub use jobs::bulk::{Bulk, BulkAccepted, BulkItem, BulkWish, NewBulk, NewBulkItem, Told};
pub use jobs::filter::{JobFilter, JobPage};
pub use jobs::history::{AttemptRow, EndedRow, Owed};
pub use jobs::lease::{LeaseRequest, read_work_kind, work_kind};
pub use jobs::margins::MarginRow;
pub use jobs::marks::{JobMark, MARKS_MOST};
pub use jobs::settle::{Cost, Guard, Outcome, Settled, Settlement};
pub use jobs::short::{Narrow, ShortWork};
pub use jobs::statistics::{Counts, UsageRow};
pub use keys::{Key, KeyAdded, NewKey};
pub use ledger::{Credit, CreditKind, Credited, LedgerRow};
pub use nodes::Node;
pub use operators::{NewOperator, OperatorRow};
pub use sessions::SessionRow;
pub use time::boot_ms;
pub use uploads::Upload;
pub use wake::Wake;
pub use workers::change::{Arranged, Arrangement, Removed, Seen, WorkerNote, WorkerPut};
pub use workers::{BackendRow, WorkerRow};

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::metrics::Series;
use atelier_shares::shares::Shares;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use address::Address;
use db::Conn;
use dialect::Dialect;
use jobs::outline::Outlines;
use pending::{Act, Pending, Single};
use reading::Db;
use time::SharedTime;
use writer::pulse::Pulse;
use writer::{Batched, Change, Writer};

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
    pulse: Arc<Pulse>,
    time: Arc<SharedTime>,
    address: Address,
    alone: Arc<Mutex<Option<File>>>,
    outlines: Arc<Outlines>,
    /// Searches that are under way.
    searches: Arc<Shares>,
    tasks: TaskTracker,
}

impl Store {
    /// Opens a database, creating and migrating it as needed: `sqlite:/path/file.db` or `postgres://…`.
    pub async fn open(url: &str, options: Options) -> Result<Store> {
        let address = Address::parse(url)?.with(&options)?;
        address.make_private();
        let mut conn = address.builder().await?;
        let migrated = migrate::migrate(&mut conn).await;
        conn.close().await;
        migrated?;
        let db = Db::new(address.clone(), options.readers);
        let tasks = TaskTracker::new();
        let time = Arc::new(SharedTime::default());
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
            searches: Shares::elastic("searches", SEARCHES),
            tasks,
        })
    }

    /// Says that this process is the one that works on the jobs of a SQLite database, until the store is closed; refused
    /// while another one does. Nodes that share PostgreSQL need no such word.
    pub fn work_alone(&self) -> Result<()> {
        let mut alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(file), None) = (self.address.file(), &*alone) {
            *alone = Some(alone::hold(file)?);
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
    pub fn commits(&self) -> [&Series; 2] {
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
    pub fn shares(&self) -> [&Arc<Shares>; 2] {
        [self.db.shares(), &self.searches]
    }

    fn searches(&self) -> &Arc<Shares> {
        &self.searches
    }

    fn outlines(&self) -> &Outlines {
        &self.outlines
    }

    /// Has the writer do a change; answered after its commit.
    async fn change<I, T>(
        &self,
        input: I,
        act: for<'a> fn(&'a mut Conn, &'a I) -> Act<'a, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let turn = self.turn().await?;
        self.change_in(turn, input, act).await
    }

    /// Has the writer do a change together with the others of its kind; answered after their commit.
    async fn commit<I: Batched>(&self, input: I) -> Result<I::Answer> {
        let turn = self.turn().await?;
        self.commit_in(turn, input).await
    }

    /// The same as [`Self::change`] with a place that is had already.
    async fn change_in<I, T>(
        &self,
        turn: Turn<'_>,
        input: I,
        act: for<'a> fn(&'a mut Conn, &'a I) -> Act<'a, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (pending, answer) = Pending::new(input);
        turn.0
            .send(Change::Other(Box::new(Single { pending, act })));
        answered(answer).await
    }

    /// The same as [`Self::commit`] with a place that is had already.
    async fn commit_in<I: Batched>(&self, turn: Turn<'_>, input: I) -> Result<I::Answer> {
        let (pending, answer) = Pending::new(input);
        turn.0.send(I::change(pending));
        answered(answer).await
    }

    /// Waits for a place in the queue. It is to be used at once: others wait behind it.
    pub async fn turn(&self) -> Result<Turn<'_>> {
        let permit = self.writer.reserve().await;
        permit.map(Turn).map_err(|_| Error::Busy)
    }

    /// A place for what a caller asks for, which is refused when the queue is full. Whatever else happens waits for its turn: an
    /// ending that was refused would be lost until a lease runs out.
    fn turn_or_refuse(&self) -> Result<Turn<'_>> {
        let permit = self.writer.try_reserve();
        permit.map(Turn).map_err(|_| Error::Busy)
    }
}

/// A place in the writer's queue. What is dated when it is had is not old before it is written down.
pub struct Turn<'a>(mpsc::Permit<'a, Change>);

/// What the writer says of a change.
async fn answered<T>(answer: oneshot::Receiver<Result<T>>) -> Result<T> {
    // A writer that was stopped leaves unanswered only what it had not begun.
    answer.await.unwrap_or(Err(Error::Busy))
}
