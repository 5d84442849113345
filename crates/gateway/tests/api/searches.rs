//! Searches: one account may have all its words looked through as often as it likes, and nobody else waits for it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout};

use crate::backends::finished;
use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

needs!(
    sqlite:
    searches_of_one_account_keep_nobody_waiting,
    a_search_goes_on_where_the_last_one_ended,
);

/// Jobs of the account that searches, each with a prompt as long as one may be.
const JOBS: u32 = 2_000;
/// Searches at the same time.
const CROWD: usize = 12;
/// What anybody else waits for an answer at most, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes failed jobs of an account into the file of a running service. The last emoji of their prompts are beyond what a
/// search looks at; every tenth begins with a fox.
fn fill(folder: &Path, account: &str, jobs: u32, emoji: u32) {
    let file = rusqlite::Connection::open(folder.join("atelier.db")).expect("the database");
    file.busy_timeout(Duration::from_secs(30))
        .expect("patience");
    let script = format!(
        "BEGIN; \
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {jobs}) \
         INSERT INTO job (id, account_id, operation, queue, state, speed, progress, request, price, quota, created_ms, \
           finished_ms, deadline_ms, updated_ms, revision, turn_ms, not_before_ms, fence, tries) \
         SELECT 'filled-' || {jobs} || '-' || SUBSTR(100000000 + i, 2), '{account}', 'artgen.imagine', 'artgen', 3, 1, 0, \
           '{{\"prompt\":\"' || CASE i % 10 WHEN 0 THEN 'A red FOX ' ELSE '' END \
             || REPLACE(HEX(ZEROBLOB({emoji} / 2)), '0', '😀') || ' badger\"}}', \
           0, 0, 1700000000000 + i, 1700000000000 + i, 1700000000000, 1700000000000, 1, 0, 0, 0, 0 FROM n; \
         DELETE FROM tally WHERE account_id = '{account}'; DELETE FROM tally_total WHERE account_id = '{account}'; \
         INSERT INTO tally SELECT account_id, created_ms / 86400000, operation, state, COUNT(*) FROM job \
           WHERE account_id = '{account}' GROUP BY 1, 2, 3, 4; \
         INSERT INTO tally_total SELECT account_id, operation, state, SUM(jobs), 0 FROM tally \
           WHERE account_id = '{account}' GROUP BY 1, 2, 3; \
         COMMIT"
    );
    file.execute_batch(&script).expect("jobs");
}

async fn filled(gateway: &Gateway, account: &str, jobs: u32, emoji: u32) {
    let (folder, account) = (gateway.folder.path().to_owned(), account.to_owned());
    let filled = spawn_blocking(move || fill(&folder, &account, jobs, emoji));
    filled.await.expect("it is filled");
}

async fn on_sqlite() -> Gateway {
    let folder = tempfile::tempdir().expect("a folder");
    // The words of failed jobs are to stay, and the other account's jobs need not be done at once.
    let options = Options::default().set("RETENTION_FAILED_DAYS", "36500");
    options.set("JOBS_MAX_QUEUE", "1000").spawn_on(folder).await
}

/// Whether half of the crowd has its requests under way.
fn crowded(stats: &Value) -> bool {
    let shares = stats["shares"].as_array().into_iter().flatten();
    let mut accounts = shares.filter(|one| one["of"] == "requests");
    accounts.any(|one| one["taken"].as_u64() >= Some(CROWD as u64 / 2))
}

/// The promise: while one account searches through all it ever wrote, twelve times at once and again and again, everybody
/// else is answered, and so are operators and whoever asks whether the service is well.
async fn searches_of_one_account_keep_nobody_waiting() {
    let gateway = Arc::new(on_sqlite().await);
    let (attacker, other) = (gateway.account(1).await, gateway.account(100).await);
    filled(&gateway, &attacker.id, JOBS, 32_000).await;
    let known = gateway.imagine(&other.key, "a lake").await;
    finished(&gateway, &other.key, &known).await;
    let over = Arc::new(AtomicBool::new(false));
    // Words that each of their places nearly has.
    let path = format!("/jobs/v1?q={}x", "%F0%9F%98%80".repeat(199));
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let (gateway, key) = (Arc::clone(&gateway), attacker.key.clone());
        let (over, path) = (Arc::clone(&over), path.clone());
        crowd.spawn(async move {
            let (mut statuses, mut searches) = (BTreeSet::new(), 0);
            while !over.load(Ordering::Relaxed) {
                let answer = gateway.get(&key, &path).await;
                statuses.insert(answer.status.as_u16());
                searches += 1;
            }
            (statuses, searches)
        });
    }
    gateway.until_stats("searches are under way", crowded).await;
    let (mut longest, mut calls) = (Duration::ZERO, 0);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        for path in [
            format!("/jobs/v1/{known}"),
            "/jobs/v1?limit=5".to_owned(),
            "/jobs/v1?q=lake".to_owned(),
            "/account/v1/ledger".to_owned(),
            "/account/v1/usage".to_owned(),
        ] {
            let asked = Stopwatch::start();
            let answer = timeout(12 * PATIENCE, gateway.get(&other.key, &path)).await;
            let answer = answer.unwrap_or_else(|_| panic!("{path}: no answer"));
            let took = asked.elapsed();
            assert_eq!(answer.status, 200, "{path}, {took:?}: {}", answer.json);
            longest = longest.max(took);
            calls += 1;
        }
        let asked = Stopwatch::start();
        let body = json!({ "prompt": "a lake" });
        let answer = gateway.post(&other.key, "/artgen/v1/imagine", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let shown = gateway
            .operate(Method::GET, "/admin/v1/jobs?limit=5", None)
            .await;
        assert_eq!(shown.status, 200, "{}", shown.json);
        let well = send(gateway.request(Method::GET, "/readyz")).await;
        assert_eq!(well.status, 200, "{}", well.json);
        longest = longest.max(asked.elapsed() / 3);
        calls += 3;
    }
    over.store(true, Ordering::Relaxed);
    let mut searches = 0;
    while let Some(done) = crowd.join_next().await {
        let (statuses, own) = done.expect("a searcher");
        assert_eq!(
            statuses,
            BTreeSet::from([200]),
            "who searches is answered too"
        );
        searches += own;
    }
    eprintln!("{calls} calls of others beside {searches} searches: at most {longest:?}");
    assert!(longest < PATIENCE, "somebody waited {longest:?}");
}

/// The promise: a search that cannot look at everything says where it goes on, and whoever goes on finds everything once.
async fn a_search_goes_on_where_the_last_one_ended() {
    let gateway = on_sqlite().await;
    let account = gateway.account(1).await;
    // More than one search looks at, and few enough to be quick.
    filled(&gateway, &account.id, 45_000, 20).await;
    let (mut found, mut calls, mut after) = (Vec::new(), 0, String::new());
    loop {
        let path = format!("/jobs/v1?q=red+fox&limit=100{after}");
        let answer = gateway.get(&account.key, &path).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        let rows = answer.json["data"].as_array().expect("rows").iter();
        found.extend(rows.map(|row| row["jobId"].as_str().expect("an id").to_owned()));
        calls += 1;
        match answer.json["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert!(calls >= 45, "{calls} calls of 100 rows");
    let every: Vec<String> = (1..=4_500)
        .rev()
        .map(|i| format!("filled-45000-{:08}", i * 10))
        .collect();
    assert!(
        found == every,
        "newest first, each once: {} of 4,500",
        found.len()
    );
    // Beyond the first characters nothing is looked for; a name finds its job, however old it is.
    let wordy = gateway.account(1).await;
    filled(&gateway, &wordy.id, 30, 600).await;
    let count = async |key: &str, query: &str| {
        let answer = gateway.get(key, &format!("/jobs/v1?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.json);
        answer.json["data"].as_array().expect("rows").len()
    };
    assert_eq!(count(&account.key, "q=badger&limit=7").await, 7);
    assert_eq!(count(&wordy.key, "q=fox").await, 3);
    assert_eq!(count(&wordy.key, "q=badger").await, 0);
    assert_eq!(count(&account.key, "q=filled-45000-00000001").await, 1);
    assert_eq!(count(&wordy.key, "q=filled-45000-00000001").await, 0);
    assert_eq!(
        count(&account.key, "q=filled-45000-00000001&status=SUCCESS").await,
        0
    );
    let bad = gateway
        .get(&account.key, "/jobs/v1?q=fox&after=yesterday")
        .await;
    bad.assert_refused(400, "invalid_parameter");
    assert_eq!(bad.json["param"], "after");
}
