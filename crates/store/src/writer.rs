//! The writer: one task that commits every change. It takes what waits, commits it together, and answers each
//! change only after the commit. A batch that fails is tried again item by item, so that one bad change never
//! fails its neighbours.

mod change;
mod checkpoint;
mod commit_mark;
pub(crate) mod status;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use change::Batch;
pub(crate) use change::{BatchedChange, Change};
use checkpoint::Checkpointer;
use commit_mark::CommitMark;
use status::WriterStatus;

use crate::db::{Conn, PrefetchQuery};
use crate::db_config::DbConfig;
use crate::dialect::Dialect;
use crate::options::Options;
use crate::time::DatabaseClock;
use crate::{Error, Result};

/// How often a single change is tried when the trouble may pass.
const TRIES: u32 = 4;
/// A commit that takes this long is worth waiting for: those who are answered by it come again one after the other, and the
/// first of them would have the disk to itself.
const SLOW: Duration = Duration::from_millis(2);
/// What is waited for them goes no further than with a commit that took this long.
const SLOWEST: Duration = Duration::from_millis(16);
/// The longest a batch may take on PostgreSQL before its connection is given up.
const BATCH_TIME: Duration = Duration::from_secs(30);
/// How long a connection to PostgreSQL that was at rest may take to begin before another takes its place. Nothing of what it
/// was told can stand without a commit.
const STALE: Duration = Duration::from_secs(3);
/// How long, and how far apart, the fate of a commit is asked for.
const RESOLVE_TIME: Duration = Duration::from_secs(15);
const RESOLVE_PAUSE: Duration = Duration::from_millis(250);

/// What became of an attempt to commit a batch.
enum CommitOutcome {
    Committed,
    /// Nothing of it stands.
    Failed(Error),
    /// There is no connection; nothing was tried.
    Away,
    /// The database went away during the commit and did not come back.
    Unknown,
}

/// The one task that writes.
pub(crate) struct Writer {
    address: DbConfig,
    conn: Option<Conn>,
    queue: mpsc::Receiver<Change>,
    batch_most: usize,
    checkpoint: Option<Checkpointer>,
    mark: CommitMark,
    pulse: Arc<WriterStatus>,
    own_thread: bool,
    last: LastCommit,
}

struct LastCommit {
    changes: usize,
    took: Duration,
    ended: Instant,
}

impl LastCommit {
    fn none() -> Self {
        Self {
            changes: 0,
            took: Duration::ZERO,
            ended: Instant::now(),
        }
    }

    /// Waits a moment for those whom a slow commit has just answered, unless as many are there already.
    fn wait_for_more(&self, waiting: usize) {
        if self.took >= SLOW && waiting < self.changes && self.ended.elapsed() < self.took {
            std::thread::sleep(self.took.min(SLOWEST) / 8);
        }
    }
}

impl Writer {
    /// Starts the task; changes go in at the sender. Shutdown waits for what the tracker holds.
    pub(crate) async fn start(
        address: DbConfig,
        options: &Options,
        tasks: &TaskTracker,
        time: Arc<DatabaseClock>,
    ) -> Result<(mpsc::Sender<Change>, Arc<WriterStatus>)> {
        let mut conn = address.writer().await?;
        let mut mark = CommitMark::new(time);
        mark.initialize(&mut conn).await?;
        let (sender, queue) = mpsc::channel(options.queue_most.max(1));
        let checkpoint = Checkpointer::start(&address, tasks);
        let pulse = Arc::new(WriterStatus::default());
        let own_thread = conn.dialect() == Dialect::Sqlite && !options.in_place;
        conn.run_on_caller_thread();
        let writer = Self {
            address,
            conn: Some(conn),
            queue,
            batch_most: options.batch_most.max(1),
            checkpoint,
            mark,
            pulse: Arc::clone(&pulse),
            own_thread,
            last: LastCommit::none(),
        };
        if own_thread {
            writer.run_apart(tasks)?;
        } else {
            tasks.spawn(writer.run());
        }
        Ok((sender, pulse))
    }

    /// Runs on a thread of its own: a statement of SQLite is a call that may wait for the disk.
    fn run_apart(self, tasks: &TaskTracker) -> Result<()> {
        let (runtime, token) = (Handle::current(), tasks.token());
        let thread = std::thread::Builder::new().name("writer".into());
        let run = move || {
            runtime.block_on(self.run());
            drop(token);
        };
        thread.spawn(run).map_err(sqlx::Error::Io)?;
        Ok(())
    }

    async fn run(mut self) {
        let mut stop = None;
        while stop.is_none() {
            let Some(first) = self.queue.recv().await else {
                break;
            };
            // Callers answered a moment ago may be about to send their next change: let them.
            tokio::task::yield_now().await;
            if self.own_thread {
                self.last.wait_for_more(self.queue.len() + 1);
            }
            let batch = self.gather(first, &mut stop);
            if batch.len() > 0 {
                let (changes, begun) = (batch.len(), Instant::now());
                self.pulse.begin();
                self.commit(batch).await;
                self.pulse.end(changes);
                self.last = LastCommit {
                    changes,
                    took: begun.elapsed(),
                    ended: Instant::now(),
                };
            }
            if let (Some(checkpoint), Some(conn)) = (&mut self.checkpoint, &mut self.conn) {
                checkpoint.after_commit(conn).await;
            }
        }
        self.queue.close();
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.end().await;
        }
        if let Some(mut conn) = self.conn {
            checkpoint::finish(&mut conn).await;
            conn.close().await;
        }
        if let Some(stop) = stop {
            // Whoever asked for the stop may have gone; that is no concern here.
            let _: std::result::Result<(), ()> = stop.send(());
        }
    }

    /// Takes what waits, without waiting for more.
    fn gather(&mut self, first: Change, stop: &mut Option<oneshot::Sender<()>>) -> Batch {
        let mut batch = Batch::default();
        let mut next = Some(first);
        while let Some(change) = next {
            match change {
                Change::Stop(sender) => {
                    *stop = Some(sender);
                    break;
                }
                change => batch.push(change),
            }
            if batch.len() >= self.batch_most {
                break;
            }
            next = self.queue.try_recv().ok();
        }
        batch
    }

    /// Commits a batch and answers each of its changes. Where other nodes write as well, what locks as much as they do goes by itself.
    async fn commit(&mut self, mut batch: Batch) {
        let alone = match self.address.dialect() {
            Dialect::Sqlite => Vec::new(),
            Dialect::Postgres => batch.take_alone(),
        };
        if batch.len() > 0 {
            self.commit_together(batch).await;
        }
        self.commit_each(alone).await;
    }

    /// Commits batches of one, until the database is away.
    async fn commit_each(&mut self, items: Vec<Batch>) {
        let mut items = items.into_iter();
        for item in items.by_ref() {
            if !self.commit_one(item).await {
                break;
            }
        }
        items.for_each(|item| item.fail(|| Error::Busy));
    }

    /// Commits a batch and answers each of its changes, item by item if need be.
    async fn commit_together(&mut self, mut batch: Batch) {
        // SQLite is here, and is asked when its turn comes.
        let questions = match self.address.dialect() {
            Dialect::Sqlite => Vec::new(),
            Dialect::Postgres => batch.questions(),
        };
        match self.attempt_caught(&mut batch, questions).await {
            CommitOutcome::Committed => batch.answer(),
            CommitOutcome::Away => batch.fail(|| Error::Busy),
            CommitOutcome::Unknown => batch.fail(|| Error::Unresolved),
            CommitOutcome::Failed(error) if batch.len() > 1 => {
                tracing::debug!(%error, changes = batch.len(), "a batch failed; trying item by item");
                self.commit_each(batch.split()).await;
            }
            CommitOutcome::Failed(error) if error.is_passing() => {
                self.commit_one(batch).await;
            }
            CommitOutcome::Failed(error) => batch.fail_with(error),
        }
    }

    /// Commits a batch of one; false when the database is away.
    async fn commit_one(&mut self, mut item: Batch) -> bool {
        for round in 1..=TRIES {
            match self.attempt_caught(&mut item, Vec::new()).await {
                CommitOutcome::Committed => {
                    item.answer();
                    return true;
                }
                CommitOutcome::Away => {
                    item.fail(|| Error::Busy);
                    return false;
                }
                CommitOutcome::Unknown => {
                    item.fail(|| Error::Unresolved);
                    return false;
                }
                CommitOutcome::Failed(error) if error.is_passing() && round < TRIES => {
                    sleep(Duration::from_millis(u64::from(round) * 10)).await;
                }
                CommitOutcome::Failed(error) => {
                    item.fail_with(error);
                    return true;
                }
            }
        }
        true
    }

    /// A panic loses the connection and fails the batch, never the task.
    async fn attempt_caught(
        &mut self,
        batch: &mut Batch,
        questions: Vec<PrefetchQuery>,
    ) -> CommitOutcome {
        let attempt = AssertUnwindSafe(self.attempt(batch, questions));
        let attempt = attempt.catch_unwind().await;
        attempt.unwrap_or_else(|_| {
            CommitOutcome::Failed(Error::Conflict(
                "the change could not be carried out".into(),
            ))
        })
    }

    async fn attempt(&mut self, batch: &mut Batch, questions: Vec<PrefetchQuery>) -> CommitOutcome {
        let mut conn = match self.begin(batch.must_be_durable(), questions).await {
            Ok(conn) => conn,
            Err(error) => {
                tracing::warn!(%error, "no connection for the writer");
                return CommitOutcome::Away;
            }
        };
        let done = match conn.dialect() {
            // What was begun in this process comes to its end; giving it up would only hide how it ended.
            Dialect::Sqlite => batch.run(&mut conn).await,
            Dialect::Postgres => timeout(BATCH_TIME, batch.run(&mut conn))
                .await
                .unwrap_or(Err(Error::Busy)),
        };
        if let Err(error) = done {
            // Without a commit nothing can stand, whether or not the other end hears of the rollback.
            if !conn.is_lost() && conn.script("ROLLBACK").await.is_ok() {
                self.conn = Some(conn);
            }
            return CommitOutcome::Failed(error);
        }
        match conn.commit().await {
            Ok(()) => {
                self.conn = Some(conn);
                self.pulse.committed();
                CommitOutcome::Committed
            }
            Err(error) => {
                tracing::warn!(%error, "a commit was not confirmed; looking up its outcome");
                conn.close().await;
                self.resolve().await
            }
        }
    }

    /// A connection inside a new transaction; an old connection that turns out dead is replaced once.
    async fn begin(&mut self, durable: bool, questions: Vec<PrefetchQuery>) -> Result<Conn> {
        if let Some(mut conn) = self.conn.take() {
            let begun = self.mark.begin(&mut conn, durable, questions);
            let begun = match self.address.dialect() {
                Dialect::Sqlite => begun.await,
                Dialect::Postgres => timeout(STALE, begun).await.unwrap_or(Err(Error::Busy)),
            };
            if begun.is_ok() {
                return Ok(conn);
            }
        }
        let mut conn = reopened(&self.address).await?;
        self.mark.begin(&mut conn, durable, Vec::new()).await?;
        Ok(conn)
    }

    /// Looks for the mark of the batch begun last, until the database answers.
    async fn resolve(&mut self) -> CommitOutcome {
        let end = Instant::now() + RESOLVE_TIME;
        loop {
            let asked = async {
                let mut conn = reopened(&self.address).await?;
                let stands = self.mark.stands(&mut conn).await?;
                Ok::<_, Error>((conn, stands))
            };
            match asked.await {
                Ok((conn, stands)) => {
                    self.conn = Some(conn);
                    if stands {
                        self.pulse.committed();
                        return CommitOutcome::Committed;
                    }
                    return CommitOutcome::Failed(Error::Busy);
                }
                Err(error) if Instant::now() >= end => {
                    tracing::error!(%error, batch = self.mark.batch(), "the outcome of a commit is unknown");
                    return CommitOutcome::Unknown;
                }
                Err(_) => sleep(RESOLVE_PAUSE).await,
            }
        }
    }
}

/// A new connection. Opening it is not waited for without end, whatever the disk does.
async fn reopened(address: &DbConfig) -> Result<Conn> {
    let mut conn = address.writer().await?;
    conn.run_on_caller_thread();
    Ok(conn)
}
