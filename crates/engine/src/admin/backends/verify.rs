//! Whether a back end still does what is expected of it: each of its routes is given the cheapest job there is, at the vendor
//! itself, and what came is held against what was expected. No job of a caller's and no ledger row comes of it.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{BoxFuture, ProgressTracker, Work};
use atelier_backends::{Class, Fault, WorkOutput, video_seconds};
use atelier_contract::brief::{Brief, Task};
use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::pages::verify::{VerifiedRoute, VerifyBody, VerifyOutcome};
use atelier_contract::{AttemptId, FileRole, JobId};
use atelier_fairness::reservation::Reservation;
use atelier_store::WorkerRow;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::cheapest::CheapRequest;
use crate::context::Context;
use crate::runner::{TrialEnd, TrialFailure, WorkerAccounts, free_slot, run_trial};

/// What may be spent when nobody says.
const USUAL_MICROS: i64 = 1_000_000;
/// A worker account that is busy is waited for no longer.
const PLACE_MOST: Duration = Duration::from_mins(1);
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
        let within = budget.limit.min(PLACE_MOST);
        let Some((account, slot)) = free_slot(workers, accounts, within).await else {
            return skipped("no worker account takes work now");
        };
        let began_ms = context.steady_ms();
        let backend = slot.backend();
        let work = self.work(context, wanted);
        let made = run_trial(backend.as_ref(), work, budget.limit).await;
        drop(slot);
        let took_ms = context.steady_ms() - began_ms;
        let told = match &made {
            Ok(made) => made.cost.clone(),
            Err(ended) => ended.fault.cost.clone(),
        };
        if let Some(told) = &told
            && let Err(error) = workers.add_cost(account, told).await
        {
            tracing::warn!(%error, worker = %account.id, "what a test took was not counted");
        }
        let in_dollars = told.as_ref().filter(|told| told.currency == DOLLARS);
        let taken = in_dollars.map_or(expected, |told| told.micros.max(expected));
        // What was refused before anything was ordered costs nothing; of several, some may have been taken before.
        let refused = matches!(&made, Err(ended) if !ended.ordered) && told.is_none();
        let nothing = refused && wanted.brief.count <= 1;
        budget.take(if nothing { 0 } else { taken }, expected);
        let (outcome, about) = match made {
            Ok(made) => judged(wanted, &made, expected, account),
            Err(ended) => (meaning(&ended), Some(ended.words())),
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

/// What it means that a test brought nothing: a vendor that may have taken it and gave no answer that is known, or whose answers are not
/// understood, is not the one that it was.
fn meaning(failure: &TrialFailure) -> VerifyOutcome {
    let changed = match failure.end {
        TrialEnd::Start => failure.ordered || failure.fault.class == Class::Model,
        TrialEnd::Finish => failure.fault.class == Class::Gone,
        TrialEnd::Late { asked } => asked,
    };
    if changed {
        VerifyOutcome::Changed
    } else {
        VerifyOutcome::Failed
    }
}
