//! The wall clock is set back: what was over by it stays over.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use atelier_contract::Refusal;
use atelier_engine::{Clock, Engine, SessionCredential, SimulatedMachine, key};
use tokio::time::Instant;

use crate::rig::{Rig, START_MS};

const ROOT: &str = "the hash of the configuration's token";
/// Longer than a session may stay unused.
const LONG_MS: i64 = 25 * 3_600_000;

/// A machine with a wall clock that anybody may set.
struct Machine {
    begun: Instant,
    wall_ahead_ms: Arc<AtomicI64>,
}

impl Machine {
    fn new() -> Self {
        Self {
            begun: Instant::now(),
            wall_ahead_ms: Arc::new(AtomicI64::new(START_MS)),
        }
    }

    fn set_by(&self, by_ms: i64) {
        self.wall_ahead_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// A process that starts on it.
    async fn node(&self, rig: &Rig) -> Arc<Engine> {
        let machine = SimulatedMachine {
            name: "here".into(),
            counted: (0, self.begun),
            wall_ahead_ms: Arc::clone(&self.wall_ahead_ms),
        };
        let clock = Clock::simulated(&rig.store, machine).await;
        rig.node_by(&clock.expect("a clock"))
    }
}

/// The words of a session of root, and of a link.
async fn opened(engine: &Engine) -> [String; 2] {
    let (sessions, root) = (engine.admin().sessions(), SessionCredential::Root(ROOT));
    let word = sessions.open(root, None, ROOT, |_| Ok::<_, Refusal>(()));
    let word = word.await.expect("a session");
    [word, sessions.link("a key").await.expect("a link")]
}

async fn is_over(engine: &Engine, rig: &Rig, [word, link]: &[String; 2]) {
    let visitor = engine.admin().sessions().visitor(word, ROOT).await;
    assert!(visitor.expect("an answer").is_none(), "the session");
    let found = rig.store.people().sessions().find(&key::hash(link)).await;
    assert!(found.expect("an answer").is_none(), "the link");
}

/// Lets the wall clock be as it is for so long that it is taken over.
async fn take_over(engine: &Engine) {
    engine.clock_step().await.expect("a step");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    engine.clock_step().await.expect("a step");
}

/// The promise: a session and a link that were over by the clock stay over when it is set back, whether anybody came with them
/// meanwhile or not; those that were not over go on.
#[tokio::test]
async fn a_session_that_was_over_stays_over_when_the_clock_is_set_back() {
    let (rig, machine) = (Rig::new().await, Machine::new());
    let engine = machine.node(&rig).await;
    let old = opened(&engine).await;
    machine.set_by(LONG_MS);
    take_over(&engine).await;
    assert!(engine.now_ms() > START_MS + LONG_MS, "it was taken over");
    let [young, _] = opened(&engine).await;
    machine.set_by(-LONG_MS);
    take_over(&engine).await;
    assert!(engine.now_ms() < START_MS + LONG_MS, "it was taken over");
    is_over(&engine, &rig, &old).await;
    let visitor = engine.admin().sessions().visitor(&young, ROOT).await;
    assert!(visitor.expect("an answer").is_some(), "the young one");
}

/// The promise: the same when the clock is set back while no process works.
#[tokio::test]
async fn a_session_that_was_over_stays_over_when_the_clock_is_set_back_while_all_are_away() {
    let (rig, machine) = (Rig::new().await, Machine::new());
    let first = machine.node(&rig).await;
    let old = opened(&first).await;
    first.renew_step().await.expect("noted");
    machine.set_by(LONG_MS);
    let second = machine.node(&rig).await;
    second.clock_step().await.expect("a step");
    second.renew_step().await.expect("noted");
    assert!(second.now_ms() > START_MS + LONG_MS, "it is believed");
    machine.set_by(-LONG_MS);
    let third = machine.node(&rig).await;
    third.clock_step().await.expect("a step");
    assert!(third.now_ms() < START_MS + LONG_MS, "it is believed");
    is_over(&third, &rig, &old).await;
}
