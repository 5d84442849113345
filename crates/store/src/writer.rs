//! The writer: one task that commits every change. It takes what waits, commits it together, and answers each
//! change only after the commit. A batch that fails is tried again item by item, so that one bad change never
//! fails its neighbours.

mod change;
mod checkpoint;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

pub(crate) use change::{Act, Batch, Change, Pending, Single};
use checkpoint::Checkpoint;

use crate::address::Address;
use crate::db::{Conn, args};
use crate::{Error, Options, Result};

/// How often a single change is tried when the trouble may pass.
const TRIES: u32 = 4;
/// The longest a batch may take before its connection is given up.
const BATCH_TIME: Duration = Duration::from_secs(30);
/// How often, and how far apart, the fate of a commit is asked for.
const RESOLVE_TRIES: u32 = 40;
const RESOLVE_PAUSE: Duration = Duration::from_millis(250);

/// What became of an attempt to commit a batch.
enum Fate {
    /// It stands.
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
    address: Address,
    conn: Option<Conn>,
    queue: mpsc::Receiver<Change>,
    batch_most: usize,
    checkpoint: Option<Checkpoint>,
}

impl Writer {
    /// Starts the task; changes go in at the sender. Shutdown waits for what the tracker holds.
    pub(crate) fn start(
        address: Address,
        conn: Conn,
        options: &Options,
        tasks: &TaskTracker,
    ) -> mpsc::Sender<Change> {
        let (sender, queue) = mpsc::channel(options.queue_most.max(1));
        let checkpoint = Checkpoint::start(&address, tasks);
        let batch_most = options.batch_most.max(1);
        let writer = Self {
            address,
            conn: Some(conn),
            queue,
            batch_most,
            checkpoint,
        };
        tasks.spawn(writer.run());
        sender
    }

    async fn run(mut self) {
        let mut stop = None;
        while stop.is_none() {
            let Some(first) = self.queue.recv().await else {
                break;
            };
            // Callers answered a moment ago may be about to send their next change: let them.
            tokio::task::yield_now().await;
            let batch = self.gather(first, &mut stop);
            self.commit(batch).await;
            if let (Some(checkpoint), Some(conn)) = (&mut self.checkpoint, &mut self.conn) {
                checkpoint.after_commit(conn).await;
            }
        }
        self.queue.close();
        drop(self.checkpoint);
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

    /// Commits a batch and answers each of its changes, item by item if need be.
    async fn commit(&mut self, mut batch: Batch) {
        match self.attempt_caught(&mut batch).await {
            Fate::Committed => batch.answer(),
            Fate::Away => batch.fail(|| Error::Busy),
            Fate::Unknown => batch.fail(|| Error::Unresolved),
            Fate::Failed(error) if batch.len() > 1 => {
                tracing::debug!(%error, changes = batch.len(), "a batch failed; trying item by item");
                let mut items = batch.split().into_iter();
                for item in items.by_ref() {
                    if !self.commit_one(item).await {
                        break;
                    }
                }
                items.for_each(|item| item.fail(|| Error::Busy));
            }
            Fate::Failed(error) if error.is_passing() => {
                self.commit_one(batch).await;
            }
            Fate::Failed(error) => batch.fail_with(error),
        }
    }

    /// Commits a batch of one; false when the database is away.
    async fn commit_one(&mut self, mut item: Batch) -> bool {
        for round in 1..=TRIES {
            match self.attempt_caught(&mut item).await {
                Fate::Committed => {
                    item.answer();
                    return true;
                }
                Fate::Away => {
                    item.fail(|| Error::Busy);
                    return false;
                }
                Fate::Unknown => {
                    item.fail(|| Error::Unresolved);
                    return false;
                }
                Fate::Failed(error) if error.is_passing() && round < TRIES => {
                    sleep(Duration::from_millis(u64::from(round) * 10)).await;
                }
                Fate::Failed(error) => {
                    item.fail_with(error);
                    return true;
                }
            }
        }
        true
    }

    /// A panic loses the connection and fails the batch, never the task.
    async fn attempt_caught(&mut self, batch: &mut Batch) -> Fate {
        let attempt = AssertUnwindSafe(self.attempt(batch)).catch_unwind().await;
        attempt.unwrap_or_else(|_| {
            Fate::Failed(Error::Conflict(
                "the change could not be carried out".into(),
            ))
        })
    }

    async fn attempt(&mut self, batch: &mut Batch) -> Fate {
        let (mut conn, number) = match self.begin(batch.must_be_durable()).await {
            Ok(begun) => begun,
            Err(error) => {
                tracing::warn!(%error, "no connection to write with");
                return Fate::Away;
            }
        };
        let done = timeout(BATCH_TIME, batch.run(&mut conn)).await;
        if let Err(error) = done.unwrap_or(Err(Error::Busy)) {
            if conn.script("ROLLBACK").await.is_ok() {
                self.conn = Some(conn);
            }
            return Fate::Failed(error);
        }
        let committed = timeout(BATCH_TIME, conn.script("COMMIT")).await;
        match (committed.unwrap_or(Err(Error::Busy)), number) {
            (Ok(()), _) => {
                self.conn = Some(conn);
                Fate::Committed
            }
            (Err(error), None) => {
                if conn.script("ROLLBACK").await.is_ok() {
                    self.conn = Some(conn);
                }
                Fate::Failed(error)
            }
            (Err(error), Some(number)) => {
                tracing::warn!(%error, "a commit was not confirmed; asking what became of it");
                drop(conn);
                self.resolve(&number).await
            }
        }
    }

    /// A connection inside a new transaction; an old connection that turns out dead is replaced once.
    async fn begin(&mut self, durable: bool) -> Result<(Conn, Option<String>)> {
        if let Some(mut conn) = self.conn.take()
            && let Ok(number) = conn.begin(durable).await
        {
            return Ok((conn, number));
        }
        let mut conn = self.address.writer().await?;
        let number = conn.begin(durable).await?;
        Ok((conn, number))
    }

    /// Asks PostgreSQL whether a transaction was committed, until it answers.
    async fn resolve(&mut self, number: &str) -> Fate {
        const ASK: &str = "SELECT COALESCE(pg_xact_status($1::xid8), 'forgotten')";
        for _ in 0..RESOLVE_TRIES {
            if let Ok(mut conn) = self.address.writer().await {
                let told = conn.maybe::<String>(ASK, args![number]).await;
                match told.ok().flatten().as_deref() {
                    Some("committed") => {
                        self.conn = Some(conn);
                        return Fate::Committed;
                    }
                    Some("aborted") => {
                        self.conn = Some(conn);
                        return Fate::Failed(Error::Busy);
                    }
                    _ => {}
                }
            }
            sleep(RESOLVE_PAUSE).await;
        }
        Fate::Unknown
    }
}
