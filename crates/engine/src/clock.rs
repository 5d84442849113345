//! Time as a parameter. The service has a time of its own, in which leases, deadlines and everything that is due are kept: it
//! goes with the machine's count of time since it was switched on, which nobody can set. What is shown and written down
//! as a date is that time and how far it lies from the wall clock (the database's, where nodes share one). A clock that is
//! set changes that distance and nothing else: small differences are drawn in, large ones that last are taken over.

mod agreement;
mod slew;
mod source;
mod start;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_store::{ClockNote, Store};

use agreement::{Agreement, Verdict};
use slew::{Adjustment, ClockSlew};
pub use source::SimulatedMachine;
use source::{Source, machine_ms};

/// How far the time that is shown is ahead of the service's own where tests turn the clock by hand: taking one for the other
/// must not go unnoticed.
const MANUAL_AHEAD_MS: i64 = 40 * 24 * 3_600_000;

/// Where the time comes from.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's wall clock as it is, for whoever only looks at it.
    System,
    /// The time of the service.
    Service(Arc<ServiceClock>),
    /// A clock that only moves when told to.
    Manual(Arc<AtomicI64>),
}

/// The time of the service, kept going by a machine.
#[derive(Debug)]
pub struct ServiceClock {
    source: Source,
    /// How far the service's own time is ahead of the machine's count.
    steady_ms: AtomicI64,
    /// How far the time that is shown is ahead of the service's own.
    ahead_ms: AtomicI64,
    slew: Mutex<ClockSlew>,
    /// How the time that is shown is to be turned back, before whatever is over by it has been ended.
    set_back: Mutex<Option<SetBack>>,
    agreement: Mutex<Agreement>,
}

/// The time that is shown goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetBack {
    /// What it has been so far.
    pub(crate) from_ms: i64,
    /// By how much it is still to be moved; a process begins with the wall clock as it is.
    by_ms: i64,
}

impl Clock {
    /// The clock for a store: it goes on where the last process, or the other nodes, are.
    pub async fn of(store: &Store) -> Result<Self, atelier_store::Error> {
        let source = if store.is_postgres() {
            Source::Database(store.clone())
        } else {
            Source::Machine
        };
        Self::begin(source, store).await
    }

    /// The clock of a simulated machine for a store.
    pub async fn simulated(
        store: &Store,
        machine: SimulatedMachine,
    ) -> Result<Self, atelier_store::Error> {
        Self::begin(Source::Simulated(machine), store).await
    }

    async fn begin(source: Source, store: &Store) -> Result<Self, atelier_store::Error> {
        let steady_ms = start::steady_ms(&source, store).await?;
        let ahead_ms = source.wall_ms() - steady_ms;
        let noted_ms = store.nodes().clock_notes().await?;
        let noted_ms = noted_ms.first().map_or(0, |note| note.wall_ms);
        let set_back = (noted_ms > source.wall_ms()).then_some(SetBack {
            from_ms: noted_ms,
            by_ms: 0,
        });
        Ok(Self::Service(Arc::new(ServiceClock {
            set_back: Mutex::new(set_back),
            steady_ms: AtomicI64::new(steady_ms - source.boot_ms()),
            ahead_ms: AtomicI64::new(ahead_ms),
            slew: Mutex::default(),
            agreement: Mutex::default(),
            source,
        })))
    }

    /// A hand-turned clock that starts at a time.
    pub fn manual(start_ms: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(start_ms)))
    }

    /// Milliseconds since 1970, as they are shown and written down.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => machine_ms(),
            Self::Service(clock) => clock.steady_ms() + clock.ahead_ms(),
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// The service's own time, in which things are due.
    pub fn steady_ms(&self) -> i64 {
        match self {
            Self::System => machine_ms(),
            Self::Service(clock) => clock.steady_ms(),
            Self::Manual(now) => now.load(Ordering::SeqCst) - MANUAL_AHEAD_MS,
        }
    }

    /// How far the time that is shown is ahead of the service's own.
    pub fn ahead_ms(&self) -> i64 {
        match self {
            Self::System => 0,
            Self::Service(clock) => clock.ahead_ms(),
            Self::Manual(_) => MANUAL_AHEAD_MS,
        }
    }

    /// The machine's wall clock, for what strangers compare with their own.
    pub(crate) fn machine_ms(&self) -> i64 {
        match self {
            Self::System => machine_ms(),
            Self::Service(clock) => clock.source.machine_ms(),
            Self::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// How far the machine's wall clock, or the database's where that is further off, is ahead of the time that is shown.
    pub(crate) fn off_ms(&self) -> i64 {
        let Self::Service(clock) = self else {
            return 0;
        };
        let now_ms = self.now_ms();
        let machine = clock.source.machine_ms() - now_ms;
        let wall = clock.source.wall_ms() - now_ms;
        if wall.abs() > machine.abs() {
            wall
        } else {
            machine
        }
    }

    /// Moves a clock of tests; a real one is left alone.
    pub fn advance(&self, milliseconds: i64) {
        if let Self::Manual(now) = self {
            now.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }

    /// Draws the time that is shown towards the wall clock, or takes that over. To be called about once a second; says whether
    /// the wall clock was set since the last time.
    pub(crate) fn draw_in(&self) -> bool {
        let Self::Service(clock) = self else {
            return false;
        };
        let (boot_ms, wall_ms) = (clock.source.boot_ms(), clock.source.wall_ms());
        let off_ms = wall_ms - self.now_ms();
        let mut slew = clock.slew();
        match slew.step(boot_ms, off_ms) {
            Adjustment::Nothing => {}
            Adjustment::Little(by_ms) => {
                clock.ahead_ms.fetch_add(by_ms, Ordering::Relaxed);
            }
            Adjustment::TakeOver(by_ms) if by_ms < 0 => {
                let from_ms = clock.steady_ms() + clock.ahead_ms();
                *clock.set_back() = Some(SetBack { from_ms, by_ms });
            }
            Adjustment::TakeOver(by_ms) => {
                clock.take_over(by_ms);
            }
        }
        slew.was_set(wall_ms - boot_ms)
    }

    /// Whether the time that is shown is about to be turned back, which is told once: what was over by it must end first, see
    /// [`Self::turn_back`]. Where that fails, the difference goes on and is taken over later.
    pub(crate) fn set_back(&self) -> Option<SetBack> {
        let Self::Service(clock) = self else {
            return None;
        };
        clock.set_back().take()
    }

    /// Turns the time that is shown back.
    pub(crate) fn turn_back(&self, set_back: SetBack) {
        if let Self::Service(clock) = self
            && set_back.by_ms < 0
        {
            clock.take_over(set_back.by_ms);
        }
    }

    /// What the next process is to go on from; `None` where nothing is to be kept.
    pub(crate) fn note(&self) -> Option<ClockNote> {
        let Self::Service(clock) = self else {
            return None;
        };
        Some(clock.note())
    }

    /// Keeps the service's own time together with that of the other nodes.
    pub(crate) async fn agree(&self, store: &Store) -> Result<(), atelier_store::Error> {
        if let Self::Service(clock) = self
            && matches!(clock.source, Source::Database(_))
        {
            clock.agree(store).await?;
        }
        Ok(())
    }
}

impl ServiceClock {
    fn steady_ms(&self) -> i64 {
        self.source.boot_ms() + self.steady_ms.load(Ordering::Relaxed)
    }

    fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }

    /// Moves the time that is shown.
    fn take_over(&self, by_ms: i64) {
        self.ahead_ms.fetch_add(by_ms, Ordering::Relaxed);
        tracing::warn!(
            by_ms,
            "the wall clock was set; its time is adopted, and no deadline moves"
        );
    }

    fn set_back(&self) -> MutexGuard<'_, Option<SetBack>> {
        self.set_back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slew(&self) -> MutexGuard<'_, ClockSlew> {
        self.slew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) -> ClockNote {
        let boot_ms = self.source.boot_ms();
        ClockNote {
            machine: self.source.machine(),
            boot_ms,
            steady_ms: boot_ms + self.steady_ms.load(Ordering::Relaxed),
            wall_ms: self.source.wall_ms(),
        }
    }

    async fn agree(&self, store: &Store) -> Result<(), atelier_store::Error> {
        let (notes, ours) = (store.nodes().clock_notes().await?, self.note());
        let agreed = notes.iter().find(|note| note.machine.is_empty());
        let others = notes
            .iter()
            .filter(|note| !note.machine.is_empty() && note.machine != ours.machine);
        let verdict = {
            let mut agreement = self
                .agreement
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            agreement.step(&ours, agreed, others)
        };
        match verdict {
            Verdict::Stay => {}
            Verdict::Follow(by_ms) => {
                self.steady_ms.fetch_add(by_ms, Ordering::Relaxed);
            }
            Verdict::Join(by_ms) => {
                self.steady_ms.fetch_add(by_ms, Ordering::Relaxed);
                tracing::warn!(
                    by_ms,
                    "this machine was suspended; it adopts the time of the other nodes"
                );
            }
            Verdict::Publish => {
                let agreed = agreed.cloned();
                let machine = String::new();
                let told = ClockNote { machine, ..ours };
                let ahead_ms = told.ahead_ms();
                let before = agreed.as_ref().map(ClockNote::ahead_ms);
                if store.nodes().agree_on_clock(agreed, told).await? && before.is_some() {
                    let by_ms = ahead_ms - before.unwrap_or_default();
                    tracing::warn!(
                        by_ms,
                        "the database's clock was set; nodes continue by their own clocks"
                    );
                }
            }
        }
        Ok(())
    }
}
