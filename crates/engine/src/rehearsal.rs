//! Rehearsals: a back end with a shadow makes copies of requests after they were answered. What comes of them is compared with what
//! callers got and thrown away: nothing is charged, nobody is called back and no file is kept.

mod comparison;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_backends::backend::{LostSubmit, ProgressTracker, Work};
use atelier_backends::support::SupportLevel;
use atelier_backends::{Backend, ExpectedCost, expected_cost};
use atelier_contract::body::Fields;
use atelier_contract::brief::Brief;
use atelier_contract::kept::UNDERSTOOD;
use atelier_contract::pages::backends::Shadow;
use atelier_contract::pages::cost::Amount;
use atelier_contract::pages::rehearsal::{Rehearsal, RehearsalState, RehearsedSide};
use atelier_contract::time::timestamp;
use atelier_contract::{AccountId, AttemptId, Code, JobId, Refusal};
use atelier_fairness::reservation::Reservation;
use atelier_store::{BackendRow, RehearsalResult, RehearsalRow, WorkerRow};
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::assets::Assets;
use crate::context::{Context, unavailable};
use crate::model_revisions::ModelRevisions;
use crate::names::WorkerName;
use crate::order::resolve_request;
use crate::runner::{CopyMiss, JobCopy, Runner, free_slot, put_english, run_trial};
use crate::tracer::TRACE_FIELD;
use comparison::{AnsweredJob, CopyEnd, compare, sum_view};

/// Copies that are made at once, of all back ends together.
const AT_ONCE: usize = 16;
/// A copy may take so much longer than its job, and this long in any case.
const LONGER: u32 = 3;
const LIMIT_LEAST: Duration = Duration::from_secs(30);
const LIMIT_MOST: Duration = Duration::from_mins(30);
/// A copy waits no longer for a worker account.
const SLOT_WITHIN: Duration = Duration::from_mins(1);
/// After so many copies in a row that took too long, the vendor is left alone for so long.
const SLOW_MOST: u32 = 3;
const PAUSE_MS: i64 = 10 * 60 * 1000;
/// Calls that are shown of a back end.
const SHOWN: i64 = 50;
const DOLLARS: &str = "USD";

/// Has back ends rehearse.
pub struct Rehearsals {
    context: Arc<Context>,
    assets: Arc<Assets>,
    runner: Arc<Runner>,
    models: Arc<ModelRevisions>,
    places: Arc<Semaphore>,
    /// Copies in a row that took too long, by back end.
    slow: Mutex<HashMap<String, u32>>,
}

/// A copy that is about to be made.
struct ReadyCopy {
    copy: JobCopy,
    backend: BackendRow,
    shadow: Shadow,
    fields: Fields,
    brief: Box<Brief>,
}

impl Rehearsals {
    pub(crate) fn new(
        context: Arc<Context>,
        assets: Arc<Assets>,
        runner: Arc<Runner>,
        models: Arc<ModelRevisions>,
    ) -> Arc<Self> {
        Arc::new(Self {
            context,
            assets,
            runner,
            models,
            places: Arc::new(Semaphore::new(AT_ONCE)),
            slow: Mutex::default(),
        })
    }

    /// Wakes whoever takes steps: something waits, or there is room again.
    pub(crate) fn hint(&self) -> &Notify {
        &self.runner.copies().hint
    }

    /// Whether no copy waits or is being made.
    pub fn is_idle(&self) -> bool {
        self.places.available_permits() == AT_ONCE && self.runner.copies().is_empty()
    }

    /// Begins the copy that has waited longest; whether there may be another.
    pub fn step(self: &Arc<Self>) -> bool {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return false;
        };
        let Some(copy) = self.runner.copies().take() else {
            return false;
        };
        let this = Arc::clone(self);
        self.context.tasks().spawn(async move {
            let stopping = this.context.stopping().clone();
            let made = async {
                if let Err(error) = this.make(copy).await {
                    tracing::warn!(%error, "a copy of a request could not be compared");
                }
            };
            tokio::select! {
                () = made => {}
                // Whoever stops waits for callers, not for copies.
                () = stopping.cancelled() => {}
            }
            drop(place);
            this.hint().notify_one();
        });
        true
    }

    /// Makes a copy and compares it, unless something speaks against it.
    async fn make(&self, copy: JobCopy) -> Result<(), atelier_store::Error> {
        let id = copy.backend_id.clone();
        let Some(ready) = self.ready(copy).await? else {
            return Ok(());
        };
        let workers = self.workers(&id).await?;
        let built = workers
            .iter()
            .find_map(|row| self.runner.workers().backend(&WorkerName::from(row)));
        let Some(backend) = built else {
            self.miss(&id, CopyMiss::NoAccount);
            return Ok(());
        };
        let operation = ready.copy.row.operation.clone();
        let mut refused = backend.support(&operation, &ready.brief).into_iter();
        let refused = refused.find(|one| one.support == SupportLevel::Refused);
        if !backend.serves(&operation) || refused.is_some() {
            let why = refused.map_or_else(
                || format!("the back end does not serve {operation}"),
                |one| format!("the back end refuses {}: {}", one.field, one.why),
            );
            return self.record(&ready, &CopyEnd::refused(why), 0).await;
        }
        let settings = Value::Object(ready.backend.spec.settings.clone());
        let expected = match expected_cost(&settings, backend.as_ref(), &operation, &ready.brief) {
            ExpectedCost::Dollars(micros) => micros,
            ExpectedCost::ByReport => 0,
            // A server of the operator's own, which is asked again without harm, costs nothing unless it is said.
            ExpectedCost::Unsaid if backend.lost_submit() == LostSubmit::Repeat => 0,
            ExpectedCost::Unsaid => {
                self.miss(&id, CopyMiss::NoCost);
                return Ok(());
            }
        };
        if !self.set_aside(&ready, expected).await? {
            return Ok(());
        }
        let end = self.trial(&ready, &workers, backend.as_ref()).await;
        let Some(end) = end else {
            return self.store().give_back(&id, expected).await;
        };
        self.record(&ready, &end, expected).await
    }

    fn store(&self) -> atelier_store::Rehearsals<'_> {
        self.context.store().rehearsals()
    }

    fn miss(&self, backend_id: &str, why: CopyMiss) {
        self.context.meters().copy_missed();
        self.runner.copies().miss(backend_id, why);
    }

    async fn workers(&self, backend_id: &str) -> Result<Vec<WorkerRow>, atelier_store::Error> {
        let rows = self.context.store().workers().list().await?;
        let here = |row: &WorkerRow| row.backend_id == backend_id;
        Ok(rows.into_iter().filter(here).collect())
    }

    /// A copy with what is to be made, as the operator's routes have it; nothing when it is not for this back end.
    async fn ready(&self, copy: JobCopy) -> Result<Option<ReadyCopy>, atelier_store::Error> {
        let rows = self.context.store().workers().backends().await?;
        let backend = rows.into_iter().find(|row| row.id == copy.backend_id);
        let Some(backend) = backend.filter(BackendRow::in_use) else {
            return Ok(None);
        };
        let Some(shadow) = backend.spec.shadow.clone() else {
            return Ok(None);
        };
        let Ok(mut fields) = serde_json::from_str::<Fields>(&copy.row.request) else {
            return Ok(None);
        };
        fields.remove(TRACE_FIELD);
        let understood = fields.remove(UNDERSTOOD);
        let submit = atelier_contract::operation(&copy.row.operation).map(|(_, submit)| submit);
        let request = submit.and_then(|submit| (submit.parse_stored)(fields.clone()).ok());
        let Some(request) = request else {
            return Ok(None);
        };
        let account = AccountId::new(copy.row.account_id.as_str());
        let resolved = resolve_request(&self.context, &self.assets, &account, request.as_ref());
        let Ok(resolved) = resolved.await else {
            self.miss(&copy.backend_id, CopyMiss::NoInputs);
            return Ok(None);
        };
        if !resolved.cited.is_empty() {
            return Ok(None);
        }
        let mut brief = resolved.order.brief;
        put_english(understood, &mut brief, &mut fields);
        if let Some(name) = &copy.row.model {
            let catalogue = self.models.catalogue();
            let row = catalogue.find(name);
            let routes = row.map(|row| &row.definition.routes);
            if let Some(routes) = routes.filter(|routes| !routes.is_empty()) {
                let leads = |to: &str| to == backend.id || to == &*backend.spec.name;
                let route = routes.iter().find(|route| leads(&route.backend));
                // Nobody said what this back end calls the model.
                let Some(route) = route else { return Ok(None) };
                brief.vendor_model.clone_from(&route.model);
                brief.unit_cost = route.cost;
            }
        }
        Ok(Some(ReadyCopy {
            copy,
            backend,
            shadow,
            fields,
            brief,
        }))
    }

    /// Sets aside what a copy is to cost; whether the cap and the vendor allow it.
    async fn set_aside(
        &self,
        ready: &ReadyCopy,
        micros: i64,
    ) -> Result<bool, atelier_store::Error> {
        let (id, now_ms) = (&ready.copy.backend_id, self.context.steady_ms());
        let cap = ready.shadow.cap.micros();
        let (row, fits) = self.store().set_aside(id, micros, cap, now_ms).await?;
        if !fits {
            let slow = row.paused_ms > now_ms;
            self.miss(
                id,
                if slow {
                    CopyMiss::Slow
                } else {
                    CopyMiss::CapSpent
                },
            );
        }
        Ok(fits)
    }

    /// Has a vendor make a copy; nothing when it did not come to that.
    async fn trial(
        &self,
        ready: &ReadyCopy,
        workers: &[WorkerRow],
        backend: &dyn Backend,
    ) -> Option<CopyEnd> {
        let (id, row) = (&ready.copy.backend_id, &ready.copy.row);
        let Some((account, slot)) = free_slot(self.runner.workers(), workers, SLOT_WITHIN).await
        else {
            self.miss(id, CopyMiss::NoAccount);
            return None;
        };
        let mut work = self.work(ready);
        let owner = AccountId::new(row.account_id.as_str());
        let inputs = self.runner.with_inputs(work, &owner, backend.takes_hints());
        match inputs.await {
            Ok(with_inputs) => work = with_inputs,
            Err(_) => {
                self.miss(id, CopyMiss::NoInputs);
                return None;
            }
        }
        let real = AnsweredJob::took(row);
        let limit = (real * LONGER).clamp(LIMIT_LEAST, LIMIT_MOST);
        let began_ms = self.context.steady_ms();
        let made = run_trial(slot.backend().as_ref(), work, limit).await;
        drop(slot);
        let took_ms = self.context.steady_ms() - began_ms;
        let told = match &made {
            Ok(made) => made.cost.clone(),
            Err(failure) => failure.fault.cost.clone(),
        };
        if let Some(told) = &told
            && let Err(error) = self.runner.workers().add_cost(account, told).await
        {
            tracing::warn!(%error, worker = %account.id, "what a copy took was not counted");
        }
        self.note_pace(id, matches!(&made, Err(failure) if failure.is_late()))
            .await;
        Some(CopyEnd::of(made, told, took_ms))
    }

    /// Counts copies that took too long, and leaves a vendor alone after some in a row.
    async fn note_pace(&self, backend_id: &str, late: bool) {
        let pause = {
            let mut slow = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
            let count = slow.entry(backend_id.to_owned()).or_default();
            *count = if late { *count + 1 } else { 0 };
            let pause = *count >= SLOW_MOST;
            if pause {
                *count = 0;
            }
            pause
        };
        if !pause {
            return;
        }
        tracing::warn!(
            backend = backend_id,
            "a rehearsal rests: its vendor is slow"
        );
        let until_ms = self.context.steady_ms() + PAUSE_MS;
        if let Err(error) = self.store().pause(backend_id, until_ms).await {
            tracing::warn!(%error, "a rehearsal could not be paused");
        }
    }

    /// What the back end is given: nobody's job, of the words and inputs of somebody's.
    fn work(&self, ready: &ReadyCopy) -> Work {
        let job_id: JobId = self.context.ids().uuid().as_str().into();
        Work {
            attempt_id: AttemptId::of(&job_id, 1).to_string(),
            job_id,
            whose: Arc::from("rehearsal"),
            long: false,
            reserved: Reservation::default(),
            operation: ready.copy.row.operation.clone(),
            request: ready.fields.clone(),
            brief: (*ready.brief).clone(),
            sources: Vec::new(),
            hints: Vec::new(),
            mask: None,
            video: None,
            parent: None,
            cited: Vec::new(),
            read: self.assets.reader(),
            progress: ProgressTracker::default(),
            cancelled: CancellationToken::new(),
            hook_url: None,
        }
    }

    /// Compares a copy with its job and writes down how both went.
    async fn record(
        &self,
        ready: &ReadyCopy,
        end: &CopyEnd,
        set_aside: i64,
    ) -> Result<(), atelier_store::Error> {
        let answered = self.answered(ready).await?;
        let (sum, call) = compare(&ready.copy.row, &answered, end, self.context.now_ms());
        self.context.meters().rehearsed(call.is_none());
        let spent = if end.ordered {
            end.cost.unwrap_or(set_aside)
        } else {
            0
        };
        let result = RehearsalResult {
            id: self.context.ids().uuid(),
            backend_id: ready.copy.backend_id.clone(),
            sum,
            call: call.map(|call| serde_json::to_string(&call).unwrap_or_default()),
            beyond: spent - set_aside,
            at_ms: self.context.now_ms(),
        };
        self.store().record(result).await
    }

    /// How the caller was answered: what it cost is what the vendor said, or what the operator says that it costs.
    async fn answered(&self, ready: &ReadyCopy) -> Result<RehearsedSide, atelier_store::Error> {
        let row = &ready.copy.row;
        let told = ready.copy.cost.as_ref();
        let told = told.filter(|cost| cost.currency == DOLLARS);
        let name = row.worker.as_deref().map(WorkerName::read);
        let rows = self.context.store().workers().backends().await?;
        let made_at = name
            .as_ref()
            .and_then(|name| rows.into_iter().find(|row| *row.id == **name.backend()));
        let mut cost = told.map(|cost| cost.micros);
        if let (None, Some(name), Some(backend)) = (cost, &name, &made_at)
            && let Some(built) = self.runner.workers().backend(name)
        {
            let mut brief = (*ready.brief).clone();
            brief.unit_cost = self.route_cost(row.model.as_deref(), backend);
            let settings = Value::Object(backend.spec.settings.clone());
            let expected = expected_cost(&settings, built.as_ref(), &row.operation, &brief);
            if let ExpectedCost::Dollars(micros) = expected {
                cost = Some(micros);
            }
        }
        let backend = made_at.map(|row| row.spec.name.to_string());
        Ok(AnsweredJob::side(
            row,
            backend,
            cost.map(Amount::from_micros),
        ))
    }

    fn route_cost(
        &self,
        model: Option<&str>,
        backend: &BackendRow,
    ) -> Option<atelier_contract::pages::cost::UnitCost> {
        let catalogue = self.models.catalogue();
        let routes = &catalogue.find(model?)?.definition.routes;
        let leads = |to: &str| to == backend.id || to == &*backend.spec.name;
        routes.iter().find(|route| leads(&route.backend))?.cost
    }

    /// Every back end that is rehearsed, and how that goes.
    pub async fn list(&self) -> Result<Vec<Rehearsal>, Refusal> {
        let backends = self.context.store().workers().backends().await;
        let begun = self.store().all().await.map_err(unavailable)?;
        let mut all = Vec::new();
        for backend in backends.map_err(unavailable)? {
            let Some(shadow) = backend
                .spec
                .shadow
                .clone()
                .filter(|_| backend.owner.is_none())
            else {
                continue;
            };
            let row = begun.iter().find(|row| row.backend_id == backend.id);
            all.push(self.view(&backend, &shadow, row).await?);
        }
        Ok(all)
    }

    async fn view(
        &self,
        backend: &BackendRow,
        shadow: &Shadow,
        row: Option<&RehearsalRow>,
    ) -> Result<Rehearsal, Refusal> {
        let now_ms = self.context.steady_ms();
        let spent = row.map_or(0, |row| row.spent);
        let paused_ms = row.map_or(0, |row| row.paused_ms);
        let sums = self.store().sums(&backend.id).await.map_err(unavailable)?;
        let latest = self.store().latest(&backend.id, SHOWN).await;
        let latest = latest.map_err(unavailable)?;
        Ok(Rehearsal {
            id: backend.id.clone(),
            name: backend.spec.name.to_string(),
            share: shadow.share.get(),
            cap: shadow.cap,
            spent: Amount::from_micros(spent),
            state: if !backend.in_use() {
                RehearsalState::Off
            } else if paused_ms > now_ms {
                RehearsalState::Slow
            } else if spent >= shadow.cap.micros() {
                RehearsalState::CapSpent
            } else {
                RehearsalState::Running
            },
            paused_until: (paused_ms > now_ms)
                .then(|| timestamp(paused_ms + self.context.clock().ahead_ms())),
            since: row.map(|row| timestamp(row.since_ms + self.context.clock().ahead_ms())),
            calls: sums.iter().map(|sum| sum.calls).sum(),
            alike: sums.iter().map(|sum| sum.alike).sum(),
            missed: self.runner.copies().missed(&backend.id),
            sums: sums.iter().map(sum_view).collect(),
            latest: latest
                .iter()
                .filter_map(|text| serde_json::from_str(text).ok())
                .collect(),
        })
    }

    /// Begins a rehearsal anew: what was compared is forgotten, and nothing is spent.
    pub async fn clear(&self, by: &str, backend_id: &str) -> Result<(), Refusal> {
        let act = self.context.act(by, "rehearsal.clear", backend_id, "");
        let cleared = self.store().clear(backend_id, act).await;
        self.runner.copies().forget(backend_id);
        if cleared.map_err(unavailable)? {
            return Ok(());
        }
        Err(Refusal::new(
            Code::NotFound,
            "nothing was rehearsed at this back end",
        ))
    }
}
