//! Thousands of jobs at vendors on one node: every worker's limit on questions is kept, and a result waits no longer
//! than one interval for its question. Durations are a quarter of real ones. It prints what it measured.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::rig::{Rig, worker};
use crate::stage::{Stage, after_ms, now_ms};

const JOBS: usize = 5_000;
const WORKERS: usize = 5;
/// Two hundred a second for each worker account; a thousand jobs there are asked about every six seconds.
const POLLS_PER_MINUTE: i64 = 12_000;
const INTERVAL_MS: i64 = JOBS as i64 / WORKERS as i64 * 75_000 / POLLS_PER_MINUTE;

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}

async fn cast(rig: &Rig) {
    let change = json!({
        "vendor": "stage",
        "name": "scale",
        "base_url": "http://127.0.0.1:9",
        "settings": { "stage": "scale" },
    });
    let made = rig
        .engine
        .admin()
        .backends()
        .create("root", change.into())
        .await
        .expect("a back end");
    for number in 0..WORKERS {
        let change = worker(&json!({
            "name": format!("w{number}"),
            "credential": format!("w{number}"),
            "concurrency": JOBS / WORKERS,
            "polls_per_minute": POLLS_PER_MINUTE,
        }));
        rig.engine
            .admin()
            .backends()
            .create_worker("root", &made.id, change)
            .await
            .expect("a worker");
    }
}

/// The most questions any worker was asked within a second, with two more seconds' worth that may have been saved up.
fn assert_rate_of_questions(asked: &[(String, i64)]) -> usize {
    let mut by_second: HashMap<(&str, i64), usize> = HashMap::new();
    for (worker, at_ms) in asked {
        *by_second.entry((worker, at_ms / 1_000)).or_default() += 1;
    }
    let most = by_second.values().copied().max().unwrap_or_default();
    let second = POLLS_PER_MINUTE as usize / 60;
    assert!(most <= 4 * second, "{most} questions in one second");
    let mut totals: HashMap<&str, (usize, i64, i64)> = HashMap::new();
    for (worker, at_ms) in asked {
        let total = totals.entry(worker).or_insert((0, *at_ms, *at_ms));
        *total = (total.0 + 1, total.1.min(*at_ms), total.2.max(*at_ms));
    }
    for (worker, (count, first, last)) in totals {
        let allowed = (last - first) * POLLS_PER_MINUTE / 60_000 + 3 * second as i64;
        assert!(
            count as i64 <= allowed,
            "{worker}: {count} questions, {allowed} allowed"
        );
    }
    most
}

/// How long after its end at the vendor each job was finished here, in order.
async fn seen_after(rig: &Rig, ids: &[atelier_contract::JobId], release_ms: i64) -> Vec<i64> {
    let mut delays = Vec::new();
    for id in ids {
        let row = rig
            .store
            .jobs()
            .find_of_any_account(id.as_str())
            .await
            .expect("a read")
            .expect("a job");
        assert_eq!(
            row.state,
            atelier_contract::JobState::Succeeded,
            "{:?}",
            row.message
        );
        let request: Value = serde_json::from_str(&row.request).expect("a request");
        let at_ms = release_ms + after_ms(request["prompt"].as_str().expect("a prompt"));
        delays.push(row.finished_ms.expect("final") - at_ms);
    }
    delays.sort_unstable();
    delays
}

mod proofs {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "takes long"]
    async fn five_thousand_jobs_at_vendors_keep_the_rate_of_questions_and_are_seen_in_time() {
        super::five_thousand_jobs_at_vendors_keep_the_rate_of_questions_and_are_seen_in_time()
            .await;
    }
}

async fn five_thousand_jobs_at_vendors_keep_the_rate_of_questions_and_are_seen_in_time() {
    let stage = Stage::named("scale");
    let rig = Rig::live().await;
    cast(&rig).await;
    let running = rig.engine.run().await.expect("it runs");
    let caller = rig.account(100_000).await;
    let before = resident();
    let ids: Vec<_> = futures_util::stream::iter(0..JOBS)
        .map(|number| {
            // Thirty to a hundred and twenty seconds, a quarter of it.
            let after_ms = 7_500 + (number as i64 * 7_919) % 22_500;
            let prompt = format!("timed {after_ms} {number}");
            let (rig, caller) = (&rig, &caller);
            async move { rig.imagine(caller, &prompt).await.expect("accepted") }
        })
        .buffer_unordered(64)
        .collect()
        .await;
    assert_eq!(ids.len(), JOBS);
    let mut most_in_flight = 0;
    let mut per_job = 0;
    loop {
        let stats = rig.engine.admin().reports().stats().await.expect("stats");
        let in_flight = stats.at_vendors;
        if in_flight > most_in_flight {
            most_in_flight = in_flight;
            per_job = resident().saturating_sub(before) / in_flight as u64;
        }
        if in_flight == JOBS {
            stage.books().release_ms.get_or_insert_with(now_ms);
        }
        if stats.waiting == 0 && stats.running == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(most_in_flight, JOBS, "all at once");
    let (asked, release_ms) = {
        let books = stage.books();
        (books.asked_at.clone(), books.release_ms.expect("released"))
    };
    let delays = seen_after(&rig, &ids, release_ms).await;
    let median = delays[delays.len() / 2];
    let most = assert_rate_of_questions(&asked);
    eprintln!(
        "{JOBS} jobs, {most_in_flight} at vendors at once, {} questions, at most {most} a second for one account; \
         result seen after {median} ms (median), {} ms (99 of 100); {per_job} bytes a job in flight",
        asked.len(),
        delays[delays.len() * 99 / 100]
    );
    assert!(
        median <= INTERVAL_MS,
        "{median} ms, the interval is {INTERVAL_MS} ms"
    );
    assert_eq!(stage.books().taken.len(), JOBS, "each was submitted once");
    running.stop(Duration::from_secs(5)).await;
}
