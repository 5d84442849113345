//! Calls at a fixed rate, each timed from when it was due: a slow answer counts for all that it holds up. For drivers in
//! other languages: the requests as a JSON array on standard input, taken in turn; the figures as JSON.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::time::Instant;

use crate::load::Line;

/// Milliseconds that half, 99 in 100 and all of the calls took; without a rate they come as fast as they are answered.
pub(crate) async fn command(
    address: SocketAddr,
    connections: usize,
    seconds: f64,
    rate: f64,
) -> Result<()> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let requests: Vec<String> = serde_json::from_str(&text).context("an array of requests")?;
    ensure!(!requests.is_empty(), "at least one request");
    let requests: Arc<[String]> = requests.into();
    let begin = Instant::now() + Duration::from_millis(20);
    let mut callers = tokio::task::JoinSet::new();
    for number in 0..connections {
        let caller = Caller {
            requests: requests.clone(),
            begin,
            end: begin + Duration::from_secs_f64(seconds),
            every: (rate > 0.0).then(|| Duration::from_secs_f64(connections as f64 / rate)),
            late: Duration::from_secs_f64(if rate > 0.0 {
                number as f64 / rate
            } else {
                0.0
            }),
            number,
            connections,
        };
        callers.spawn(async move { caller.work(address).await });
    }
    let mut times = Vec::new();
    while let Some(told) = callers.join_next().await {
        times.extend(told??);
    }
    let elapsed = begin.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| {
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        f64::from(times.get(place).copied().unwrap_or(0)) / 1000.0
    };
    let figures = serde_json::json!({
        "answered": times.len(),
        "per_second": times.len() as f64 / elapsed,
        "p50_ms": at(0.5),
        "p99_ms": at(0.99),
        "most_ms": at(1.0),
    });
    crate::report::say(&figures.to_string());
    Ok(())
}

/// One connection and the calls it is to make.
struct Caller {
    requests: Arc<[String]>,
    begin: Instant,
    end: Instant,
    /// Time between two calls of this connection; none means at once.
    every: Option<Duration>,
    late: Duration,
    number: usize,
    connections: usize,
}

impl Caller {
    async fn work(&self, address: SocketAddr) -> Result<Vec<u32>> {
        let mut line = Line::open(address).await?;
        let (mut times, mut turn) = (Vec::new(), self.number);
        let mut due = self.begin + self.late;
        loop {
            if self.every.is_some() {
                tokio::time::sleep_until(due).await;
            } else {
                due = Instant::now();
            }
            if due >= self.end {
                return Ok(times);
            }
            let request = &self.requests[turn % self.requests.len()];
            line.ask(request.as_bytes()).await?;
            times.push(due.elapsed().as_micros() as u32);
            turn += self.connections;
            due += self.every.unwrap_or_default();
        }
    }
}
