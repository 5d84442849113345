//! Which indexes lists are read by, and what they do not look at.

use super::*;
use crate::{Options, Store};

/// A store of its own, and where it is.
async fn opened(name: &str) -> (Store, std::path::PathBuf) {
    let name = format!("atelier-{name}-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let url = format!("sqlite:{}", path.display());
    let store = Store::open(&url, Options::default()).await;
    (store.expect("a store"), path)
}

async fn removed(store: &Store, path: &std::path::Path) {
    store.close().await;
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", path.display())).ok();
    }
}

/// Its number, the step that it is a part of, something else, and what is done.
type Step = (i64, (i64, (i64, String)));

/// A page in the middle of a day with ten thousand jobs reads its own and no other; open jobs are found among open ones.
#[tokio::test]
async fn jobs_before_a_page_are_not_read() {
    let (store, path) = opened("page").await;
    let plan = async |sql: &str, values: &[Arg<'_>]| {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let steps = store
            .core
            .db
            .all::<Step>(&sql, values)
            .await
            .expect("a plan");
        let steps = steps.into_iter().map(|(_, (_, (_, step)))| step);
        steps.collect::<Vec<_>>().join("; ")
    };
    let filter = JobFilter {
        account_id: Some("a".into()),
        operations: vec!["artgen.imagine".into()],
        state: Some(JobState::Succeeded),
        ..JobFilter::default()
    };
    let mut values = common(&filter, "[]", None).to_vec();
    values.extend([0, 1, 20, 5_000].map(Arg::from));
    for alike in [false, true] {
        let steps = plan(&page(&filter, true, alike), &values).await;
        assert!(steps.contains("USING COVERING INDEX job_listed"), "{steps}");
    }
    // The service's own list of what waits or is worked on does not go through what has ended.
    let unfinished = [
        (JobState::Waiting, "job_unfinished"),
        (JobState::Running, "job_running"),
    ];
    for (state, index) in unfinished {
        let filter = JobFilter {
            state: Some(state),
            ..JobFilter::default()
        };
        let mut values = common(&filter, "[]", None).to_vec();
        values.extend([0, 1, 20, 0].map(Arg::from));
        let steps = plan(&page(&filter, false, true), &values).await;
        assert!(steps.contains(&format!("INDEX {index}")), "{steps}");
    }
    for open in ["", " AND created_ms >= 5 ORDER BY created_ms DESC"] {
        let sql = format!("SELECT id FROM job WHERE account_id = 'a' AND state < 2{open}");
        let steps = plan(&sql, &[]).await;
        assert!(steps.contains("INDEX job_open"), "{steps}");
    }
    removed(&store, &path).await;
}

#[tokio::test]
async fn the_first_page_of_a_long_history_looks_at_its_latest_days_alone() {
    let (store, path) = opened("days").await;
    let written = store.core.change((), |conn, ()| {
        Box::pin(async move {
            let days = "WITH RECURSIVE n (day) AS (SELECT 20000 UNION ALL SELECT day + 1 FROM n WHERE day < 21999) \
                 INSERT INTO tally SELECT 'a', day, 'artgen.imagine', 2, 3 FROM n; \
                 INSERT INTO tally_total SELECT account_id, operation, state, SUM(jobs), 0 FROM tally GROUP BY 1, 2, 3";
            conn.script(days).await
        })
    });
    written.await.expect("a history of 2,000 days");
    // Were the earlier days added up, they would be missed now.
    let forgotten = store.core.change((), |conn, ()| {
        Box::pin(conn.script("DELETE FROM tally WHERE day < 21000"))
    });
    forgotten.await.expect("days are gone");
    let filter = JobFilter {
        account_id: Some("a".into()),
        limit: 20,
        ..JobFilter::default()
    };
    let days = store.jobs().days(&filter, "[]").await.expect("days").jobs;
    assert_eq!(days.iter().map(|(_, jobs)| jobs).sum::<i64>(), 6_000);
    assert_eq!(days.first(), Some(&(21_999, 3)), "the latest first");
    assert!(days.len() <= 33, "{} days were read", days.len());
    removed(&store, &path).await;
}
