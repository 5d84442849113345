//! A trial: what is nobody's job, given to one worker account at its vendor. A test of a route and a copy of a request are trials.

use std::time::Duration;

use atelier_backends::backend::{Acceptance, PollOutcome, StartOutcome, Work};
use atelier_backends::{Backend, Class, Cost, Fault, WorkOutput};
use atelier_store::WorkerRow;
use serde_json::Value;
use tokio::time::Instant;

use crate::names::WorkerName;
use crate::runner::pool::choice::Choice;
use crate::runner::pool::slot::Slot;
use crate::runner::prepare::stripped;
use crate::runner::worker_accounts::WorkerAccounts;

/// The pause after a question that failed, and the longest one between two questions.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// A worker account that is busy is looked at again after this.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// The question what a stopped job took is worth no longer wait.
const LAST_QUESTION: Duration = Duration::from_secs(10);

/// A slot at one of some worker accounts, waited for while they are merely busy. What the operator closed is left closed.
pub(crate) async fn free_slot<'a>(
    workers: WorkerAccounts<'_>,
    accounts: &'a [WorkerRow],
    within: Duration,
) -> Option<(&'a WorkerRow, Slot)> {
    let until = Instant::now() + within;
    loop {
        let mut busy = false;
        for account in accounts {
            match workers.take_free(&WorkerName::from(account)) {
                Ok(slot) => return Some((account, slot)),
                Err(why) => busy |= matches!(why, Choice::Wait(_)),
            }
        }
        if !busy || Instant::now() >= until {
            return None;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Has a vendor make something, for as long as it may take.
pub(crate) async fn run_trial(
    backend: &dyn Backend,
    work: Work,
    limit: Duration,
) -> Result<WorkOutput, TrialFailure> {
    let mut run = TrialRun {
        backend,
        work,
        ticket: None,
        last: None,
    };
    if let Ok(ended) = tokio::time::timeout(limit, run.finish()).await {
        return ended;
    }
    let cost = match run.ticket.take() {
        Some(ticket) => stopped(backend, &run.work, &ticket).await,
        None => None,
    };
    let late = || {
        let why = format!("no result within {} s", limit.as_secs());
        Fault::vendor(Class::Retry, why)
    };
    let asked = run.last.is_some();
    Err(TrialFailure {
        end: TrialEnd::Late { asked },
        ordered: true,
        fault: run.last.take().unwrap_or_else(late).paid(cost),
    })
}

/// What a job took that was told to stop, where its vendor says so.
async fn stopped(backend: &dyn Backend, work: &Work, ticket: &Value) -> Option<Cost> {
    backend.cancel(ticket).await;
    match tokio::time::timeout(LAST_QUESTION, backend.poll(work, ticket)).await {
        Ok(Ok(PollOutcome::Failed(fault))) => fault.cost,
        Ok(Ok(PollOutcome::Done(made))) => made.cost,
        _ => None,
    }
}

/// When a trial ended that brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialEnd {
    /// The vendor did not take it.
    Start,
    /// The vendor ended it, or what it brought is of no use.
    Finish,
    /// Its time was over.
    Late {
        /// Whether the latest question about it failed.
        asked: bool,
    },
}

/// A trial that brought nothing.
pub(crate) struct TrialFailure {
    pub(crate) end: TrialEnd,
    /// Whether the vendor may have taken it.
    pub(crate) ordered: bool,
    pub(crate) fault: Fault,
}

impl TrialFailure {
    fn of_start(fault: Fault) -> Self {
        Self {
            end: TrialEnd::Start,
            ordered: fault.taken == Acceptance::Perhaps,
            fault,
        }
    }

    fn of_finish(fault: Fault) -> Self {
        Self {
            end: TrialEnd::Finish,
            ordered: true,
            fault,
        }
    }

    /// Whether its time was over.
    pub(crate) fn is_late(&self) -> bool {
        matches!(self.end, TrialEnd::Late { .. })
    }

    /// The class of the fault and the vendor's words.
    pub(crate) fn words(&self) -> String {
        let fault = &self.fault;
        let words = if fault.detail.is_empty() {
            &fault.message
        } else {
            &fault.detail
        };
        format!("{}: {words}", fault.class.word())
    }
}

/// A trial under way.
struct TrialRun<'a> {
    backend: &'a dyn Backend,
    work: Work,
    /// What finds it at the vendor.
    ticket: Option<Value>,
    /// The latest question that failed.
    last: Option<Fault>,
}

impl TrialRun<'_> {
    async fn finish(&mut self) -> Result<WorkOutput, TrialFailure> {
        let started = self.backend.start(self.work.clone()).await;
        // Inputs are not kept while the vendor works.
        self.work = stripped(&self.work);
        let mut ticket = match started.map_err(TrialFailure::of_start)? {
            StartOutcome::Done(made) => return Ok(made),
            StartOutcome::Ticket(ticket) => ticket,
        };
        loop {
            self.ticket = Some(ticket.clone());
            let pause = match self.backend.poll(&self.work, &ticket).await {
                Ok(PollOutcome::Running(pause)) => {
                    self.last = None;
                    pause.min(PAUSE_MOST)
                }
                Ok(PollOutcome::Done(made)) => return Ok(made),
                Ok(PollOutcome::Failed(fault)) => return Err(TrialFailure::of_finish(fault)),
                Ok(PollOutcome::Step(next)) => {
                    ticket = next.order.await.map_err(TrialFailure::of_finish)?;
                    continue;
                }
                Err(fault) => {
                    self.last = Some(fault);
                    PAUSE
                }
            };
            tokio::time::sleep(pause).await;
        }
    }
}
