//! The house itself: what it is built from, and how it starts and stops.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, RwLock};

use atelier_backends::Vendor;
use atelier_backends::http::Outbound;
use atelier_contract::{Code, Refusal, Tariff};
use atelier_store::Store;
use atelier_store::files::Files;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::courier::routes::Lanes;
use crate::floor::polling::Polling;
use crate::floor::pool::{Pool, Worker};
use crate::floor::workbench::Workbench;
use crate::ids::Ids;
use crate::keyring::Keyring;
use crate::settings::Settings;
use crate::sign::AddressSigner;
use crate::vault::address_keys::AddressKeys;
use crate::vault::result_cache::ResultCache;
use crate::wake::Wakes;

/// What an engine is built from.
pub struct Parts {
    /// Durable state.
    pub store: Store,
    /// The vault's bytes.
    pub files: Files,
    /// Whoever makes the media inside this process.
    pub workers: Vec<Worker>,
    /// The vendors that worker accounts can be set up at.
    pub vendors: &'static [Vendor],
    /// The guarded way out.
    pub outbound: Outbound,
    /// Prices.
    pub tariff: Tariff,
    /// Limits and schedules.
    pub settings: Settings,
    /// Time.
    pub clock: Clock,
    /// Identifiers.
    pub ids: Ids,
    /// Secrets of the service.
    pub keyring: Keyring,
    /// This process, among all that share the store.
    pub node: String,
}

/// The working house.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) files: Files,
    pub(crate) pool: Arc<Pool>,
    /// One look at the stored pool at a time, so that an older one never replaces a newer one.
    pub(crate) loading: tokio::sync::Mutex<()>,
    pub(crate) polling: Polling,
    pub(crate) vendors: &'static [Vendor],
    pub(crate) outbound: Outbound,
    pub(crate) tariff: RwLock<Arc<Tariff>>,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) keyring: Keyring,
    pub(crate) address_keys: AddressKeys,
    pub(crate) node: String,
    pub(crate) started_ms: i64,
    pub(crate) wakes: Arc<Wakes>,
    pub(crate) bench: Arc<Workbench>,
    pub(crate) results: ResultCache,
    pub(crate) callers: crate::callers::CallerCache,
    pub(crate) lanes: Lanes,
    /// One clone per callback in flight; the count is the load.
    pub(crate) courier_load: Arc<()>,
    /// The operator has been told that orphans stay because the vault is shared.
    pub(crate) shared_vault_told: AtomicBool,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
}

impl Engine {
    /// Builds the house; nothing runs yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let first_key = ("1".to_owned(), parts.keyring.first_address_key());
        Arc::new(Self {
            pool: Pool::new(parts.workers),
            loading: tokio::sync::Mutex::default(),
            polling: Polling::new(parts.settings.polls_at_once),
            vendors: parts.vendors,
            store: parts.store,
            files: parts.files,
            outbound: parts.outbound,
            tariff: RwLock::new(Arc::new(parts.tariff)),
            results: ResultCache::new(parts.settings.result_cache_bytes),
            lanes: Lanes::new(parts.settings.callbacks_per_host),
            settings: parts.settings,
            started_ms: parts.clock.now_ms(),
            clock: parts.clock,
            ids: parts.ids,
            keyring: parts.keyring,
            address_keys: AddressKeys::new(AddressSigner::new(vec![first_key])),
            node: parts.node,
            wakes: Arc::default(),
            bench: Arc::default(),
            callers: crate::callers::CallerCache::default(),
            courier_load: Arc::new(()),
            shared_vault_told: AtomicBool::new(false),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        })
    }

    /// Milliseconds since 1970, by the house's clock.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The prices in force.
    pub fn tariff(&self) -> Arc<Tariff> {
        self.tariff.read().map_or_else(
            |poisoned| poisoned.into_inner().clone(),
            |tariff| tariff.clone(),
        )
    }

    /// Whether the store answers and work is being done.
    pub async fn ready(&self) -> Result<(), String> {
        if self.stopping.is_cancelled() {
            return Err("stopping".into());
        }
        self.store
            .ping()
            .await
            .map_err(|error| format!("store: {error}"))
    }
}

/// A store that cannot answer means that nothing was accepted: the caller may try again.
pub(crate) fn unavailable(error: atelier_store::Error) -> Refusal {
    match error {
        atelier_store::Error::Conflict(what) => Refusal::new(Code::Conflict, what),
        atelier_store::Error::NotFound => Refusal::new(Code::NotFound, "not found"),
        other => {
            tracing::error!(error = %other, "the store did not answer");
            Refusal::new(
                Code::Overloaded,
                "the service cannot take the request now; try again shortly",
            )
        }
    }
}
