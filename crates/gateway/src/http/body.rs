//! What a request carries: a JSON object whatever its content type says, a query, or both. Bodies are bounded in size,
//! speed and memory; what a body takes is taken in the name of its account before it is read.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::{Fields, USUAL_STRUCTURE, parse_object_within};
use atelier_contract::family::SMALL_BODY;
use atelier_contract::{Code, Refusal};
use atelier_fairness::share::FairSemaphore;
use atelier_fairness::throughput::Throughput;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::http::request::Parts;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout_at};

use super::admission::{Admission, capacity_denial};
use super::body_share::BodyShare;
use super::denial::Denial;
use crate::app::App;

/// A body that has not been read, with the grants of its request.
pub(crate) struct UnreadBody {
    incoming: Incoming,
    admission: Arc<Admission>,
}

impl UnreadBody {
    /// The body of a request.
    pub(super) fn new(incoming: Incoming, admission: Arc<Admission>) -> Self {
        Self {
            incoming,
            admission,
        }
    }

    /// Its address proves that whoever sends it is no stranger.
    pub(crate) fn vouch(&self) {
        self.admission.vouch();
    }

    /// Whether there is none.
    pub(super) fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }
}

/// A body as it arrives.
pub(super) struct BodyReader {
    body: Incoming,
    /// What was looked at and not taken yet.
    begun: Bytes,
    admission: Arc<Admission>,
    most: usize,
    taken: usize,
    deadline: Instant,
    grace: Duration,
    bytes_per_s: u64,
    memory: Arc<FairSemaphore>,
    work: Arc<FairSemaphore>,
    share: BodyShare,
    throughput: Arc<Throughput>,
    /// Bytes that it does not know of yet.
    uncounted: usize,
}

impl BodyReader {
    /// Starts to read a body of at most so many bytes; memory for what it says it has is taken at once.
    pub(super) fn new(
        app: &App,
        head: &Parts,
        body: UnreadBody,
        most: usize,
    ) -> Result<Self, Denial> {
        let plain =
            |value: &hyper::header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
        if !head.headers.get_all(CONTENT_ENCODING).iter().all(plain) {
            return Err(Refusal::new(
                Code::UnsupportedMedia,
                "the body must not be compressed (Content-Encoding)",
            )
            .into());
        }
        let UnreadBody {
            incoming,
            admission,
        } = body;
        let announced = incoming.size_hint().lower();
        if announced > most as u64 {
            return Err(too_large(most).into());
        }
        let memory = if admission.is_open() {
            &app.open_body_memory
        } else {
            &app.body_memory
        };
        let limits = &app.config.limits;
        let grace = Duration::from_secs(limits.body_grace_s);
        let mut intake = Self {
            body: incoming,
            begun: Bytes::new(),
            admission,
            most,
            taken: 0,
            deadline: Instant::now() + grace,
            grace,
            bytes_per_s: limits.body_bytes_per_s,
            memory: Arc::clone(memory),
            work: Arc::clone(&app.large_requests),
            share: BodyShare::default(),
            throughput: Arc::clone(&app.body_throughput),
            uncounted: 0,
        };
        intake.make_place(announced)?;
        Ok(intake)
    }

    /// The beginning of the body, so many bytes of it at least unless it has fewer; it is still to be taken.
    pub(super) async fn beginning(&mut self, least: usize) -> Result<&[u8], Denial> {
        while self.begun.len() < least {
            let Some(more) = self.arrived().await? else {
                break;
            };
            self.begun = if self.begun.is_empty() {
                more
            } else {
                [&*self.begun, &*more].concat().into()
            };
        }
        Ok(&self.begun)
    }

    /// The next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Denial> {
        if self.begun.is_empty() {
            return self.arrived().await;
        }
        Ok(Some(std::mem::take(&mut self.begun)))
    }

    async fn arrived(&mut self) -> Result<Option<Bytes>, Denial> {
        loop {
            let frame = timeout_at(self.deadline, self.body.frame()).await;
            let frame = frame
                .map_err(|_| Refusal::new(Code::RequestTimeout, "the body arrives too slowly"))?;
            let Some(frame) = frame else { return Ok(None) };
            let frame =
                frame.map_err(|_| Refusal::new(Code::InvalidBody, "the body ended early"))?;
            let Ok(bytes) = frame.into_data() else {
                continue;
            };
            self.taken += bytes.len();
            if self.taken > self.most {
                return Err(too_large(self.most).into());
            }
            self.make_place(self.taken as u64)?;
            self.earn(bytes.len());
            self.uncounted += bytes.len();
            if let Some(wait) = self
                .throughput
                .count(self.admission.holder(), &mut self.uncounted)
            {
                self.deadline += wait;
                // At least everybody else has a turn.
                match wait {
                    Duration::ZERO => yield_now().await,
                    wait => sleep(wait).await,
                }
            }
            return Ok(Some(bytes));
        }
    }

    /// Bytes move the deadline by the time they may take, but never further than the grace: whoever was fast and falls
    /// silent has no longer than whoever was slow.
    fn earn(&mut self, bytes: usize) {
        let earned = Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
        self.deadline = (self.deadline + earned).min(Instant::now() + self.grace);
    }

    /// What was taken for the body, to be kept as long as its bytes are. The body is there: from now on its caller waits.
    pub(super) async fn into_share(mut self) -> Result<(Arc<Admission>, BodyShare), Denial> {
        let (holder, since) = (self.admission.holder(), self.admission.waits_since());
        let weighed = self.share.weigh(&self.work, holder, self.taken, since);
        weighed.await?;
        Ok((self.admission, self.share))
    }

    /// Everything in one piece.
    async fn all(mut self) -> Result<(Bytes, Arc<Admission>, BodyShare), Denial> {
        let announced = self.body.size_hint().lower();
        let Some(first) = self.next().await? else {
            return Ok((Bytes::new(), self.admission, self.share));
        };
        let bytes = if self.body.is_end_stream() {
            first
        } else {
            let mut all = BytesMut::with_capacity((announced as usize).max(first.len()));
            all.extend_from_slice(&first);
            while let Some(more) = self.next().await? {
                all.extend_from_slice(&more);
            }
            all.freeze()
        };
        let (admission, share) = self.into_share().await?;
        Ok((bytes, admission, share))
    }

    fn make_place(&mut self, bytes: u64) -> Result<(), Denial> {
        let made = self
            .share
            .cover(&self.memory, self.admission.holder(), bytes);
        made.map_err(|full| {
            capacity_denial(full, "too many large requests of this account at once")
        })
    }
}

fn too_large(most: usize) -> Refusal {
    Refusal::new(
        Code::PayloadTooLarge,
        format!("the body must not be larger than {most} bytes"),
    )
}

/// The fields of a JSON body. What they take is kept in the grants of the request.
pub(super) async fn fields(
    app: &App,
    head: &Parts,
    body: UnreadBody,
    most: usize,
) -> Result<Fields, Denial> {
    fields_within(app, head, body, most, USUAL_STRUCTURE).await
}

/// The fields of a JSON body that may become so many bytes besides its texts.
pub(super) async fn fields_within(
    app: &App,
    head: &Parts,
    body: UnreadBody,
    most: usize,
    structure: usize,
) -> Result<Fields, Denial> {
    if body.is_end_stream() {
        return Ok(Fields::new());
    }
    refuse_foreign_media(&head.headers)?;
    fields_of(BodyReader::new(app, head, body, most)?, structure).await
}

/// The fields of a JSON body that has begun to arrive.
pub(super) async fn fields_of(intake: BodyReader, structure: usize) -> Result<Fields, Denial> {
    let (bytes, admission, share) = intake.all().await?;
    let parse = move || parse_object_within(&bytes, structure);
    let (parsed, share) = share.work_out(parse).await?;
    let fields = parsed?;
    admission.keep(share);
    Ok(fields)
}

/// A body as it came. What it takes is kept in the grants of the request.
pub(super) async fn bytes(
    app: &App,
    head: &Parts,
    body: UnreadBody,
    most: usize,
) -> Result<Bytes, Denial> {
    let (bytes, admission, share) = BodyReader::new(app, head, body, most)?.all().await?;
    admission.keep(share);
    Ok(bytes)
}

/// The fields of a query and of a JSON body together; the body wins.
pub(super) async fn query_and_fields(
    app: &App,
    head: &Parts,
    body: UnreadBody,
) -> Result<Fields, Denial> {
    let mut all = query(head)?;
    all.extend(fields(app, head, body, SMALL_BODY).await?);
    Ok(all)
}

/// The fields of a query.
pub(super) fn query(head: &Parts) -> Result<Fields, Refusal> {
    let mut fields = Fields::new();
    let Some(query) = head.uri.query() else {
        return Ok(fields);
    };
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if value.contains('\0') {
            return Err(Refusal::invalid(&name, "must not contain NUL"));
        }
        if fields.contains_key(name.as_ref()) {
            return Err(Refusal::invalid(&name, "is given twice"));
        }
        fields.insert(name.into_owned(), Value::String(value.into_owned()));
    }
    Ok(fields)
}

/// Any JSON-ish content type will do, and none at all; others say that the body is something else.
pub(super) fn refuse_foreign_media(headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(given) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let essence = media_essence(given.as_bytes());
    // The last one is what `curl -d` says when nobody told it what it sends.
    let welcome = ["", "text/plain", "application/x-www-form-urlencoded"];
    if welcome.contains(&essence.as_str()) || essence.contains("json") {
        return Ok(());
    }
    Err(Refusal::new(
        Code::UnsupportedMedia,
        "the body must be JSON (Content-Type: application/json)",
    ))
}

/// A media type without its parameters, in lower case.
pub(super) fn media_essence(value: &[u8]) -> String {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    String::from_utf8_lossy(essence).trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_of_live_samples_are_welcome() {
        for (given, welcome) in [
            ("application/json", true),
            ("application-json", true),
            ("application/json; charset=utf-8", true),
            ("text/plain", true),
            ("TEXT/PLAIN;charset=UTF-8", true),
            ("application/xml", false),
            ("application/x-www-form-urlencoded", true),
            ("multipart/form-data; boundary=x", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, given.parse().expect("a header"));
            assert_eq!(refuse_foreign_media(&headers).is_ok(), welcome, "{given}");
        }
        assert!(refuse_foreign_media(&HeaderMap::new()).is_ok());
    }
}
