//! Many jobs end at the same instant and all of them have a callback to one receiver: how long after the end of its job
//! does each arrive? The end is the time the service wrote into the job, a moment before the commit.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures_util::StreamExt as _;
use sqlx::{Connection as _, PgConnection, Row as _, SqliteConnection};
use tokio::time::Instant;

use crate::receiver::{Receiver, now_ms};
use crate::report::{Spread, median, say};
use crate::service::{self, ServiceProcess, request};

const JOBS: usize = 1000;
/// So many that what a second brings shows, and not how soon the first of them comes.
const MANY: usize = 5000;
/// Submits under way at once.
const SUBMITTERS: usize = 64;
/// Time enough to accept them all before the first one ends.
const RUN_UP_MS: i64 = 6_000;
/// Room for every job to be running at the end.
const SETTINGS: &[(&str, &str)] = &[("ATELIER_STUDIO_SLOTS", "5500")];

/// Measures and prints, on SQLite and, when there is a server, on PostgreSQL.
pub(crate) async fn run(rounds: usize) -> Result<()> {
    measure(rounds, "SQLite", None).await?;
    match service::postgres() {
        Some(server) => measure(rounds, "PostgreSQL", Some(&server)).await?,
        None => say("PostgreSQL was not measured: set ATELIER_TEST_POSTGRES"),
    }
    Ok(())
}

async fn measure(rounds: usize, name: &str, server: Option<&str>) -> Result<()> {
    let (mut half, mut slow, mut last, mut spread) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut rates = Vec::new();
    for round in 0..rounds {
        let place = format!("hooks{round}");
        let few = burst(server, &place, JOBS).await?;
        half.push(few.waits[JOBS / 2]);
        slow.push(few.waits[JOBS * 99 / 100]);
        last.push(few.waits[JOBS - 1]);
        spread.push(few.ended_within_ms);
        let many = burst(server, &format!("{place}many"), MANY).await?;
        rates.push(MANY as f64 * 1000.0 / many.took_ms);
    }
    say(&format!(
        "callbacks on {name}: {JOBS} jobs ended within {:.0} ms; from the end of a job to the arrival at the one \
         receiver p50 {:.0} ms, p99 {:.0} ms (aim 500), last {:.0} ms; of {MANY} that end at once {} a second (aim 3000)",
        median(&spread),
        median(&half),
        median(&slow),
        median(&last),
        Spread::of(&rates),
    ));
    Ok(())
}

/// How the callbacks of jobs came that all ended at the same instant.
struct Burst {
    /// From the end of each job to the arrival, in milliseconds, the shortest first.
    waits: Vec<f64>,
    /// From the first end to the last.
    ended_within_ms: f64,
    /// From the first end to the last arrival.
    took_ms: f64,
}

async fn burst(server: Option<&str>, name: &str, jobs: usize) -> Result<Burst> {
    let place = match server {
        Some(_) => Some(crate::writer::fresh_database(server, name).await?),
        None => None,
    };
    let database = place.as_deref();
    let service = service::start_with(database, SETTINGS).await?;
    let receiver = Receiver::start().await?;
    submit_all(&service, &receiver.url, jobs).await?;
    let arrivals = all_arrived(&receiver, jobs).await?;
    let url = database.map(str::to_owned).or(service.own_database());
    let ends = ends(&url.context("a database")?).await?;
    let mut waits: Vec<f64> = arrivals
        .iter()
        .filter_map(|(job, arrived)| Some((arrived - ends.get(job)?) as f64))
        .collect();
    if waits.len() != jobs {
        bail!(
            "{} of {jobs} callbacks belong to a finished job",
            waits.len()
        );
    }
    waits.sort_by(f64::total_cmp);
    let first = *ends.values().min().context("jobs")?;
    let end = *ends.values().max().context("jobs")?;
    let arrived = *arrivals.values().max().context("arrivals")?;
    Ok(Burst {
        waits,
        ended_within_ms: (end - first) as f64,
        took_ms: (arrived - first) as f64,
    })
}

/// Submits jobs that all end at the same instant.
async fn submit_all(service: &ServiceProcess, hook: &str, jobs: usize) -> Result<()> {
    let key = service::account(service.address, "callbacks").await?;
    let end_ms = now_ms() + RUN_UP_MS;
    let submits = (0..jobs).map(|_| async {
        let delay_ms = end_ms - now_ms();
        let body = format!(
            r#"{{"prompt":"a boat [[delay {delay_ms}ms]] [[fail: it is over]]","hookUrl":"{hook}"}}"#
        );
        let call = request("POST", "/artgen/v1/imagine", &key, &body, true);
        let answer = service::call(service.address, &call).await?;
        match answer["status"].as_str() {
            Some("SUCCESS") => Ok(()),
            _ => bail!("{answer}"),
        }
    });
    let mut submits = futures_util::stream::iter(submits).buffer_unordered(SUBMITTERS);
    while let Some(submitted) = submits.next().await {
        submitted?;
    }
    if now_ms() > end_ms - 500 {
        bail!("accepting {jobs} jobs took longer than they were to run");
    }
    Ok(())
}

async fn all_arrived(receiver: &Receiver, jobs: usize) -> Result<HashMap<String, i64>> {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let arrivals = receiver.arrivals();
        if arrivals.len() >= jobs {
            return Ok(arrivals);
        }
        if Instant::now() > deadline {
            bail!("{} of {jobs} callbacks arrived", arrivals.len());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// When each job ended, as the service wrote it down.
async fn ends(database: &str) -> Result<HashMap<String, i64>> {
    const ASK: &str = "SELECT id, finished_ms FROM job WHERE finished_ms IS NOT NULL";
    let pairs: Vec<(String, i64)> = if database.starts_with("postgres") {
        let mut connection = PgConnection::connect(database).await?;
        let rows = sqlx::query(ASK).fetch_all(&mut connection).await?;
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    } else {
        let mut connection = SqliteConnection::connect(database).await?;
        let rows = sqlx::query(ASK).fetch_all(&mut connection).await?;
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    Ok(pairs.into_iter().collect())
}
