//! Nobody reads for ever, and nobody waits for whoever reads most.

use std::path::PathBuf;

use futures_util::future::join_all;

use super::*;

/// Longer than anybody waits for a place, and with an end all the same: the thread of one without would never stop.
const LONG: &str = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150000000) \
     SELECT COUNT(*) FROM c";

/// A file of its own with so many readers.
struct Own {
    db: Db,
    writer: Conn,
    path: PathBuf,
}

impl Own {
    async fn new(name: &str, readers: u32) -> Self {
        let name = format!("atelier-{name}-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let address = Address::parse(&format!("sqlite:{}", path.display())).expect("an address");
        let writer = address.writer().await.expect("a file");
        let db = Db::new(address, readers);
        Self { db, writer, path }
    }

    async fn remove(self) {
        self.db.close().await;
        self.writer.close().await;
        for end in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(format!(
                "{}{end}",
                self.path.display()
            )));
        }
    }
}

/// A read that nobody waits for any more is ended, and has its place until then.
#[tokio::test]
async fn a_read_given_up_ends_and_gives_its_place_back() {
    let own = Own::new("given-up", 1).await;
    let given_up = timeout(Duration::from_millis(100), own.db.one::<i64>(LONG, &[])).await;
    assert!(given_up.is_err(), "it takes much longer");
    let next = own.db.one::<i64>("SELECT 1", &[]).await;
    assert_eq!(next.expect("the place is free again"), 1);
    own.remove().await;
}

/// The promise: one account may have every idle connection, and then waits; another one has the first that comes back, and
/// the service itself has one at once.
#[tokio::test]
async fn reads_of_one_account_end_in_time_and_leave_places_to_the_others() {
    let own = Own::new("shared", 4).await;
    let db = &own.db;
    let crowd = async {
        let reads = (0..9).map(|_| db.of(Some("crowd")).one::<i64>(LONG, &[]));
        join_all(reads).await
    };
    let others = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let asked = Instant::now();
        let well = db.one::<i64>("SELECT 1", &[]).await;
        assert_eq!(well.expect("a place is kept"), 1);
        assert!(
            asked.elapsed() < Duration::from_secs(1),
            "{:?}",
            asked.elapsed()
        );
        let other = db.of(Some("other")).one::<i64>("SELECT 1", &[]).await;
        assert_eq!(other.expect("its turn"), 1);
        asked.elapsed()
    };
    let (crowd, waited) = tokio::join!(crowd, others);
    assert!(
        waited < ACCOUNT_LIMIT + Duration::from_secs(1),
        "{waited:?}"
    );
    assert!(crowd.iter().all(|read| matches!(read, Err(Error::Busy))));
    own.remove().await;
}

/// The promise: a server is told how long a read may take, and gives it up by itself.
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration file"
)]
async fn a_server_gives_a_long_read_up() {
    let Some(url) = std::env::var("ATELIER_TEST_POSTGRES")
        .ok()
        .filter(|url| !url.is_empty())
    else {
        eprintln!("skipped: ATELIER_TEST_POSTGRES is not set");
        return;
    };
    let db = Db::new(Address::parse(&url).expect("an address"), 1);
    let long = "SELECT CAST(1 AS BIGINT) FROM pg_sleep(5)";
    let asked = Instant::now();
    let given_up = db.of(Some("account")).one::<i64>(long, &[]).await;
    assert!(matches!(given_up, Err(Error::Busy)), "{given_up:?}");
    assert!(
        asked.elapsed() < ACCOUNT_LIMIT + SILENCE,
        "the server said so"
    );
    // The connection is whole, and others may take longer on it.
    let next = db.one::<i64>(long, &[]).await;
    assert_eq!(next.expect("an answer"), 1);
    assert_eq!(db.0.idle.lock().expect("no panic").len(), 1);
    db.close().await;
}
