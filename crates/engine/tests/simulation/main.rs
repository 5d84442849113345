//! A simulation of engine and store: one thread, virtual time, and a seed from which every order, delay and fault comes.
//! Every step at the database runs to its end before anything else happens or time moves, so a seed is a story that can be
//! told again.
//!
//! `ATELIER_TEST_SEEDS=5000` tells so many, `ATELIER_TEST_SEED=17` tells one and prints it.

mod checks;
mod clients;
mod credits;
#[path = "../stories/defaults.rs"]
mod defaults;
mod life;
mod machine;
mod payments;
mod people;
mod receiver;
mod vendor;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use atelier_store::{Options, Store};

use world::World;

/// Seeds of a usual run.
const USUAL: u64 = 60;

#[expect(
    clippy::disallowed_methods,
    reason = "a wish of whoever runs the tests"
)]
fn wish(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Where simulated machines keep their files: in memory where that is possible, for nothing here is to outlive a test.
fn fresh_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let parent = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let name = format!("atelier-simulation-{}", atelier_engine::Ids::Random.uuid());
    let folder = parent.join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A database without a row, to be copied: making one anew for every seed would take longer than the story.
fn empty_database(folder: &Path) -> PathBuf {
    let file = folder.join("empty.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let url = format!("sqlite:{}", file.display());
        let store = Store::open(&url, Options::default()).await;
        store.expect("a store").close().await;
    });
    file
}

/// Tells the story of a seed; what it came to, or what went wrong.
fn tell(seed: u64, empty: &Path, print: bool) -> Result<world::RunSummary, String> {
    let folder = fresh_folder();
    std::fs::copy(empty, folder.join("atelier.db")).expect("a copy");
    let world = World::shared(seed, print);
    let told = life::tell(&world, &folder);
    drop(std::fs::remove_dir_all(&folder));
    told.map_err(|why| {
        let last = world::lock(&world).last_lines();
        format!("seed {seed}: {why}\n{last}\nATELIER_TEST_SEED={seed} tells it again")
    })
}

#[test]
fn every_job_ends_once_and_every_hold_is_settled_once_whatever_the_seed() {
    let folder = fresh_folder();
    let empty = empty_database(&folder);
    let one = wish("ATELIER_TEST_SEED");
    let count = one.map_or_else(|| wish("ATELIER_TEST_SEEDS").unwrap_or(USUAL), |_| 1);
    let (next, failed) = (AtomicU64::new(one.unwrap_or(0)), Mutex::new(Vec::new()));
    let end = one.unwrap_or(0) + count;
    let sum = Mutex::new(world::RunSummary::default());
    std::thread::scope(|threads| {
        let threads_most = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..threads_most.min(4) {
            threads.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= end {
                        return;
                    }
                    match tell(seed, &empty, one.is_some()) {
                        Ok(told) => sum.lock().expect("no panic under the lock").add(&told),
                        Err(why) => failed.lock().expect("no panic under the lock").push(why),
                    }
                }
            });
        }
    });
    drop(std::fs::remove_dir_all(&folder));
    let failed = failed.into_inner().expect("no panic under the lock");
    let sum = sum.into_inner().expect("no panic under the lock");
    eprintln!("{count} seeds: {sum}");
    assert!(
        failed.is_empty(),
        "{} of {count} seeds failed\n{}",
        failed.len(),
        failed.first().map_or("", String::as_str)
    );
}

/// Without this no failing seed could be told again.
#[test]
fn a_seed_tells_the_same_story_twice() {
    let folder = fresh_folder();
    let empty = empty_database(&folder);
    for seed in 0..4 {
        let first = tell(seed, &empty, false).expect("told");
        let second = tell(seed, &empty, false).expect("told");
        assert_eq!(first.digest, second.digest, "seed {seed}");
    }
    drop(std::fs::remove_dir_all(&folder));
}
