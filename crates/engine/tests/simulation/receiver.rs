//! Whoever is told that a job has ended: reached without a socket, answering as the dice say, and accusing whoever tells
//! two different things about one job.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use atelier_backends::http::DialFn;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio_util::task::TaskTracker;

use crate::world::{Shared, World, lock};

/// Where callers want to be told.
pub(crate) const HOOK: &str = "http://127.0.0.1:8090/hook";
/// Bytes that are on their way at most.
const PIPE: usize = 64 * 1024;

/// What was received.
#[derive(Default)]
pub(crate) struct ReceivedCallbacks {
    /// The first body by the callback's id, and how often it came.
    pub(crate) bodies: BTreeMap<String, (String, u32)>,
}

/// Connects to the receiver, or is refused by it.
pub(crate) fn dial(world: &Shared, tasks: &TaskTracker) -> DialFn {
    let (world, tasks) = (Arc::clone(world), tasks.clone());
    Arc::new(move |_| {
        let refused = {
            let mut guard = lock(&world);
            !guard.is_calm() && guard.percent() < 10
        };
        if refused {
            return Err(std::io::ErrorKind::ConnectionRefused.into());
        }
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let world = Arc::clone(&world);
        tasks.spawn(async move { serve(&world, theirs).await });
        Ok(ours)
    })
}

/// The head and the body of a request, once both are there.
fn whole(bytes: &[u8]) -> Option<(&str, &str)> {
    let (head, body) = std::str::from_utf8(bytes).ok()?.split_once("\r\n\r\n")?;
    let length: usize = header(head, "content-length")?.parse().ok()?;
    (body.len() >= length).then_some((head, body))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (one, value) = line.split_once(':')?;
        one.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

async fn serve(world: &Shared, mut stream: DuplexStream) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    while whole(&bytes).is_none() {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    let Some((head, body)) = whole(&bytes) else {
        return;
    };
    let id = header(head, "webhook-id").unwrap_or_default();
    let (said, pause) = {
        let mut world = lock(world);
        remember(&mut world, id, body);
        let said = if world.is_calm() { 99 } else { world.percent() };
        (said, world.dice.u64(0..3_000))
    };
    let status = match said {
        0..=14 => 500,
        15..=16 => 410,
        17..=24 => return,
        25..=31 => std::future::pending().await,
        _ => 200,
    };
    tokio::time::sleep(Duration::from_millis(pause)).await;
    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    // A caller who has gone meanwhile has lost patience, which is one of the faults.
    let _: std::io::Result<()> = stream.write_all(answer.as_bytes()).await;
}

fn remember(world: &mut World, id: &str, body: &str) {
    world.told.callbacks += 1;
    world.note(&format!("receives {id}"));
    let known = world.received.bodies.entry(id.to_owned());
    let (first, count) = known.or_insert_with(|| (body.to_owned(), 0));
    *count += 1;
    if first != body {
        let what = format!("{id} says first {first} and then {body}");
        world.accuse(what);
    }
}
