//! Around every worker account: whatever fault leaves it, the account's credential does not leave with it, even where
//! the vendor repeats it in the words of a refusal or of a failed job; and no vendor has more words kept than it needs.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::brief::Brief;
use atelier_fairness::reservation::Reservation;
use serde_json::Value;

use crate::backend::{
    Acceptance, Backend, BoxFuture, Class, Cost, Fault, LostSubmit, NextPass, PollOutcome,
    StartOutcome, Work, WorkOutput,
};
use crate::hooks::WebhookRequest;
use crate::http::{Secrets, VendorHttp};
use crate::support::{self, FieldSupport};
use crate::unit_costs::{CostCounter, UnitCosts};
use crate::videos::{OversizePolicy, RequestedVideo, fit_videos};

/// The longest prompt that a vendor gives, in characters.
const MOST_CHARACTERS: usize = 32_000;
/// The longest name or seed.
const MOST_NAME: usize = 200;
/// The most prompts that a vendor finds.
const MOST_PROMPTS: usize = 16;
/// The longest ticket, and the longest notes, as they are stored.
const MOST_STORED: usize = 256 * 1024;

/// A worker account as its vendor built it, with what must not leave it.
pub struct Worker {
    vendor: Box<dyn Backend>,
    secrets: Secrets,
    oversized: OversizePolicy,
    costs: Arc<UnitCosts>,
}

impl Worker {
    /// A worker account that goes this way to its vendor.
    pub fn new(http: &VendorHttp, vendor: impl Backend + 'static) -> Self {
        Self {
            secrets: http.secrets().clone(),
            vendor: Box::new(vendor),
            oversized: OversizePolicy::default(),
            costs: Arc::default(),
        }
    }

    /// The same, told what to do about clips that are longer or larger than was asked.
    pub(crate) fn handling(self, oversized: OversizePolicy) -> Self {
        Self { oversized, ..self }
    }

    /// The same, told what work takes where the vendor does not say it in dollars.
    pub(crate) fn costing(self, costs: UnitCosts) -> Self {
        let costs = Arc::new(costs);
        Self { costs, ..self }
    }

    async fn fitted(
        &self,
        started: StartOutcome,
        asked: RequestedVideo,
    ) -> Result<StartOutcome, Fault> {
        Ok(match started {
            StartOutcome::Done(made) => StartOutcome::Done(self.fit(made, asked).await?),
            ticket @ StartOutcome::Ticket(_) => ticket,
        })
    }

    /// What was made, as long and as large as was asked; what cannot be delivered was paid for all the same.
    async fn fit(&self, made: WorkOutput, asked: RequestedVideo) -> Result<WorkOutput, Fault> {
        let cost = made.cost.clone();
        let fitted = fit_videos(made, asked, self.oversized).await;
        fitted.map_err(|fault| fault.paid(cost))
    }

    fn ignored(&self, work: &Work) -> Vec<String> {
        support::ignored(self.vendor.support(&work.operation, &work.brief))
    }

    /// By what the cost of a piece of work is counted.
    fn counter(&self, work: &Work) -> CostCounter {
        let (operation, brief) = (&work.operation, &work.brief);
        let unit_cost = self.costs.of(operation, brief);
        let seconds = self.vendor.ordered_seconds(operation, brief);
        CostCounter::new(unit_cost, brief).ordering(seconds)
    }

    fn fault(&self, fault: Fault) -> Fault {
        redact(&self.secrets, fault)
    }

    /// The order of a later part, kept to the same rules as the first.
    fn step(&self, NextPass { intent, order }: NextPass) -> NextPass {
        let secrets = self.secrets.clone();
        NextPass {
            intent,
            order: Box::pin(async move {
                let ordered = order.await.and_then(short);
                ordered.map_err(|fault| redact(&secrets, fault))
            }),
        }
    }
}

/// What came of a start, with what it took where that is known.
fn counted(started: StartOutcome, counter: &CostCounter) -> StartOutcome {
    match started {
        StartOutcome::Done(made) => StartOutcome::Done(WorkOutput {
            cost: counter.made(made.cost.clone(), made.made),
            ..made
        }),
        ticket @ StartOutcome::Ticket(_) => ticket,
    }
}

/// A fault without what must not leave the worker account.
fn redact(secrets: &Secrets, fault: Fault) -> Fault {
    Fault {
        message: secrets.hide(&fault.message),
        field: fault.field.map(|field| secrets.hide(&field)),
        detail: secrets.hide(&fault.detail),
        ..fault
    }
}

/// A ticket, if it can be kept.
fn short(ticket: Value) -> Result<Value, Fault> {
    if ticket.to_string().len() <= MOST_STORED {
        return Ok(ticket);
    }
    Err(Fault {
        taken: Acceptance::Perhaps,
        ..Fault::vendor(Class::Retry, "the vendor's name for the work is too long")
    })
}

/// What came of a start, if it can be kept.
fn check_start(started: StartOutcome, ignored: Vec<String>) -> Result<StartOutcome, Fault> {
    match started {
        StartOutcome::Ticket(ticket) => short(ticket).map(StartOutcome::Ticket),
        StartOutcome::Done(made) => Ok(StartOutcome::Done(bounded(made, ignored))),
    }
}

/// A result without words that nobody would read to their end, and with the fields that had no effect.
fn bounded(mut made: WorkOutput, ignored: Vec<String>) -> WorkOutput {
    made.ignored = ignored;
    let cut = |text: &mut String, most: usize| {
        if let Some((end, _)) = text.char_indices().nth(most) {
            text.truncate(end);
        }
    };
    made.prompts.truncate(MOST_PROMPTS);
    let texts = made.prompts.iter_mut().chain(&mut made.revised_prompt);
    texts.for_each(|text| cut(text, MOST_CHARACTERS));
    let names = made.seed.iter_mut().chain(&mut made.alias);
    names.for_each(|name| cut(name, MOST_NAME));
    if made.notes.to_string().len() > MOST_STORED {
        made.notes = Value::Null;
    }
    made
}

impl Backend for Worker {
    fn serves(&self, operation: &str) -> bool {
        self.vendor.serves(operation)
    }

    fn lost_submit(&self) -> LostSubmit {
        self.vendor.lost_submit()
    }

    fn submit_limit(&self, work: &Work) -> Duration {
        self.vendor.submit_limit(work)
    }

    fn last_call_limit(&self, work: &Work) -> Duration {
        self.vendor.last_call_limit(work)
    }

    fn takes_hints(&self) -> bool {
        self.vendor.takes_hints()
    }

    fn support(&self, operation: &str, brief: &Brief) -> Vec<FieldSupport> {
        self.vendor.support(operation, brief)
    }

    fn ordered_seconds(&self, operation: &str, brief: &Brief) -> u32 {
        self.vendor.ordered_seconds(operation, brief)
    }

    fn reserve(&self, whose: &Arc<str>, brief: &Brief, long: bool) -> Option<Reservation> {
        self.vendor.reserve(whose, brief, long)
    }

    fn start(&self, work: Work) -> BoxFuture<'_, Result<StartOutcome, Fault>> {
        let (ignored, asked) = (self.ignored(&work), RequestedVideo::of(&work.brief));
        let counter = self.counter(&work);
        let started = self.vendor.start(work);
        Box::pin(async move {
            let kept = started
                .await
                .and_then(|started| check_start(started, ignored));
            let fitted = match kept {
                Ok(started) => self.fitted(counted(started, &counter), asked).await,
                Err(fault) => Err(counter.failed(fault)),
            };
            fitted.map_err(|fault| self.fault(fault))
        })
    }

    fn poll<'a>(
        &'a self,
        work: &'a Work,
        ticket: &'a Value,
    ) -> BoxFuture<'a, Result<PollOutcome, Fault>> {
        let polled = self.vendor.poll(work, ticket);
        Box::pin(async move {
            let counter = || self.counter(work);
            let failed = |fault| PollOutcome::Failed(self.fault(counter().failed(fault)));
            match polled.await {
                Ok(PollOutcome::Failed(fault)) => Ok(failed(fault)),
                Ok(PollOutcome::Done(made)) => {
                    let mut made = bounded(made, self.ignored(work));
                    made.cost = counter().made(made.cost, made.made);
                    match self.fit(made, RequestedVideo::of(&work.brief)).await {
                        Ok(made) => Ok(PollOutcome::Done(made)),
                        Err(fault) => Ok(PollOutcome::Failed(self.fault(fault))),
                    }
                }
                Ok(PollOutcome::Step(step)) => Ok(PollOutcome::Step(self.step(step))),
                // A fault that will not pass is an end of the work, not a question that failed.
                Err(fault) if !fault.class.may_pass() => Ok(failed(fault)),
                other => other.map_err(|fault| self.fault(fault)),
            }
        })
    }

    fn cancel<'a>(&'a self, ticket: &'a Value) -> BoxFuture<'a, ()> {
        self.vendor.cancel(ticket)
    }

    fn look_up<'a>(
        &'a self,
        work: &'a Work,
        late: bool,
    ) -> BoxFuture<'a, Result<Option<StartOutcome>, Fault>> {
        let found = self.vendor.look_up(work, late);
        Box::pin(async move {
            let ignored = self.ignored(work);
            let kept = |started| check_start(started, ignored);
            let kept = found.await.and_then(|found| found.map(kept).transpose());
            let counter = self.counter(work);
            let fitted = match kept {
                Ok(Some(started)) => self
                    .fitted(counted(started, &counter), RequestedVideo::of(&work.brief))
                    .await
                    .map(Some),
                other => other,
            };
            fitted.map_err(|fault| self.fault(fault))
        })
    }

    fn probe(&self) -> BoxFuture<'_, Result<Option<Cost>, Fault>> {
        let probed = self.vendor.probe();
        Box::pin(async move { probed.await.map_err(|fault| self.fault(fault)) })
    }

    fn find_models<'a>(&'a self, names: &'a [String]) -> BoxFuture<'a, Result<(), Fault>> {
        let found = self.vendor.find_models(names);
        Box::pin(async move { found.await.map_err(|fault| self.fault(fault)) })
    }

    fn verify_webhook<'a>(&'a self, post: &'a WebhookRequest) -> BoxFuture<'a, bool> {
        self.vendor.verify_webhook(post)
    }

    fn keeps_posts(&self) -> bool {
        self.vendor.keeps_posts()
    }

    fn kept_post(&self, attempt_id: &str, post: &WebhookRequest) -> Option<String> {
        self.vendor.kept_post(attempt_id, post)
    }
}
