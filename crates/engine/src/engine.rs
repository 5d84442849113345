//! The house itself: what it is built from, and how it starts and stops.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use atelier_backends::Vendor;
use atelier_backends::http::Outbound;
use atelier_contract::Tariff;
use atelier_store::Store;
use atelier_store::files::Files;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::courier::routes::Lanes;
use crate::floor::polling::Polling;
use crate::floor::pool::{Pool, Worker};
use crate::floor::workbench::Workbench;
use crate::hint::Hint;
use crate::house::House;
pub(crate) use crate::house::unavailable;
use crate::ids::Ids;
use crate::keyring::Keyring;
use crate::office::Prices;
use crate::settings::Settings;
use crate::sign::AddressSigner;
use crate::vault::address_keys::AddressKeys;
use crate::vault::result_cache::ResultCache;

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
    pub(crate) house: Arc<House>,
    pub(crate) files: Files,
    pub(crate) pool: Arc<Pool>,
    /// One look at the stored pool at a time, so that an older one never replaces a newer one.
    pub(crate) loading: tokio::sync::Mutex<()>,
    pub(crate) polling: Polling,
    pub(crate) vendors: &'static [Vendor],
    pub(crate) prices: Prices,
    pub(crate) address_keys: AddressKeys,
    pub(crate) bench: Arc<Workbench>,
    pub(crate) results: ResultCache,
    pub(crate) callers: crate::office::CallerCache,
    pub(crate) lanes: Lanes,
    /// One clone per callback in flight; the count is the load.
    pub(crate) courier_load: Arc<()>,
    /// The operator has been told that orphans stay because the vault is shared.
    pub(crate) shared_vault_told: AtomicBool,
}

/// What the parts share is the engine's too.
impl std::ops::Deref for Engine {
    type Target = House;

    fn deref(&self) -> &House {
        &self.house
    }
}

impl Engine {
    /// Builds the house; nothing runs yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let first_key = ("1".to_owned(), parts.keyring.first_address_key());
        let house = House {
            store: parts.store,
            started_ms: parts.clock.now_ms(),
            clock: parts.clock,
            ids: parts.ids,
            settings: parts.settings,
            keyring: parts.keyring,
            outbound: parts.outbound,
            wakes: Arc::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            node: parts.node,
        };
        Arc::new(Self {
            pool: Pool::new(parts.workers),
            loading: tokio::sync::Mutex::default(),
            polling: Polling::new(house.settings.polls_at_once),
            vendors: parts.vendors,
            files: parts.files,
            prices: Prices::new(parts.tariff),
            results: ResultCache::new(house.settings.result_cache_bytes),
            lanes: Lanes::new(house.settings.callbacks_per_host),
            address_keys: AddressKeys::new(AddressSigner::new(vec![first_key])),
            bench: Arc::default(),
            callers: crate::office::CallerCache::default(),
            courier_load: Arc::new(()),
            shared_vault_told: AtomicBool::new(false),
            house: Arc::new(house),
        })
    }

    /// The prices in force.
    pub fn tariff(&self) -> Arc<Tariff> {
        self.prices.tariff()
    }

    /// Whether the store answers and work is being done.
    pub async fn ready(&self) -> Result<(), String> {
        if self.stopping.is_cancelled() {
            return Err("stopping".into());
        }
        self.store
            .ready()
            .await
            .map_err(|error| format!("store: {error}"))
    }

    /// Prices changed: every node should look.
    pub(crate) fn wake_prices(&self) {
        self.tell(Hint::Prices);
    }

    /// A back end or worker account changed: every node should look.
    pub(crate) fn wake_pool(&self) {
        self.tell(Hint::Pool);
    }
}
