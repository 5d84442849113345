//! What every group of the store works with: connections that read, and the writer.

use std::sync::Arc;

use atelier_fairness::share::FairSemaphore;
use tokio::sync::{mpsc, oneshot};

use crate::db_config::DbConfig;
use crate::dialect::Dialect;
use crate::jobs::outline::OutlineCache;
use crate::pending::{ChangeFn, DynChange, PendingChange, SingleChange};
use crate::readers::Db;
use crate::writer::{BatchedChange, Change};
use crate::{Error, Result};

/// What every group borrows; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct StoreCore {
    pub(crate) db: Db,
    pub(crate) writer: mpsc::Sender<Change>,
    pub(crate) address: DbConfig,
    pub(crate) outlines: Arc<OutlineCache>,
    /// Searches that are under way.
    pub(crate) searches: Arc<FairSemaphore>,
}

impl StoreCore {
    /// Whether this is PostgreSQL, which several nodes may share.
    pub(crate) fn is_postgres(&self) -> bool {
        self.db.dialect() == Dialect::Postgres
    }

    /// Has the writer do a change; answered after its commit.
    pub(crate) async fn change<I, T>(&self, input: I, act: ChangeFn<I, T>) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let write_slot = self.write_slot().await?;
        self.change_in(write_slot, input, act).await
    }

    /// The same for a change that locks an account, or adds to the audit log.
    pub(crate) async fn change_alone<I, T>(&self, input: I, act: ChangeFn<I, T>) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let write_slot = self.write_slot().await?;
        self.change_alone_in(write_slot, input, act).await
    }

    /// Has the writer do a change together with the others of its kind; answered after their commit.
    pub(crate) async fn commit<I: BatchedChange>(&self, input: I) -> Result<I::Answer> {
        let write_slot = self.write_slot().await?;
        self.commit_in(write_slot, input).await
    }

    /// The same as [`Self::change`] with a place that is had already.
    pub(crate) async fn change_in<I, T>(
        &self,
        write_slot: WriteSlot<'_>,
        input: I,
        act: ChangeFn<I, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (change, answer) = SingleChange::new(input, act, false);
        write_slot.send(change);
        await_answer(answer).await
    }

    /// The same as [`Self::change_alone`] with a place that is had already.
    pub(crate) async fn change_alone_in<I, T>(
        &self,
        write_slot: WriteSlot<'_>,
        input: I,
        act: ChangeFn<I, T>,
    ) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (change, answer) = SingleChange::new(input, act, true);
        write_slot.send(change);
        await_answer(answer).await
    }

    /// The same as [`Self::commit`] with a place that is had already.
    pub(crate) async fn commit_in<I: BatchedChange>(
        &self,
        write_slot: WriteSlot<'_>,
        input: I,
    ) -> Result<I::Answer> {
        let (pending, answer) = PendingChange::new(input);
        write_slot.0.send(I::change(pending));
        await_answer(answer).await
    }

    /// Waits for a place in the queue. It is to be used at once: others wait behind it.
    pub(crate) async fn write_slot(&self) -> Result<WriteSlot<'_>> {
        let permit = self.writer.reserve().await;
        permit.map(WriteSlot).map_err(|_| Error::Busy)
    }

    /// A place for what a caller asks for, which is refused when the queue is full. Whatever else happens waits for its turn: an
    /// ending that was refused would be lost until a lease runs out.
    pub(crate) fn try_write_slot(&self) -> Result<WriteSlot<'_>> {
        let permit = self.writer.try_reserve();
        permit.map(WriteSlot).map_err(|_| Error::Busy)
    }
}

/// A place in the writer's queue. What is dated when it is had is not old before it is written down.
pub struct WriteSlot<'a>(mpsc::Permit<'a, Change>);

impl WriteSlot<'_> {
    fn send(self, change: impl DynChange + 'static) {
        self.0.send(Change::Other(Box::new(change)));
    }
}

/// What the writer says of a change.
async fn await_answer<T>(answer: oneshot::Receiver<Result<T>>) -> Result<T> {
    // A writer that was stopped leaves unanswered only what it had not begun.
    answer.await.unwrap_or(Err(Error::Busy))
}
