//! The runner: leases a waiting job, has a back end work on it, stores the files, settles.

use std::sync::Arc;

use atelier_backends::backend::{Gauge, LostSubmit, Progress, Started, Work};
use atelier_backends::{Fault, Made};
use atelier_contract::{JobState, Speed};
use atelier_store::{Attempt, Guard, JobRow, LeaseRequest, Requeue, lane};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::crash;
use crate::engine::Engine;
use crate::settle::Ending;
use crate::slots::Slot;

/// Jobs leased in one go, at most.
const LEASE_MOST: usize = 64;

impl Engine {
    /// Leases waiting jobs for free slots and sets to work on them; says how many.
    pub async fn run_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        if self.stopping.is_cancelled() {
            return Ok(0);
        }
        let lanes: Vec<String> = atelier_contract::FAMILIES
            .iter()
            .flat_map(|family| family.submits)
            .filter(|submit| self.slots.has_free(submit.name))
            .flat_map(|submit| {
                [Speed::Turbo, Speed::Fast, Speed::Relax].map(|speed| lane(submit.name, speed, ""))
            })
            .collect();
        let limit = self.slots.free().min(LEASE_MOST) as i64;
        if lanes.is_empty() || limit == 0 {
            return Ok(0);
        }
        let now_ms = self.now_ms();
        let request = LeaseRequest {
            owner: self.node.clone(),
            until_ms: now_ms + self.settings.lease_ms,
            now_ms,
            lanes,
            limit,
        };
        let rows = self.store.lease_next(request).await?;
        let leased = rows.len();
        for row in rows {
            crash::point("runner.leased");
            match self.slots.take(&row.operation) {
                Some(slot) => self.start_work(row, slot),
                None => self.hand_back(&row).await,
            }
        }
        Ok(leased)
    }

    /// Another job was faster to the slot: the lease is given back, and the job keeps its place in the queue.
    async fn hand_back(&self, row: &JobRow) {
        let requeue = Requeue {
            job_id: row.id.clone(),
            fence: row.fence,
            not_before_ms: 0,
            why: "no slot was free".into(),
            now_ms: self.now_ms(),
            attempt_state: "lost",
            counts: false,
        };
        if let Err(error) = self.store.requeue(requeue).await {
            tracing::warn!(%error, job = %row.id, "a lease was not given back; it will run out");
        }
    }

    /// Works on a leased job in a task of its own.
    pub(crate) fn start_work(self: &Arc<Self>, row: JobRow, slot: Slot) {
        let engine = self.clone();
        self.tasks.spawn(async move {
            engine.work_on(row, &slot).await;
            drop(slot);
            engine.wakes.work.notify_one();
        });
    }

    async fn work_on(self: &Arc<Self>, row: JobRow, slot: &Slot) {
        let (gauge, cancelled) = self.bench.put(&row.id, row.fence, row.progress as u8);
        // In hand until it is settled: the lease is renewed and progress does not fall back while files are stored.
        let _in_hand = InHand {
            engine: self,
            row: &row,
        };
        let result = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            result = self.attempt(&row, slot, gauge, &cancelled) => Some(result),
        };
        match result {
            // Cancelled, or the lease is gone: whoever did that has settled or will.
            None => {}
            Some(Ok((made, asked))) => self.deliver(&row, made, asked).await,
            Some(Err(fault)) => self.fail_or_retry(&row, &fault).await,
        }
    }

    /// One attempt: resumes a ticket, or starts anew. Gives what was made and how much was asked for.
    async fn attempt(
        self: &Arc<Self>,
        row: &JobRow,
        slot: &Slot,
        gauge: Gauge,
        cancelled: &CancellationToken,
    ) -> Result<(Made, u32), Fault> {
        let work = self.prepare(row, gauge, cancelled).await?;
        let asked = work.brief.count;
        let backend = slot.backend();
        let ticket = match row
            .ticket
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
        {
            Some(ticket) => ticket,
            None => match self.start(row, slot, work.clone()).await? {
                Started::Done(made) => return Ok((made, asked)),
                Started::Ticket(ticket) => ticket,
            },
        };
        let stop = CancelAtVendor {
            engine: self,
            slot,
            ticket: &ticket,
            cancelled,
        };
        loop {
            match backend.poll(&work, &ticket).await? {
                Progress::Done(made) => {
                    drop(stop);
                    return Ok((made, asked));
                }
                Progress::Running(pause) => tokio::time::sleep(pause).await,
                Progress::Failed(fault) => {
                    drop(stop);
                    return Err(fault);
                }
            }
        }
    }

    /// Starts the work at the back end, with the intent written down first where a repeat would cost.
    async fn start(
        self: &Arc<Self>,
        row: &JobRow,
        slot: &Slot,
        work: Work,
    ) -> Result<Started, Fault> {
        let backend = slot.backend();
        let careful = backend.lost_submit() == LostSubmit::Unknown;
        let attempt_id = work.attempt_id.clone();
        if careful {
            let attempt = Attempt {
                id: attempt_id.clone(),
                job_id: row.id.clone(),
                fence: row.fence,
                worker: slot.worker().to_owned(),
                now_ms: self.now_ms(),
            };
            let ours = self
                .store
                .begin_attempt(attempt)
                .await
                .map_err(|error| store_fault(&error))?;
            if !ours {
                return Err(Fault::ours("the lease was lost before the start"));
            }
        }
        crash::point("runner.before_start");
        let started = backend.start(work).await?;
        crash::point("runner.started");
        if let Started::Ticket(ticket) = &started {
            let text = ticket.to_string();
            let now_ms = self.now_ms();
            let recorded = self
                .store
                .record_ticket(&row.id, row.fence, &attempt_id, &text, now_ms)
                .await;
            recorded.map_err(|error| store_fault(&error))?;
            crash::point("runner.ticket_recorded");
        }
        Ok(started)
    }

    /// Stores what was made and settles. The bytes are safe before the job is final.
    async fn deliver(&self, row: &JobRow, made: Made, asked: u32) {
        crash::point("runner.made");
        let ending = match self.store_output(row, made, asked).await {
            Ok(ending) => ending,
            Err(fault) => return self.fail_or_retry(row, &fault).await,
        };
        crash::point("runner.before_settle");
        match self.settle(&row.id, Guard::Fence(row.fence), ending).await {
            Ok(Some(_)) => {}
            Ok(None) => tracing::info!(job = %row.id, "a late result was discarded"),
            // The lease runs out and the job is worked on again; its quota is still held, nothing is lost.
            Err(error) => tracing::error!(%error, job = %row.id, "a result could not be settled"),
        }
    }

    async fn fail_or_retry(&self, row: &JobRow, fault: &Fault) {
        tracing::info!(job = %row.id, class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
        let outcome = if fault.class.may_pass() && row.begun() < self.settings.tries_most {
            let requeue = Requeue {
                job_id: row.id.clone(),
                fence: row.fence,
                not_before_ms: self.now_ms() + self.settings.retry_pause_ms * row.begun(),
                why: fault.message.clone(),
                now_ms: self.now_ms(),
                attempt_state: "rejected",
                counts: true,
            };
            self.store
                .requeue(requeue)
                .await
                .map(|_| self.wake_job(&row.id))
        } else {
            let ending = Ending::Failure(fault.job_message());
            self.settle(&row.id, Guard::Fence(row.fence), ending)
                .await
                .map(|_| ())
        };
        if let Err(error) = outcome {
            tracing::error!(%error, job = %row.id, "a failure could not be recorded; the lease will run out");
        }
    }

    /// Takes up a job whose worker went silent: its ticket is polled on, or it goes back into the queue.
    pub(crate) async fn adopt(self: &Arc<Self>, row: JobRow) -> Result<(), atelier_store::Error> {
        debug_assert_eq!(row.state, JobState::Running);
        if row.begun() >= self.settings.tries_most {
            let message = "[Internal error] the job was begun too often without an end".to_owned();
            self.settle(&row.id, Guard::Fence(row.fence), Ending::Failure(message))
                .await?;
            return Ok(());
        }
        if row.ticket.is_none()
            && row
                .worker
                .as_deref()
                .is_some_and(|name| self.slots.is_careful(name))
        {
            // The intent was written down and nothing after it: the vendor may be working on it, and may be paid.
            let message = "[Internal error] the outcome at the back end is unknown".to_owned();
            self.settle(&row.id, Guard::Fence(row.fence), Ending::Failure(message))
                .await?;
            return Ok(());
        }
        let now_ms = self.now_ms();
        let slot = match (&row.ticket, &row.worker) {
            (Some(_), Some(worker)) => self.slots.take_over(worker),
            _ => None,
        };
        if let Some(slot) = slot {
            let until_ms = now_ms + self.settings.lease_ms;
            if let Some(row) = self
                .store
                .take_lease(&row.id, row.fence, &self.node, until_ms, now_ms)
                .await?
            {
                self.start_work(row, slot);
            }
            return Ok(());
        }
        let requeue = Requeue {
            job_id: row.id,
            fence: row.fence,
            not_before_ms: 0,
            why: "its worker went silent".into(),
            now_ms,
            attempt_state: "lost",
            counts: true,
        };
        self.store.requeue(requeue).await?;
        self.wakes.work.notify_one();
        Ok(())
    }
}

fn store_fault(error: &atelier_store::Error) -> Fault {
    Fault::house(format!("store: {error}"))
}

/// A job in hand; put away when the work ends, however it ends.
struct InHand<'a> {
    engine: &'a Engine,
    row: &'a JobRow,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.engine.bench.remove(&self.row.id, self.row.fence);
    }
}

/// Asks the vendor to stop when the work is dropped because nobody wants it any more.
struct CancelAtVendor<'a> {
    engine: &'a Arc<Engine>,
    slot: &'a Slot,
    ticket: &'a Value,
    cancelled: &'a CancellationToken,
}

impl Drop for CancelAtVendor<'_> {
    fn drop(&mut self) {
        if self.cancelled.is_cancelled() {
            let (backend, ticket) = (self.slot.backend().clone(), self.ticket.clone());
            self.engine
                .tasks
                .spawn(async move { backend.cancel(&ticket).await });
        }
    }
}
