//! The house put together: what it is built from, and its parts.

mod doors;

use std::sync::Arc;

use atelier_backends::Vendor;
use atelier_backends::http::Outbound;
use atelier_contract::Tariff;
use atelier_store::Store;
use atelier_store::files::Files;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Clock;
use crate::courier::Courier;
use crate::floor::Floor;
use crate::floor::polling::Polling;
use crate::floor::pool::Pool;
use crate::floor::pool::member::Worker;
use crate::floor::register::Register;
use crate::hint::Hint;
use crate::house::House;
pub(crate) use crate::house::unavailable;
use crate::ids::Ids;
use crate::intake::Intake;
use crate::jobs::Jobs;
use crate::keyring::Keyring;
use crate::office::Prices;
use crate::settings::Settings;
use crate::tidy::Tidy;
use crate::vault::Vault;

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
    pub(crate) vault: Arc<Vault>,
    pub(crate) floor: Arc<Floor>,
    pub(crate) intake: Intake,
    pub(crate) courier: Arc<Courier>,
    pub(crate) jobs: Jobs,
    pub(crate) tidy: Tidy,
    pub(crate) pool: Arc<Pool>,
    pub(crate) bench: Arc<Register>,
    pub(crate) polling: Arc<Polling>,
    pub(crate) vendors: &'static [Vendor],
    pub(crate) prices: Arc<Prices>,
    pub(crate) callers: crate::office::CallerCache,
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
        let house = Arc::new(House {
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
        });
        let vault = Vault::new(house.clone(), parts.files);
        let floor = Floor::new(house.clone(), vault.clone(), parts.workers, parts.vendors);
        let prices = Arc::new(Prices::new(parts.tariff));
        Arc::new(Self {
            intake: Intake::new(house.clone(), vault.clone(), floor.clone(), prices.clone()),
            courier: Courier::new(house.clone(), vault.clone()),
            jobs: Jobs::new(house.clone(), vault.clone(), floor.clone()),
            tidy: Tidy::new(house.clone(), vault.clone()),
            pool: floor.pool().clone(),
            bench: floor.register().clone(),
            polling: floor.polling().clone(),
            vendors: parts.vendors,
            prices,
            callers: crate::office::CallerCache::default(),
            floor,
            vault,
            house,
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
