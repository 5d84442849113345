//! Changes on their way to the writer, each with the caller who waits for its answer.

use std::pin::Pin;

use tokio::sync::oneshot;

use crate::batch::{self, attempts, tries};
use crate::db::Conn;
use crate::deliveries::claim::{self, Chosen};
use crate::deliveries::{Delivery, DeliveryResult};
use crate::jobs::accept::{Accept, Accepted};
use crate::jobs::attempt::{Attempt, Began, Receipt};
use crate::jobs::settle::{Settled, Settlement};
use crate::{Error, Result};

/// A change and who waits for it.
pub(crate) struct Pending<I, T> {
    pub(crate) input: I,
    /// Filled in while the batch runs, sent after it is committed.
    pub(crate) answer: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<I, T> Pending<I, T> {
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

    fn send(self, outcome: Result<()>) {
        let answer = outcome.and_then(|()| self.answer.ok_or(Error::NotFound));
        // A caller who has gone needs no answer; the change stands all the same.
        let _: std::result::Result<(), Result<T>> = self.reply.send(answer);
    }
}

/// What a single change does inside the transaction.
pub(crate) type Act<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A change of any other kind: what it needs, and what to do with it. It may be done again when a batch fails.
pub(crate) struct Single<I, T> {
    pub(crate) pending: Pending<I, T>,
    pub(crate) act: for<'a> fn(&'a mut Conn, &'a I) -> Act<'a, T>,
}

pub(crate) trait Work: Send {
    fn run<'a>(&'a mut self, conn: &'a mut Conn) -> Act<'a, ()>;
    fn send(self: Box<Self>, outcome: Result<()>);
    fn is_abandoned(&self) -> bool;
}

impl<I: Send + Sync, T: Send> Work for Single<I, T> {
    fn run<'a>(&'a mut self, conn: &'a mut Conn) -> Act<'a, ()> {
        Box::pin(async move {
            self.pending.answer = Some((self.act)(conn, &self.pending.input).await?);
            Ok(())
        })
    }

    fn send(self: Box<Self>, outcome: Result<()>) {
        self.pending.send(outcome);
    }

    fn is_abandoned(&self) -> bool {
        self.pending.reply.is_closed()
    }
}

/// What comes out of the queue.
pub(crate) enum Change {
    Accept(Box<Pending<Accept, Accepted>>),
    Settle(Box<Pending<Settlement, Settled>>),
    Attempt(Box<Pending<Attempt, Began>>),
    Ticket(Box<Pending<Receipt, bool>>),
    Claim(Box<Pending<Chosen, Vec<Delivery>>>),
    Tried(Box<Pending<DeliveryResult, bool>>),
    Other(Box<dyn Work>),
    Stop(oneshot::Sender<()>),
}

/// Changes that are committed together.
#[derive(Default)]
pub(crate) struct Batch {
    accepts: Vec<Pending<Accept, Accepted>>,
    settles: Vec<Pending<Settlement, Settled>>,
    attempts: Vec<Pending<Attempt, Began>>,
    tickets: Vec<Pending<Receipt, bool>>,
    claims: Vec<Pending<Chosen, Vec<Delivery>>>,
    tries: Vec<Pending<DeliveryResult, bool>>,
    others: Vec<Box<dyn Work>>,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.accepts.len()
            + self.settles.len()
            + self.attempts.len()
            + self.tickets.len()
            + self.claims.len()
            + self.tries.len()
            + self.others.len()
    }

    /// Whether its commit must survive the machine. Claims and tries of deliveries need not: what is forgotten of them
    /// is delivered once more, which receivers are promised to be able to tell. The next durable commit takes them along.
    pub(crate) fn must_be_durable(&self) -> bool {
        self.claims.len() + self.tries.len() < self.len()
    }

    /// Takes a change in, unless nobody waits for it any more.
    pub(crate) fn push(&mut self, change: Change) {
        match change {
            Change::Accept(accept) if !accept.reply.is_closed() => self.accepts.push(*accept),
            Change::Settle(settle) if !settle.reply.is_closed() => self.settles.push(*settle),
            Change::Attempt(one) if !one.reply.is_closed() => self.attempts.push(*one),
            Change::Ticket(one) if !one.reply.is_closed() => self.tickets.push(*one),
            Change::Claim(one) if !one.reply.is_closed() => self.claims.push(*one),
            Change::Tried(one) if !one.reply.is_closed() => self.tries.push(*one),
            Change::Other(other) if !other.is_abandoned() => self.others.push(other),
            _ => {}
        }
    }

    pub(crate) async fn run(&mut self, conn: &mut Conn) -> Result<()> {
        // Accounts are locked first and in order, so that nodes do not wait for each other in a circle.
        if !self.accepts.is_empty() || !self.settles.is_empty() {
            batch::run(conn, &mut self.accepts, &mut self.settles).await?;
        }
        if !self.attempts.is_empty() {
            attempts::begin(conn, &mut self.attempts).await?;
        }
        if !self.tickets.is_empty() {
            attempts::tickets(conn, &mut self.tickets).await?;
        }
        if !self.tries.is_empty() {
            tries::record(conn, &mut self.tries).await?;
        }
        for one in &mut self.claims {
            one.answer = Some(claim::take(conn, &one.input).await?);
        }
        for other in &mut self.others {
            other.run(conn).await?;
        }
        Ok(())
    }

    pub(crate) fn answer(self) {
        self.send(|| Ok(()));
    }

    pub(crate) fn fail(self, error: impl Fn() -> Error) {
        self.send(|| Err(error()));
    }

    /// Fails a batch of one.
    pub(crate) fn fail_with(self, error: Error) {
        let mut error = Some(error);
        self.send(|| Err(error.take().unwrap_or(Error::Busy)));
    }

    fn send(self, mut outcome: impl FnMut() -> Result<()>) {
        self.accepts.into_iter().for_each(|one| one.send(outcome()));
        self.settles.into_iter().for_each(|one| one.send(outcome()));
        self.attempts
            .into_iter()
            .for_each(|one| one.send(outcome()));
        self.tickets.into_iter().for_each(|one| one.send(outcome()));
        self.claims.into_iter().for_each(|one| one.send(outcome()));
        self.tries.into_iter().for_each(|one| one.send(outcome()));
        self.others.into_iter().for_each(|one| one.send(outcome()));
    }

    /// One batch for each change.
    pub(crate) fn split(self) -> Vec<Self> {
        let mut one_each = Vec::with_capacity(self.len());
        macro_rules! single {
            ($($kind:ident),+) => {
                $(one_each.extend(self.$kind.into_iter().map(|one| Self {
                    $kind: vec![one],
                    ..Self::default()
                }));)+
            };
        }
        single!(settles, accepts, attempts, tickets, tries, claims, others);
        one_each
    }
}
