//! A receiver of callbacks that writes down when each arrived.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::load::{field, find};

/// The first arrival of each callback: its job and when, in milliseconds since 1970.
type Arrivals = Arc<Mutex<HashMap<String, i64>>>;

/// Takes every callback.
pub(crate) struct Receiver {
    /// Where it listens.
    pub(crate) url: String,
    arrivals: Arrivals,
}

impl Receiver {
    /// Starts it.
    #[expect(clippy::disallowed_methods, reason = "the task ends with the process")]
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let arrivals = Arrivals::default();
        let log = arrivals.clone();
        tokio::task::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::task::spawn(take(stream, log.clone()));
            }
        });
        Ok(Self { url, arrivals })
    }

    /// What has arrived so far.
    pub(crate) fn arrivals(&self) -> HashMap<String, i64> {
        let arrivals = self.arrivals.lock();
        arrivals.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The machine's clock, which the service reads too.
#[expect(
    clippy::disallowed_methods,
    reason = "the other end is another process"
)]
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// Takes one callback after the other; receivers keep connections.
async fn take(mut stream: TcpStream, arrivals: Arrivals) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 8192]);
    let mut arrived_ms = None;
    loop {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
        let came_ms = *arrived_ms.get_or_insert_with(now_ms);
        let Some(end) = find(&bytes, b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = field(&head, "content-length").and_then(|text| text.parse().ok());
        let end = end + 4 + length.unwrap_or(0_usize);
        if bytes.len() < end {
            continue;
        }
        if let Some(job) = field(&head, "webhook-id").and_then(|id| id.strip_prefix("cb_")) {
            let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            arrivals.entry(job.to_owned()).or_insert(came_ms);
        }
        bytes.drain(..end);
        arrived_ms = None;
        if stream
            .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
            .await
            .is_err()
        {
            return;
        }
    }
}
