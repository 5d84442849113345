//! The runner: leases a waiting job, has a worker account begin it, and hands it to the polling scheduler or to the
//! vault. What a failure means for the job is decided here; what it means for the worker account, in the pool.

use std::sync::Arc;

use atelier_backends::backend::{Gauge, LostSubmit, Started, Taken, Work};
use atelier_backends::{Class, Fault, Made};
use atelier_store::{Attempt, Began, Guard, JobRow, LeaseRequest, REJECTED, Requeue, UNABLE};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::crash;
use crate::engine::Engine;
use crate::floor::flight::{Flight, Held};
use crate::floor::pool::choice::{Choice, Earlier, Lane, Wish};
use crate::floor::pool::{Slot, backend_of};
use crate::floor::settle::Ending;

/// Jobs leased in one go, at most.
const LEASE_MOST: usize = 64;
/// A job that no worker account can take now although others could be taken looks again after this.
const LOOK_AGAIN_MS: i64 = 500;
/// One that another was faster than looks again after this: a lane may seem free to it for as long as it is not.
const LOOK_SOON_MS: i64 = 50;
/// A start that nobody waits for any more still gets this long to name its ticket, so that it can be cancelled.
const LATE_TICKET: std::time::Duration = std::time::Duration::from_secs(30);
/// Waits between tries to write a ticket down or to store a result, in milliseconds.
const HOUSE_PAUSES_MS: [u64; 5] = [200, 500, 1_000, 2_000, 4_000];

/// The wait between later tries to store a result that was paid for.
const HOUSE_PAUSE_MOST_MS: u64 = 5_000;

pub(crate) const UNKNOWN: &str = "[Internal error] the outcome at the back end is unknown";

/// What came of the beginning of an attempt.
enum Begun {
    /// It is done already.
    Done(Made, u32),
    /// The vendor works on it.
    Ticket(Box<Work>, Value),
    /// The vendor may have it, and can be asked whether it has.
    LookUp(Box<Work>),
    /// The vendor may have it, and nobody will ever know.
    Unknown,
    /// Another node has the job now.
    Lost,
    /// Other nodes gave the worker account all it may have.
    Full,
}

impl Engine {
    /// Leases waiting jobs for free places and sets to work on them; says how many.
    pub async fn run_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        if self.stopping.is_cancelled() {
            return Ok(0);
        }
        let now_ms = self.now_ms();
        let limit = self.pool.free().min(LEASE_MOST) as i64;
        if limit == 0 {
            return Ok(0);
        }
        let lanes = self.pool.lanes(now_ms);
        if lanes.is_empty() {
            return Ok(0);
        }
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
            let (model, earlier) = (model_of(&row.request), self.earlier(&row).await);
            let wish = wish_of(&row, model.as_deref(), &earlier);
            match self.pool.take(&wish, now_ms) {
                Ok(slot) => self.start_work(row, slot),
                Err(choice) => {
                    let picky =
                        model.is_some() || row.follows.is_some() || !earlier.unable.is_empty();
                    self.hand_back(&row, choice, picky).await;
                }
            }
        }
        Ok(leased)
    }

    /// What became of a job at those who were asked before. Nobody was when this is its first lease.
    async fn earlier(&self, row: &JobRow) -> Earlier {
        let mut earlier = Earlier::default();
        if row.fence <= 1 {
            return earlier;
        }
        // Not knowing costs one more refusal.
        let mut failed = Vec::new();
        for (worker, state) in self
            .store
            .failed_attempts(&row.id)
            .await
            .unwrap_or_default()
        {
            if state == UNABLE {
                earlier.unable.push(backend_of(&worker).to_owned());
            } else if failed.contains(&worker) {
                earlier.failing.push(worker);
            } else {
                failed.push(worker);
            }
        }
        earlier
    }

    /// Another job was faster to the place, or none suits this very job: the lease is given back.
    async fn hand_back(&self, row: &JobRow, choice: Choice, picky: bool) {
        let now_ms = self.now_ms();
        let not_before_ms = match choice {
            // The next look mostly finds no lane free unless a place is; a particular worker may stay busy for long.
            Choice::Wait(until_ms) if picky => until_ms.max(now_ms + LOOK_AGAIN_MS),
            Choice::Wait(_) | Choice::Take(_) => now_ms + LOOK_SOON_MS,
            Choice::Nobody => now_ms + 10 * LOOK_AGAIN_MS,
        };
        let requeue = Requeue {
            job_id: row.id.clone(),
            fence: row.fence,
            not_before_ms,
            why: "no place was free".into(),
            now_ms,
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
            engine.work_on(row, slot).await;
            engine.wakes.work.notify_one();
        });
    }

    async fn work_on(self: &Arc<Self>, mut row: JobRow, slot: Slot) {
        let (gauge, cancelled) = self.bench.put(&row.id, row.fence, row.progress as u8);
        // In hand until it is settled: the lease is renewed and progress does not fall back while files are stored.
        let held = Held::new(&self.bench, &row);
        let began_ms = self.now_ms();
        let begun = {
            let attempt = self.begin(&row, &slot, gauge, &cancelled);
            tokio::pin!(attempt);
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {
                    // Cancelled, or the lease is gone: whoever did that has settled or will.
                    if slot.recorded() && let Ok(Ok(Begun::Ticket(_, ticket))) =
                        tokio::time::timeout(LATE_TICKET, attempt).await
                    {
                        slot.backend().cancel(&ticket).await;
                    }
                    return;
                }
                begun = &mut attempt => begun,
            }
        };
        let (work, ticket) = match begun {
            Ok(Begun::Ticket(work, ticket)) => (work, Some(ticket)),
            Ok(Begun::LookUp(work)) => (work, None),
            Ok(Begun::Done(made, asked)) => {
                return self
                    .deliver_at_once(&row, &slot, began_ms, (made, asked))
                    .await;
            }
            Ok(Begun::Unknown) => return self.fail(&row, UNKNOWN.to_owned()).await,
            Ok(Begun::Lost) => return,
            Ok(Begun::Full) => {
                let wait = Choice::Wait(self.now_ms());
                return self.hand_back(&row, wait, true).await;
            }
            Err(fault) => {
                // A picture that could not be fetched says nothing about a vendor that was never asked.
                if slot.has_begun() {
                    self.pool.fault(slot.worker(), &fault, self.now_ms());
                }
                if fault.class == Class::Unable && self.others_may(&row, slot.worker()).await {
                    return self.retry(&row, &fault).await;
                }
                return self.fail_or_retry(&row, &fault).await;
            }
        };
        // The work has the request; one copy is enough for as long as the vendor takes.
        row.request = String::new();
        self.watch(Flight {
            row,
            work: *work,
            slot,
            ticket,
            _held: held,
            cancelled,
            began_ms,
            errors: 0,
            missing: 0,
            granted: false,
        });
    }

    /// Asks the worker account to begin, with the intent written down first where a repeat would cost.
    async fn begin(
        self: &Arc<Self>,
        row: &JobRow,
        slot: &Slot,
        gauge: Gauge,
        cancelled: &CancellationToken,
    ) -> Result<Begun, Fault> {
        let takes_hints = slot.backend().takes_hints();
        let mut work = self.prepare(row, gauge, cancelled, takes_hints).await?;
        work.hook_url = self.hook_url(slot, &work.attempt_id);
        let (asked, attempt_id) = (work.brief.count, work.attempt_id.clone());
        if slot.recorded() {
            let attempt = Attempt {
                id: attempt_id.clone(),
                job_id: row.id.clone(),
                fence: row.fence,
                worker: slot.worker().to_owned(),
                limits: slot.limits(),
                now_ms: self.now_ms(),
            };
            let began = self.store.begin_attempt(attempt).await;
            match began.map_err(|error| store_fault(&error))? {
                Began::Yes => {}
                Began::Lost => return Ok(Begun::Lost),
                Began::Full => {
                    self.pool.fill(slot.worker());
                    return Ok(Begun::Full);
                }
            }
        }
        slot.begin();
        crash::point("runner.before_start");
        // The inputs go with the start; what is kept for polling has none of their bytes.
        let kept = without_inputs(&work);
        let started = slot.backend().start(work).await;
        crash::point("runner.started");
        match started {
            Ok(Started::Done(made)) => {
                self.pool.accepted(slot.worker(), self.now_ms());
                Ok(Begun::Done(made, asked))
            }
            Ok(Started::Ticket(ticket)) => {
                self.pool.accepted(slot.worker(), self.now_ms());
                let ours = !slot.recorded() || self.write_ticket(row, &attempt_id, &ticket).await;
                if !ours {
                    // Whoever has the job now cannot know of this ticket, unless the vendor tells; nobody at all wants
                    // one that is final.
                    if slot.backend().lost_submit() != LostSubmit::LookUp
                        || self.bench.is_unwanted(&row.id, row.fence)
                    {
                        slot.backend().cancel(&ticket).await;
                    }
                    return Ok(Begun::Lost);
                }
                crash::point("runner.ticket_recorded");
                Ok(Begun::Ticket(Box::new(kept), ticket))
            }
            Err(fault) if fault.taken == Taken::Perhaps => {
                self.pool.fault(slot.worker(), &fault, self.now_ms());
                match slot.backend().lost_submit() {
                    LostSubmit::Repeat => {
                        self.fail_or_retry(row, &fault).await;
                        Ok(Begun::Lost)
                    }
                    LostSubmit::LookUp => Ok(Begun::LookUp(Box::new(kept))),
                    LostSubmit::Unknown => {
                        tracing::warn!(job = %row.id, worker = slot.worker(), detail = %fault.detail, "the answer to a submit was lost");
                        Ok(Begun::Unknown)
                    }
                }
            }
            Err(fault) => Err(fault),
        }
    }

    /// Where the vendor may post that this attempt is worth a look.
    fn hook_url(&self, slot: &Slot, attempt_id: &str) -> Option<String> {
        let base = &self.settings.hook_base_url;
        if base.is_empty() || !slot.recorded() {
            return None;
        }
        let backend = backend_of(slot.worker());
        let token = self.keyring.hook_token(backend, attempt_id);
        Some(format!("{base}/hooks/v1/{backend}/{token}"))
    }

    /// Writes a ticket down, patiently: the vendor has the work. False when the job is another node's by now.
    pub(crate) async fn write_ticket(
        &self,
        row: &JobRow,
        attempt_id: &str,
        ticket: &Value,
    ) -> bool {
        let text = ticket.to_string();
        let mut pauses = HOUSE_PAUSES_MS.into_iter();
        loop {
            let now_ms = self.now_ms();
            let written = self
                .store
                .record_ticket(&row.id, row.fence, attempt_id, &text, now_ms)
                .await;
            match (written, pauses.next()) {
                (Ok(ours), _) => return ours,
                (Err(error), None) => {
                    // It is polled all the same; only a crash before its end would lose the trace.
                    tracing::error!(%error, job = %row.id, %ticket, "a ticket was not written down");
                    return true;
                }
                (Err(_), Some(pause)) => pause_ms(pause).await,
            }
        }
    }

    /// Stores what was made at once and settles. While the vault or the store is away it is tried again: what was paid
    /// for once must not be paid for twice, so only what costs nothing is ever made anew.
    pub(crate) async fn deliver_at_once(
        &self,
        row: &JobRow,
        slot: &Slot,
        began_ms: i64,
        (made, asked): (Made, u32),
    ) {
        let free = slot.backend().lost_submit() == LostSubmit::Repeat;
        let mut pauses = HOUSE_PAUSES_MS.into_iter();
        loop {
            let result = (made.clone(), asked);
            let delivered = self.deliver(row, slot.worker(), began_ms, result).await;
            let Err(fault) = delivered else { return };
            let pause = pauses.next();
            let late = self.now_ms() >= row.deadline_ms || self.stopping.is_cancelled();
            if fault.class != Class::House || late || (free && pause.is_none()) {
                if free {
                    self.fail_or_retry(row, &fault).await;
                } else {
                    self.fail(row, fault.job_message()).await;
                }
                return;
            }
            pause_ms(pause.unwrap_or(HOUSE_PAUSE_MOST_MS)).await;
        }
    }

    /// Stores what was made and settles. The bytes are safe before the job is final.
    pub(crate) async fn deliver(
        &self,
        row: &JobRow,
        worker: &str,
        began_ms: i64,
        (made, asked): (Made, u32),
    ) -> Result<(), Fault> {
        crash::point("runner.made");
        let took_ms = self.now_ms() - began_ms;
        let ending = self.store_output(row, made, asked).await?;
        crash::point("runner.before_settle");
        match self.settle(&row.id, Guard::Fence(row.fence), ending).await {
            Ok(Some(done)) => self.pool.good(worker, took_ms, done.quota, self.now_ms()),
            Ok(None) => tracing::info!(job = %row.id, "a late result was discarded"),
            Err(error) => return Err(store_fault(&error)),
        }
        Ok(())
    }

    /// Ends a job without a result, or has it tried again where that may help.
    pub(crate) async fn fail_or_retry(&self, row: &JobRow, fault: &Fault) {
        tracing::info!(job = %row.id, class = fault.class.word(), detail = %fault.detail, "{}", fault.message);
        // A worker account that is set aside is no try of the job: another one gets it, or it waits.
        let set_aside = matches!(fault.class, Class::Rate | Class::Quota | Class::Dead);
        let again = set_aside || row.begun() < self.settings.tries_most;
        if fault.class.may_pass() && again {
            self.retry(row, fault).await;
        } else {
            self.fail(row, fault.job_message()).await;
        }
    }

    /// Whether another back end is there to be asked than this worker's and those that were asked before.
    async fn others_may(&self, row: &JobRow, worker: &str) -> bool {
        let mut earlier = self.earlier(row).await;
        earlier.unable.push(backend_of(worker).to_owned());
        let model = model_of(&row.request);
        let wish = wish_of(row, model.as_deref(), &earlier);
        self.pool.outlook(&wish, self.now_ms()) != Choice::Nobody
    }

    /// Gives a job back to the queue; the vendor certainly does not have it, or does not mind.
    async fn retry(&self, row: &JobRow, fault: &Fault) {
        let now_ms = self.now_ms();
        // Another worker account, or another back end, gets it: neither is a try of the job.
        let elsewhere = matches!(
            fault.class,
            Class::Rate | Class::Quota | Class::Dead | Class::Unable
        );
        let pause_ms = if elsewhere {
            0
        } else {
            self.settings.retry_pause_ms * row.begun().max(1)
        };
        let requeue = Requeue {
            job_id: row.id.clone(),
            fence: row.fence,
            not_before_ms: now_ms + pause_ms,
            why: format!("{}: {}", fault.class.word(), fault.detail),
            now_ms,
            attempt_state: if fault.class == Class::Unable {
                UNABLE
            } else {
                REJECTED
            },
            counts: !elsewhere,
        };
        match self.store.requeue(requeue).await {
            Ok(_) => {
                self.wake_job(&row.id);
                self.wakes.work.notify_one();
            }
            Err(error) => {
                tracing::error!(%error, job = %row.id, "a failure could not be recorded; the lease will run out");
            }
        }
    }

    /// Ends a job without a result; its quota comes back.
    pub(crate) async fn fail(&self, row: &JobRow, message: String) {
        let ending = Ending::Failure(message);
        if let Err(error) = self.settle(&row.id, Guard::Fence(row.fence), ending).await {
            tracing::error!(%error, job = %row.id, "a failure could not be recorded; the lease will run out");
        }
    }
}

/// What a job asks of a worker account.
pub(crate) fn wish_of<'a>(
    row: &'a JobRow,
    model: Option<&'a str>,
    earlier: &'a Earlier,
) -> Wish<'a> {
    Wish {
        operation: &row.operation,
        speed: row.speed,
        model,
        lane: Lane::parse(&row.lane),
        follows: row.follows.as_deref(),
        price: row.price,
        earlier,
    }
}

/// The model a request names.
pub(crate) fn model_of(request: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
    }
    serde_json::from_str::<Named>(request).ok()?.model
}

/// The work without the bytes of its inputs.
pub(crate) fn without_inputs(work: &Work) -> Work {
    Work {
        job_id: work.job_id.clone(),
        attempt_id: work.attempt_id.clone(),
        operation: work.operation.clone(),
        request: work.request.clone(),
        brief: work.brief.clone(),
        sources: Vec::new(),
        hints: Vec::new(),
        mask: None,
        video: None,
        parent: work.parent.clone(),
        cited: work.cited.clone(),
        read: Arc::clone(&work.read),
        progress: work.progress.clone(),
        cancelled: work.cancelled.clone(),
        hook_url: work.hook_url.clone(),
    }
}

async fn pause_ms(milliseconds: u64) {
    tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
}

pub(crate) fn store_fault(error: &atelier_store::Error) -> Fault {
    Fault::house(format!("store: {error}"))
}
