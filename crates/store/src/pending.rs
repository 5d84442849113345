//! A change on its way to the writer, with the caller who waits for its answer.

use std::pin::Pin;

use tokio::sync::oneshot;

use crate::db::Conn;
use crate::{Error, Result};

/// A change and who waits for it.
pub(crate) struct PendingChange<I, T> {
    pub(crate) input: I,
    /// Filled in while the batch runs, sent after it is committed.
    pub(crate) answer: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<I, T> PendingChange<I, T> {
    pub(crate) fn new(input: I) -> (Self, oneshot::Receiver<Result<T>>) {
        let (reply, receiver) = oneshot::channel();
        (
            Self {
                input,
                answer: None,
                reply,
            },
            receiver,
        )
    }

    /// Whether nobody waits for it any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// Answers, once it is known whether the commit stands.
    pub(crate) fn send(self, outcome: Result<()>) {
        let answer = outcome.and_then(|()| self.answer.ok_or(Error::NotFound));
        // A caller who has gone needs no answer; the change stands all the same.
        let _: std::result::Result<(), Result<T>> = self.reply.send(answer);
    }
}

/// What a single change does inside the transaction.
pub(crate) type ChangeFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// How a single change is made of what it needs.
pub(crate) type ChangeFn<I, T> = for<'a> fn(&'a mut Conn, &'a I) -> ChangeFuture<'a, T>;

/// A change of any other kind: what it needs, and what to do with it. It may be done again when a batch fails.
pub(crate) struct SingleChange<I, T> {
    pending: PendingChange<I, T>,
    act: ChangeFn<I, T>,
    /// Whether it locks what other nodes lock as well, accounts or the end of the audit log.
    alone: bool,
}

impl<I, T> SingleChange<I, T> {
    pub(crate) fn new(
        input: I,
        act: ChangeFn<I, T>,
        alone: bool,
    ) -> (Self, oneshot::Receiver<Result<T>>) {
        let (pending, answer) = PendingChange::new(input);
        let change = Self {
            pending,
            act,
            alone,
        };
        (change, answer)
    }
}

pub(crate) trait DynChange: Send {
    fn run<'a>(&'a mut self, conn: &'a mut Conn) -> ChangeFuture<'a, ()>;
    fn send(self: Box<Self>, outcome: Result<()>);
    fn is_abandoned(&self) -> bool;
    /// Whether it is to be the only one of its transaction where several nodes write: behind other changes it would take its locks out
    /// of order, and nodes would wait for each other in a circle.
    fn is_alone(&self) -> bool;
}

impl<I: Send + Sync, T: Send> DynChange for SingleChange<I, T> {
    fn run<'a>(&'a mut self, conn: &'a mut Conn) -> ChangeFuture<'a, ()> {
        Box::pin(async move {
            self.pending.answer = Some((self.act)(conn, &self.pending.input).await?);
            Ok(())
        })
    }

    fn send(self: Box<Self>, outcome: Result<()>) {
        self.pending.send(outcome);
    }

    fn is_abandoned(&self) -> bool {
        self.pending.is_abandoned()
    }

    fn is_alone(&self) -> bool {
        self.alone
    }
}
