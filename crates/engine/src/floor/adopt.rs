//! Taking up a job whose node went silent: where its attempt stood decides, and nothing is submitted twice that the
//! vendor may have been paid for.

use std::sync::Arc;

use atelier_backends::backend::LostSubmit;
use atelier_contract::JobState;
use atelier_store::{Guard, JobRow, Requeue};

use crate::engine::Engine;
use crate::floor::flight::{Flight, Held};
use crate::floor::pool::Slot;
use crate::floor::pool::load::worker_name;
use crate::floor::runner::{UNKNOWN, without_inputs};
use crate::floor::settle::Ending;

const TOO_OFTEN: &str = "[Internal error] the job was begun too often without an end";
const WORKER_GONE: &str =
    "[Internal error] the back-end account that worked on the job is no longer there";

impl Engine {
    /// Takes up a job whose node went silent: its ticket is polled on, its lost submit is looked up, or it goes back
    /// into the queue. False when only another node can.
    pub(crate) async fn adopt(self: &Arc<Self>, row: JobRow) -> Result<bool, atelier_store::Error> {
        debug_assert_eq!(row.state, JobState::Running);
        let Some(worker) = row.worker.clone() else {
            // Nothing was asked of any vendor.
            if row.begun() >= self.settings.tries_most {
                self.end(&row, TOO_OFTEN).await?;
            } else {
                self.give_back(row).await?;
            }
            return Ok(true);
        };
        if self.pool.lost_submit(&worker).is_none() {
            self.load_pool().await?;
        }
        if self.pool.lost_submit(&worker).is_none() && self.is_stored(&worker).await? {
            // Only this node cannot use it, such as for want of its master key: another one can.
            return Ok(false);
        }
        self.take_up(row, &worker).await.map(|()| true)
    }

    async fn take_up(
        self: &Arc<Self>,
        row: JobRow,
        worker: &str,
    ) -> Result<(), atelier_store::Error> {
        match (self.pool.lost_submit(worker), row.ticket.is_some()) {
            (Some(_), true) | (Some(LostSubmit::LookUp), false) => {
                match self.pool.take_over(worker) {
                    Some(slot) => self.resume(row, slot).await,
                    None => self.end(&row, WORKER_GONE).await,
                }
            }
            (Some(LostSubmit::Repeat), false) if row.begun() < self.settings.tries_most => {
                self.give_back(row).await
            }
            (Some(LostSubmit::Repeat), false) => self.end(&row, TOO_OFTEN).await,
            (None, true) => self.end(&row, WORKER_GONE).await,
            // The intent was written down and nothing after it: the vendor may be working on it, and may be paid.
            (Some(LostSubmit::Unknown) | None, false) => self.end(&row, UNKNOWN).await,
        }
    }

    /// Whether a worker account is there, be it usable on this node or not.
    async fn is_stored(&self, worker: &str) -> Result<bool, atelier_store::Error> {
        let stored = self.store.workers().await?;
        Ok(stored.iter().any(|row| worker_name(row) == worker))
    }

    async fn end(&self, row: &JobRow, message: &str) -> Result<(), atelier_store::Error> {
        let ending = Ending::Failure(message.to_owned());
        self.settle(&row.id, Guard::Fence(row.fence), ending)
            .await?;
        Ok(())
    }

    async fn give_back(&self, row: JobRow) -> Result<(), atelier_store::Error> {
        let requeue = Requeue {
            job_id: row.id,
            fence: row.fence,
            not_before_ms: 0,
            why: "its node went silent".into(),
            now_ms: self.now_ms(),
            attempt_state: "lost",
            counts: true,
        };
        self.store.requeue(requeue).await?;
        self.wakes.work.notify_one();
        Ok(())
    }

    /// Goes on where the other node was, with the attempt that the vendor knows.
    async fn resume(self: &Arc<Self>, row: JobRow, slot: Slot) -> Result<(), atelier_store::Error> {
        let now_ms = self.now_ms();
        let until_ms = now_ms + self.settings.lease_ms;
        let taken = self
            .store
            .take_lease(&row.id, row.fence, &self.node, until_ms, now_ms)
            .await?;
        let Some(row) = taken else { return Ok(()) };
        let engine = self.clone();
        self.tasks
            .spawn(async move { engine.follow_up(row, slot).await });
        Ok(())
    }

    async fn follow_up(self: &Arc<Self>, mut row: JobRow, slot: Slot) {
        let (gauge, cancelled) = self.bench.put(&row.id, row.fence, row.progress as u8);
        let held = Held::new(&self.bench, &row);
        let work = match self.prepare_again(&row, gauge, &cancelled).await {
            Ok(work) => work,
            // The lease runs out and somebody takes the job up again.
            Err(fault) => {
                tracing::warn!(job = %row.id, detail = %fault.detail, "a job could not be taken up");
                return;
            }
        };
        let ticket = row.ticket.take();
        let ticket = ticket.and_then(|text| serde_json::from_str(&text).ok());
        let began_ms = row.started_ms.unwrap_or(row.created_ms);
        row.request = String::new();
        self.watch(Flight {
            work: without_inputs(&work),
            ticket,
            row,
            slot,
            _held: held,
            cancelled,
            began_ms,
            errors: 0,
            missing: 0,
            granted: false,
        });
    }
}
