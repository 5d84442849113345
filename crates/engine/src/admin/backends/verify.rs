//! Whether a back end still does what is expected of it: each of its routes is given the cheapest job there is, at the vendor
//! itself, and what came is held against what was expected. No job of a caller's and no ledger row comes of it.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{
    Acceptance, BoxFuture, PollOutcome, ProgressTracker, StartOutcome, Work,
};
use atelier_backends::{Backend, Class, Cost, Fault, WorkOutput, video_seconds};
use atelier_contract::brief::{Brief, Task};
use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::pages::verify::{VerifiedRoute, VerifyBody, VerifyOutcome};
use atelier_contract::{AttemptId, FileRole, JobId};
use atelier_fairness::reservation::Reservation;
use atelier_store::WorkerRow;
use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cheapest::CheapRequest;
use crate::context::Context;
use crate::names::WorkerName;
use crate::runner::{Choice, Slot, WorkerAccounts};

/// What may be spent when nobody says.
const USUAL_MICROS: i64 = 1_000_000;
/// The pause after a question that failed, and the longest one between two questions.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// A worker account that is busy is waited for no longer, and looked at again after this.
const PLACE_MOST: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// The question what a stopped job took is worth no longer wait.
const LAST_QUESTION: Duration = Duration::from_secs(10);
/// Vendors round the length of a clip by less than this, in seconds.
const SHORTER: f64 = 0.5;
/// What costs are counted in that can be added up.
const DOLLARS: &str = "USD";

/// A job that shows whether a route works.
pub(super) struct TestJob {
    /// The name of the route.
    pub(super) route: String,
    /// The operation of the job.
    pub(super) operation: &'static str,
    /// What to ask for, or why nothing can be.
    pub(super) wanted: Result<CheapRequest, String>,
    pub(super) price: TestPrice,
}

/// What may still be spent, and how long a job may take.
pub(super) struct TestBudget {
    left: i64,
    pub(super) spent: i64,
    limit: Duration,
    /// A job took more than was expected, so that nobody knows what the next one takes.
    exceeded: bool,
}

impl TestBudget {
    pub(super) fn of(body: &VerifyBody) -> Self {
        Self {
            left: body.spend.map_or(USUAL_MICROS, Amount::micros),
            spent: 0,
            limit: Duration::from_secs(body.seconds.get().unsigned_abs()),
            exceeded: false,
        }
    }

    fn take(&mut self, micros: i64, expected: i64) {
        self.left -= micros;
        self.spent += micros;
        self.exceeded |= micros > expected;
    }

    /// Why a job of this price is not ordered.
    fn objection(&self, price: TestPrice) -> Result<i64, &'static str> {
        let Some(expected) = price.micros() else {
            return Err(match price {
                TestPrice::ByReport => {
                    "what it costs is known afterwards, by what the vendor reports: enter a unit cost of its route by call, item, second or megapixel"
                }
                _ => "what it costs is not known: enter a unit cost",
            });
        };
        if self.exceeded {
            return Err("a job before it took more than you entered");
        }
        if expected > self.left {
            return Err("it costs more than may still be spent");
        }
        Ok(expected)
    }
}

/// What a job takes before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestPrice {
    /// As the operator says, in millionths of a dollar.
    Known(i64),
    /// The operator's own server, which is asked again without harm.
    Free,
    /// What the vendor reports afterwards.
    ByReport,
    /// Nobody says.
    Unsaid,
}

impl TestPrice {
    fn micros(self) -> Option<i64> {
        match self {
            Self::Known(micros) => Some(micros),
            Self::Free => Some(0),
            Self::ByReport | Self::Unsaid => None,
        }
    }
}

impl TestJob {
    /// A row of the report.
    pub(super) fn row(&self, outcome: VerifyOutcome, about: Option<String>) -> VerifiedRoute {
        VerifiedRoute {
            route: self.route.clone(),
            operation: self.operation.to_owned(),
            outcome,
            expected_usd: self.price.micros().map(Amount::from_micros),
            cost: None,
            took_ms: None,
            about,
        }
    }

    /// Why it is not ordered, whatever may be spent.
    pub(super) fn omitted(&self) -> Option<VerifiedRoute> {
        let why = self.wanted.as_ref().err()?;
        Some(self.row(VerifyOutcome::Skipped, Some(why.clone())))
    }

    /// Has the vendor make it, if that can be paid for and a worker account takes work, and judges what came.
    pub(super) async fn run(
        &self,
        context: &Context,
        workers: WorkerAccounts<'_>,
        accounts: &[WorkerRow],
        budget: &mut TestBudget,
    ) -> VerifiedRoute {
        let skipped = |why: &str| self.row(VerifyOutcome::Skipped, Some(why.to_owned()));
        let wanted = match &self.wanted {
            Ok(wanted) => wanted,
            Err(why) => return skipped(why),
        };
        let expected = match budget.objection(self.price) {
            Ok(expected) => expected,
            Err(why) => return skipped(why),
        };
        let Some((account, slot)) = free_place(workers, accounts, budget.limit).await else {
            return skipped("no worker account takes work now");
        };
        let began_ms = context.steady_ms();
        let backend = slot.backend();
        let work = self.work(context, wanted);
        let made = make(backend.as_ref(), work, budget.limit).await;
        drop(slot);
        let took_ms = context.steady_ms() - began_ms;
        let told = match &made {
            Ok(made) => made.cost.clone(),
            Err(ended) => ended.fault.cost.clone(),
        };
        if let Some(told) = &told
            && let Err(error) = workers.add_cost(account, told).await
        {
            tracing::warn!(%error, worker = %account.id, "the cost of a test job could not be stored");
        }
        let in_dollars = told.as_ref().filter(|told| told.currency == DOLLARS);
        let taken = in_dollars.map_or(expected, |told| told.micros.max(expected));
        // What was refused before anything was ordered costs nothing; of several, some may have been taken before.
        let refused = matches!(&made, Err(ended) if !ended.ordered) && told.is_none();
        let nothing = refused && wanted.brief.count <= 1;
        budget.take(if nothing { 0 } else { taken }, expected);
        let (outcome, about) = match made {
            Ok(made) => judged(wanted, &made, expected, account),
            Err(ended) => (ended.outcome, Some(ended.words())),
        };
        VerifiedRoute {
            cost: told.map(|told| CostSum {
                currency: told.currency.to_owned(),
                amount: Amount::from_micros(told.micros),
            }),
            took_ms: Some(took_ms),
            ..self.row(outcome, about)
        }
    }

    /// What a back end is given: nobody's job, made of words alone.
    fn work(&self, context: &Context, wanted: &CheapRequest) -> Work {
        let job_id: JobId = context.ids().uuid().as_str().into();
        let no_files = |_: String| -> BoxFuture<'static, Result<Bytes, Fault>> {
            Box::pin(async { Err(Fault::ours("a job of words alone that reads a file")) })
        };
        Work {
            attempt_id: AttemptId::of(&job_id, 1).to_string(),
            job_id,
            whose: Arc::from("verify"),
            long: false,
            reserved: Reservation::default(),
            operation: self.operation.to_owned(),
            request: wanted.request.clone(),
            brief: wanted.brief.clone(),
            sources: Vec::new(),
            hints: Vec::new(),
            mask: None,
            video: None,
            parent: None,
            cited: Vec::new(),
            read: Arc::new(no_files),
            progress: ProgressTracker::default(),
            cancelled: CancellationToken::new(),
            hook_url: None,
        }
    }
}

/// A place at one of some worker accounts, waited for while they are merely busy. What the operator closed is left closed.
async fn free_place<'a>(
    workers: WorkerAccounts<'_>,
    accounts: &'a [WorkerRow],
    limit: Duration,
) -> Option<(&'a WorkerRow, Slot)> {
    let until = Instant::now() + limit.min(PLACE_MOST);
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

/// Whether what came is what was expected.
fn judged(
    wanted: &CheapRequest,
    made: &WorkOutput,
    expected: i64,
    account: &WorkerRow,
) -> (VerifyOutcome, Option<String>) {
    let changed = |why: String| (VerifyOutcome::Changed, Some(why));
    let brief = &wanted.brief;
    if made.made < brief.count {
        return changed(format!("{} of {} were made", made.made, brief.count));
    }
    if let Some(why) = difference(brief, made) {
        return changed(why);
    }
    let told = made.cost.as_ref();
    let known = account.costs.iter().map(|(currency, _)| currency.as_str());
    if let (None, Some(before)) = (told, known.max()) {
        return changed(format!(
            "it does not say any more what it takes in {before}"
        ));
    }
    match told.filter(|told| told.currency == DOLLARS) {
        Some(told) if told.micros > expected => changed(format!(
            "it took {} USD, the operator says {}",
            told.micros as f64 / 1e6,
            expected as f64 / 1e6
        )),
        _ => (VerifyOutcome::Good, None),
    }
}

/// What came in another kind, smaller, turned or shorter than it was asked for. Pictures that are larger are cut, and so are
/// clips.
fn difference(brief: &Brief, made: &WorkOutput) -> Option<String> {
    let (wide, high) = (brief.width, brief.height);
    let came = |(width, height): (u32, u32)| {
        format!("{width}x{height} came where {wide}x{high} was asked for")
    };
    if let Some(size) = made.enlarged_from {
        return Some(came(size));
    }
    let results = made.files.iter();
    for file in results.filter(|file| file.role == FileRole::Main) {
        let kind = file.media_type;
        if !is_of_kind(brief.task, kind) {
            return Some(format!("it is of the kind {kind}"));
        }
        let (width, height) = (file.width, file.height);
        let smaller = width < wide && height < high;
        let turned = wide > high && width < height || wide < high && width > height;
        if smaller || turned {
            return Some(came((width, height)));
        }
        let asked = f64::from(brief.seconds);
        let seconds = video_seconds(&file.bytes).filter(|_| brief.task == Task::Animate);
        if let Some(seconds) = seconds.filter(|seconds| seconds + SHORTER < asked) {
            return Some(format!("{seconds} s came where {asked} s were asked for"));
        }
    }
    None
}

/// Whether a media type is one that a task is done with.
fn is_of_kind(task: Task, media_type: &str) -> bool {
    match task {
        // Some clips are pictures that move.
        Task::Animate | Task::Extend(_) => {
            media_type.starts_with("video/") || media_type == "image/webp"
        }
        Task::Vectorize => media_type == "image/svg+xml",
        _ => media_type.starts_with("image/") && media_type != "image/svg+xml",
    }
}

async fn make(
    backend: &dyn Backend,
    work: Work,
    limit: Duration,
) -> Result<WorkOutput, TestFailure> {
    let mut run = TestRun {
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
    // A vendor whose answers are not understood is asked until then.
    let outcome = if run.last.is_some() {
        VerifyOutcome::Changed
    } else {
        VerifyOutcome::Failed
    };
    Err(TestFailure {
        outcome,
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

/// A test that brought nothing.
struct TestFailure {
    outcome: VerifyOutcome,
    /// Whether the vendor may have taken it.
    ordered: bool,
    fault: Fault,
}

impl TestFailure {
    /// What it means that a start was refused: a vendor that may have taken it all the same gave no answer that is known.
    fn of_start(fault: Fault) -> Self {
        let ordered = fault.taken == Acceptance::Perhaps;
        let changed = ordered || matches!(fault.class, Class::Model);
        Self {
            outcome: if changed {
                VerifyOutcome::Changed
            } else {
                VerifyOutcome::Failed
            },
            ordered,
            fault,
        }
    }

    /// What it means that a vendor ended it, or that what it brought is of no use.
    fn of_end(fault: Fault) -> Self {
        Self {
            outcome: if fault.class == Class::Gone {
                VerifyOutcome::Changed
            } else {
                VerifyOutcome::Failed
            },
            ordered: true,
            fault,
        }
    }

    fn words(&self) -> String {
        let fault = &self.fault;
        let words = if fault.detail.is_empty() {
            &fault.message
        } else {
            &fault.detail
        };
        format!("{}: {words}", fault.class.word())
    }
}

/// A test under way.
struct TestRun<'a> {
    backend: &'a dyn Backend,
    work: Work,
    /// What finds it at the vendor.
    ticket: Option<Value>,
    /// The latest question that failed.
    last: Option<Fault>,
}

impl TestRun<'_> {
    async fn finish(&mut self) -> Result<WorkOutput, TestFailure> {
        let started = self.backend.start(self.work.clone()).await;
        let mut ticket = match started.map_err(TestFailure::of_start)? {
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
                Ok(PollOutcome::Failed(fault)) => return Err(TestFailure::of_end(fault)),
                Ok(PollOutcome::Step(next)) => {
                    ticket = next.order.await.map_err(TestFailure::of_end)?;
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
