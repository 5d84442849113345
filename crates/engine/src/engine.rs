//! The house put together: what it is built from, and its parts.

use std::sync::Arc;

use atelier_backends::Vendor;
use atelier_backends::allowances::Allowances;
use atelier_backends::http::Outbound;
use atelier_backends::shares::Shares;
use atelier_contract::Tariff;
use atelier_contract::metrics::Series;
use atelier_store::Store;
use atelier_store::files::Files;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auditor::Auditor;
use crate::clock::Clock;
use crate::courier::Courier;
use crate::floor::{Floor, Worker};
use crate::house::House;
use crate::ids::Ids;
use crate::intake::Intake;
use crate::jobs::Jobs;
use crate::keyring::Keyring;
use crate::meters::Meters;
use crate::office::{BannedWords, Doors, Office, Prices};
use crate::settings::Settings;
use crate::tidy::Tidy;
use crate::tracer::Tracer;
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
    house: Arc<House>,
    vault: Arc<Vault>,
    floor: Arc<Floor>,
    intake: Intake,
    courier: Arc<Courier>,
    jobs: Arc<Jobs>,
    tidy: Tidy,
    auditor: Auditor,
    office: Office,
}

impl Engine {
    /// Builds the house; nothing runs yet.
    pub fn new(parts: Parts) -> Arc<Self> {
        let allowances = Arc::default();
        parts.outbound.input_memory().heed(&allowances);
        let (telemetry, ids) = (&parts.settings.telemetry, parts.ids.clone());
        let tracer = Tracer::new(telemetry, &parts.outbound, ids, &parts.node);
        let house = Arc::new(House {
            allowances,
            store: parts.store,
            started_ms: parts.clock.now_ms(),
            started_steady_ms: parts.clock.steady_ms(),
            clock: parts.clock,
            ids: parts.ids,
            settings: parts.settings,
            keyring: parts.keyring,
            outbound: parts.outbound,
            tracer,
            meters: Meters::new(parts.vendors),
            handover: crate::handover::Handover::default(),
            wakes: Arc::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            node: parts.node,
        });
        let vault = Vault::new(house.clone(), parts.files);
        let floor = Floor::new(house.clone(), vault.clone(), parts.workers, parts.vendors);
        let jobs = Arc::new(Jobs::new(house.clone(), vault.clone(), floor.clone()));
        let prices = Prices::new(house.clone(), parts.tariff);
        let banned = BannedWords::new(house.clone());
        let office = Office::new(Doors {
            house: house.clone(),
            vault: vault.clone(),
            floor: floor.clone(),
            jobs: jobs.clone(),
            prices: prices.clone(),
            banned: banned.clone(),
        });
        Arc::new(Self {
            intake: Intake::new(
                house.clone(),
                vault.clone(),
                floor.clone(),
                (prices, banned),
            ),
            courier: Courier::new(house.clone(), vault.clone()),
            tidy: Tidy::new(house.clone(), vault.clone()),
            auditor: Auditor::new(house.clone()),
            office,
            jobs,
            floor,
            vault,
            house,
        })
    }

    /// What single accounts have of what all share.
    pub fn allowances(&self) -> &Arc<Allowances> {
        &self.house.allowances
    }

    /// What accounts share of reading.
    pub fn read_shares(&self) -> [&Arc<Shares>; 2] {
        self.house.store.shares()
    }

    /// Whether callers may name addresses on this machine, since only it seems to reach the service.
    pub fn reaches_own_machine(&self) -> bool {
        self.house.outbound.policy().reaches_own_machine()
    }

    /// Tells what happened to whoever collects it.
    pub fn tracer(&self) -> &Tracer {
        &self.house.tracer
    }

    /// What this node counts.
    pub fn meters(&self) -> &Meters {
        &self.house.meters
    }

    /// What commits of this node were like, and how many changes wait for one.
    pub fn commits(&self) -> ([&Series; 2], usize) {
        let store = &self.house.store;
        (store.commits(), store.waiting_changes())
    }

    /// What the parts share.
    pub(crate) fn house(&self) -> &House {
        &self.house
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
    pub fn floor(&self) -> &Arc<Floor> {
        &self.floor
    }

    /// Where bytes are kept.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// What is owed to callers' addresses.
    pub fn courier(&self) -> &Arc<Courier> {
        &self.courier
    }

    /// Accounts, keys, back ends, prices, operators, and what operators see.
    pub fn office(&self) -> &Office {
        &self.office
    }

    /// What forgets old rows and files.
    pub fn tidy(&self) -> &Tidy {
        &self.tidy
    }

    /// What looks at the books all the time.
    pub fn auditor(&self) -> &Auditor {
        &self.auditor
    }

    /// Milliseconds since 1970, as they are shown and written down.
    pub fn now_ms(&self) -> i64 {
        self.house.now_ms()
    }

    /// The service's own time, in which things are due.
    pub fn steady_ms(&self) -> i64 {
        self.house.steady_ms()
    }

    /// Whether the store answers and work is being done.
    pub async fn ready(&self) -> Result<(), String> {
        if self.house.stopping.is_cancelled() {
            return Err("stopping".into());
        }
        let answered = self.house.store.ready().await;
        answered.map_err(|error| format!("store: {error}"))
    }

    /// Says that this node is alive and still works on what it has in hand; stops what it has lost.
    pub async fn renew_step(&self) -> Result<(), atelier_store::Error> {
        self.floor.renew_step().await?;
        self.vault.load_address_keys().await?;
        self.house.load_allowances().await?;
        self.house.beat(self.floor.in_hand()).await
    }
}
