//! A receiver of callbacks that does as it is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::rig::Rig;

/// A receiver that answers with scripted statuses and remembers what it got.
pub(crate) struct Receiver {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    /// Answers with these statuses in turn, the last one for good.
    pub(crate) async fn answering(statuses: &[u16]) -> Self {
        let line = |status: &u16| format!("{status} X\r\n");
        Self::saying(statuses.iter().map(line).collect()).await
    }

    /// Answers with these status lines and headers in turn.
    pub(crate) async fn saying(heads: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("bound"));
        let got: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = got.clone();
        tokio::task::spawn_local(async move {
            loop {
                let Ok((mut socket, _)) = listener.accept().await else {
                    return;
                };
                let mut bytes = Vec::new();
                let mut chunk = [0; 4096];
                while !complete(&bytes) {
                    match socket.read(&mut chunk).await {
                        Ok(0) | Err(_) => break,
                        Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                    }
                }
                let number = {
                    let mut log = log.lock().expect("no panic under the lock");
                    log.push(String::from_utf8_lossy(&bytes).into_owned());
                    log.len()
                };
                let head = heads.get(number - 1).or(heads.last()).expect("an answer");
                let answer =
                    format!("HTTP/1.1 {head}content-length: 2\r\nconnection: close\r\n\r\nok");
                let _ = socket.write_all(answer.as_bytes()).await;
            }
        });
        Self { url, got }
    }

    /// How many callbacks it got.
    pub(crate) fn count(&self) -> usize {
        self.got.lock().expect("no panic under the lock").len()
    }

    /// What it got.
    pub(crate) fn posts(&self) -> Vec<String> {
        self.got.lock().expect("no panic under the lock").clone()
    }
}

fn complete(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")?
            .trim()
            .parse()
            .ok()
    });
    body.len() >= length.unwrap_or(0)
}

/// Takes one callbacks step and waits until the receiver has so many callbacks and every try is written down.
pub(crate) async fn deliver(rig: &Rig, receiver: &Receiver, count: usize) {
    rig.engine.callbacks().step().await.expect("a step");
    for _ in 0..15_000 {
        let (callbacks, _) = rig
            .engine
            .callbacks()
            .callbacks(None, 1, 10)
            .await
            .expect("listed");
        if receiver.count() == count && callbacks.iter().all(|callback| callback.state != "sending")
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("{} posts instead of {count}", receiver.count());
}

/// A header of what a receiver got.
pub(crate) fn header(post: &str, name: &str) -> String {
    let start = format!("{name}: ");
    let line = post
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with(&start));
    line.map(|line| line[start.len()..].to_owned())
        .unwrap_or_default()
}
