//! Acceptance: quota held, job queued and answer remembered in one commit; with a place free, the work begins at once.

use std::sync::Arc;

use atelier_backends::backend::LostSubmit;
use atelier_backends::support::FieldSupport;
use atelier_contract::brief::Brief;
use atelier_contract::limit_window::resets_at;
use atelier_contract::{Code, JobId, Quota, ReachedLimit, Refusal};
use atelier_store::{
    AcceptOutcome, Acceptance, Attempt, Idempotency, KeyLimitReached, Lease, NewJob,
};

use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::assets::storage_full;
use crate::context::{Context, unavailable};
use crate::crash;
use crate::hint::Hint;
use crate::intake::call::Submission;
use crate::names::WorkerName;
use crate::order::LoadedReferences;
use crate::recent_names::RecentNames;
use crate::runner::{
    Choice, Headroom, InitialLease, LeasedJob, NamedModel, PastFailures, PoolAnswer, Requirements,
    RoutingConstraint, Runner, ShortSeen, Slot, is_long, routing_of,
};
use crate::tracer::{SpanKind, TraceContext};

const UNKNOWN: &str = "it is not known whether the request was accepted; repeat it with the same Idempotency-Key, or look for it first";
/// The fence of the lease that a job is born with.
const FIRST_FENCE: i64 = 1;

/// A call that has become a job and is yet to be accepted.
pub(super) struct PreparedJob {
    pub(super) job: NewJob,
    /// Its account, as what is shared knows it.
    pub(super) whose: Arc<str>,
    /// The worker account that made the job it follows.
    pub(super) follows: Option<WorkerName>,
    pub(super) place: Placement,
    pub(super) named: NamedModel,
    pub(super) brief: Box<Brief>,
    /// The jobs it refers to.
    pub(super) referred: LoadedReferences,
    /// The trace that it belongs to.
    pub(super) trace: Option<TraceContext>,
}

impl PreparedJob {
    fn requirements(&self) -> Requirements<'_> {
        let job = &self.job;
        let lane = RoutingConstraint::read(&job.lane);
        Requirements {
            operation: &job.operation,
            speed: job.speed,
            model: self.named.model.as_deref(),
            routing: routing_of(&job.id, lane, self.named.catalogue_model.as_deref()),
            lane,
            follows: self.follows.as_ref(),
            price: job.price,
            past_failures: PastFailures::NONE,
            first: false,
            long: is_long(&job.operation, job.batched),
            headroom: Headroom::Nothing,
        }
    }
}

/// What the pool said about a place for a call.
pub(super) enum Placement {
    /// Nothing yet that still counts: something is done for the call first.
    Open,
    /// A place is taken, or the call waits for one.
    Asked(Option<Slot>),
}

/// A job with a place to begin at, if one was free. Born leased: no second commit is needed before the work starts.
pub(super) struct PlacedJob {
    job: NewJob,
    named: NamedModel,
    slot: Option<Slot>,
    /// Whether it needs nothing but its words.
    ready: bool,
    /// Whether somebody works on it as soon as it is accepted.
    working: bool,
    referred: LoadedReferences,
    trace: Option<TraceContext>,
}

impl PlacedJob {
    /// Takes a place for a job; a refusal when waiting for one is of no use.
    pub(super) async fn new(
        runner: &Runner,
        mut prepared: PreparedJob,
        seen: &mut ShortSeen,
    ) -> Result<Self, Refusal> {
        let slot = match std::mem::replace(&mut prepared.place, Placement::Open) {
            Placement::Asked(slot) => slot,
            Placement::Open => slot_for(runner, &prepared, seen).await?,
        };
        let PreparedJob {
            job,
            whose,
            named,
            trace,
            referred,
            brief,
            ..
        } = prepared;
        let ready = brief.inputs().next().is_none() && brief.video.is_none();
        let begins = |slot: &Slot| ready && !slot.recorded() && slot.reserve(&whose, &brief);
        let working = slot.as_ref().is_some_and(begins);
        Ok(Self {
            job,
            named,
            slot,
            ready,
            working,
            referred,
            trace,
        })
    }

    /// What is held for it.
    pub(super) fn price(&self) -> Quota {
        self.job.price
    }

    /// What is written to accept it.
    pub(super) fn acceptance(
        &self,
        context: &Context,
        idempotency: Option<Idempotency>,
    ) -> Acceptance {
        Acceptance {
            job: self.job.clone(),
            ledger_id: context.ids().uuid(),
            idempotency,
            max_storage: context.settings().limits.storage_bytes(),
            lease: self.slot.as_ref().map(|_| Lease {
                owner: context.node().to_owned(),
                until_ms: queued_ms(&self.job) + context.settings().jobs.lease_s.ms(),
            }),
            working: self.working,
            attempt: None,
        }
    }

    /// The intent to ask the vendor at once, which is written down with the acceptance and saves a commit. A vendor that could
    /// not be asked about it after a crash gets it only for a caller who waits here, and would be gone as well.
    fn first_attempt(&self, context: &Context, waits: bool) -> Option<Attempt> {
        let slot = self.slot.as_ref().filter(|slot| slot.recorded())?;
        let found_again = slot.backend().lost_submit() != LostSubmit::Unknown;
        (self.ready && (waits || found_again)).then(|| {
            let job_id = JobId::new(self.job.id.clone());
            slot.intent(&job_id, FIRST_FENCE, context.steady_ms())
        })
    }

    /// Has the store decide.
    async fn commit(
        &self,
        context: &Context,
        idempotency: Option<Idempotency>,
        waits: bool,
    ) -> Result<AcceptOutcome, Refusal> {
        let mut acceptance = self.acceptance(context, idempotency);
        acceptance.attempt = self.first_attempt(context, waits);
        let above = self.trace.map(|trace| trace.of_job(&self.job.id));
        let span = context
            .tracer()
            .open(above, "commit", SpanKind::Internal, context.now_ms());
        let accepted = context.store().jobs().accept(acceptance).await;
        let error = accepted.as_ref().err().map(ToString::to_string);
        context.tracer().close(span, error);
        accepted.map_err(unavailable)
    }

    /// The trace that it belongs to.
    pub(super) fn trace(&self) -> Option<TraceContext> {
        self.trace
    }

    /// It was accepted: the work begins, or somebody looks for a place.
    pub(super) fn begin(
        self,
        context: &Context,
        runner: &Arc<Runner>,
        fence: i64,
        begun: bool,
    ) -> JobId {
        let job_id = JobId::new(self.job.id.clone());
        match self.slot {
            Some(slot) => {
                let initial_lease = InitialLease {
                    fence,
                    lease_until_ms: queued_ms(&self.job) + context.settings().jobs.lease_s.ms(),
                    intended: begun,
                    working: self.working,
                };
                let leased = LeasedJob::initial_lease(
                    self.job,
                    self.named,
                    self.trace,
                    self.referred,
                    initial_lease,
                );
                runner.start(leased, slot);
            }
            None => context.wake_work(),
        }
        job_id
    }
}

/// Accepts a job or refuses it.
pub(super) async fn accept(
    context: Arc<Context>,
    runner: Arc<Runner>,
    prepared: PreparedJob,
    idempotency: Option<Idempotency>,
    waits: bool,
) -> Result<Submission, Refusal> {
    let placed = PlacedJob::new(&runner, prepared, &mut ShortSeen::for_caller()).await?;
    crash::point("submit.before_accept");
    let (price, account_id) = (placed.price(), placed.job.account_id.clone());
    let again = idempotency.clone();
    let mut accepted = placed.commit(&context, idempotency, waits).await?;
    if accepted == AcceptOutcome::PlanDue {
        let renewed = renew_plan(&context, &account_id).await;
        renewed.map_err(unavailable)?;
        accepted = placed.commit(&context, again, waits).await?;
    }
    crash::point("submit.accepted");
    let (job_id, replayed) = match accepted {
        AcceptOutcome::New { fence, begun } => {
            let job_id = placed.begin(&context, &runner, fence, begun);
            context.wake_account(&account_id);
            (job_id, false)
        }
        AcceptOutcome::Replayed { job_id } => (JobId::new(job_id), true),
        refused => return Err(refusal_of(&refused, price)),
    };
    Ok(Submission {
        job_id,
        replayed,
        changes: None,
    })
}

/// Begins the next period of an account's plan, which nobody has come to yet.
pub(super) async fn renew_plan(
    context: &Context,
    account_id: &str,
) -> Result<(), atelier_store::Error> {
    let plans = context.store().ledger().plans();
    if plans.renew(account_id, context.now_ms()).await? {
        context.broadcast(Hint::Account(account_id.into()));
    }
    Ok(())
}

/// The job of an earlier, equal call with the same key; a refusal when the key was used for another one.
pub(super) async fn find_replay(
    context: &Context,
    account_id: &str,
    given: &Idempotency,
) -> Result<Option<Submission>, Refusal> {
    let call = context.store().jobs().earlier_call(account_id, given).await;
    match call.map_err(unavailable)? {
        None => Ok(None),
        Some(AcceptOutcome::Replayed { job_id }) => Ok(Some(Submission {
            job_id: JobId::new(job_id),
            replayed: true,
            changes: None,
        })),
        Some(other) => Err(refusal_of(&other, Quota::ZERO)),
    }
}

/// Accounts whose calls were refused a moment ago. The commit decides about a call; whose last one it refused is asked
/// about before the next, so that what will be refused costs no commit.
pub(super) struct RecentRefusals(RecentNames);

/// How long an account's calls are looked at before their commit after one was refused.
const WARY_MS: i64 = 60_000;

impl Default for RecentRefusals {
    fn default() -> Self {
        Self(RecentNames::new(WARY_MS))
    }
}

impl RecentRefusals {
    pub(super) fn note(&self, context: &Context, account_id: &str) {
        self.0.note(account_id, context.steady_ms());
    }

    pub(super) fn is_recent(&self, context: &Context, account_id: &str) -> bool {
        self.0.knows(account_id, context.steady_ms())
    }
}

/// Refuses what nobody could work on.
pub(super) fn look(runner: &Runner, prepared: &PreparedJob) -> Result<(), Refusal> {
    let (requirements, job) = (prepared.requirements(), &prepared.job);
    let answer = runner.look(&requirements, &prepared.brief, queued_ms(job));
    may_wait(answer.place, job)?;
    refuse(answer.refused)
}

/// Takes a place for a call that can be accepted at once, or refuses what nobody could work on.
pub(super) async fn take_place(runner: &Runner, prepared: &mut PreparedJob) -> Result<(), Refusal> {
    let (requirements, job) = (prepared.requirements(), &prepared.job);
    let (brief, now_ms) = (&prepared.brief, queued_ms(job));
    let answer = runner.take_suited(&requirements, brief, &prepared.whose, now_ms);
    let PoolAnswer { place, refused } = answer.await;
    let slot = match place {
        Ok(slot) => Some(slot),
        Err(choice) => may_wait(choice, job).map(|()| None)?,
    };
    refuse(refused)?;
    prepared.place = Placement::Asked(slot);
    Ok(())
}

/// Refuses what the commit would refuse anyway, before anything is done for it.
pub(super) async fn precheck(context: &Context, prepared: &PreparedJob) -> Result<(), Refusal> {
    let job = &prepared.job;
    let max_storage = context.settings().limits.storage_bytes();
    let refused = context.store().jobs().precheck_refusal(job, max_storage);
    match refused.await.map_err(unavailable)? {
        None => Ok(()),
        Some(refused) => Err(refusal_of(&refused, job.price)),
    }
}

/// Refuses what every connected back end would refuse, and names the field.
pub(super) fn fits(runner: &Runner, prepared: &PreparedJob) -> Result<(), Refusal> {
    refuse(runner.refusal(&prepared.requirements(), &prepared.brief))
}

fn refuse(refused: Option<FieldSupport>) -> Result<(), Refusal> {
    match refused {
        None => Ok(()),
        Some(refused) => Err(Refusal::invalid(&refused.field, refused.why)),
    }
}

/// What a caller is told of an acceptance that did not come about.
pub(super) fn refusal_of(refused: &AcceptOutcome, price: Quota) -> Refusal {
    let (code, message) = match refused {
        AcceptOutcome::QuotaShort { balance } => (
            Code::InsufficientQuota,
            format!("the request costs {price} quota, the balance is {balance}"),
        ),
        AcceptOutcome::Debt { debt } => (
            Code::Debt,
            format!(
                "the account owes {debt} quota of a payment that went back; whatever comes in pays that first"
            ),
        ),
        AcceptOutcome::QueueFull { max_queue } => (
            Code::QueueFull,
            format!("the queue holds {max_queue} unfinished jobs at most; wait for one to finish"),
        ),
        AcceptOutcome::StorageFull { max_storage } => return storage_full(*max_storage),
        AcceptOutcome::KeyLimit(reached) => return key_limit(*reached, price),
        AcceptOutcome::NoAccount => (Code::Unauthorized, "the account no longer exists".into()),
        AcceptOutcome::PlanDue => (
            Code::Overloaded,
            "the next period of the account's plan is about to begin; try again".into(),
        ),
        AcceptOutcome::Mismatch | AcceptOutcome::New { .. } | AcceptOutcome::Replayed { .. } => (
            Code::IdempotencyMismatch,
            "Idempotency-Key: was used with another body; use a new key for a new request".into(),
        ),
    };
    Refusal::new(code, message)
}

/// What a caller is told of a limit that its key, or one above it, has reached.
fn key_limit(reached: KeyLimitReached, price: Quota) -> Refusal {
    let limit = ReachedLimit {
        window: reached.window,
        quota: reached.quota,
        spent: reached.spent,
        resets_at: resets_at(reached.until_ms),
    };
    limit.refusal(price)
}

/// When a job was accepted, by the service's own time.
fn queued_ms(job: &NewJob) -> i64 {
    job.created_ms - job.ahead_ms
}

/// A place for a new job; none when it has to wait, and a refusal when waiting is of no use.
async fn slot_for(
    runner: &Runner,
    prepared: &PreparedJob,
    seen: &mut ShortSeen,
) -> Result<Option<Slot>, Refusal> {
    let (requirements, job) = (prepared.requirements(), &prepared.job);
    let taken = runner.take(&requirements, &prepared.whose, queued_ms(job), seen);
    match taken.await {
        Ok(slot) => Ok(Some(slot)),
        Err(choice) => may_wait(choice, job).map(|()| None),
    }
}

/// Refuses a job when nobody can take it before its deadline.
fn may_wait(choice: Choice, job: &NewJob) -> Result<(), Refusal> {
    match choice {
        Choice::Take(_) => Ok(()),
        Choice::Wait(until_ms) if until_ms < job.deadline_ms => Ok(()),
        Choice::Wait(_) | Choice::Nobody => Err(Refusal::new(
            Code::NoAvailableAccount,
            "No available accounts",
        )),
    }
}

/// What came of an acceptance, for as long as the caller waits for it. One that takes longer goes on.
pub(super) async fn in_time<T>(
    until: Instant,
    accepted: JoinHandle<Result<T, Refusal>>,
) -> Result<T, Refusal> {
    if let Ok(accepted) = timeout_at(until, accepted).await {
        return accepted.unwrap_or_else(|error| Err(broken_off(&error)));
    }
    tracing::error!("an accept takes too long; responded that its outcome is unknown");
    Err(Refusal::new(Code::Internal, UNKNOWN))
}

/// An acceptance that nobody can tell the end of.
fn broken_off(error: &tokio::task::JoinError) -> Refusal {
    tracing::error!(%error, "an accept was aborted");
    Refusal::new(Code::Internal, UNKNOWN)
}
