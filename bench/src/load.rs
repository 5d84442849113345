//! A small load generator: connections that stay open, one request at a time on each, answers read to their end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Room for the largest answer: a picture as text.
const LONGEST_ANSWER: usize = 8 << 20;
/// No head of an answer is longer.
const LONGEST_HEAD: usize = 16 << 10;

/// What a round of load gave.
pub(crate) struct Round {
    /// Requests answered with 200.
    pub(crate) answered: u64,
    /// The same, per second.
    pub(crate) per_second: f64,
    /// Milliseconds that half of them took.
    pub(crate) p50_ms: f64,
    /// Milliseconds that all but one in a hundred took.
    pub(crate) p99_ms: f64,
}

/// Sends the same request over some connections for a while.
pub(crate) async fn round(
    address: SocketAddr,
    connections: usize,
    seconds: f64,
    request: &[u8],
) -> Result<Round> {
    round_of(address, connections, seconds, &[request.to_vec()]).await
}

/// Sends requests over some connections for a while, on each connection always the same.
pub(crate) async fn round_of(
    address: SocketAddr,
    connections: usize,
    seconds: f64,
    requests: &[Vec<u8>],
) -> Result<Round> {
    let own = requests.iter().cycle().take(connections);
    let own = own.map(|one| (Arc::from([one.clone()]), 0)).collect();
    go(address, seconds, own).await
}

/// Sends requests over some connections for a while, on each connection all of them in turn, from another one on.
async fn round_in_turn(
    address: SocketAddr,
    connections: usize,
    seconds: f64,
    requests: &[Vec<u8>],
) -> Result<Round> {
    let all: Arc<[Vec<u8>]> = requests.into();
    let own = (0..connections).map(|number| (all.clone(), all.len() * number / connections));
    go(address, seconds, own.collect()).await
}

/// What each connection sends, and from which on.
async fn go(address: SocketAddr, seconds: f64, own: Vec<(Arc<[Vec<u8>]>, usize)>) -> Result<Round> {
    let answered = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(seconds);
    let mut workers = tokio::task::JoinSet::new();
    for (requests, first) in own {
        let answered = answered.clone();
        workers.spawn(async move {
            let requests = requests.iter().cycle().skip(first);
            connection(address, requests, end, &answered).await
        });
    }
    let mut times = Vec::new();
    while let Some(result) = workers.join_next().await {
        times.extend(result??);
    }
    let elapsed = begin.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(0)
    };
    let answered = answered.load(Ordering::Relaxed);
    Ok(Round {
        answered,
        per_second: answered as f64 / elapsed,
        p50_ms: f64::from(at(0.5)) / 1000.0,
        p99_ms: f64::from(at(0.99)) / 1000.0,
    })
}

/// A round as a command, for drivers in other languages: the request on standard input, or several as a JSON array, the figures
/// as JSON.
pub(crate) async fn command(address: SocketAddr, connections: usize, seconds: f64) -> Result<()> {
    let request = std::io::read_to_string(std::io::stdin())?;
    let round = if request.starts_with('[') {
        let requests: Vec<String> = serde_json::from_str(&request)?;
        let requests: Vec<Vec<u8>> = requests.into_iter().map(String::into_bytes).collect();
        round_in_turn(address, connections, seconds, &requests).await?
    } else {
        round(address, connections, seconds, request.as_bytes()).await?
    };
    let figures = serde_json::json!({
        "answered": round.answered,
        "per_second": round.per_second,
        "p50_ms": round.p50_ms,
        "p99_ms": round.p99_ms,
    });
    crate::report::say(&figures.to_string());
    Ok(())
}

async fn connection(
    address: SocketAddr,
    requests: impl Iterator<Item = &Vec<u8>>,
    end: Instant,
    answered: &AtomicU64,
) -> Result<Vec<u32>> {
    let mut line = Line::open(address).await?;
    let mut times = Vec::new();
    for request in requests {
        let begin = Instant::now();
        if begin >= end {
            break;
        }
        line.ask(request).await?;
        answered.fetch_add(1, Ordering::Relaxed);
        times.push(begin.elapsed().as_micros() as u32);
    }
    Ok(times)
}

/// A connection that is kept.
pub(crate) struct Line {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Line {
    /// To somebody who listens there.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let buffer = vec![0; LONGEST_ANSWER];
        Ok(Self { stream, buffer })
    }

    /// Sends a request and reads its answer, which is to be 200.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        let status = answer(&mut self.stream, &mut self.buffer).await?;
        if status != 200 {
            bail!(
                "answered with {status}: {}",
                String::from_utf8_lossy(&self.buffer[..400])
            );
        }
        Ok(())
    }
}

/// Reads one answer to its end; gives its status.
pub(crate) async fn answer(stream: &mut TcpStream, buffer: &mut [u8]) -> Result<u16> {
    let mut filled = 0;
    loop {
        let count = stream.read(&mut buffer[filled..]).await?;
        if count == 0 {
            bail!("the connection was closed");
        }
        filled += count;
        let Some(head) = find(&buffer[..filled.min(LONGEST_HEAD)], b"\r\n\r\n") else {
            continue;
        };
        let text = std::str::from_utf8(&buffer[..head])?;
        let status = text.get(9..12).unwrap_or_default().parse()?;
        let complete = match field(text, "content-length") {
            Some(length) => {
                let length = length.parse::<usize>()?;
                if head + 4 + length > buffer.len() {
                    bail!("the answer is larger than expected");
                }
                filled >= head + 4 + length
            }
            // Whoever does not know the length ends with an empty piece.
            None if field(text, "transfer-encoding").is_some() => {
                buffer[head + 2..filled].ends_with(b"\r\n0\r\n\r\n")
            }
            None => true,
        };
        if complete {
            return Ok(status);
        }
        if filled == buffer.len() {
            bail!("the answer is larger than expected");
        }
    }
}

/// A line of a head.
pub(crate) fn field<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let (_, value) = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
    Some(value.trim())
}

/// Where some bytes begin in others, looked for the quick way, so that reading a long head takes the generator no longer
/// than reading a short one.
pub(crate) fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, pattern)
}
