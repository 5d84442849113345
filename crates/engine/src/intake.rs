//! Intake: a call becomes an accepted job. It is parsed, ordered and priced, its addresses are judged and its inputs
//! kept; then it is accepted in one commit.

mod accept;
mod addresses;
mod billing;
mod bulk;
mod call;
mod many;
mod operations;
mod prompts;
mod review;
mod translator;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::Fields;
use atelier_contract::brief::Source;
use atelier_contract::family::Family;
use atelier_contract::fields::ImageData;
use atelier_contract::models::ParsedCall;
use atelier_contract::operation::Request;
use atelier_contract::pages::jobs::UNDERSTOOD;
use atelier_contract::{AccountId, Code, JobId, Quota, Refusal, refuse_translation};
use atelier_store::{Attribution, Idempotency, NewJob};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::time::timeout_at;

use crate::admin::{BannedWords, Caller, Groups, Prices};
use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::model_revisions::ModelRevisions;
use crate::names::WorkerName;
use crate::order::{LoadedReferences, Maker, ResolvedRequest, resolve_request};
use crate::runner::{NamedModel, RoutingConstraint, Runner};
use crate::tracer::TRACE_FIELD;
use crate::wake::Changes;
use accept::{Placement, PreparedJob, RecentRefusals};
use call::{BilledOrder, FamilyEndpoint, built_in_model, end_user};
use prompts::Pauses;
use review::Review;
use translator::Translator;

pub use bulk::{BulkAnswer, BulkCall, BulkView};
pub use call::{Call, QuoteTerms, Submission};

/// How long everything takes that goes before the acceptance of a call, or of many together; nothing of it is kept. Both times
/// count from where the caller began to wait.
const PREPARED_WITHIN: Duration = Duration::from_secs(8);
/// How long a caller waits for the acceptance in all, so that with the look at its key there is an answer within 15 seconds,
/// whatever is silent. The acceptance itself goes on to its end.
const ANSWERED_WITHIN: Duration = Duration::from_millis(11_500);

/// A call that was looked at.
enum CheckedCall {
    /// It repeats this one.
    Replay(Submission),
    /// It is to be accepted.
    New(Box<PreparedJob>),
}

/// What is sold, and for how much.
pub(crate) struct SaleTerms {
    pub(crate) prices: Arc<Prices>,
    pub(crate) models: Arc<ModelRevisions>,
    pub(crate) groups: Arc<Groups>,
}

/// When a job is made.
#[derive(Clone, Copy)]
struct Moment {
    /// In the time that things are due in.
    queued_ms: i64,
    /// How far the time that is shown is ahead of that.
    ahead_ms: i64,
}

impl Moment {
    /// In the time that is shown.
    fn created_ms(self) -> i64 {
        self.queued_ms + self.ahead_ms
    }
}

pub struct Intake {
    context: Arc<Context>,
    assets: Arc<Assets>,
    runner: Arc<Runner>,
    sold: SaleTerms,
    banned: Arc<BannedWords>,
    review: Review,
    translator: Translator,
    pauses: Pauses,
    refused: RecentRefusals,
}

impl Intake {
    pub(crate) fn new(
        context: Arc<Context>,
        assets: Arc<Assets>,
        runner: Arc<Runner>,
        sold: SaleTerms,
        banned: Arc<BannedWords>,
    ) -> Self {
        Self {
            context,
            assets,
            runner,
            sold,
            banned,
            review: Review::default(),
            translator: Translator::default(),
            pauses: Pauses::default(),
            refused: RecentRefusals::default(),
        }
    }

    /// Accepts a call or refuses it; after an acceptance the job survives anything.
    pub fn submit(&self, call: Call) -> BoxFuture<'_, Result<Submission, Refusal>> {
        // Boxed, so that it is compiled once and not for every door.
        Box::pin(self.accept_or_refuse(call))
    }

    async fn accept_or_refuse(&self, mut call: Call) -> Result<Submission, Refusal> {
        let (prepared_until, until) = (call.begun + PREPARED_WITHIN, call.begun + ANSWERED_WITHIN);
        call.place_files()?;
        let idempotency = call.idempotency(&self.context);
        let owner = call.caller.account_id.clone();
        let (family, waits) = (call.family, call.waits());
        let ready = self.check_call(call, idempotency.as_ref());
        let ready = timeout_at(prepared_until, ready).await;
        let ready = ready.unwrap_or_else(|_| {
            tracing::error!(family = family.name, "a call could not be prepared in time");
            Err(unavailable(atelier_store::Error::Busy))
        });
        let prepared = match ready? {
            CheckedCall::Replay(earlier) => return Ok(earlier),
            CheckedCall::New(prepared) => *prepared,
        };
        let (context, runner, assets) = (
            self.context.clone(),
            self.runner.clone(),
            self.assets.clone(),
        );
        let account_id = owner.clone();
        let accepted = async move {
            let kept = assets.keep_inputs(&owner, &prepared.brief).await?;
            let id = JobId::new(prepared.job.id.clone());
            let changes = waits.then(|| Changes::of_job(context.wakes().clone(), &id));
            let mut accepted = accept::accept(context, runner, prepared, idempotency, waits).await;
            if let Ok(submitted) = &mut accepted
                && !submitted.replayed
            {
                submitted.changes = changes;
            }
            let unused = match &accepted {
                Ok(submitted) => submitted.replayed,
                // It may have been accepted all the same.
                Err(refusal) => refusal.code != Code::Internal,
            };
            if unused {
                assets.drop_inputs(kept).await;
            }
            accepted
        };
        // A task of its own: a caller that hangs up now leaves no accepted job behind that nobody works on. Boxed, because a
        // task is moved several times.
        let accepted = accept::in_time(until, self.context.tasks().spawn(Box::pin(accepted))).await;
        if accepted.is_err() {
            self.refused.note(&self.context, &account_id);
        }
        accepted
    }

    /// Makes a call ready to be accepted, unless it repeats an earlier one.
    async fn check_call(
        &self,
        call: Call,
        idempotency: Option<&Idempotency>,
    ) -> Result<CheckedCall, Refusal> {
        let (context, caller) = (&self.context, &call.caller);
        // A repeat is answered whatever has become of pool, prices and quota since.
        if let Some(given) = idempotency
            && let Some(earlier) = accept::find_replay(context, &caller.account_id, given).await?
        {
            return Ok(CheckedCall::Replay(earlier));
        }
        let endpoint = FamilyEndpoint {
            family: call.family,
            submit: call.submit,
        };
        let prepared = self.prepare(caller, endpoint, call.fields, call.notes, call.custody);
        let (mut prepared, request) = prepared.await?;
        if self.refused.is_recent(context, &caller.account_id) || self.costs(&prepared) {
            // No place is held for it meanwhile.
            accept::look(&self.runner, &prepared)?;
            accept::precheck(context, &prepared).await?;
        } else {
            accept::take_place(&self.runner, &mut prepared).await?;
        }
        self.reviewed(call.family, request.as_ref(), &prepared)
            .await?;
        self.translate(&mut prepared).await?;
        Ok(CheckedCall::New(Box::new(prepared)))
    }

    /// Whether something is done for a call before it is accepted: a refusal is to come before that.
    fn costs(&self, prepared: &PreparedJob) -> bool {
        let settings = self.context.settings();
        let inline = |source: &Source| matches!(source.image, ImageData::Inline(_));
        settings.prompts.is_moderated()
            || (settings.translation.is_set() && prepared.brief.translate)
            || prepared.brief.inputs().any(inline)
    }

    /// Makes a call ready to be accepted: parsed, ordered, priced, its addresses judged. Nothing is kept for it yet.
    async fn prepare(
        &self,
        caller: &Caller,
        endpoint: FamilyEndpoint,
        fields: Fields,
        notes: Fields,
        custody: bool,
    ) -> Result<(PreparedJob, Box<dyn Request>), Refusal> {
        let (context, account_id) = (&self.context, &caller.account_id);
        let FamilyEndpoint { family, submit } = endpoint;
        prompts::check_pause(context, &self.pauses, account_id, family).await?;
        if let Some(policy) = &caller.policy {
            policy.check_operation(submit.name)?;
        }
        let user = end_user(&fields);
        let group = self.group_of(caller).await?;
        let ParsedCall { request, model } = self.parsed(submit, fields, group.as_deref())?;
        let rules = self.banned.rules();
        let asked = request.as_ref();
        prompts::check(context, &self.pauses, account_id, family, asked, &rules).await?;
        let ordered =
            resolve_request(&self.context, &self.assets, account_id, request.as_ref()).await?;
        let mut fields = ordered.order.stored(request.as_ref());
        let (lane, follows) = self.place_of(account_id, custody, &ordered.maker)?;
        addresses::check(&self.context, &self.assets, caller, &ordered.order).await?;

        let catalogue_model = self.accepted_model(model, &fields).await?;
        // Priced last, at the moment that the job says it was made: a rule may begin while addresses are asked about.
        let moment = self.moment();
        let billed = BilledOrder {
            endpoint,
            order: &ordered.order,
            stored: &fields,
            custody,
        };
        let bill = self.bill(&billed, group.as_deref(), moment.created_ms())?;
        fields.extend(notes);
        if let Some(trace) = caller.trace {
            fields.insert(TRACE_FIELD.to_owned(), trace.header().into());
        }
        let model = built_in_model(&fields).map(str::to_owned);
        let named = catalogue_model
            .as_ref()
            .map(|row| row.definition.name.clone());
        let named = named.or_else(|| model.clone());
        if let Some(policy) = &caller.policy {
            policy.check_model(submit.name, named.as_deref())?;
        }
        let mut job = self.new_job(caller, endpoint, &ordered, &fields, moment);
        job.price = bill.total;
        if let Some(row) = &catalogue_model {
            job.model = Some(row.definition.name.clone());
            job.model_revision = Some(row.revision);
        }
        job.attribution.model = named;
        job.attribution.user = user;
        if !bill.lines.is_empty() {
            job.price_lines = serde_json::to_string(&bill.lines).ok();
        }
        job.lane = lane;
        job.follows = follows.as_ref().map(WorkerName::to_string);
        let prepared = PreparedJob {
            job,
            whose: Arc::clone(account_id.shared()),
            follows,
            place: Placement::Open,
            named: NamedModel {
                model,
                catalogue_model,
            },
            brief: ordered.order.brief,
            referred: LoadedReferences {
                parent: ordered.parent,
                cited: ordered.cited,
            },
            trace: caller.trace,
        };
        Ok((prepared, request))
    }

    /// Has a call reviewed, where there is somebody for it.
    async fn reviewed(
        &self,
        family: &'static Family,
        request: &dyn Request,
        prepared: &PreparedJob,
    ) -> Result<(), Refusal> {
        let reviewed = self.review.check(&self.context, request, &prepared.brief);
        let reviewed = reviewed.await;
        self.counted(family, &prepared.job.account_id, reviewed)
            .await
    }

    /// How words were judged, counted where they were refused.
    async fn counted(
        &self,
        family: &'static Family,
        account_id: &str,
        judged: Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if let Err(refusal) = &judged
            && refusal.code == Code::BannedPrompt
        {
            prompts::count(&self.context, &self.pauses, account_id, family).await?;
        }
        judged
    }

    /// Has a prompt put into English, where that is asked for and there is somebody for it; what came of it is judged as the
    /// prompt was and kept with the request.
    async fn translate(&self, prepared: &mut PreparedJob) -> Result<(), Refusal> {
        if !prepared.brief.translate {
            return Ok(());
        }
        let prompt = &prepared.brief.prompt;
        let Some(english) = self.translator.english(&self.context, prompt).await else {
            return Ok(());
        };
        self.check_translation(prepared, &english).await?;
        let request = &mut prepared.job.request;
        if let Ok(mut fields) = serde_json::from_str::<Fields>(request) {
            fields.insert(UNDERSTOOD.to_owned(), Value::from(&*english));
            *request = Value::Object(fields).to_string();
        }
        Ok(())
    }

    /// Refuses words that would have been refused had they been given in English.
    async fn check_translation(
        &self,
        prepared: &PreparedJob,
        english: &str,
    ) -> Result<(), Refusal> {
        let (context, job) = (&self.context, &prepared.job);
        let Some((family, _)) = atelier_contract::operation(&job.operation) else {
            return Ok(());
        };
        let mut judged = refuse_translation(english, "prompt", family, &self.banned.rules());
        if judged.is_ok() {
            judged = self.review.check_words(context, english).await;
        }
        self.counted(family, &job.account_id, judged).await
    }

    /// Where a job may run, and whose earlier work it follows. A follow-up stays with whoever made its parent: nobody
    /// else has what it follows.
    fn place_of(
        &self,
        account_id: &AccountId,
        custody: bool,
        maker: &Maker,
    ) -> Result<(String, Option<WorkerName>), Refusal> {
        let runner = &self.runner;
        let follows = match maker {
            Maker::Worker(worker) => Some(worker.clone()),
            Maker::Nobody | Maker::InProcess => None,
        };
        if custody {
            let own = follows
                .as_ref()
                .is_some_and(|worker| runner.workers().owns(account_id, worker));
            if *maker != Maker::Nobody && !own {
                return Err(Refusal::new(
                    Code::ActionNotAvailable,
                    "the earlier job was not made on an account of yours",
                ));
            }
            return Ok((RoutingConstraint::Own(account_id).text(), follows));
        }
        let lane = match maker {
            Maker::Nobody => RoutingConstraint::Any.text(),
            Maker::InProcess => {
                RoutingConstraint::At(runner.workers().unrecorded().unwrap_or_default().backend())
                    .text()
            }
            Maker::Worker(worker) => RoutingConstraint::At(worker.backend()).text(),
        };
        Ok((lane, follows))
    }

    /// Now, in both times that a job keeps.
    fn moment(&self) -> Moment {
        Moment {
            queued_ms: self.context.steady_ms(),
            ahead_ms: self.context.clock().ahead_ms(),
        }
    }

    /// A job of a call, which has no price yet.
    fn new_job(
        &self,
        caller: &Caller,
        endpoint: FamilyEndpoint,
        ordered: &ResolvedRequest,
        fields: &Fields,
        moment: Moment,
    ) -> NewJob {
        let FamilyEndpoint { family, submit } = endpoint;
        let order = &ordered.order;
        let Moment {
            queued_ms,
            ahead_ms,
        } = moment;
        let own_limit = submit.timeout_s.map(|limit| limit(fields));
        let limit_s = order.timeout_s.or(own_limit).unwrap_or(family.timeout_s);
        NewJob {
            id: self.context.ids().job(family.ids).to_string(),
            account_id: caller.account_id.to_string(),
            operation: submit.name.to_owned(),
            queue: family.queue.to_owned(),
            speed: order.speed,
            // Not by way of its Display, which formats piece by piece.
            request: serde_json::to_string(fields).expect("values are JSON"),
            price: Quota::ZERO,
            parent_id: ordered.parent.as_ref().map(|parent| parent.id.to_string()),
            lane: String::new(),
            follows: None,
            hook_url: order.hook.as_ref().map(|hook| hook.as_str().to_owned()),
            created_ms: moment.created_ms(),
            ahead_ms,
            turn_delay_ms: turn::delay_ms(order.speed),
            turn_step_ms: turn::STEP_MS,
            deadline_ms: queued_ms + i64::from(limit_s) * 1000,
            batched: false,
            model: None,
            model_revision: None,
            price_lines: None,
            attribution: Attribution {
                key_id: Some(caller.key_id.to_string()),
                key_above: caller.key_above.as_deref().map(str::to_owned),
                tags: caller.tags.as_deref().map(str::to_owned),
                ..Attribution::default()
            },
        }
    }

    /// The banned word a prompt contains, if any.
    pub fn banned_word(&self, family: &Family, prompt: &str) -> Option<String> {
        let rules = &self.banned.rules();
        let broken = atelier_contract::broken_rule(prompt, family, rules);
        broken.map(|(_, word)| word.to_owned())
    }
}
