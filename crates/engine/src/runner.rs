//! The runner: jobs are worked on, from the lease to the end.

mod abandon;
mod accepted_model;
mod adopt;
mod begin;
mod copies;
mod fail;
mod finish;
mod headroom;
mod hopeless;
mod job;
mod lease;
mod length;
mod model_outlook;
mod past_failures;
mod poll;
mod polling;
mod pool;
mod posted;
mod prepare;
mod react;
mod register;
mod requeue;
mod routing;
mod run;
mod runner_core;
mod settle;
mod status;
mod step;
mod sweep;
mod ticket;
mod trial;
mod unknown_model;
mod upkeep;
mod worker_accounts;

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_backends::backend::Work;
use atelier_backends::support::FieldSupport;
use atelier_backends::{Fault, Vendor, WebhookRequest};
use atelier_contract::brief::Brief;
use atelier_contract::family::{Family, SubmitEndpoint};
use atelier_contract::{AccountId, FamilyStatus, FaultKind, Refusal};
use atelier_store::{Guard, JobRow};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use crate::assets::Assets;
use crate::callback_queue::CallbackQueue;
use crate::context::Context;
use crate::hint::Hint;
use crate::model_revisions::ModelRevisions;
use crate::names::WorkerName;
use abandon::AbandonedJob;
use adopt::AdoptOutcome;
use job::RunningJob;
use poll::JobPoll;
use polling::Polling;
use pool::Pool;
use pool::load::Loader;
use runner_core::RunnerCore;
use status::AskedModel;
pub(crate) use worker_accounts::WorkerAccounts;

pub(crate) use copies::{CopyMiss, CopyQueue, JobCopy};
pub(crate) use headroom::ShortSeen;
pub(crate) use job::{InitialLease, LeasedJob, NamedModel, routing_of};
pub(crate) use length::is_long;
pub use model_outlook::ModelOutlook;
pub(crate) use pool::build::credential_place;
pub(crate) use pool::choice::{Choice, Headroom, PastFailures, Requirements};
pub(crate) use pool::slot::Slot;
pub(crate) use pool::take::PoolAnswer;
pub(crate) use pool::view::WorkerReport;
pub use pool::worker::EmbeddedWorker;
pub use posted::HookListener;
pub(crate) use prepare::put_english;
pub(crate) use routing::RoutingConstraint;
pub(crate) use trial::{TrialEnd, TrialFailure, free_slot, run_trial};
pub(crate) use unknown_model::unknown_model;

/// Results that wait for the disk without holding a place, at most. Past that they keep theirs, so that a disk that stands
/// still stops the work as well.
const ENDINGS_MOST: usize = 256;

pub struct Runner {
    context: Arc<Context>,
    core: Arc<RunnerCore>,
    polling: Arc<Polling>,
    loader: Arc<Loader>,
    /// How far the jobs of silent nodes have been looked at.
    sweep_cursor: Mutex<sweep::SweepCursor>,
}

impl Runner {
    pub(crate) fn new(
        context: Arc<Context>,
        assets: Arc<Assets>,
        callback_queue: Arc<CallbackQueue>,
        models: Arc<ModelRevisions>,
        workers: Vec<EmbeddedWorker>,
        vendors: &'static [Vendor],
    ) -> Arc<Self> {
        let pool = Pool::new(workers);
        let copies: Arc<CopyQueue> = Arc::default();
        Arc::new(Self {
            polling: Arc::new(Polling::new(context.settings().jobs.polls_at_once)),
            loader: Arc::new(Loader::new(
                context.clone(),
                vendors,
                pool.clone(),
                copies.clone(),
            )),
            core: Arc::new(RunnerCore {
                context: context.clone(),
                assets,
                models,
                pool,
                register: Arc::default(),
                callback_queue,
                copies,
                endings: Semaphore::new(ENDINGS_MOST),
            }),
            sweep_cursor: Mutex::default(),
            context,
        })
    }

    fn pool(&self) -> &Arc<Pool> {
        &self.core.pool
    }

    /// What waits to be copied for back ends that are rehearsed.
    pub(crate) fn copies(&self) -> &CopyQueue {
        &self.core.copies
    }

    /// A work with the bytes of its inputs.
    pub(crate) async fn with_inputs(
        &self,
        work: Work,
        account_id: &AccountId,
        takes_hints: bool,
    ) -> Result<Work, Fault> {
        prepare::with_inputs(&self.core, work, account_id, takes_hints).await
    }

    /// What the routes of the catalogue call their models at a back end of the operator's, which they name either way.
    pub(crate) fn routed_models(&self, id: &str, name: &str) -> Vec<String> {
        let catalogue = self.core.models.catalogue();
        let enabled = catalogue.rows().filter(|row| row.definition.enabled);
        let routes = enabled.flat_map(|row| row.definition.routes.iter());
        let here = routes.filter(|route| route.backend == id || route.backend == name);
        let named: BTreeSet<&String> = here.filter_map(|route| route.model.as_ref()).collect();
        named.into_iter().cloned().collect()
    }

    /// The worker accounts that this node knows.
    pub fn workers(&self) -> WorkerAccounts<'_> {
        WorkerAccounts {
            context: &self.context,
            pool: self.pool(),
            loader: &self.loader,
        }
    }

    /// How many jobs are at vendors.
    pub(crate) fn at_vendors(&self) -> usize {
        self.polling.len()
    }

    /// How many jobs this node works on.
    pub(crate) fn in_hand(&self) -> usize {
        self.core.register.ids().len()
    }

    /// The operations of what works inside this process, beside what it serves for want of others.
    pub(crate) fn done_inside(&self) -> Vec<String> {
        self.pool().done_inside()
    }

    /// How far a job in hand is, if it is in hand.
    pub(crate) fn progress(&self, id: &str) -> Option<u8> {
        self.core.register.progress(id)
    }

    /// What would come of a job that is not to start yet.
    pub(crate) fn look(
        &self,
        requirements: &Requirements<'_>,
        brief: &Brief,
        now_ms: i64,
    ) -> PoolAnswer<Choice> {
        self.pool().look(requirements, brief, now_ms)
    }

    /// Takes a place for a job that is about to be accepted, unless everybody refuses what it asks for.
    pub(crate) async fn take_suited(
        &self,
        requirements: &Requirements<'_>,
        brief: &Brief,
        account_id: &Arc<str>,
        now_ms: i64,
    ) -> PoolAnswer<Result<Slot, Choice>> {
        let is_stopping = self.context.stopping().is_cancelled();
        if is_stopping || requirements.long {
            // For a long job the store is asked about short work before its slot is taken, but not for one that everybody
            // refuses. So the back ends are asked here, and once: the slot is taken below without asking them again.
            let PoolAnswer { place, refused } = self.pool().look(requirements, brief, now_ms);
            if is_stopping || refused.is_some() {
                let place = Err(place);
                return PoolAnswer { place, refused };
            }
        }
        let seen = &mut ShortSeen::for_caller();
        let headroom = headroom::headroom_for(&self.core, requirements, account_id, seen).await;
        let requirements = Requirements {
            headroom,
            ..*requirements
        };
        if requirements.long {
            let place = self.pool().take(&requirements, account_id, now_ms);
            return PoolAnswer {
                place,
                refused: None,
            };
        }
        self.pool()
            .take_suited(&requirements, brief, account_id, now_ms)
    }

    /// Why everybody who could be given a job refuses what it asks for.
    pub(crate) fn refusal(
        &self,
        requirements: &Requirements<'_>,
        brief: &Brief,
    ) -> Option<FieldSupport> {
        self.pool().refusal(requirements, brief)
    }

    /// Takes a place for a job that is about to be accepted, or says what waiting is good for.
    pub(crate) async fn take(
        &self,
        requirements: &Requirements<'_>,
        account_id: &Arc<str>,
        now_ms: i64,
        seen: &mut ShortSeen,
    ) -> Result<Slot, Choice> {
        if self.context.stopping().is_cancelled() {
            return Err(self.pool().outlook(requirements, now_ms));
        }
        let headroom = headroom::headroom_for(&self.core, requirements, account_id, seen).await;
        let requirements = Requirements {
            headroom,
            ..*requirements
        };
        self.pool().take(&requirements, account_id, now_ms)
    }

    /// Works on a job that was accepted with a place taken, in a task of its own.
    pub(crate) fn start(self: &Arc<Self>, leased: LeasedJob, slot: Slot) {
        let register = &self.core.register;
        let job = RunningJob::new(leased, slot, register, self.context.steady_ms());
        self.work_on(job);
    }

    fn work_on(self: &Arc<Self>, job: RunningJob) {
        let (runner, log_span) = (self.clone(), job.log_span());
        let work = async move {
            if let Some(job) = run::run(&runner.core, job).await {
                runner.watch(job);
            }
            runner.context.wakes().work.notify_one();
        };
        // Boxed, because a task is moved several times.
        self.context
            .tasks()
            .spawn(Box::pin(work).instrument(log_span));
    }

    fn watch(&self, job: RunningJob) {
        let poll_stats = self.pool().poll_stats(job.worker());
        self.polling
            .watch(job, &poll_stats, self.context.steady_ms());
    }

    /// Leases waiting jobs for free places and sets to work on them; says how many.
    pub async fn run_step(self: &Arc<Self>) -> Result<usize, atelier_store::Error> {
        lease::lease(&self.core, |job| self.work_on(job)).await
    }

    /// Something may be due to be asked about earlier than was thought.
    pub(crate) fn polling_hint(&self) -> &Notify {
        &self.polling.hint
    }

    /// Asks about every job whose turn it is; says how many and how many milliseconds there are until the next.
    pub fn poll_step(self: &Arc<Self>) -> (usize, i64) {
        let limit = |worker: &WorkerName| self.pool().poll_stats(worker).polls_per_minute;
        let mut asked = 0;
        loop {
            match self.polling.next(self.context.steady_ms(), limit) {
                Ok((job, permit)) => {
                    asked += 1;
                    self.ask(job, permit);
                }
                Err(wait_ms) => return (asked, wait_ms),
            }
        }
    }

    fn ask(self: &Arc<Self>, job: RunningJob, permit: OwnedSemaphorePermit) {
        let runner = self.clone();
        self.context.tasks().spawn(async move {
            let id = job.id().clone();
            // Its ticket finds it again, so a stop does not wait for the answer.
            let asked = tokio::select! {
                biased;
                () = runner.context.stopping().cancelled() => JobPoll::Again(None),
                asked = poll::poll(&runner.core, job) => asked,
            };
            let asked = match asked {
                JobPoll::Again(again) => again,
                JobPoll::Step(job, next) => Box::pin(step::order(&runner.core, job, next)).await,
                JobPoll::Unwanted(job) => {
                    runner.let_go(job);
                    None
                }
            };
            if let Some((job, pause)) = asked {
                let (poll_stats, now_ms) = (
                    runner.pool().poll_stats(job.worker()),
                    runner.context.steady_ms(),
                );
                runner.polling.watch_again(job, pause, &poll_stats, now_ms);
            }
            runner.context.wakes().work.notify_one();
            runner.polling.done(&id, permit);
        });
    }

    /// Has a vendor stop what nobody wants any more; nobody waits for that.
    fn let_go(&self, job: Box<AbandonedJob>) {
        let core = self.core.clone();
        self.context
            .tasks()
            .spawn(async move { job.end(&core).await });
    }

    /// Asks about a job at once; false when it is not here.
    pub(crate) fn poll_now(&self, id: &str) -> bool {
        self.polling.poll_now(id, self.context.steady_ms())
    }

    /// Who hears what is posted under a word; `None` for a word that was not given to this vendor for one of its attempts.
    pub fn hook_listener(&self, backend_id: &str, token: &str) -> Option<HookListener> {
        posted::listener(&self.core, backend_id, token)
    }

    /// A vendor posted that a job is worth a look: the vendor is asked, and nothing else is believed, but by those who say it
    /// nowhere else. Whether it was heard; a refusal is for a post that is to come again.
    pub async fn vendor_hook(
        &self,
        backend_id: &str,
        token: &str,
        post: &WebhookRequest,
    ) -> Result<bool, Refusal> {
        let Some(job_id) = posted::hear(&self.core, backend_id, token, post).await? else {
            return Ok(false);
        };
        if !self.poll_now(job_id.as_str()) {
            self.context.broadcast(Hint::Poll(job_id));
        }
        Ok(true)
    }

    /// Ends an unfinished job without a result and stops whoever works on it; `None` when it was final already.
    pub(crate) async fn end(
        &self,
        id: &str,
        fault: FaultKind,
        why: &str,
    ) -> Result<Option<JobRow>, atelier_store::Error> {
        let outcome = settle::failed(fault, why);
        let settled = settle::settle(&self.core, id, Guard::Unfinished, outcome).await?;
        self.stop(id);
        Ok(settled)
    }

    /// Stops the work on a job that is final, and tells its vendor.
    fn stop(&self, id: &str) {
        self.core.register.cancel(id);
        self.poll_now(id);
    }

    /// Stops the work on a job that another node has now.
    fn lose(&self, id: &str, fence: i64) {
        self.core.register.lose(id, fence);
        self.poll_now(id);
    }

    /// Ends overdue jobs and takes up jobs of silent nodes; says whether more may be waiting.
    pub async fn sweep_step(self: &Arc<Self>) -> Result<bool, atelier_store::Error> {
        // Time-outs first: a job past its deadline is not worth taking up.
        let ended = sweep::time_out(&self.core, |id| self.stop(id)).await?;
        let more = self.adopt_step().await?;
        Ok(more || ended >= sweep::AT_ONCE as usize)
    }

    /// Takes up jobs of silent nodes; says whether more may be waiting. Those that only another node can take up are
    /// passed by.
    async fn adopt_step(self: &Arc<Self>) -> Result<bool, atelier_store::Error> {
        let mut strangers = HashSet::new();
        for _ in 0..sweep::LOOKS {
            let from = self.sweep_cursor().take();
            let (rows, next) = sweep::expired_jobs(&self.core, from).await?;
            let mut adopted = false;
            for row in rows {
                match adopt::adopt(&self.core, &self.loader, &mut strangers, row).await? {
                    AdoptOutcome::NotHere => continue,
                    AdoptOutcome::Done => {}
                    AdoptOutcome::GoOn(taken) => {
                        let (row, slot) = *taken;
                        self.go_on(row, slot);
                    }
                }
                adopted = true;
            }
            let more = next.is_some();
            *self.sweep_cursor() = next;
            if adopted || !more {
                return Ok(more);
            }
        }
        Ok(false)
    }

    fn sweep_cursor(&self) -> MutexGuard<'_, sweep::SweepCursor> {
        self.sweep_cursor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on(self: &Arc<Self>, row: JobRow, slot: Slot) {
        let runner = self.clone();
        self.context.tasks().spawn(async move {
            if let Some(job) = adopt::go_on(&runner.core, row, slot).await {
                runner.watch(job);
            }
        });
    }

    /// Says that this node still works on what it has in hand; stops what it has lost.
    pub(crate) async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        let gone = sweep::renew(&self.core).await?;
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
        let context = &self.context;
        let held = self.core.register.leases().into_iter();
        let paid = self.core.register.paid();
        let stays =
            |job: &(String, i64)| paid.contains(job) || context.wakes().is_watched(job.0.as_str());
        let keep: Vec<String> = held.filter(stays).map(|(id, _)| id).collect();
        let voided =
            context
                .store()
                .queue()
                .void_leases(Some(context.node()), &keep, context.steady_ms());
        voided.await.map(|_| ())
    }

    /// How many calls are out that cost and that nobody can find again.
    pub(crate) fn paid_calls(&self) -> usize {
        self.core.register.paid().len()
    }

    /// Says that this node still works on what it waits for before it stops.
    pub(crate) async fn renew_paid(&self) -> Result<(), atelier_store::Error> {
        let (context, paid) = (&self.context, self.core.register.paid());
        let until_ms = context.steady_ms() + context.settings().jobs.lease_s.ms();
        let renewed = context
            .store()
            .queue()
            .renew_leases(context.node(), &paid, until_ms);
        self.core.register.renewed(&renewed.await?, until_ms);
        Ok(())
    }

    /// Writes down which jobs are worked on by now, and progress that changed.
    pub async fn progress_step(&self) -> Result<(), atelier_store::Error> {
        sweep::write_progress(&self.core).await
    }

    /// Brings the pool and the store together.
    pub async fn pool_step(&self) -> Result<(), atelier_store::Error> {
        self.workers().write_notes(None).await?;
        self.workers().load().await?;
        upkeep::probe_credit(&self.context, self.pool());
        upkeep::end_hopeless(&self.core).await?;
        hopeless::end_waiting(&self.core).await?;
        self.context.wakes().work.notify_one();
        Ok(())
    }

    /// How the endpoints of a family are, by speed and by path.
    pub async fn family_status(&self, family: &Family) -> Result<FamilyStatus, Refusal> {
        status::status(&self.context, self.pool(), family).await
    }

    /// Whether a job of an operation with a model would be taken now.
    pub fn serves(&self, submit: &SubmitEndpoint, model: &str) -> bool {
        let asked = AskedModel {
            name: Some(model),
            ..AskedModel::default()
        };
        status::serves(self.pool(), submit, asked, self.context.steady_ms())
    }

    /// The same for models of the catalogue, as everything is now.
    pub fn model_outlook(&self) -> ModelOutlook<'_> {
        ModelOutlook::new(self.pool(), self.context.steady_ms())
    }
}
