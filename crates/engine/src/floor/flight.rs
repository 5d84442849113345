//! A job that is at a vendor: what is kept of it between two questions, and what its answers mean.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{Progress, Started, Work};
use atelier_backends::{Class, Fault};
use atelier_store::{JobRow, Requeue};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::floor::pool::Slot;
use crate::floor::runner::UNKNOWN;
use crate::floor::workbench::Workbench;

/// A question that takes longer than this has failed.
const QUESTION_MOST: Duration = Duration::from_mins(10);
/// A vendor that is asked whether it has a lost submit is believed when it denies it twice, this far apart.
const DENIED_TWICE: Duration = Duration::from_secs(5);
/// The pause after a failed question; it doubles up to [`PAUSE_MOST`].
const PAUSE_LEAST: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_mins(1);

/// A job in hand; put away when dropped, however the work ended.
pub(crate) struct Held {
    bench: Arc<Workbench>,
    id: String,
    fence: i64,
}

impl Held {
    pub(crate) fn new(bench: &Arc<Workbench>, row: &JobRow) -> Self {
        Self {
            bench: Arc::clone(bench),
            id: row.id.clone(),
            fence: row.fence,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.bench.remove(&self.id, self.fence);
    }
}

/// A job at a vendor, without the bytes of its inputs.
pub(crate) struct Flight {
    pub(crate) row: JobRow,
    pub(crate) work: Work,
    pub(crate) slot: Slot,
    /// The vendor's ticket; without one the vendor is asked whether it has the work.
    pub(crate) ticket: Option<Value>,
    pub(crate) _held: Held,
    pub(crate) cancelled: CancellationToken,
    pub(crate) began_ms: i64,
    /// Questions that failed in a row.
    pub(crate) errors: u32,
    /// Times the vendor denied having the work.
    pub(crate) missing: u32,
    /// The worker's budget for the next question has been taken already.
    pub(crate) granted: bool,
}

impl Engine {
    /// Asks the vendor about a job and acts on the answer.
    pub(crate) async fn ask(self: &Arc<Self>, mut flight: Flight) {
        if flight.ticket.is_none() {
            return self.find(flight).await;
        }
        let question = async {
            match &flight.ticket {
                Some(ticket) => flight.slot.backend().poll(&flight.work, ticket).await,
                None => Ok(Progress::Running(PAUSE_LEAST)),
            }
        };
        let answer = tokio::select! {
            biased;
            () = flight.cancelled.cancelled() => return self.let_go(&flight),
            answer = tokio::time::timeout(QUESTION_MOST, question) => answer,
        };
        let answer =
            answer.unwrap_or_else(|_| Err(Fault::vendor(Class::Retry, "no answer to a question")));
        match answer {
            Ok(Progress::Running(pause)) => {
                flight.errors = 0;
                self.pool
                    .question_answered(flight.slot.worker(), self.now_ms());
                self.watch_again(flight, pause);
            }
            Ok(Progress::Done(made)) => {
                let asked = flight.work.brief.count;
                let (row, worker) = (&flight.row, flight.slot.worker());
                let delivered = self
                    .deliver(row, worker, flight.began_ms, (made, asked))
                    .await;
                if let Err(fault) = delivered {
                    self.not_delivered(flight, &fault).await;
                }
            }
            Ok(Progress::Failed(fault)) => {
                self.pool.fault(flight.slot.worker(), &fault, self.now_ms());
                self.fail_or_retry(&flight.row, &fault).await;
            }
            Err(fault) => {
                // The question failed, not the job: the vendor still has it.
                tracing::debug!(job = %flight.row.id, detail = %fault.detail, "a question failed");
                self.pool
                    .question_failed(flight.slot.worker(), &fault, self.now_ms());
                self.ask_later(flight, fault.after);
            }
        }
        self.wakes.work.notify_one();
    }

    /// Looks for a lost submit; one that is found becomes a job like any other.
    async fn find(self: &Arc<Self>, mut flight: Flight) {
        let question = async {
            let mut work = flight.work.clone();
            work.brief.hints.clear();
            let work = self.with_inputs(work, &flight.row.account_id).await?;
            flight.slot.backend().look_up(&work).await
        };
        let answer = tokio::select! {
            biased;
            () = flight.cancelled.cancelled() => return self.let_go(&flight),
            answer = question => answer,
        };
        match answer {
            Ok(Some(Started::Ticket(ticket))) => {
                self.pool.accepted(flight.slot.worker(), self.now_ms());
                let attempt_id = &flight.work.attempt_id;
                if self.write_ticket(&flight.row, attempt_id, &ticket).await {
                    flight.ticket = Some(ticket);
                    self.watch_again(flight, Duration::ZERO);
                }
            }
            Ok(Some(Started::Done(made))) => {
                let asked = flight.work.brief.count;
                self.deliver_at_once(&flight.row, &flight.slot, flight.began_ms, (made, asked))
                    .await;
            }
            Ok(None) => self.not_found_yet(flight).await,
            Err(fault) if fault.class.may_pass() => {
                self.pool
                    .question_failed(flight.slot.worker(), &fault, self.now_ms());
                self.ask_later(flight, fault.after);
            }
            // It cannot even be asked about, such as without a picture that is gone by now.
            Err(fault) => {
                tracing::warn!(job = %flight.row.id, detail = %fault.detail, "a lost submit cannot be looked up");
                self.fail(&flight.row, UNKNOWN.to_owned()).await;
            }
        }
        self.wakes.work.notify_one();
    }

    /// The vendor does not have the work: believed the second time, because a submit may still be on its way.
    async fn not_found_yet(self: &Arc<Self>, mut flight: Flight) {
        flight.missing += 1;
        if flight.missing < 2 {
            return self.watch_again(flight, DENIED_TWICE);
        }
        let row = &flight.row;
        if row.begun() >= self.settings.tries_most {
            return self.fail(row, UNKNOWN.to_owned()).await;
        }
        let requeue = Requeue {
            job_id: row.id.clone(),
            fence: row.fence,
            not_before_ms: self.now_ms(),
            why: "the vendor never had it".into(),
            now_ms: self.now_ms(),
            attempt_state: "lost",
            counts: true,
        };
        if let Err(error) = self.store.requeue(requeue).await {
            tracing::warn!(%error, job = %row.id, "a lost submit was not given back; its lease will run out");
        }
    }

    /// This house could not store a result: the vendor keeps it, so it is fetched again later.
    async fn not_delivered(self: &Arc<Self>, flight: Flight, fault: &Fault) {
        if fault.class == Class::House {
            tracing::warn!(job = %flight.row.id, detail = %fault.detail, "a result waits at the vendor");
            self.ask_later(flight, None);
        } else {
            self.fail(&flight.row, fault.job_message()).await;
        }
    }

    fn ask_later(self: &Arc<Self>, mut flight: Flight, after: Option<Duration>) {
        let pause = PAUSE_LEAST.saturating_mul(1 << flight.errors.min(6));
        flight.errors += 1;
        self.watch_again(flight, after.unwrap_or(pause).min(PAUSE_MOST));
    }

    /// Nobody wants the job any more, or another node has it. Only the first is the vendor's business, and only for
    /// this attempt's own ticket.
    pub(crate) fn let_go(&self, flight: &Flight) {
        if !self.bench.is_unwanted(&flight.row.id, flight.row.fence) {
            return;
        }
        if let Some(ticket) = flight.ticket.clone() {
            let backend = flight.slot.backend();
            self.tasks
                .spawn(async move { backend.cancel(&ticket).await });
        }
        self.wakes.work.notify_one();
    }
}
