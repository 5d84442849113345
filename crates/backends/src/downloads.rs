//! The files of one piece of work, fetched one by one: together no larger than one file may be.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::backend::{Acceptance, Class, Fault};
use crate::files::looks_made;
use crate::http::VendorHttp;
use crate::vendor_errors::pause_asked;

/// How often an address is asked that gives no picture, clip or drawing: it may be a page of whoever stands between.
const LOOKS: u32 = 3;
/// The pause before it is fetched again.
const PAUSE: Duration = Duration::from_millis(500);
/// How much of a strange file goes into a log.
const START_BYTES: usize = 24;

/// Fetches the files of a result from the vendor's URLs.
pub(crate) struct Downloader<'a> {
    http: &'a VendorHttp,
    left: u64,
}

impl<'a> Downloader<'a> {
    /// For the files of one piece of work.
    pub(crate) fn new(http: &'a VendorHttp) -> Self {
        Self::of_at_most(http, http.most_file())
    }

    /// For files that have so many bytes together.
    pub(crate) fn of_at_most(http: &'a VendorHttp, left: u64) -> Self {
        Self { http, left }
    }

    /// Fetches the file at an address that the vendor gave for it. It was made, so a fault here is none of a start.
    /// Boxed, so that it is compiled once and not for every vendor.
    pub(crate) fn file<'b>(&'b mut self, address: &'b str) -> BoxFuture<'b, Result<Bytes, Fault>> {
        Box::pin(self.look_until_made(address))
    }

    async fn look_until_made(&mut self, address: &str) -> Result<Bytes, Fault> {
        let (mut looks, mut hops) = (1, 1);
        let mut address = address.to_owned();
        loop {
            let strange = match self.look(&address).await? {
                DownloadOutcome::Made(bytes) => {
                    self.left -= bytes.len() as u64;
                    return Ok(bytes);
                }
                DownloadOutcome::Elsewhere(other) if hops > 0 => {
                    hops -= 1;
                    address = other;
                    continue;
                }
                DownloadOutcome::Elsewhere(other) => {
                    Fault::useless(format!("an address leads to another: {other}"))
                }
                DownloadOutcome::Strange(fault) => fault,
            };
            if looks == LOOKS {
                return Err(strange);
            }
            looks += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn look(&self, address: &str) -> Result<DownloadOutcome, Fault> {
        let answer = self.http.download(address, self.left).await.map_err(made)?;
        if !answer.is_good() {
            let detail = format!("result file: status {}", answer.status);
            let fault = |class| Fault::vendor(class, detail);
            return match answer.status {
                // Expired, deleted, or no longer to be had with what the vendor gave: another time is no better.
                400..500 if !matches!(answer.status, 408 | 425 | 429) => match answer.json() {
                    Ok(_) => Err(fault(Class::Gone)),
                    Err(_) => Ok(DownloadOutcome::Strange(fault(Class::Gone))),
                },
                _ => Err(made(Fault {
                    after: pause_asked(&answer),
                    ..fault(Class::Retry)
                })),
            };
        }
        if looks_made(&answer.bytes) {
            return Ok(DownloadOutcome::Made(answer.bytes));
        }
        // Servers that keep their files elsewhere say where.
        if let Ok(Value::Object(body)) = answer.json()
            && let Some(address) = body.get("url").and_then(Value::as_str)
        {
            return Ok(DownloadOutcome::Elsewhere(address.to_owned()));
        }
        let start = answer.bytes.get(..answer.bytes.len().min(START_BYTES));
        let start = start.unwrap_or_default().escape_ascii().to_string();
        let start = self.http.secrets().hide(&start);
        let detail = format!("a result file cannot be read: {start}");
        Ok(DownloadOutcome::Strange(Fault::useless(detail)))
    }
}

/// What was found at an address.
enum DownloadOutcome {
    Made(Bytes),
    /// The address of the file in place of it.
    Elsewhere(String),
    /// Perhaps the word of whoever stands between.
    Strange(Fault),
}

/// A fault of work that the vendor has done: what may pass must not lead to doing it again.
fn made(fault: Fault) -> Fault {
    let taken = if fault.class.may_pass() {
        Acceptance::Perhaps
    } else {
        Acceptance::No
    };
    Fault { taken, ..fault }
}
