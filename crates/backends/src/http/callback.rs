//! Posting a callback: one request, no redirect, an answer that is looked at only as far as a log needs it.

use std::time::SystemTime;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout, timeout_at};
use url::{Position, Url};

use super::client::{OutboundClient, USER_AGENT};
use super::error::OutboundError;
use super::receivers::ReceiverConnection;
use crate::guard::Purpose;

/// How much of the answer is kept for the delivery log.
const KEPT_BYTES: usize = 1024;
/// How much of the answer is read before the line is cut.
const READ_BYTES: usize = 64 * 1024;

/// How one delivery went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallbackOutcome {
    /// The status, when the receiver gave one.
    pub status: Option<u16>,
    /// The receiver's wish to be left alone for so many seconds.
    pub retry_after_s: Option<u64>,
    /// What went wrong before there was a status.
    pub error: Option<String>,
    /// Whether the outbound rules stopped it, so that no connection was opened.
    pub blocked: bool,
    /// Whether it found no place on the way out, so that nobody was asked.
    pub busy: bool,
    /// How long it took, without waiting for a place.
    pub duration_ms: u64,
    /// The start of the answer, with anything unprintable replaced.
    pub answer_start: String,
}

impl CallbackOutcome {
    /// Whether the receiver took it.
    pub fn delivered(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }
}

impl OutboundClient {
    /// Posts a JSON body with these further headers and waits for the status.
    pub async fn post_callback(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> CallbackOutcome {
        let Ok(url) = self.policy.check_url(url, Purpose::Callback) else {
            return failed(OutboundError::Blocked, Instant::now());
        };
        let Some(_place) = self.callback_places.take(&url, self.limits.place).await else {
            return failed(OutboundError::Busy, Instant::now());
        };
        let started = Instant::now();
        let deadline = started + self.limits.callback;
        let asked = timeout_at(deadline, self.ask_receiver(&url, headers, &body)).await;
        let (mut link, response) = match asked {
            Ok(Ok(answered)) => answered,
            Ok(Err(trouble)) => return failed(trouble, started),
            Err(_) => return failed(OutboundError::TimedOut, started),
        };
        let mut outcome = CallbackOutcome {
            status: Some(response.status().as_u16()),
            retry_after_s: retry_after(response.headers()),
            duration_ms: elapsed_ms(started),
            ..CallbackOutcome::default()
        };
        let mut start = Vec::new();
        // The status has decided; whoever drips or floods the rest only loses the line.
        let reading = link.while_driven(read_start(response, &mut start));
        if timeout(self.limits.answer, reading).await == Ok(true) {
            self.callbacks.keep(&url, link).await;
        }
        outcome.answer_start = printable(&start);
        outcome
    }

    /// Closes connections to receivers on which nothing has been asked for a while.
    pub fn close_idle(&self) {
        self.callbacks.close_idle();
    }

    /// Posts and waits for the head of the answer. A connection that was kept may have been closed by the receiver at the same
    /// instant: then it is asked once more on a new one.
    async fn ask_receiver(
        &self,
        url: &Url,
        headers: &[(&'static str, String)],
        body: &Bytes,
    ) -> Result<(ReceiverConnection, Response<Incoming>), OutboundError> {
        let request = request(url, headers, body.clone()).ok_or(OutboundError::Protocol)?;
        let link = self.callbacks.link(url, self.limits.place).await?;
        let used = link.is_used();
        // The one that failed has given its place back before another is asked for.
        match ask(link, request.clone()).await {
            Err(_) if used => ask(self.callbacks.fresh(url).await?, request).await,
            answered => answered,
        }
    }
}

async fn ask(
    mut link: ReceiverConnection,
    request: Request<Full<Bytes>>,
) -> Result<(ReceiverConnection, Response<Incoming>), OutboundError> {
    let response = link.ask(request).await?;
    Ok((link, response))
}

fn request(
    url: &Url,
    headers: &[(&'static str, String)],
    body: Bytes,
) -> Option<Request<Full<Bytes>>> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header(
            header::HOST,
            &url[Position::BeforeHost..Position::AfterPort],
        )
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT_ENCODING, "identity");
    for (name, value) in headers {
        let name = HeaderName::try_from(*name).ok()?;
        request = request.header(name, HeaderValue::try_from(value).ok()?);
    }
    request.body(Full::new(body)).ok()
}

/// Whether the answer came to its end.
async fn read_start(response: Response<Incoming>, start: &mut Vec<u8>) -> bool {
    let mut body = response.into_body();
    let mut read = 0;
    loop {
        let data = match body.frame().await {
            None => return true,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => return false,
        };
        let room = KEPT_BYTES - start.len();
        start.extend_from_slice(&data[..data.len().min(room)]);
        read += data.len();
        if read >= READ_BYTES {
            return false;
        }
    }
}

/// Seconds, or a date measured against the receiver's own clock, or ours when it does not say what time it has.
#[expect(
    clippy::disallowed_methods,
    reason = "a date of the receiver's is of the time of the world"
)]
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let then = httpdate::parse_http_date(text).ok()?;
    let now = headers
        .get(header::DATE)
        .and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok())
        .unwrap_or_else(SystemTime::now);
    Some(then.duration_since(now).unwrap_or_default().as_secs())
}

fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn failed(trouble: OutboundError, started: Instant) -> CallbackOutcome {
    CallbackOutcome {
        error: Some(trouble.words().to_owned()),
        blocked: trouble == OutboundError::Blocked,
        busy: trouble == OutboundError::Busy,
        duration_ms: elapsed_ms(started),
        ..CallbackOutcome::default()
    }
}

fn elapsed_ms(started: Instant) -> u64 {
    started.elapsed().as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    #[test]
    fn a_wish_to_wait_is_read_as_seconds_and_as_a_date() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let later = "Sun, 06 Nov 1994 08:51:37 GMT";
        assert_eq!(
            retry_after(&headers(&[("retry-after", " 120 ")])),
            Some(120)
        );
        let both = headers(&[("retry-after", later), ("date", date)]);
        assert_eq!(retry_after(&both), Some(120));
        let past = headers(&[("retry-after", date), ("date", later)]);
        assert_eq!(retry_after(&past), Some(0));
        let old = headers(&[("retry-after", later)]);
        assert_eq!(retry_after(&old), Some(0), "measured against our own clock");
        assert_eq!(retry_after(&headers(&[("retry-after", "-3")])), None);
    }

    #[test]
    fn a_log_line_has_no_control_characters() {
        assert_eq!(
            printable(b"ok\x00\x1b[31m\xff\n"),
            "ok\u{fffd}\u{fffd}[31m\u{fffd}\n"
        );
    }
}
