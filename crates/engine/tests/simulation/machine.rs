//! The simulated machine: its count of time goes on whatever happens to processes, its wall clock is set forward and back, by
//! seconds and by hours, and now and then it is switched off and on.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use atelier_engine::{Clock, SimulatedMachine};
use atelier_store::{ClockNote, Store};
use tokio::time::{Instant, sleep};

use crate::world::{Shared, World, lock};

pub(crate) const START_MS: i64 = 1_800_000_000_000;
/// The service's own time is far from the one that is shown: taking one for the other must not go unnoticed.
const AHEAD_MS: i64 = 40 * 24 * 3_600_000;
/// What a process has not noted yet when the power fails cannot be known after it.
const NOTED_MS: i64 = 3_000;

/// What outlives the processes of a machine.
pub(crate) struct Machine {
    /// How often it was switched on before, and when it was the last time, by the world.
    starts: (u32, i64),
    /// How far its wall clock is ahead of the world's time.
    wall_ahead_ms: i64,
    /// The same ahead of its count, for whoever works on it.
    shared: Arc<AtomicI64>,
    /// When its clock was set last, or a process started on it after that.
    set_ms: i64,
}

impl Default for Machine {
    fn default() -> Self {
        Self {
            starts: (0, 0),
            wall_ahead_ms: START_MS,
            shared: Arc::default(),
            set_ms: 0,
        }
    }
}

impl World {
    /// The machine for a process that starts now.
    fn switched_on(&mut self) -> SimulatedMachine {
        self.machine.set_ms = self.now_ms();
        let (number, since_ms) = self.machine.starts;
        let shared = Arc::clone(&self.machine.shared);
        shared.store(self.machine.wall_ahead_ms + since_ms, Ordering::SeqCst);
        SimulatedMachine {
            name: format!("start {number}"),
            counted: (self.now_ms() - since_ms, Instant::now()),
            wall_ahead_ms: shared,
        }
    }

    /// Somebody sets the clock.
    fn set_clock(&mut self) {
        let by_ms = match self.dice.u32(0..6) {
            0 => self.dice.i64(-2_000..2_000),
            1 => self.dice.i64(-45_000..45_000),
            2 => 120_000,
            3 => -120_000,
            4 => 3_600_000,
            _ => -3_600_000,
        };
        self.machine.wall_ahead_ms += by_ms;
        self.machine.shared.fetch_add(by_ms, Ordering::SeqCst);
        self.machine.set_ms = self.now_ms();
        self.note(&format!("the clock is set by {by_ms} ms"));
    }

    /// What happens to the machine while no process works on it.
    pub(crate) fn lie_idle(&mut self, ended_ms: i64) {
        match self.percent() {
            0..30 => self.set_clock(),
            30..50 if ended_ms - self.machine.set_ms > NOTED_MS => {
                self.machine.starts = (self.machine.starts.0 + 1, self.now_ms());
                self.note("the machine is switched off and on");
            }
            _ => {}
        }
    }
}

/// The clock of a process that starts now.
pub(crate) async fn clock(world: &Shared, store: &Store) -> Result<Clock, String> {
    let (machine, first) = {
        let mut world = lock(world);
        (world.switched_on(), world.told.lives == 1)
    };
    if first {
        let note = ClockNote {
            machine: machine.name.clone(),
            boot_ms: 0,
            steady_ms: START_MS - AHEAD_MS,
            wall_ms: START_MS,
        };
        let noted = store.nodes().note_clock(note).await;
        noted.map_err(|error| error.to_string())?;
    }
    let clock = Clock::simulated(store, machine).await;
    clock.map_err(|error| error.to_string())
}

/// The machine's clock is set forward and back now and then.
pub(crate) async fn turn_clock(world: Shared) {
    loop {
        let pause = lock(&world).dice.u64(20_000..120_000);
        sleep(Duration::from_millis(pause)).await;
        let mut world = lock(&world);
        if world.is_calm() {
            return;
        }
        world.set_clock();
    }
}
