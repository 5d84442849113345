//! A reader of SQLite that takes long.

use std::time::Duration;

use atelier_store::Store;
use sqlx::Connection;

use crate::rig::{Folder, options};
use crate::stopwatch::Stopwatch;

/// Rounds of writes that are timed.
const ROUNDS: usize = 8;

/// The promise: writers never wait for readers, and the log is short again when the readers have gone.
#[test]
fn a_long_read_does_not_slow_writes_down() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = Folder::new();
        let store = Store::open(&folder.url(), options())
            .await
            .expect("a store");
        let before = write_some(&store, "first").await;
        let usual = before[ROUNDS / 2];
        let path = folder.0.join("atelier.db");
        let mut reader = sqlx::SqliteConnection::connect(&format!("sqlite://{}", path.display()))
            .await
            .expect("a reader");
        sqlx::raw_sql("BEGIN; SELECT COUNT(*) FROM setting")
            .execute(&mut reader)
            .await
            .expect("a read that goes on");
        fill_log(&store).await;
        let log = folder.0.join("atelier.db-wal");
        let length = || std::fs::metadata(&log).map_or(0, |file| file.len());
        assert!(length() > 64 << 20, "the log is long: {}", length());

        // What the machine does beside them is not in most of the rounds.
        let took = write_some(&store, "beside").await;
        let most = usual * 4 + Duration::from_millis(250);
        assert!(
            took[ROUNDS - 3] < most,
            "rounds took {took:?}, usually {usual:?}"
        );
        // One that waits for a reader waits for five seconds.
        let (all, usually): (Duration, Duration) = (took.iter().sum(), before.iter().sum());
        let most = usually * 4 + Duration::from_secs(4);
        assert!(all < most, "160 writes took {all:?}, usually {usually:?}");

        sqlx::raw_sql("COMMIT")
            .execute(&mut reader)
            .await
            .expect("over");
        reader.close().await.expect("closed");
        write_some(&store, "after").await;
        assert!(length() < 16 << 20, "the log is short again: {}", length());
        store.close().await;
    });
}

/// How long rounds of twenty writes take, the fastest first.
async fn write_some(store: &Store, name: &str) -> Vec<Duration> {
    let mut took = Vec::new();
    for round in 0..ROUNDS {
        let start = Stopwatch::start();
        for number in 0..20 {
            let name = format!("{name}-{round}-{number}");
            store.settings().put(&name, "x").await.expect("a write");
        }
        took.push(start.elapsed());
    }
    took.sort();
    took
}

/// Makes the log longer than it may get while nobody reads.
async fn fill_log(store: &Store) {
    let large = "x".repeat(1 << 20);
    for number in 0..72 {
        let name = format!("large-{number}");
        store.settings().put(&name, &large).await.expect("a write");
    }
}
