//! The engine put together: what it is built from, and its parts.

use std::sync::Arc;

use atelier_backends::Vendor;
use atelier_backends::http::OutboundClient;
use atelier_contract::Tariff;
use atelier_contract::metrics::HistogramVec;
use atelier_fairness::limits::LimitOverrides;
use atelier_fairness::share::FairSemaphore;
use atelier_store::Store;
use atelier_store::files::Files;

use crate::admin::{Admin, AdminDeps, BannedWords, Groups, Prices};
use crate::assets::Assets;
use crate::auditor::Auditor;
use crate::callback_queue::CallbackQueue;
use crate::callbacks::Callbacks;
use crate::cleaner::Cleaner;
use crate::clock::Clock;
use crate::context::{Context, ContextDeps};
use crate::ids::Ids;
use crate::intake::{Intake, SaleTerms};
use crate::jobs::Jobs;
use crate::keyring::Keyring;
use crate::meters::Meters;
use crate::model_revisions::ModelRevisions;
use crate::runner::{EmbeddedWorker, Runner};
use crate::settings::{PublicUrls, Settings};
use crate::tracer::Tracer;

/// What an engine is built from.
pub struct Parts {
    pub store: Store,
    /// The asset store's bytes.
    pub files: Files,
    /// Whoever makes the media inside this process.
    pub workers: Vec<EmbeddedWorker>,
    /// The vendors that worker accounts can be set up at.
    pub vendors: &'static [Vendor],
    /// The guarded way out.
    pub outbound: OutboundClient,
    pub tariff: Tariff,
    pub settings: Settings,
    pub clock: Clock,
    pub ids: Ids,
    /// Secrets of the service.
    pub keyring: Keyring,
    /// This process, among all that share the store.
    pub node: String,
}

pub struct Engine {
    context: Arc<Context>,
    assets: Arc<Assets>,
    runner: Arc<Runner>,
    intake: Intake,
    callbacks: Arc<Callbacks>,
    jobs: Arc<Jobs>,
    tidy: Cleaner,
    auditor: Auditor,
    admin: Admin,
}

impl Engine {
    /// Builds the engine; nothing runs yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let allowances: Arc<LimitOverrides> = Arc::default();
        let callback_queue: Arc<CallbackQueue> = Arc::default();
        parts.outbound.input_memory().set_limits(&allowances);
        let context = Context::new(ContextDeps {
            store: parts.store,
            clock: parts.clock,
            ids: parts.ids,
            settings: parts.settings,
            keyring: parts.keyring,
            outbound: parts.outbound,
            vendors: parts.vendors,
            node: parts.node,
        });
        let assets = Assets::new(context.clone(), parts.files);
        let models = ModelRevisions::new(context.clone());
        let runner = Runner::new(
            context.clone(),
            assets.clone(),
            callback_queue.clone(),
            models.clone(),
            parts.workers,
            parts.vendors,
        );
        let jobs = Arc::new(Jobs::new(context.clone(), assets.clone(), runner.clone()));
        let prices = Prices::new(context.clone(), parts.tariff);
        let groups = Groups::new(
            context.clone(),
            assets.clone(),
            prices.clone(),
            models.clone(),
        );
        let banned = BannedWords::new(context.clone());
        let admin = Admin::new(AdminDeps {
            context: context.clone(),
            allowances,
            assets: assets.clone(),
            runner: runner.clone(),
            jobs: jobs.clone(),
            prices: prices.clone(),
            groups: groups.clone(),
            models: models.clone(),
            banned: banned.clone(),
        });
        Arc::new(Self {
            intake: Intake::new(
                context.clone(),
                assets.clone(),
                runner.clone(),
                SaleTerms {
                    prices,
                    models,
                    groups,
                },
                banned,
            ),
            callbacks: Callbacks::new(context.clone(), assets.clone(), callback_queue),
            tidy: Cleaner::new(context.clone(), assets.clone()),
            auditor: Auditor::new(context.clone()),
            admin,
            jobs,
            runner,
            assets,
            context,
        })
    }

    /// What single accounts have of what all share.
    pub fn allowances(&self) -> &Arc<LimitOverrides> {
        self.admin.accounts().allowances()
    }

    /// What accounts share of reading.
    pub fn read_shares(&self) -> [&Arc<FairSemaphore>; 2] {
        self.context.store().load().shares
    }

    /// Whether callers may name addresses on this machine, since only it seems to reach the service.
    pub fn reaches_own_machine(&self) -> bool {
        self.context.outbound().policy().reaches_own_machine()
    }

    /// Where the service is reached.
    pub fn urls(&self) -> &PublicUrls {
        &self.context.settings().urls
    }

    /// Tells what happened to whoever collects it.
    pub fn tracer(&self) -> &Tracer {
        self.context.tracer()
    }

    /// What this node counts.
    pub fn meters(&self) -> &Meters {
        self.context.meters()
    }

    /// What commits of this node were like, and how many changes wait for one.
    pub fn commits(&self) -> ([&HistogramVec; 2], usize) {
        let load = self.context.store().load();
        (load.commits, load.waiting)
    }

    /// What the parts share.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Where calls become jobs.
    pub fn intake(&self) -> &Intake {
        &self.intake
    }

    /// Jobs as callers read, await and cancel them.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// Where jobs are worked on.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Where bytes are kept.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// What is owed to callers' addresses.
    pub fn callbacks(&self) -> &Arc<Callbacks> {
        &self.callbacks
    }

    /// Accounts, keys, back ends, prices, operators, and what operators see.
    pub fn admin(&self) -> &Admin {
        &self.admin
    }

    /// What forgets old rows and files.
    pub fn tidy(&self) -> &Cleaner {
        &self.tidy
    }

    /// What looks at the ledger all the time.
    pub fn auditor(&self) -> &Auditor {
        &self.auditor
    }

    /// Milliseconds since 1970, as they are shown and written down.
    pub fn now_ms(&self) -> i64 {
        self.context.now_ms()
    }

    /// The service's own time, in which things are due.
    pub fn steady_ms(&self) -> i64 {
        self.context.steady_ms()
    }

    /// Whether the store answers and work is being done.
    pub async fn ready(&self) -> Result<(), String> {
        if self.context.stopping().is_cancelled() {
            return Err("stopping".into());
        }
        let answered = self.context.store().ready().await;
        answered.map_err(|error| format!("store: {error}"))
    }

    /// Says that this node is alive and still works on what it has in hand; stops what it has lost.
    pub async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        self.runner.renew_step().await?;
        self.assets.load_address_keys().await?;
        self.admin.accounts().load_allowances().await?;
        let inside = self.runner.done_inside();
        self.context.beat(self.runner.in_hand(), inside).await
    }

    /// Draws the time that is shown towards the wall clock. Before it is turned back, what was over by it ends for good.
    pub async fn clock_step(&self) -> Result<(), atelier_store::Error> {
        let clock = self.context.clock();
        let was_set = clock.draw_in();
        if let Some(set_back) = clock.set_back() {
            let ended = self.admin.sessions().end_overdue(set_back.from_ms).await?;
            self.admin.credits().end_overdue(set_back.from_ms).await?;
            clock.turn_back(set_back);
            tracing::info!(
                ended,
                "ended sessions that had expired before the clock was set back"
            );
        }
        if was_set {
            // Whoever starts after a crash is to know at once.
            self.context.note_clock().await?;
        }
        Ok(())
    }
}
