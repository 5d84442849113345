//! What outlives the simulated processes: the dice, the trace of what happened, what vendor and receiver have written down, and what
//! callers want.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use atelier_engine::{Caller, Ids};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::clients::Wish;
use crate::credits::{Gift, SharedCode};
use crate::machine::Machine;
use crate::payments::Purchase;
use crate::people::WorkingMember;
use crate::receiver::ReceivedCallbacks;
use crate::vendor::Books;

/// Lines of the trace that are shown of a seed that failed.
const SHOWN: usize = 80;
/// From then on nothing goes wrong any more, so that everything comes to its end.
pub(crate) const CALM_MS: i64 = 200_000;

pub(crate) type Shared = Arc<Mutex<World>>;

/// The world of one seed.
pub(crate) struct World {
    pub(crate) dice: fastrand::Rng,
    pub(crate) ids: Ids,
    pub(crate) books: Books,
    pub(crate) received: ReceivedCallbacks,
    pub(crate) callers: Vec<Caller>,
    pub(crate) wishes: Vec<Wish>,
    pub(crate) gifts: Vec<Gift>,
    pub(crate) codes: Vec<SharedCode>,
    pub(crate) purchases: Vec<Purchase>,
    pub(crate) members: Vec<WorkingMember>,
    /// What must never be, and was.
    pub(crate) wrong: Vec<String>,
    /// The machine, and what of it outlives its processes.
    pub(crate) machine: Machine,
    /// World time at the beginning of this life, and when that was for the runtime.
    began: (i64, Option<Instant>),
    /// The event at which this life is cut off.
    crash_at: Option<u64>,
    pub(crate) crash: Arc<Notify>,
    pub(crate) told: RunSummary,
    print: bool,
    lines: VecDeque<String>,
}

/// What a story came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSummary {
    pub(crate) digest: [u8; 32],
    pub(crate) events: u64,
    pub(crate) lives: u64,
    pub(crate) crashes: u64,
    pub(crate) jobs: u64,
    pub(crate) succeeded: u64,
    pub(crate) callbacks: u64,
    pub(crate) virtual_s: u64,
}

impl RunSummary {
    pub(crate) fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.lives += other.lives;
        self.crashes += other.crashes;
        self.jobs += other.jobs;
        self.succeeded += other.succeeded;
        self.callbacks += other.callbacks;
        self.virtual_s += other.virtual_s;
    }
}

impl fmt::Display for RunSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} events, {} lives ({} cut off), {} jobs ({} succeeded), {} callbacks, {} h of virtual time",
            self.events,
            self.lives,
            self.crashes,
            self.jobs,
            self.succeeded,
            self.callbacks,
            self.virtual_s / 3600
        )
    }
}

pub(crate) fn lock(world: &Shared) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(crate) fn shared(seed: u64, print: bool) -> Shared {
        let mut dice = fastrand::Rng::with_seed(seed);
        let wishes = Wish::all(&mut dice);
        let gifts = Gift::all(&mut dice);
        let purchases = Purchase::all(&mut dice);
        Arc::new(Mutex::new(Self {
            books: Books::new(&mut dice),
            dice,
            ids: Ids::counted(),
            received: ReceivedCallbacks::default(),
            callers: Vec::new(),
            wishes,
            gifts,
            codes: Vec::new(),
            purchases,
            members: Vec::new(),
            wrong: Vec::new(),
            machine: Machine::default(),
            began: (0, None),
            crash_at: None,
            crash: Arc::default(),
            told: RunSummary::default(),
            print,
            lines: VecDeque::new(),
        }))
    }

    /// Another process starts; how many events after that it is cut off, if it is.
    pub(crate) fn begin_life(&mut self, crash_after: Option<u64>) {
        self.began = (self.now_ms(), Some(Instant::now()));
        self.crash_at = crash_after.map(|events| self.told.events + events);
        self.crash = Arc::default();
        self.told.lives += 1;
        self.note(&format!("life {}", self.told.lives));
    }

    /// The process is gone, for so long.
    pub(crate) fn end_life(&mut self, now_ms: i64, away_ms: i64) {
        self.began = (now_ms + away_ms, None);
    }

    /// Milliseconds since the world began.
    pub(crate) fn now_ms(&self) -> i64 {
        let (before_ms, since) = self.began;
        before_ms + since.map_or(0, |since| since.elapsed().as_millis() as i64)
    }

    /// Whether nothing goes wrong any more.
    pub(crate) fn is_calm(&self) -> bool {
        self.now_ms() >= CALM_MS
    }

    /// One of a hundred.
    pub(crate) fn percent(&mut self) -> u32 {
        self.dice.u32(0..100)
    }

    /// Something happened.
    pub(crate) fn note(&mut self, what: &str) {
        let line = format!("{:>9} {what}", self.now_ms());
        let mut hash = Sha256::new();
        hash.update(self.told.digest);
        hash.update(line.as_bytes());
        self.told.digest = hash.finalize().into();
        self.told.events += 1;
        if self.print {
            eprintln!("{line}");
        }
        self.lines.push_back(line);
        if self.lines.len() > SHOWN {
            self.lines.pop_front();
        }
        if self.crash_at == Some(self.told.events) {
            self.crash.notify_one();
        }
    }

    /// Something that must never be.
    pub(crate) fn accuse(&mut self, what: String) {
        self.note(&format!("WRONG {what}"));
        self.wrong.push(what);
    }

    pub(crate) fn last_lines(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}
