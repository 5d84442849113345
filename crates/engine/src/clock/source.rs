//! What the time is made from: this machine, the database that nodes share, or a simulated machine.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use atelier_store::{Store, boot_ms};

/// What tells one start of a machine from the next.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// What the time is made from.
#[derive(Debug)]
pub(super) enum Source {
    /// This machine's own clock.
    Machine,
    /// This machine and the database that nodes share.
    Database(Store),
    Simulated(SimulatedMachine),
}

/// A machine whose count of time goes with the runtime's own, which is virtual in a simulation.
#[derive(Clone, Debug)]
pub struct SimulatedMachine {
    /// When it was switched on, by its own name for that.
    pub name: String,
    /// What it had counted at a moment of the runtime.
    pub counted: (i64, tokio::time::Instant),
    /// How far its wall clock is ahead of that.
    pub wall_ahead_ms: Arc<AtomicI64>,
}

impl SimulatedMachine {
    fn boot_ms(&self) -> i64 {
        self.counted.0 + self.counted.1.elapsed().as_millis() as i64
    }

    fn wall_ms(&self) -> i64 {
        self.boot_ms() + self.wall_ahead_ms.load(Ordering::SeqCst)
    }
}

impl Source {
    /// The count of time that nobody can set.
    pub(super) fn boot_ms(&self) -> i64 {
        match self {
            Self::Machine | Self::Database(_) => boot_ms(),
            Self::Simulated(machine) => machine.boot_ms(),
        }
    }

    /// The wall clock that is gone by: the database's, where nodes share one.
    pub(super) fn wall_ms(&self) -> i64 {
        match self {
            Self::Machine => machine_ms(),
            Self::Database(store) => store.database_now_ms().unwrap_or_else(machine_ms),
            Self::Simulated(machine) => machine.wall_ms(),
        }
    }

    /// The machine's own wall clock.
    pub(super) fn machine_ms(&self) -> i64 {
        match self {
            Self::Machine | Self::Database(_) => machine_ms(),
            Self::Simulated(machine) => machine.wall_ms(),
        }
    }

    /// The machine since it was switched on.
    pub(super) fn machine(&self) -> String {
        match self {
            Self::Machine | Self::Database(_) => machine().to_owned(),
            Self::Simulated(machine) => machine.name.clone(),
        }
    }
}

/// This machine since it was switched on; empty where nothing tells that.
fn machine() -> &'static str {
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let text = std::fs::read_to_string(BOOT_ID).unwrap_or_default();
        let id = text.trim();
        // The empty name is that of what all agree on.
        if id.is_empty() { "unknown" } else { id }.to_owned()
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the machine's clock"
)]
pub(super) fn machine_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}
