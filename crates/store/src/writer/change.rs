//! The kinds of changes that the writer takes, and a batch of them that is committed together.

use tokio::sync::oneshot;

use crate::batch::attempts::{self, Workload};
use crate::batch::{self, JointChanges, tries};
use crate::changes::accept::{AcceptOutcome, Acceptance};
use crate::changes::attempt::{Attempt, AttemptStart, TicketReceipt};
use crate::changes::bulk::{BulkOutcome, NewBulk};
use crate::changes::delivery::{self, ChosenDeliveries};
use crate::changes::delivery::{Delivery, DeliveryResult};
use crate::changes::settle::{SettleOutcome, SettlementChange};
use crate::db::{Conn, PrefetchQuery};
use crate::deliveries::texts::CALLBACKS;
use crate::pending::{DynChange, PendingChange};
use crate::{Error, Result};

/// What is written together with others of its kind, by few statements however many there are.
pub(crate) trait BatchedChange: Sized {
    /// What its caller is told.
    type Answer;
    /// The change that carries it to the writer.
    fn change(pending: PendingChange<Self, Self::Answer>) -> Change;
}

/// The kinds of batched changes: a row says the name of the kind, where a batch keeps it, what goes in and what comes out.
macro_rules! kinds {
    ($($kind:ident, $place:ident: $input:ty => $answer:ty;)+) => {
        /// What comes out of the queue.
        pub(crate) enum Change {
            $($kind(Box<PendingChange<$input, $answer>>),)+
            Other(Box<dyn DynChange>),
            Stop(oneshot::Sender<()>),
        }

        $(impl BatchedChange for $input {
            type Answer = $answer;

            fn change(pending: PendingChange<Self, $answer>) -> Change {
                Change::$kind(Box::new(pending))
            }
        })+

        /// Changes that are committed together.
        #[derive(Default)]
        pub(crate) struct Batch {
            $($place: Vec<PendingChange<$input, $answer>>,)+
            others: Vec<Box<dyn DynChange>>,
        }

        impl Batch {
            pub(crate) fn len(&self) -> usize {
                $(self.$place.len() +)+ self.others.len()
            }

            /// Takes a change in, unless nobody waits for it any more.
            pub(crate) fn push(&mut self, change: Change) {
                match change {
                    $(Change::$kind(one) if !one.is_abandoned() => self.$place.push(*one),)+
                    Change::Other(other) if !other.is_abandoned() => self.others.push(other),
                    _ => {}
                }
            }

            fn send(self, mut outcome: impl FnMut() -> Result<()>) {
                $(self.$place.into_iter().for_each(|one| one.send(outcome()));)+
                self.others.into_iter().for_each(|one| one.send(outcome()));
            }

            /// Takes out what is to be the only one of its transaction, a batch for each.
            pub(crate) fn take_alone(&mut self) -> Vec<Self> {
                let alone = self.others.extract_if(.., |one| one.is_alone());
                let batch = |one| Self {
                    others: vec![one],
                    ..Self::default()
                };
                alone.map(batch).collect()
            }

            /// One batch for each change.
            pub(crate) fn split(self) -> Vec<Self> {
                let mut one_each = Vec::with_capacity(self.len());
                $(one_each.extend(self.$place.into_iter().map(|one| Self {
                    $place: vec![one],
                    ..Self::default()
                }));)+
                one_each.extend(self.others.into_iter().map(|one| Self {
                    others: vec![one],
                    ..Self::default()
                }));
                one_each
            }
        }
    };
}

// When a batch is repeated one by one, it goes in this order: what ends makes place for what begins.
kinds! {
    Settle, settles: SettlementChange => SettleOutcome;
    Acceptance, accepts: Acceptance => AcceptOutcome;
    Bulk, bulks: NewBulk => BulkOutcome;
    Attempt, attempts: Attempt => AttemptStart;
    Ticket, tickets: TicketReceipt => bool;
    Tried, tries: DeliveryResult => bool;
    Claim, claims: ChosenDeliveries => Vec<Delivery>;
}

impl Batch {
    /// Whether its commit must survive the machine. Claims and tries of deliveries need not: what is forgotten of them
    /// is delivered once more, which receivers are promised to be able to tell. The next durable commit takes them along.
    pub(crate) fn must_be_durable(&self) -> bool {
        self.claims.len() + self.tries.len() < self.len()
    }

    /// What it will ask first, whatever the answers are.
    pub(crate) fn questions(&self) -> Vec<PrefetchQuery> {
        if self.accepts.len() + self.bulks.len() + self.settles.len() == 0 {
            return Vec::new();
        }
        batch::prefetch_queries(&self.accepts, &self.bulks, &self.settles)
    }

    pub(crate) async fn run(&mut self, conn: &mut Conn) -> Result<()> {
        // Accounts are locked first and in order, so that nodes do not wait for each other in a circle.
        let wanted: Vec<&Attempt> = self.attempts.iter().map(|one| &one.input).collect();
        let mut workload = if self.accepts.len() + self.bulks.len() + self.settles.len() > 0 {
            let changes = JointChanges {
                accepts: &mut self.accepts,
                bulks: &mut self.bulks,
                settles: &mut self.settles,
            };
            batch::run(conn, changes, &wanted).await?
        } else {
            Workload::read(conn, &wanted).await?
        };
        if !wanted.is_empty() {
            let began = attempts::begin(conn, &wanted, &mut workload).await?;
            for (one, began) in self.attempts.iter_mut().zip(began) {
                one.answer = Some(began);
            }
        }
        if !self.tickets.is_empty() {
            attempts::tickets(conn, &mut self.tickets).await?;
        }
        if !self.tries.is_empty() {
            tries::record(conn, &mut self.tries).await?;
        }
        for one in &mut self.claims {
            one.answer = Some(delivery::take(conn, &CALLBACKS, &one.input).await?);
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
}
