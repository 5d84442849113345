//! From stored rows to worker accounts that can be given work, again and again while the house runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use atelier_backends::backend::LostSubmit;
use atelier_backends::{Backend, Secret, Setup};
use atelier_contract::{FAMILIES, Quota, Speed};
use atelier_store::{BackendRow, WorkerRow};

use super::choice::{Desk, Mode};
use super::hours::Hours;
use super::pace::{HOUR_MS, Pace};
use super::{Pool, Station, Worker};
use crate::engine::Engine;

impl Station {
    /// What runs inside this process.
    pub(super) fn of_house(worker: Worker) -> Self {
        let allowed = |name: &str| {
            worker.operations.is_empty() || worker.operations.iter().any(|one| covers(one, name))
        };
        let desk = Desk {
            backend: worker.name.clone(),
            rank: worker.rank,
            last_resort: worker.last_resort,
            operations: operations(worker.backend.as_ref(), allowed),
            weight: 1,
            concurrency: worker.slots,
            name: worker.name,
            ..Desk::default()
        };
        Self {
            recorded: worker.backend.lost_submit() != LostSubmit::Repeat,
            backend: worker.backend,
            worker_id: None,
            revision: (0, 0),
            polls_per_minute: 0,
            here: 0,
            unwritten: Quota::ZERO,
            changed: false,
            desk,
        }
    }
}

/// What a back end can do and is allowed to.
fn operations(backend: &dyn Backend, allowed: impl Fn(&str) -> bool) -> HashSet<&'static str> {
    FAMILIES
        .iter()
        .flat_map(|family| family.submits)
        .map(|submit| submit.name)
        .filter(|name| allowed(name) && backend.serves(name))
        .collect()
}

/// The name under which attempts at a worker account are written down.
pub(crate) fn worker_name(row: &WorkerRow) -> String {
    format!("{}/{}", row.backend_id, row.id)
}

/// The place a credential is sealed for.
pub(crate) fn credential_place(worker_id: &str) -> String {
    format!("worker:{worker_id}")
}

impl Engine {
    /// Takes over the back ends and worker accounts as they are stored now.
    pub async fn load_pool(&self) -> Result<(), atelier_store::Error> {
        let _alone = self.loading.lock().await;
        let (backends, workers) = (self.store.backends().await?, self.store.workers().await?);
        let stored = !workers.is_empty();
        let now_ms = self.now_ms();
        let mut starts: HashMap<String, Vec<i64>> = HashMap::new();
        let mut live: HashMap<String, i64> = HashMap::new();
        if stored {
            for (worker, began_ms) in self.store.recent_starts(now_ms - HOUR_MS).await? {
                starts.entry(worker).or_default().push(began_ms);
            }
            if self.store.is_postgres() {
                live = self.store.live_attempts().await?.into_iter().collect();
            }
        }
        let backends: HashMap<&str, &BackendRow> =
            backends.iter().map(|row| (row.id.as_str(), row)).collect();
        let known: HashMap<String, Station> = {
            let stations = self.pool.stations();
            let stored = stations.iter().filter(|one| one.worker_id.is_some());
            stored
                .map(|one| (one.desk.name.clone(), one.clone()))
                .collect()
        };
        let mut fresh = Vec::new();
        for row in &workers {
            let Some(backend) = backends.get(row.backend_id.as_str()) else {
                continue;
            };
            let known = known.get(&worker_name(row));
            match self.station(backend, row, known) {
                Ok(station) => fresh.push(station),
                Err(why) => {
                    tracing::warn!(worker = %row.id, why, "a worker account cannot be used");
                }
            }
        }
        let single = !self.store.is_postgres();
        self.pool.replace_stored(fresh, |desk, here, first| {
            // On a store of one process, this process knows its own starts best once it runs.
            if first || !single {
                let began = starts.remove(&desk.name).unwrap_or_default();
                desk.pace.remember(began.into_iter());
            }
            let elsewhere = live.get(&desk.name).map_or(0, |live| *live as usize);
            desk.busy = elsewhere.max(here);
        });
        Ok(())
    }

    fn station(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
        known: Option<&Station>,
    ) -> Result<Station, String> {
        let revision = (backend.revision, row.revision);
        let built = match known {
            Some(known) if known.revision == revision => Arc::clone(&known.backend),
            _ => self.build_worker(backend, row)?,
        };
        let list = |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap_or_default();
        let wanted = list(&backend.operations);
        let allowed =
            |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| covers(wanted, name));
        let mode = match (backend.enabled, row.state.as_str()) {
            (true, "active") => Mode::Active,
            (true, "draining") => Mode::Draining,
            _ => Mode::Paused,
        };
        let limit = |number: i64| usize::try_from(number).unwrap_or_default();
        let desk = Desk {
            name: worker_name(row),
            backend: backend.id.clone(),
            owner: row.owner.clone(),
            rank: backend.rank,
            last_resort: false,
            operations: operations(built.as_ref(), allowed),
            models: list(&row.models),
            speeds: list(&row.modes)
                .iter()
                .filter_map(|word| speed(word))
                .collect(),
            hours: Hours::parse(&row.hours)?,
            spend_cap: row.spend_cap,
            spent: row.spent,
            weight: row.weight,
            concurrency: limit(row.concurrency),
            busy: 0,
            mode,
            pace: Pace::new(limit(row.per_minute), limit(row.per_hour)),
            health: serde_json::from_str(&row.health).unwrap_or_default(),
        };
        Ok(Station {
            desk,
            backend: built,
            recorded: true,
            worker_id: Some(row.id.clone()),
            revision,
            polls_per_minute: row.polls_per_minute,
            here: 0,
            unwritten: Quota::ZERO,
            changed: false,
        })
    }

    /// Builds what talks to the vendor; a caller's own address must obey the rules for strangers' addresses.
    pub(crate) fn build_worker(
        &self,
        backend: &BackendRow,
        row: &WorkerRow,
    ) -> Result<Arc<dyn Backend>, String> {
        let vendor = self
            .vendors
            .iter()
            .find(|vendor| vendor.name == backend.vendor)
            .ok_or_else(|| format!("vendor: there is no {}", backend.vendor))?;
        let credential = if row.credential.is_empty() {
            Secret::default()
        } else {
            let place = credential_place(&row.id);
            let opened = self
                .keyring
                .sealer()
                .open(&row.credential, place.as_bytes());
            let opened = opened.map_err(|_| "the credential was sealed with another master key")?;
            Secret::new(String::from_utf8_lossy(&opened))
        };
        if vendor.needs_credential && credential.is_empty() {
            return Err(format!("credential: {} needs one", vendor.name));
        }
        let settings = serde_json::from_str(&backend.settings)
            .map_err(|error| format!("settings: {error}"))?;
        let setup = Setup {
            http: self
                .outbound
                .vendor(&backend.base_url, backend.owner.is_none())?,
            credential,
            settings,
        };
        vendor.connect(setup)
    }
}

/// Whether an entry of a list of operations covers one: by its name, or by its family.
pub(crate) fn covers(entry: &str, operation: &str) -> bool {
    let of_family =
        || atelier_contract::operation(operation).is_some_and(|(family, _)| family.name == entry);
    entry == operation || of_family()
}

/// The speed of a word.
pub(crate) fn speed(word: &str) -> Option<Speed> {
    super::SPEEDS.into_iter().find(|speed| speed.word() == word)
}

impl Pool {
    /// Replaces the stored worker accounts; what is in hand, how fast they are and how well they are stays with those
    /// that were known. `refresh` gets each desk, the jobs it has here, and whether it is new to this process.
    fn replace_stored(&self, fresh: Vec<Station>, mut refresh: impl FnMut(&mut Desk, usize, bool)) {
        let mut stations = self.stations();
        let (known, mut all): (Vec<Station>, Vec<Station>) = std::mem::take(&mut *stations)
            .into_iter()
            .partition(|station| station.worker_id.is_some());
        let mut known: HashMap<String, Station> = known
            .into_iter()
            .map(|station| (station.desk.name.clone(), station))
            .collect();
        for mut station in fresh {
            let old = known.remove(&station.desk.name);
            let first = old.is_none();
            if let Some(old) = old {
                keep(&mut station, old);
            }
            refresh(&mut station.desk, station.here, first);
            all.push(station);
        }
        *stations = all;
    }
}

/// What this process knows better than the store, or has not written down yet.
fn keep(station: &mut Station, old: Station) {
    station.here = old.here;
    station.unwritten = old.unwritten;
    station.changed = old.changed;
    station.desk.spent = station.desk.spent + old.unwritten;
    let (per_minute, per_hour) = (station.desk.pace.per_minute, station.desk.pace.per_hour);
    station.desk.pace = old.desk.pace;
    station.desk.pace.limit(per_minute, per_hour);
    let probing = old.desk.health.probing;
    // Another node, or the operator, may have learned something newer.
    if old.changed || old.desk.health.changed_ms >= station.desk.health.changed_ms {
        station.desk.health = old.desk.health;
    }
    station.desk.health.probing = probing;
}
