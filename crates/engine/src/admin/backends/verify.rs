//! Whether a back end still does what is expected of it: each of its routes is given the cheapest job there is, at the vendor
//! itself, and what came is held against what was expected. No job of a caller's and no ledger row comes of it.

use std::sync::Arc;
use std::time::Duration;

use atelier_backends::backend::{
    Acceptance, BoxFuture, LostSubmit, PollOutcome, ProgressTracker, StartOutcome, Work,
};
use atelier_backends::support::SupportLevel;
use atelier_backends::{Backend, Class, Fault, WorkOutput, expected_cost};
use atelier_contract::models::{ModelDefinition, operations_of};
use atelier_contract::pages::cost::{Amount, CostSum};
use atelier_contract::pages::verify::{VerifiedRoute, VerifyBody, VerifyOutcome};
use atelier_contract::{AttemptId, FAMILIES, JobId, operation};
use atelier_fairness::reservation::Reservation;
use atelier_store::{BackendRow, WorkerRow};
use bytes::Bytes;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::cheapest::{CheapRequest, cheapest};
use crate::context::Context;

/// What may be spent when nobody says.
const USUAL_MICROS: i64 = 1_000_000;
/// The pause after a question that failed, and the longest one between two questions.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(10);
/// What costs are counted in that can be added up.
const DOLLARS: &str = "USD";

/// A job that shows whether a route works.
pub(super) struct TestJob {
    /// The name of the route.
    pub(super) route: String,
    /// The operation of the job.
    pub(super) operation: &'static str,
    wanted: CheapRequest,
    /// What it takes, in millionths of a dollar, as far as the operator says so.
    pub(super) expected: Option<i64>,
}

/// What may still be spent, and how long a job may take.
pub(super) struct TestBudget {
    left: i64,
    pub(super) spent: i64,
    limit: Duration,
}

impl TestBudget {
    pub(super) fn of(body: &VerifyBody) -> Self {
        Self {
            left: body.spend.map_or(USUAL_MICROS, Amount::micros),
            spent: 0,
            limit: Duration::from_secs(body.seconds.get().unsigned_abs()),
        }
    }

    fn take(&mut self, micros: i64) {
        self.left -= micros;
        self.spent += micros;
    }
}

/// The jobs for all routes of a back end: a model of the catalogue each that leads there, and one of each family that it maps
/// itself. What needs pictures is left out.
pub(super) fn test_jobs(
    row: &BackendRow,
    backend: &dyn Backend,
    models: &[ModelDefinition],
) -> Vec<TestJob> {
    let mut all = Vec::new();
    let leads = |name: &str| name == row.id || name == &*row.spec.name;
    for model in models.iter().filter(|model| model.enabled) {
        for route in model.routes.iter().filter(|route| leads(&route.backend)) {
            let found = operations_of(model).into_iter().find_map(|name| {
                let mut wanted = wanted_of(backend, name)?;
                wanted.brief.model.clone_from(&model.name);
                wanted.brief.vendor_model.clone_from(&route.model);
                wanted.brief.unit_cost = route.cost;
                Some((name, wanted))
            });
            let label = match &route.model {
                Some(there) => format!("{}={there}", model.name),
                None => model.name.clone(),
            };
            all.extend(found.map(|(name, wanted)| job(row, backend, &label, name, wanted)));
        }
    }
    let allowed = |family: &str, name: &str| {
        let listed = &row.spec.operations;
        listed.is_empty() || listed.iter().any(|one| one == family || one == name)
    };
    for family in FAMILIES {
        let mut names = family.submits.iter().map(|submit| submit.name);
        let found = names.find_map(|name| {
            let wanted = wanted_of(backend, name).filter(|_| allowed(family.name, name))?;
            Some((name, wanted))
        });
        all.extend(found.map(|(name, wanted)| job(row, backend, name, name, wanted)));
    }
    all
}

/// The cheapest request of an operation, where the back end takes it.
fn wanted_of(backend: &dyn Backend, name: &str) -> Option<CheapRequest> {
    let (_, submit) = operation(name).filter(|_| backend.serves(name))?;
    let wanted = cheapest(submit)?;
    let refused = backend.support(name, &wanted.brief);
    let refused = refused
        .iter()
        .any(|one| one.support == SupportLevel::Refused);
    Some(wanted).filter(|_| !refused)
}

fn job(
    row: &BackendRow,
    backend: &dyn Backend,
    route: &str,
    operation: &'static str,
    wanted: CheapRequest,
) -> TestJob {
    let settings = Value::Object(row.spec.settings.clone());
    let expected = expected_cost(&settings, operation, &wanted.brief);
    // Whoever is asked again without harm costs nothing.
    let free = (backend.lost_submit() == LostSubmit::Repeat).then_some(0);
    TestJob {
        route: route.to_owned(),
        operation,
        wanted,
        expected: expected.map(|cost| cost.micros).or(free),
    }
}

impl TestJob {
    /// A row of the report.
    pub(super) fn row(&self, outcome: VerifyOutcome, about: Option<String>) -> VerifiedRoute {
        VerifiedRoute {
            route: self.route.clone(),
            operation: self.operation.to_owned(),
            outcome,
            expected_usd: self.expected.map(Amount::from_micros),
            cost: None,
            took_ms: None,
            about,
        }
    }

    /// Has the vendor make it, if that can be paid for, and judges what came.
    pub(super) async fn run(
        &self,
        context: &Context,
        account: &WorkerRow,
        backend: &dyn Backend,
        budget: &mut TestBudget,
    ) -> VerifiedRoute {
        let skipped = |why: &str| self.row(VerifyOutcome::Skipped, Some(why.to_owned()));
        let Some(expected) = self.expected else {
            return skipped("what it costs is not known: enter a unit cost");
        };
        if expected > budget.left {
            return skipped("it costs more than may still be spent");
        }
        let began_ms = context.steady_ms();
        let made = self.make(context, backend, budget.limit).await;
        let took_ms = context.steady_ms() - began_ms;
        let told = match &made {
            Ok(made) => made.cost.clone(),
            Err(ended) => ended.fault.cost.clone(),
        };
        let in_dollars = told.as_ref().filter(|told| told.currency == DOLLARS);
        let taken = in_dollars.map_or(expected, |told| told.micros.max(expected));
        // What was refused before anything was ordered costs nothing.
        let refused = matches!(&made, Err(ended) if !ended.ordered);
        budget.take(if refused { 0 } else { taken });
        let (outcome, about) = match made {
            Ok(made) => self.judged(&made, expected, account),
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

    /// Whether what came is what was expected.
    fn judged(
        &self,
        made: &WorkOutput,
        expected: i64,
        account: &WorkerRow,
    ) -> (VerifyOutcome, Option<String>) {
        let changed = |why: String| (VerifyOutcome::Changed, Some(why));
        let brief = &self.wanted.brief;
        if made.made < brief.count {
            return changed(format!("{} of {} were made", made.made, brief.count));
        }
        let told = made.cost.as_ref();
        let known = account.costs.iter().map(|(currency, _)| currency.as_str());
        if let (None, Some(before)) = (told, known.max()) {
            return changed(format!(
                "it does not say any more what it takes in {before}"
            ));
        }
        match told.filter(|told| told.currency == DOLLARS) {
            Some(told) if told.micros > expected && expected > 0 => changed(format!(
                "it took {} USD, the operator says {}",
                told.micros as f64 / 1e6,
                expected as f64 / 1e6
            )),
            _ => (VerifyOutcome::Good, None),
        }
    }

    async fn make(
        &self,
        context: &Context,
        backend: &dyn Backend,
        limit: Duration,
    ) -> Result<WorkOutput, TestFailure> {
        let mut run = TestRun {
            backend,
            work: self.work(context),
            ticket: None,
            last: None,
        };
        if let Ok(ended) = tokio::time::timeout(limit, run.finish()).await {
            return ended;
        }
        if let Some(ticket) = &run.ticket {
            backend.cancel(ticket).await;
        }
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
            fault: run.last.take().unwrap_or_else(late),
        })
    }

    /// What a back end is given: nobody's job, made of words alone.
    fn work(&self, context: &Context) -> Work {
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
            request: self.wanted.request.clone(),
            brief: self.wanted.brief.clone(),
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
