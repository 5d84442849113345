//! Nobody reads for ever, and nobody waits for whoever reads most.

use std::cell::Cell;
use std::path::PathBuf;

use futures_util::future::join_all;

use self::stopwatch::Stopwatch;
use super::*;
use crate::{Options, Period, Store};

#[path = "../../../../tests/shared/stopwatch.rs"]
mod stopwatch;

/// Longer than anybody waits for a place, and with an end all the same: the thread of one without would never stop.
const LONG: &str = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150000000) \
     SELECT COUNT(*) FROM c";

/// What a busy machine takes besides; far less than a long read does.
const BUSY_MACHINE: Duration = Duration::from_secs(6);

/// A file of its own with so many readers.
struct TestDatabase {
    db: Db,
    writer: Conn,
    path: PathBuf,
}

impl TestDatabase {
    async fn new(name: &str, readers: u32) -> Self {
        let name = format!("atelier-{name}-{}.db", std::process::id());
        let path = std::env::temp_dir().join(name);
        let address = DbConfig::parse(&format!("sqlite:{}", path.display())).expect("an address");
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
    let own = TestDatabase::new("given-up", 1).await;
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
    let own = TestDatabase::new("shared", 4).await;
    let db = &own.db;
    let ended = Cell::new(0);
    let crowd = async {
        let reads = (0..9).map(|_| async {
            let read = db.of(Some("crowd")).one::<i64>(LONG, &[]).await;
            ended.set(ended.get() + 1);
            read
        });
        join_all(reads).await
    };
    let others = async {
        while db.shares().waiting(&Arc::from("crowd")) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let asked = Stopwatch::start();
        let well = db.one::<i64>("SELECT 1", &[]).await;
        assert_eq!(well.expect("a place is kept"), 1);
        assert_eq!(ended.get(), 0, "it waited for the crowd");
        let other = db.of(Some("other")).one::<i64>("SELECT 1", &[]).await;
        assert_eq!(other.expect("its turn"), 1);
        asked.elapsed()
    };
    let (crowd, waited) = tokio::join!(crowd, others);
    assert!(waited < ACCOUNT_LIMIT + BUSY_MACHINE, "{waited:?}");
    assert!(crowd.iter().all(|read| matches!(read, Err(Error::Busy))));
    own.remove().await;
}

/// What a caller asks about its own account, each with whether it was answered.
fn own_reads<'a>(store: &'a Store, ids: &'a [String]) -> [(&'static str, BoxFuture<'a, bool>); 6] {
    [
        (
            "acts",
            Box::pin(async move {
                let all = Period::default();
                store.admin().account_acts("a", all, 0, 10).await.is_ok()
            }),
        ),
        (
            "jobs",
            Box::pin(async move { store.jobs().find_many("a", ids).await.is_ok() }),
        ),
        (
            "attempts",
            Box::pin(async move { store.attempts().list(Some("a"), "job").await.is_ok() }),
        ),
        (
            "tries",
            Box::pin(async move { store.deliveries().log("a", "cb_job").await.is_ok() }),
        ),
        (
            "itself",
            Box::pin(async move { store.accounts().find_own("a").await.is_ok() }),
        ),
        (
            "refused prompts",
            Box::pin(async move {
                store
                    .accounts()
                    .refused_prompts("a", "artgen", 1)
                    .await
                    .is_ok()
            }),
        ),
    ]
}

/// The promise: what a caller asks about its own account waits for a place of the accounts', and leaves those that are kept
/// for the service to the service.
#[tokio::test]
async fn reads_of_an_account_leave_the_kept_places_alone() {
    let name = format!("atelier-kept-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let options = Options {
        readers: 4,
        ..Options::default()
    };
    let store = Store::open(&format!("sqlite:{}", path.display()), options).await;
    let store = store.expect("the store opens");
    let ids = ["job".to_owned()];
    let crowd = store.core.db.shares().take(&Arc::from("crowd"), 3).await;
    for (what, read) in own_reads(&store, &ids) {
        let early = timeout(Duration::from_millis(100), read).await;
        assert!(early.is_err(), "{what}: answered with the service's place");
    }
    let service = timeout(Duration::from_secs(30), store.accounts().find("a")).await;
    let service = service.expect("a place is kept").expect("a read");
    assert_eq!(service, None);
    drop(crowd);
    for (what, read) in own_reads(&store, &ids) {
        assert!(read.await, "{what}");
    }
    store.close().await;
    for end in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{}{end}", path.display())));
    }
}

mod postgres {
    #[tokio::test]
    #[ignore = "needs PostgreSQL"]
    async fn a_server_gives_a_long_read_up() {
        super::a_server_gives_a_long_read_up().await;
    }
}

/// The promise: a server is told how long a read may take, and gives it up by itself.
#[expect(
    clippy::disallowed_methods,
    reason = "tests have no configuration file"
)]
async fn a_server_gives_a_long_read_up() {
    let url = std::env::var("ATELIER_TEST_POSTGRES").expect("ATELIER_TEST_POSTGRES names a server");
    let db = Db::new(DbConfig::parse(&url).expect("an address"), 1);
    let long = "SELECT CAST(1 AS BIGINT) FROM pg_sleep(5)";
    let asked = Stopwatch::start();
    let given_up = db.of(Some("account")).one::<i64>(long, &[]).await;
    assert!(matches!(given_up, Err(Error::Busy)), "{given_up:?}");
    assert!(
        asked.elapsed() < ACCOUNT_LIMIT + SILENCE,
        "the server gave it up, not this side"
    );
    // The connection is whole, and others may take longer on it.
    let next = db.one::<i64>(long, &[]).await;
    assert_eq!(next.expect("an answer"), 1);
    assert_eq!(db.0.idle.lock().expect("no panic").len(), 1);
    db.close().await;
}
