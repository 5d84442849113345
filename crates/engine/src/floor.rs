//! The floor: jobs are worked on, from the lease to the end.

mod adopt;
mod begin;
mod beside;
mod context;
mod earlier;
mod fail;
mod finish;
mod give_back;
mod job;
mod lane;
mod lease;
mod length;
mod polling;
mod pool;
mod prepare;
mod question;
mod react;
mod register;
mod run;
mod settle;
mod status;
mod step;
mod sweep;
mod ticket;
mod upkeep;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_backends::regard::Regarded;
use atelier_backends::{Backend, Fault, Post, Vendor, Wrong};
use atelier_contract::brief::Brief;
use atelier_contract::family::{Family, Submit};
use atelier_contract::{FamilyStatus, FaultKind, Refusal};
use atelier_store::{AuditRow, BackendRow, Guard, JobRow, WorkerRow};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use crate::hint::Hint;
use crate::house::House;
use crate::names::WorkerName;
use crate::vault::Vault;
use adopt::Adopted;
use context::Context;
use job::RunningJob;
use polling::Polling;
use pool::Pool;
use pool::load::Loader;
use question::Asked;

pub(crate) use beside::ShortSeen;
pub(crate) use job::{Born, Leased};
pub(crate) use lane::Lane;
pub(crate) use length::is_long;
pub(crate) use pool::Slot;
pub(crate) use pool::build::credential_place;
pub(crate) use pool::choice::{Choice, Earlier, Leaves, Wish};
pub use pool::member::Worker;
pub(crate) use pool::view::WorkerReport;

/// Results that wait for the disk without holding a place, at most. Past that they keep theirs, so that a disk that stands
/// still stops the work as well.
const ENDINGS_MOST: usize = 256;

/// Works on jobs.
pub struct Floor {
    house: Arc<House>,
    context: Arc<Context>,
    polling: Arc<Polling>,
    loader: Arc<Loader>,
    /// How far the jobs of silent nodes have been looked at.
    swept: Mutex<sweep::Place>,
}

impl Floor {
    pub(crate) fn new(
        house: Arc<House>,
        vault: Arc<Vault>,
        workers: Vec<Worker>,
        vendors: &'static [Vendor],
    ) -> Arc<Self> {
        let pool = Pool::new(workers);
        Arc::new(Self {
            polling: Arc::new(Polling::new(house.settings.polls_at_once)),
            loader: Arc::new(Loader::new(house.clone(), vendors, pool.clone())),
            context: Arc::new(Context {
                house: house.clone(),
                vault,
                pool,
                register: Arc::default(),
                endings: Semaphore::new(ENDINGS_MOST),
            }),
            swept: Mutex::default(),
            house,
        })
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.context.pool
    }

    /// Every worker account as it is now.
    pub(crate) fn reports(&self) -> Vec<WorkerReport> {
        let house = &self.house;
        self.pool()
            .reports(house.steady_ms(), house.clock.ahead_ms())
    }

    /// Whether a worker account belongs to a caller.
    pub(crate) fn owns(&self, owner: &str, name: &WorkerName) -> bool {
        self.pool().owns(owner, name)
    }

    /// Whoever in this process makes what nobody writes down.
    pub(crate) fn unrecorded(&self) -> Option<WorkerName> {
        self.pool().unrecorded()
    }

    /// The vendors that worker accounts can be set up at.
    pub(crate) fn vendors(&self) -> &'static [Vendor] {
        self.loader.vendors()
    }

    /// How many jobs are at vendors.
    pub(crate) fn at_vendors(&self) -> usize {
        self.polling.len()
    }

    /// How many jobs this node works on.
    pub(crate) fn in_hand(&self) -> usize {
        self.context.register.ids().len()
    }

    /// How far a job in hand is, if it is in hand.
    pub(crate) fn progress(&self, id: &str) -> Option<u8> {
        self.context.register.progress(id)
    }

    /// What would come of a wish right now.
    pub(crate) fn outlook(&self, wish: &Wish<'_>, now_ms: i64) -> Choice {
        self.pool().outlook(wish, now_ms)
    }

    /// Why everybody who could be given a job refuses what it asks for.
    pub(crate) fn refusal(&self, wish: &Wish<'_>, brief: &Brief) -> Option<Regarded> {
        self.pool().refusal(wish, brief)
    }

    /// Takes a place for a job that is about to be accepted, or says what waiting is good for.
    pub(crate) async fn take(
        &self,
        wish: &Wish<'_>,
        account_id: &Arc<str>,
        now_ms: i64,
        seen: &mut ShortSeen,
    ) -> Result<Slot, Choice> {
        if self.house.stopping.is_cancelled() {
            return Err(self.pool().outlook(wish, now_ms));
        }
        let leaves = beside::leaves(&self.context, wish, account_id, seen).await;
        let wish = Wish { leaves, ..*wish };
        self.pool().take(&wish, account_id, now_ms)
    }

    /// Works on a job that was accepted with a place taken, in a task of its own.
    pub(crate) fn start(self: &Arc<Self>, leased: Leased, slot: Slot) {
        let register = &self.context.register;
        let job = RunningJob::new(leased, slot, register, self.house.steady_ms());
        self.work_on(job);
    }

    fn work_on(self: &Arc<Self>, job: RunningJob) {
        let (floor, told) = (self.clone(), job.told());
        let work = async move {
            if let Some(job) = run::run(&floor.context, job).await {
                floor.watch(job);
            }
            floor.house.wakes.work.notify_one();
        };
        // Boxed, because a task is moved several times.
        self.house.tasks.spawn(Box::pin(work).instrument(told));
    }

    fn watch(&self, job: RunningJob) {
        let rhythm = self.pool().rhythm(job.worker());
        self.polling.watch(job, &rhythm, self.house.steady_ms());
    }

    /// Leases waiting jobs for free places and sets to work on them; says how many.
    pub async fn run_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        lease::lease(&self.context, |job| self.work_on(job)).await
    }

    /// Something may be due to be asked about earlier than was thought.
    pub(crate) fn polling_hint(&self) -> &Notify {
        &self.polling.hint
    }

    /// Asks about every job whose turn it is; says how many and how many milliseconds there are until the next.
    pub fn poll_step(self: &Arc<Self>) -> (usize, i64) {
        let limit = |worker: &WorkerName| self.pool().rhythm(worker).polls_per_minute;
        let mut asked = 0;
        loop {
            match self.polling.next(self.house.steady_ms(), limit) {
                Ok((job, place)) => {
                    asked += 1;
                    self.ask(job, place);
                }
                Err(wait_ms) => return (asked, wait_ms),
            }
        }
    }

    fn ask(self: &Arc<Self>, job: RunningJob, place: OwnedSemaphorePermit) {
        let floor = self.clone();
        self.house.tasks.spawn(async move {
            let id = job.id().clone();
            // Its ticket finds it again, so a stop does not wait for the answer.
            let asked = tokio::select! {
                biased;
                () = floor.house.stopping.cancelled() => Asked::Again(None),
                asked = question::ask(&floor.context, job) => asked,
            };
            let asked = match asked {
                Asked::Again(again) => again,
                Asked::Step(job, next) => Box::pin(step::order(&floor.context, job, next)).await,
            };
            if let Some((job, pause)) = asked {
                let (rhythm, now_ms) = (floor.pool().rhythm(job.worker()), floor.house.steady_ms());
                floor.polling.watch_again(job, pause, &rhythm, now_ms);
            }
            floor.house.wakes.work.notify_one();
            floor.polling.done(&id, place);
        });
    }

    /// Asks about a job at once; false when it is not here.
    pub(crate) fn poke(&self, id: &str) -> bool {
        self.polling.poke(id, self.house.steady_ms())
    }

    /// A vendor posted that a job is worth a look: the vendor is asked, and nothing else is believed. A vendor that signs
    /// what it posts must have signed it for one of its worker accounts here.
    pub async fn vendor_hook(&self, backend_id: &str, token: &str, post: &Post) -> bool {
        let attempt = self.house.keyring.hook_attempt(backend_id, token);
        let Some(job_id) = attempt.and_then(|attempt| attempt.job()) else {
            return false;
        };
        let mut heard = false;
        for backend in self.pool().at(backend_id) {
            heard = heard || backend.hears(post).await;
        }
        if !heard {
            return false;
        }
        if !self.poke(job_id.as_str()) {
            self.house.tell(Hint::Poll(job_id));
        }
        true
    }

    /// Ends an unfinished job without a result and stops whoever works on it; `None` when it was final already.
    pub(crate) async fn end(
        &self,
        id: &str,
        fault: FaultKind,
        why: &str,
    ) -> Result<Option<JobRow>, atelier_store::Error> {
        let outcome = settle::failed(fault, why);
        let settled = settle::settle(&self.house, id, Guard::Unfinished, outcome).await?;
        self.stop(id);
        Ok(settled)
    }

    /// Stops the work on a job that is final, and tells its vendor.
    fn stop(&self, id: &str) {
        self.context.register.cancel(id);
        self.poke(id);
    }

    /// Stops the work on a job that another node has now.
    fn lose(&self, id: &str, fence: i64) {
        self.context.register.lose(id, fence);
        self.poke(id);
    }

    /// Ends overdue jobs and takes up jobs of silent nodes; says whether more may be waiting.
    pub async fn sweep_step(self: &Arc<Self>) -> Result<bool, atelier_store::Error> {
        // Time-outs first: a job past its deadline is not worth taking up.
        let ended = sweep::time_out(&self.house, |id| self.stop(id)).await?;
        let more = self.adopt_step().await?;
        Ok(more || ended >= sweep::AT_ONCE as usize)
    }

    /// Takes up jobs of silent nodes; says whether more may be waiting. Those that only another node can take up are
    /// passed by.
    async fn adopt_step(self: &Arc<Self>) -> Result<bool, atelier_store::Error> {
        let mut strangers = HashSet::new();
        for _ in 0..sweep::LOOKS {
            let from = self.swept().take();
            let (rows, next) = sweep::silent(&self.context, from).await?;
            let mut adopted = false;
            for row in rows {
                match adopt::adopt(&self.context, &self.loader, &mut strangers, row).await? {
                    Adopted::NotHere => continue,
                    Adopted::Done => {}
                    Adopted::GoOn(taken) => self.go_on(*taken),
                }
                adopted = true;
            }
            let more = next.is_some();
            *self.swept() = next;
            if adopted || !more {
                return Ok(more);
            }
        }
        Ok(false)
    }

    fn swept(&self) -> MutexGuard<'_, sweep::Place> {
        self.swept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(self: &Arc<Self>, (row, slot): (JobRow, Slot)) {
        let floor = self.clone();
        self.house.tasks.spawn(async move {
            if let Some(job) = adopt::go_on(&floor.context, row, slot).await {
                floor.watch(job);
            }
        });
    }

    /// Says that this node still works on what it has in hand; stops what it has lost.
    pub(crate) async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        let gone = sweep::renew(&self.context).await?;
        for id in &gone.ended {
            self.stop(id);
        }
        for (id, fence) in &gone.taken {
            self.lose(id, *fence);
        }
        Ok(())
    }

    /// Hands back at once whatever somebody else can go on with. What stays are calls that cost and that nobody can find
    /// again, and work whose caller waits here.
    pub(crate) async fn hand_back(&self) -> Result<(), atelier_store::Error> {
        let house = &self.house;
        let held = self.context.register.leases().into_iter();
        let paid = self.context.register.paid();
        let stays =
            |job: &(String, i64)| paid.contains(job) || house.wakes.is_watched(job.0.as_str());
        let keep: Vec<String> = held.filter(stays).map(|(id, _)| id).collect();
        let voided = house
            .store
            .void_leases(Some(&house.node), &keep, house.steady_ms());
        voided.await.map(|_| ())
    }

    /// How many calls are out that cost and that nobody can find again.
    pub(crate) fn paid_calls(&self) -> usize {
        self.context.register.paid().len()
    }

    /// Says that this node still works on what it waits for before it stops.
    pub(crate) async fn renew_paid(&self) -> Result<(), atelier_store::Error> {
        let (house, paid) = (&self.house, self.context.register.paid());
        let until_ms = house.steady_ms() + house.settings.lease_ms;
        let renewed = house.store.renew_leases(&house.node, &paid, until_ms);
        self.context.register.renewed(&renewed.await?, until_ms);
        Ok(())
    }

    /// Writes down which jobs are worked on by now, and progress that changed.
    pub async fn progress_step(&self) -> Result<(), atelier_store::Error> {
        sweep::write_progress(&self.context).await
    }

    /// Brings the pool and the store together.
    pub async fn pool_step(&self) -> Result<(), atelier_store::Error> {
        self.write_notes(None).await?;
        self.load_pool().await?;
        upkeep::probe_credit(&self.house, self.pool());
        upkeep::end_hopeless(&self.context).await?;
        self.house.wakes.work.notify_one();
        Ok(())
    }

    /// Takes over the back ends and worker accounts as they are stored now.
    pub async fn load_pool(&self) -> Result<(), atelier_store::Error> {
        self.loader.load().await
    }

    /// Builds what talks to a vendor, to see whether it can be built.
    pub(crate) fn build_worker(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
    ) -> Result<Arc<dyn Backend>, Wrong> {
        self.loader.build(backend, row)
    }

    /// Whether a back end can be set up as it is described.
    pub(crate) fn check_backend(&self, backend: &BackendRow) -> Result<(), Wrong> {
        self.loader.check(backend)
    }

    /// Writes down what worker accounts spent and how well they are.
    pub(crate) async fn write_notes(
        &self,
        act: Option<AuditRow>,
    ) -> Result<(), atelier_store::Error> {
        upkeep::write_notes(&self.house, self.pool(), act).await
    }

    /// Asks the vendor of a worker account whether it is well and takes the credentials; what it says counts. `None`
    /// when the account is not in the pool.
    pub(crate) async fn probe(&self, name: &WorkerName) -> Option<Result<(), Fault>> {
        let backend = self.pool().backend(name)?;
        Some(upkeep::probe(&self.house, self.pool(), name, backend.as_ref()).await)
    }

    /// Health with everything forgotten that is held against a worker account, as it is stored, and its time.
    pub(crate) fn well_again(&self, name: &WorkerName) -> (String, i64) {
        let now_ms = self.house.steady_ms();
        let mut health = self.pool().health(name).unwrap_or_default();
        health.become_well(now_ms);
        (serde_json::to_string(&health).unwrap_or_default(), now_ms)
    }

    /// Holds nothing against worker accounts any longer.
    pub(crate) fn believe_well(&self, names: &[WorkerName]) {
        let now_ms = self.house.steady_ms();
        for name in names {
            self.pool()
                .set_health(name, |health| health.become_well(now_ms));
        }
    }

    /// How the endpoints of a family are, by speed and by path.
    pub async fn family_status(&self, family: &Family) -> Result<FamilyStatus, Refusal> {
        status::status(&self.house, self.pool(), family).await
    }

    /// Whether a job of an operation with a model would be taken now.
    pub fn serves(&self, submit: &Submit, model: &str) -> bool {
        status::serves(self.pool(), submit, model, self.house.steady_ms())
    }
}
