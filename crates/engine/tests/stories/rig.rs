//! The rig: a service on a real SQLite file with a hand-turned clock and the scripted back end.

use std::path::PathBuf;
use std::sync::Arc;

use atelier_backends::backend::LostSubmit;
use atelier_backends::guard::Policy;
use atelier_backends::http::{Limits, OutboundClient};
use atelier_contract::pages::workers::WorkerPatch;
use atelier_contract::{
    FAMILIES, Job, JobId, JobState, PromptRule, Quota, Refusal, Secret, Tariff,
};
use atelier_engine::{
    Call, Caller, Clock, EmbeddedWorker, Engine, Ids, Keyring, NewAccountRequest, Parts, Settings,
};
use atelier_store::files::Files;
use atelier_store::{Options, Store};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::defaults::defaults;
use crate::scripted::Scripted;

mod waits;

/// What is said about a worker account.
pub(crate) fn worker(said: &Value) -> WorkerPatch {
    let fields = said.as_object().cloned().unwrap_or_default();
    WorkerPatch::read(fields).expect("what can be said")
}

pub(crate) const START_MS: i64 = 1_800_000_000_000;

pub(crate) struct Rig {
    pub(crate) engine: Arc<Engine>,
    pub(crate) backend: Arc<Scripted>,
    pub(crate) clock: Clock,
    pub(crate) store: Store,
    pub(crate) files: Files,
    outbound: OutboundClient,
    pub(crate) folder: PathBuf,
    node: u32,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(4, LostSubmit::Repeat).await
    }

    pub(crate) async fn with(slots: usize, lost: LostSubmit) -> Self {
        let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
        let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
        Self::build(slots, lost, outbound).await
    }

    /// A service with another way out.
    pub(crate) async fn reaching(outbound: OutboundClient) -> Self {
        Self::build(4, LostSubmit::Repeat, outbound).await
    }

    /// The same with nobody inside to work for it.
    pub(crate) async fn with_vendors_reaching(outbound: OutboundClient) -> Self {
        Self::build(0, LostSubmit::Repeat, outbound).await
    }

    /// A service on the machine's own time that nobody inside works for.
    pub(crate) async fn live() -> Self {
        let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
        let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
        let backend = Scripted::new(0, LostSubmit::Repeat);
        Self::on(Clock::System, backend, outbound).await
    }

    async fn build(slots: usize, lost: LostSubmit, outbound: OutboundClient) -> Self {
        let backend = Scripted::new(slots, lost);
        Self::on(Clock::manual(START_MS), backend, outbound).await
    }

    async fn on(clock: Clock, backend: Scripted, outbound: OutboundClient) -> Self {
        let folder = fresh_folder();
        let files = Files::folder(folder.join("files")).expect("a folder");
        Box::pin(Self::in_folder(folder, files, clock, backend, outbound)).await
    }

    /// A service of its own that keeps its files in a given asset store.
    pub(crate) async fn keeping(files: Files) -> Self {
        let policy = Policy::from_settings(&[], None, true, &[], &[]).expect("a policy");
        let outbound = OutboundClient::new(policy, Limits::default()).expect("a client");
        let clock = Clock::manual(START_MS);
        let backend = Scripted::new(4, LostSubmit::Repeat);
        Self::in_folder(fresh_folder(), files, clock, backend, outbound).await
    }

    async fn in_folder(
        folder: PathBuf,
        files: Files,
        clock: Clock,
        backend: Scripted,
        outbound: OutboundClient,
    ) -> Self {
        let backend = Arc::new(backend);
        let store = open_store(&folder).await;
        let shared = SharedParts {
            store: store.clone(),
            files: files.clone(),
            outbound: outbound.clone(),
        };
        let engine = build_engine(shared, &clock, backend.clone(), "node-1", settings());
        Self {
            engine,
            backend,
            clock,
            store,
            files,
            outbound,
            folder,
            node: 1,
        }
    }

    /// A service that nobody inside works for; back ends come from the stage.
    pub(crate) async fn with_vendors() -> Self {
        Self::with(0, LostSubmit::Repeat).await
    }

    /// The process is gone and another one starts on the same files.
    pub(crate) async fn restart(&mut self) {
        self.node += 1;
        self.store.close().await;
        let node = format!("node-{}", self.node);
        self.store = open_store(&self.folder).await;
        self.engine = self.node_named(&node);
        self.store
            .queue()
            .void_leases(None, &[], self.clock.steady_ms())
            .await
            .expect("void");
    }

    /// A second node on the same store and the same files.
    pub(crate) fn second_node(&self) -> Arc<Engine> {
        self.node_named("second")
    }

    /// A node on the same store and the same files that nobody inside works for.
    pub(crate) fn bare_node(&self) -> Arc<Engine> {
        let nobody = Arc::new(Scripted::new(0, LostSubmit::Repeat));
        build_engine(self.shared(), &self.clock, nobody, "bare", settings())
    }

    /// A node that asks a review about words and pictures before it accepts them.
    pub(crate) fn reviewed_node(&self, review: &str) -> Arc<Engine> {
        let mut settings = settings();
        let prompts = &mut settings.prompts;
        review.clone_into(&mut prompts.moderation_url);
        prompts.moderation_key = Secret::new("secret");
        prompts.moderation_fail_closed = review.ends_with("closed");
        self.node_with("reviewed", settings)
    }

    fn shared(&self) -> SharedParts {
        SharedParts {
            store: self.store.clone(),
            files: self.files.clone(),
            outbound: self.outbound.clone(),
        }
    }

    fn node_named(&self, name: &str) -> Arc<Engine> {
        self.node_with(name, settings())
    }

    /// A node on the same store and the same files with other settings.
    pub(crate) fn node_with(&self, name: &str, settings: Settings) -> Arc<Engine> {
        let backend = self.backend.clone();
        build_engine(self.shared(), &self.clock, backend, name, settings)
    }

    /// A node on the same store and the same files that goes by another clock.
    pub(crate) fn node_by(&self, clock: &Clock) -> Arc<Engine> {
        build_engine(
            self.shared(),
            clock,
            self.backend.clone(),
            "by itself",
            settings(),
        )
    }

    /// The asset store is away until it is mended.
    pub(crate) fn break_asset_store(&self) {
        let away = self.folder.join("away");
        std::fs::rename(self.folder.join("files"), away).expect("moved");
        std::fs::write(self.folder.join("files"), "").expect("in its way");
    }

    /// The asset store is back.
    pub(crate) fn mend_asset_store(&self) {
        std::fs::remove_file(self.folder.join("files")).expect("gone");
        let away = self.folder.join("away");
        std::fs::rename(away, self.folder.join("files")).expect("moved");
    }

    /// The files of jobs in the asset store.
    pub(crate) async fn stored(&self) -> Vec<String> {
        let keys = self.files.list("", i64::MAX).await.expect("a list");
        let mut keys: Vec<String> = keys.map(|key| key.expect("a key")).collect().await;
        keys.retain(|key| !key.starts_with("installs/"));
        keys.sort();
        keys
    }

    /// Where the asset store's files are on disk.
    pub(crate) fn files_folder(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// Turns the clock to the machine's time, which is that of the files.
    pub(crate) fn read_machine_clock(&self) {
        self.clock
            .advance(Clock::System.now_ms() - self.clock.now_ms());
    }

    pub(crate) async fn account(&self, balance: i64) -> Caller {
        let number = Ids::Random.uuid();
        let request = NewAccountRequest {
            email: format!("{number}@example.com"),
            balance: Quota::from_thousandths(balance * 1000),
            max_queue: Some(100_000),
            email_verified: true,
        };
        let (account, key) = self
            .engine
            .admin()
            .accounts()
            .create("root", request)
            .await
            .expect("an account");
        let caller = self
            .engine
            .admin()
            .callers()
            .authenticate(&key)
            .await
            .expect("its key works");
        assert_eq!(caller.account_id, account.id);
        caller
    }

    pub(crate) async fn imagine(&self, caller: &Caller, prompt: &str) -> Result<JobId, Refusal> {
        self.submit(caller, json!({ "prompt": prompt, "timeout": 300 }), None)
            .await
    }

    pub(crate) async fn submit(
        &self,
        caller: &Caller,
        body: Value,
        key: Option<&str>,
    ) -> Result<JobId, Refusal> {
        self.send(caller, "artgen.imagine", body, key, false).await
    }

    /// Any operation, on the caller's own accounts or not.
    pub(crate) async fn call(
        &self,
        caller: &Caller,
        operation: &str,
        body: Value,
        custody: bool,
    ) -> Result<JobId, Refusal> {
        self.send(caller, operation, body, None, custody).await
    }

    pub(crate) async fn send(
        &self,
        caller: &Caller,
        operation: &str,
        body: Value,
        key: Option<&str>,
        custody: bool,
    ) -> Result<JobId, Refusal> {
        let (family, submit) = atelier_contract::operation(operation).expect("in the table");
        let call = Call {
            notes: atelier_contract::body::Fields::new(),
            caller: caller.clone(),
            family,
            submit,
            fields: body.as_object().expect("an object").clone(),
            files: Vec::new(),
            idempotency_key: key.map(str::to_owned),
            custody,
            begun: tokio::time::Instant::now(),
        };
        self.engine
            .intake()
            .submit(call)
            .await
            .map(|submitted| submitted.job_id)
    }

    /// Asks a node for a picture.
    pub(crate) async fn imagine_at(
        node: &Engine,
        caller: &Caller,
        prompt: &str,
    ) -> Result<JobId, Refusal> {
        let (family, submit) = atelier_contract::operation("artgen.imagine").expect("imagine");
        let body = json!({ "prompt": prompt, "timeout": 300 });
        let call = Call {
            notes: atelier_contract::body::Fields::new(),
            caller: caller.clone(),
            family,
            submit,
            fields: body.as_object().expect("an object").clone(),
            files: Vec::new(),
            idempotency_key: None,
            custody: false,
            begun: tokio::time::Instant::now(),
        };
        let submitted = node.intake().submit(call).await?;
        Ok(submitted.job_id)
    }

    pub(crate) async fn job(&self, caller: &Caller, id: &JobId) -> Job {
        self.engine
            .jobs()
            .job(&caller.account_id, id)
            .await
            .expect("the job")
    }

    pub(crate) async fn state(&self, caller: &Caller, id: &JobId) -> JobState {
        self.job(caller, id).await.state
    }

    /// Balance and held quota.
    pub(crate) async fn purse(&self, caller: &Caller) -> (String, String) {
        let account = self
            .engine
            .admin()
            .accounts()
            .one(&caller.account_id)
            .await
            .expect("the account");
        (account.balance.to_string(), account.frozen.to_string())
    }

    /// Every book must balance at the end of every story.
    pub(crate) async fn check_books(&self) {
        let problems = self
            .store
            .invariants()
            .check_books()
            .await
            .expect("checked");
        assert!(problems.is_empty(), "{problems:#?}");
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn fresh_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("atelier-story-{}", Ids::Random.uuid()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

async fn open_store(folder: &std::path::Path) -> Store {
    let url = format!("sqlite:{}", folder.join("atelier.db").display());
    Store::open(&url, Options::default())
        .await
        .expect("a store")
}

/// The settings of the tests' services.
pub(crate) fn settings() -> Settings {
    let mut settings = defaults();
    let prompts = &mut settings.prompts;
    prompts.banned = ["gore"].into();
    prompts.families = FAMILIES.iter().map(|one| one.name.to_owned()).collect();
    prompts.rules = vec![PromptRule {
        name: "faces".into(),
        families: vec!["facegen".into()],
        words: ["president"].into(),
    }];
    settings.urls.hooks = "https://own.example".into();
    settings.prices.quota_usd = 0.05;
    settings
}

/// What all nodes of a rig use.
struct SharedParts {
    store: Store,
    files: Files,
    outbound: OutboundClient,
}

fn build_engine(
    shared: SharedParts,
    clock: &Clock,
    backend: Arc<Scripted>,
    node: &str,
    settings: Settings,
) -> Arc<Engine> {
    Engine::new(Parts {
        store: shared.store,
        export_files: shared.files.clone(),
        files: shared.files,
        workers: inside(backend),
        vendors: crate::stage::vendors(),
        outbound: shared.outbound,
        tariff: Tariff::parse(include_str!("../../../../config/tariff.toml")).expect("prices"),
        settings,
        clock: clock.clone(),
        ids: Ids::Random,
        keyring: Keyring::new([7; 32]),
        node: node.into(),
    })
}

/// Whoever works inside the process; nobody when there are no slots.
fn inside(backend: Arc<Scripted>) -> Vec<EmbeddedWorker> {
    if backend.slots == 0 {
        return Vec::new();
    }
    vec![EmbeddedWorker {
        name: "scripted".into(),
        slots: backend.slots,
        rank: 0,
        last_resort: false,
        operations: Vec::new(),
        backend,
    }]
}
