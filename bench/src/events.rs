//! Many who wait: listeners to the events of a job that does not end, and connections that stay open and ask every few
//! seconds. What is claimed is memory for each, and how late the slowest answers are while everybody asks in turn.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::load;
use crate::report::say;
use crate::service::{self, ServiceProcess, request};

const LISTENERS: usize = 10_000;
const POLLERS: usize = 20_000;
const POLL_EVERY: Duration = Duration::from_secs(4);
const POLLS: u32 = 6;
/// For how long listeners are left alone while the processor is measured.
const QUIET: Duration = Duration::from_secs(10);
/// Connections that are opened at once, so that no queue of the kernel overflows.
const OPENING: usize = 64;
/// Room for the answer to a poll.
const POLL_BYTES: usize = 8 << 10;
/// One account may have an eighth of the streams; all of them are one account's here.
const SETTINGS: &[(&str, &str)] = &[
    ("ATELIER_LIMITS_CONNECTIONS", "24000"),
    ("ATELIER_LIMITS_CONNECTIONS_PER_ADDRESS", "24000"),
    ("ATELIER_LIMITS_EVENT_STREAMS", "80000"),
    ("ATELIER_LIMITS_DOWNLOADS", "64"),
];

/// Measures and prints.
pub(crate) async fn run() -> Result<()> {
    let most = raise_limit(POLLERS as u64 + 2_000).saturating_sub(1_000) as usize;
    listeners(LISTENERS.min(most)).await?;
    polls(POLLERS.min(most)).await
}

/// Raises how many descriptors this process and those it starts may have, as far as it goes.
fn raise_limit(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX).max(wanted);
    for maximum in [Some(most), limit.maximum] {
        let raised = Rlimit {
            current: maximum,
            maximum,
        };
        // Whoever is not the machine's administrator has what there is.
        if setrlimit(Resource::Nofile, raised).is_ok() {
            break;
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// A service with an account and a job of it that does not end.
async fn with_job() -> Result<(ServiceProcess, String, String)> {
    let service = service::start_with(None, SETTINGS).await?;
    let key = service::account(service.address, "events").await?;
    let body = r#"{"prompt":"a lighthouse [[stall]]","timeout":1200}"#;
    let submit = request("POST", "/artgen/v1/imagine", &key, body, true);
    let accepted = service::call(service.address, &submit).await?;
    let id = accepted["data"]["jobId"]
        .as_str()
        .with_context(|| accepted.to_string())?;
    Ok((service, key, id.to_owned()))
}

async fn listeners(count: usize) -> Result<()> {
    let (service, key, id) = with_job().await?;
    let call = request("GET", &format!("/jobs/v1/{id}/events"), &key, "", false);
    sleep(Duration::from_secs(2)).await;
    let before = service.memory_mb()?;
    let begin = Instant::now();
    let streams = open(service.address, count, call).await?;
    let opened = begin.elapsed().as_secs_f64();
    sleep(Duration::from_secs(2)).await;
    let memory = service.memory_mb()? - before;
    let worked = service.processor_seconds()?;
    sleep(QUIET).await;
    let worked = service.processor_seconds()? - worked;
    say(&format!(
        "{count} event listeners: {:.1} KB each (aim 20), {:.0}/s opened, {:.2} of a processor while nothing happens",
        memory * 1024.0 / count as f64,
        count as f64 / opened,
        worked / QUIET.as_secs_f64(),
    ));
    drop(streams);
    Ok(())
}

/// Opens connections, sends each the same request and waits until the stream has said something.
async fn open(address: SocketAddr, count: usize, call: Vec<u8>) -> Result<Vec<TcpStream>> {
    let (call, turn) = (Arc::<[u8]>::from(call), Arc::new(Semaphore::new(OPENING)));
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let (call, turn) = (call.clone(), turn.clone());
        opening.spawn(async move {
            let _turn = turn.acquire().await?;
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(&call).await?;
            let (mut text, mut piece) = (Vec::new(), [0; 2048]);
            while !text.windows(6).any(|window| window == b"event:") {
                let size = stream.read(&mut piece).await?;
                ensure!(size > 0, "closed: {}", String::from_utf8_lossy(&text));
                text.extend_from_slice(&piece[..size]);
                let refused = text.len() > 12 && !text.starts_with(b"HTTP/1.1 200");
                ensure!(!refused, "refused: {}", String::from_utf8_lossy(&text));
            }
            Ok(stream)
        });
    }
    let mut streams = Vec::with_capacity(count);
    while let Some(stream) = opening.join_next().await {
        streams.push(stream??);
    }
    Ok(streams)
}

async fn polls(count: usize) -> Result<()> {
    let (service, key, id) = with_job().await?;
    let path = format!("/artgen/v1/fetch?jobId={id}");
    let call: Arc<[u8]> = request("GET", &path, &key, "", false).into();
    sleep(Duration::from_secs(2)).await;
    let before = service.memory_mb()?;
    let turn = Arc::new(Semaphore::new(OPENING));
    // All are open before the first one asks; each has its own moment, and what is late is counted from that.
    let begin = Instant::now() + Duration::from_secs(count as u64 / 1_000 + 2);
    let mut pollers = JoinSet::new();
    for number in 0..count {
        let (call, turn, address) = (call.clone(), turn.clone(), service.address);
        let first = begin + POLL_EVERY.mul_f64(number as f64 / count as f64);
        pollers.spawn(async move {
            let mut buffer = vec![0; POLL_BYTES];
            let mut stream = {
                let _turn = turn.acquire().await?;
                let mut stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                // Whoever connects and says nothing is sent away; this one does not count.
                ask(&mut stream, &call, &mut buffer).await?;
                stream
            };
            poll(&mut stream, &call, (first, &mut buffer)).await
        });
    }
    let worked = service.processor_seconds()?;
    sleep_until(begin + POLL_EVERY * (POLLS - 1)).await;
    let memory = service.memory_mb()? - before;
    let (mut late, mut errors, mut why) = (Vec::new(), 0, None);
    while let Some(polled) = pollers.join_next().await {
        match polled? {
            Ok(more) => late.extend(more),
            Err(error) => {
                errors += 1;
                why.get_or_insert(error);
            }
        }
    }
    let worked = service.processor_seconds()? - worked;
    late.sort_unstable();
    let at = |share: f64| late.get((late.len() as f64 * share) as usize).copied();
    let ms = |micros: Option<u32>| f64::from(micros.unwrap_or(0)) / 1000.0;
    say(&format!(
        "{count} open connections that poll every {} s: p50 {:.1} ms, p99 {:.1} ms (aim 200), slowest {:.0} ms, {errors} failed, \
         {:.1} KB each, {:.3} ms of processor a poll",
        POLL_EVERY.as_secs(),
        ms(at(0.5)),
        ms(at(0.99)),
        ms(late.last().copied()),
        memory * 1024.0 / count as f64,
        worked * 1000.0 / late.len().max(1) as f64,
    ));
    why.map_or(Ok(()), Err)
}

async fn ask(stream: &mut TcpStream, call: &[u8], buffer: &mut [u8]) -> Result<()> {
    stream.write_all(call).await?;
    let status = load::answer(stream, buffer).await?;
    ensure!(status == 200, "answered with {status}");
    Ok(())
}

/// Asks at its moments, whether or not the answer before was late; how many microseconds after its moment each answer came.
async fn poll(
    stream: &mut TcpStream,
    call: &[u8],
    (first, buffer): (Instant, &mut [u8]),
) -> Result<Vec<u32>> {
    let mut late = Vec::with_capacity(POLLS as usize);
    for number in 0..POLLS {
        let moment = first + POLL_EVERY * number;
        sleep_until(moment).await;
        ask(stream, call, buffer).await?;
        late.push(moment.elapsed().as_micros() as u32);
    }
    Ok(late)
}
