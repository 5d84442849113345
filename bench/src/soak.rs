//! Load for as long as one likes, to see what grows: whole jobs that cost nothing, one after the other on each of a few
//! connections, with a line of figures for every minute. It ends badly when memory or the slowest answers have grown, or
//! when the ledger does not balance afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::report::{median, say};
use crate::service::{self, ServiceProcess, request};

/// Clients at work at once; each has one job under way.
const CLIENTS: usize = 16;
/// Pause between two looks at a job.
const LOOK: Duration = Duration::from_millis(20);
/// What memory may gain from the second to the last quarter, beyond a twentieth; in the first one caches fill.
const GROWTH_MB: f64 = 5.0;
/// A shorter run says nothing about growth.
const ENOUGH_MINUTES: usize = 8;
/// How often memory is looked at.
const SAMPLE: Duration = Duration::from_secs(5);
/// Every so many jobs a client also reads the first page of its list.
const LIST_EVERY: u64 = 50;

/// What is counted in the course of a minute.
#[derive(Default)]
struct Minute {
    jobs: AtomicU64,
    submit_us: Mutex<Vec<u32>>,
    whole_us: Mutex<Vec<u32>>,
}

/// Works for some minutes on SQLite, or on PostgreSQL when a server was named.
pub(crate) async fn run(minutes: u64) -> Result<()> {
    ensure!(minutes >= 1, "at least one minute");
    let server = service::postgres();
    let place = match &server {
        Some(server) => Some(crate::writer::fresh_database(Some(server), "soak").await?),
        None => None,
    };
    let database = place.as_deref();
    let served = service::start(database).await?;
    say(&format!(
        "soak on {}, {CLIENTS} clients, {minutes} minutes",
        if server.is_some() {
            "PostgreSQL"
        } else {
            "SQLite"
        }
    ));
    let rows = work(&served, minutes).await?;
    let faults = served.check(database).await?;
    ensure!(faults.is_empty(), "the ledger does not balance: {faults}");
    judge(&rows)?;
    say("the ledger balances");
    Ok(())
}

/// Memory in MB and the submits' p99 in milliseconds, minute by minute.
async fn work(served: &ServiceProcess, minutes: u64) -> Result<Vec<(f64, f64)>> {
    let end = Instant::now() + Duration::from_mins(minutes);
    let minute = Arc::new(Minute::default());
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let key = service::account(served.address, &format!("soak{number}")).await?;
        let (address, minute) = (served.address, minute.clone());
        clients.spawn(async move {
            let client = Client { address, key };
            client.work(end, &minute).await
        });
    }
    let mut rows = Vec::new();
    for number in 1..=minutes {
        let (minute_ends, mut samples) = (Instant::now() + Duration::from_mins(1), Vec::new());
        while Instant::now() + SAMPLE <= minute_ends {
            tokio::time::sleep(SAMPLE).await;
            samples.push(served.memory_mb()?);
        }
        tokio::time::sleep_until(minute_ends).await;
        let jobs = minute.jobs.swap(0, Ordering::Relaxed);
        let submit = percentiles(&minute.submit_us).await;
        let whole = percentiles(&minute.whole_us).await;
        let memory = median(&samples);
        say(&format!(
            "minute {number}: {:.0} jobs/s, submit p50 {:.1} p99 {:.1} ms, whole job p50 {:.1} p99 {:.1} ms, {memory:.1} MB",
            jobs as f64 / 60.0,
            submit.0,
            submit.1,
            whole.0,
            whole.1,
        ));
        rows.push((memory, submit.1));
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(rows)
}

async fn percentiles(times: &Mutex<Vec<u32>>) -> (f64, f64) {
    let mut times = std::mem::take(&mut *times.lock().await);
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize);
    let ms = |time: Option<&u32>| f64::from(time.copied().unwrap_or(0)) / 1000.0;
    (ms(at(0.5)), ms(at(0.99)))
}

/// The last quarter against the second, and for the slowest answers against the first.
fn judge(rows: &[(f64, f64)]) -> Result<()> {
    let quarter = rows.len() / 4;
    let middle = |rows: &[(f64, f64)], pick: fn(&(f64, f64)) -> f64| {
        median(&rows.iter().map(pick).collect::<Vec<_>>())
    };
    if rows.len() < ENOUGH_MINUTES {
        let (first, last) = (rows.first(), rows.last());
        let memory = |row: Option<&(f64, f64)>| row.map_or(0.0, |row| row.0);
        say(&format!(
            "memory {:.1} MB in the first minute and {:.1} MB in the last; {ENOUGH_MINUTES} minutes are the least that can tell \
             whether it grows",
            memory(first),
            memory(last),
        ));
        return Ok(());
    }
    let (first, last) = (&rows[..quarter], &rows[rows.len() - quarter..]);
    let second = &rows[quarter..2 * quarter];
    let (before, after) = (middle(second, |row| row.0), middle(last, |row| row.0));
    let hours = (rows.len() - 2 * quarter) as f64 / 60.0;
    say(&format!(
        "memory {:.1} MB in the first quarter, {before:.1} MB in the second, {after:.1} MB in the last: {:+.1} MB an hour",
        middle(first, |row| row.0),
        (after - before) / hours,
    ));
    ensure!(
        after <= before * 1.05 + GROWTH_MB,
        "memory grew from {before:.1} to {after:.1} MB"
    );
    let (before, after) = (middle(first, |row| row.1), middle(last, |row| row.1));
    ensure!(
        after <= before * 2.0 + 5.0,
        "the slowest submits went from {before:.1} to {after:.1} ms"
    );
    Ok(())
}

struct Client {
    address: std::net::SocketAddr,
    key: String,
}

impl Client {
    async fn work(&self, end: Instant, minute: &Minute) -> Result<()> {
        let parent = self
            .submit("/artgen/v1/imagine", r#"{"prompt":"a lighthouse"}"#)
            .await?;
        self.finished(&parent).await?;
        let body = format!(r#"{{"jobId":"{parent}"}}"#);
        let mut done = 0_u64;
        while Instant::now() < end {
            let begin = Instant::now();
            let job = self.submit("/artgen/v1/seed", &body).await?;
            let accepted = begin.elapsed();
            self.finished(&job).await?;
            let whole = begin.elapsed();
            minute.jobs.fetch_add(1, Ordering::Relaxed);
            minute
                .submit_us
                .lock()
                .await
                .push(accepted.as_micros() as u32);
            minute.whole_us.lock().await.push(whole.as_micros() as u32);
            done += 1;
            if done.is_multiple_of(LIST_EVERY) {
                self.call("GET", "/jobs/v1?limit=20", "").await?;
            }
        }
        Ok(())
    }

    async fn submit(&self, path: &str, body: &str) -> Result<String> {
        let answer = self.call("POST", path, body).await?;
        let id = answer["data"]["jobId"].as_str();
        Ok(id.with_context(|| answer.to_string())?.to_owned())
    }

    async fn finished(&self, id: &str) -> Result<()> {
        let path = format!("/artgen/v1/fetch?jobId={id}");
        loop {
            let answer = self.call("GET", &path, "").await?;
            match answer["status"].as_str() {
                Some("SUCCESS") => return Ok(()),
                Some("FAILED") => bail!("{answer}"),
                _ => tokio::time::sleep(LOOK).await,
            }
        }
    }

    async fn call(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        service::call(self.address, &request(method, path, &self.key, body, true)).await
    }
}
