//! A job that is followed: its events, taken up again where they were lost, until it is over.

use std::time::Duration;

use atelier_contract::catalogue::ApiOperation;
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::fault::{ExitReason, Fault};
use super::fields::segment;
use super::request::{ApiRequest, connection_fault};
use super::transport::Client;

/// A stream says at least this often that it is alive.
const SILENCE: Duration = Duration::from_secs(45);
/// A pause before a lost stream is opened again.
const PAUSE: Duration = Duration::from_secs(1);
/// A service that is away for this long is given up.
const AWAY: Duration = Duration::from_mins(5);

/// What stands in both paths in place of a placeholder.
#[derive(Clone, Copy)]
struct PathId<'a> {
    placeholder: &'static str,
    id: &'a str,
}

/// What is followed: a stream of events, and where to look when the stream is gone.
struct Subscription<'a> {
    client: &'a Client,
    events: &'a ApiOperation,
    show: &'a ApiOperation,
    id: PathId<'a>,
    is_over: fn(&Value) -> bool,
}

/// Follows a job until it is over and gives back its last state; `seen` is told every change.
pub(crate) async fn follow(
    client: &Client,
    id: &str,
    seen: impl FnMut(&Value),
) -> Result<Value, Fault> {
    let placeholder = "{jobId}";
    let id = PathId { placeholder, id };
    let followed = Subscription::new(client, "jobs", id, is_over)?;
    followed.until_over(seen).await
}

/// Follows a batch until its last job is over and gives back how it stands; `seen` is told every change of its jobs, and
/// now and then how the whole stands.
pub(crate) async fn follow_batch(
    client: &Client,
    id: &str,
    seen: impl FnMut(&Value),
) -> Result<Value, Fault> {
    let is_done = |told: &Value| told["done"] == true;
    let placeholder = "{batchId}";
    let id = PathId { placeholder, id };
    let followed = Subscription::new(client, "jobs.batch", id, is_done)?;
    followed.until_over(seen).await
}

impl<'a> Subscription<'a> {
    /// Follows what the pages below a name show and tell of.
    fn new(
        client: &'a Client,
        pages: &str,
        id: PathId<'a>,
        is_over: fn(&Value) -> bool,
    ) -> Result<Self, Fault> {
        Ok(Self {
            client,
            events: client.operation(&format!("{pages}.events"))?,
            show: client.operation(&format!("{pages}.show"))?,
            id,
            is_over,
        })
    }

    async fn until_over(&self, mut seen: impl FnMut(&Value)) -> Result<Value, Fault> {
        let mut last_id: Option<String> = None;
        let mut heard = Instant::now();
        loop {
            let opened = self.open(last_id.as_deref()).await;
            match opened {
                Ok(stream) => {
                    heard = Instant::now();
                    let over = listen(stream, &mut last_id, &mut seen, self.is_over).await;
                    if let Some(told) = over {
                        return Ok(told);
                    }
                }
                Err(fault) if fault.end != ExitReason::Unavailable || heard.elapsed() > AWAY => {
                    return Err(fault);
                }
                Err(_) => {}
            }
            // The stream is gone or was refused for now: look once, then open it again.
            let asked = ApiRequest::plain(self.show, self.path(self.show));
            match self.client.call(self.show, &asked).await {
                Ok(mut answer) => {
                    heard = Instant::now();
                    let told = answer["data"].take();
                    seen(&told);
                    if (self.is_over)(&told) {
                        return Ok(told);
                    }
                }
                Err(fault) if fault.end != ExitReason::Unavailable || heard.elapsed() > AWAY => {
                    return Err(fault);
                }
                Err(_) => {}
            }
            sleep(PAUSE).await;
        }
    }

    fn path(&self, operation: &ApiOperation) -> String {
        let PathId { placeholder, id } = self.id;
        operation.path.replace(placeholder, &segment(id))
    }

    async fn open(&self, last_id: Option<&str>) -> Result<reqwest::Response, Fault> {
        let client = self.client;
        let path = self.path(self.events);
        let address = format!("{}{path}", client.profile.url);
        let mut request = client.http.get(address).bearer_auth(&client.profile.key);
        if let Some(last_id) = last_id {
            request = request.header("last-event-id", last_id);
        }
        let answer = request.send().await.map_err(connection_fault)?;
        let status = answer.status().as_u16();
        if status >= 400 {
            let body: Value = answer.json().await.unwrap_or_default();
            return Err(Fault::refused(status, &body));
        }
        Ok(answer)
    }
}

/// Whether a job is final.
pub(crate) fn is_over(job: &Value) -> bool {
    matches!(job["status"].as_str(), Some("SUCCESS" | "FAILED"))
}

/// Reads a stream to its end; what was told last, when that was the end of what is followed.
async fn listen(
    stream: reqwest::Response,
    last_id: &mut Option<String>,
    seen: &mut impl FnMut(&Value),
    is_over: fn(&Value) -> bool,
) -> Option<Value> {
    let mut chunks = stream.bytes_stream();
    let mut buffer = Vec::new();
    let mut data = String::new();
    while let Ok(Some(Ok(chunk))) = timeout(SILENCE, chunks.next()).await {
        buffer.extend_from_slice(&chunk);
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if let Some(id) = line.strip_prefix("id:") {
                *last_id = Some(id.trim().to_owned());
            } else if let Some(text) = line.strip_prefix("data:") {
                data.push_str(text.trim_start());
            } else if line.is_empty() && !data.is_empty() {
                let job: Value =
                    serde_json::from_str(&std::mem::take(&mut data)).unwrap_or_default();
                seen(&job);
                if is_over(&job) {
                    return Some(job);
                }
            }
        }
    }
    None
}
