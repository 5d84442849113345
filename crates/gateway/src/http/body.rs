//! What a request carries: a JSON object whatever its content type says, a query, or both. Bodies are bounded in size,
//! speed and memory.

use std::sync::Arc;
use std::time::Duration;

use atelier_contract::body::{Fields, parse_object};
use atelier_contract::family::SMALL_BODY;
use atelier_contract::{Code, Refusal};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::http::request::Parts;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::memory::PIECE;
use crate::app::App;

/// A body larger than this is parsed off the threads that answer requests.
const LONG_TO_PARSE: usize = 1024 * 1024;

/// A body as it arrives.
pub(super) struct Intake {
    body: Incoming,
    most: usize,
    taken: usize,
    started: Instant,
    grace: Duration,
    bytes_per_s: u64,
    memory: Arc<Semaphore>,
    room: Option<OwnedSemaphorePermit>,
}

/// Memory that is given back when this is dropped.
pub(super) type Room = Option<OwnedSemaphorePermit>;

impl Intake {
    /// Starts to read a body of at most so many bytes.
    pub(super) fn new(
        app: &App,
        head: &Parts,
        body: Incoming,
        most: usize,
    ) -> Result<Self, Refusal> {
        let plain =
            |value: &hyper::header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
        if !head.headers.get_all(CONTENT_ENCODING).iter().all(plain) {
            return Err(Refusal::new(
                Code::UnsupportedMedia,
                "the body must not be compressed (Content-Encoding)",
            ));
        }
        if body.size_hint().lower() > most as u64 {
            return Err(too_large(most));
        }
        let limits = &app.config.limits;
        Ok(Self {
            body,
            most,
            taken: 0,
            started: Instant::now(),
            grace: Duration::from_secs(limits.body_grace_s),
            bytes_per_s: limits.body_bytes_per_s,
            memory: Arc::clone(&app.body_memory),
            room: None,
        })
    }

    /// The next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let earned = Duration::from_secs(self.taken as u64 / self.bytes_per_s);
            let frame = timeout_at(self.started + self.grace + earned, self.body.frame()).await;
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
                return Err(too_large(self.most));
            }
            self.take_room()?;
            return Ok(Some(bytes));
        }
    }

    /// The memory taken so far, to be held as long as the bytes are.
    pub(super) fn into_room(self) -> Room {
        self.room
    }

    /// Everything in one piece.
    async fn all(mut self) -> Result<(Bytes, Room), Refusal> {
        let Some(first) = self.next().await? else {
            return Ok((Bytes::new(), None));
        };
        if self.body.is_end_stream() {
            return Ok((first, self.room));
        }
        let mut all = BytesMut::from(first);
        while let Some(more) = self.next().await? {
            all.extend_from_slice(&more);
        }
        Ok((all.freeze(), self.room))
    }

    /// Small bodies are free; larger ones take from the common memory as they grow.
    fn take_room(&mut self) -> Result<(), Refusal> {
        if self.taken <= SMALL_BODY {
            return Ok(());
        }
        let wanted = self.taken.div_ceil(PIECE);
        let held = self
            .room
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted <= held {
            return Ok(());
        }
        let more = Arc::clone(&self.memory).try_acquire_many_owned((wanted - held) as u32);
        let more = more.map_err(|_| {
            Refusal::new(
                Code::Overloaded,
                "too many large requests at once; try again shortly",
            )
        })?;
        match &mut self.room {
            Some(room) => room.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

fn too_large(most: usize) -> Refusal {
    Refusal::new(
        Code::PayloadTooLarge,
        format!("the body must not be larger than {most} bytes"),
    )
}

/// The fields of a JSON body.
pub(super) async fn fields(
    app: &App,
    head: &Parts,
    body: Incoming,
    most: usize,
) -> Result<(Fields, Room), Refusal> {
    if body.is_end_stream() {
        return Ok((Fields::new(), None));
    }
    let intake = Intake::new(app, head, body, most)?;
    refuse_foreign_media(&head.headers)?;
    let (bytes, room) = intake.all().await?;
    if bytes.len() <= LONG_TO_PARSE {
        return Ok((parse_object(&bytes)?, room));
    }
    let parsed = tokio::task::spawn_blocking(move || parse_object(&bytes)).await;
    let parsed = parsed.map_err(|_| Refusal::new(Code::Internal, "the body could not be read"))?;
    Ok((parsed?, room))
}

/// The fields of a query and of a JSON body together; the body wins.
pub(super) async fn query_and_fields(
    app: &App,
    head: &Parts,
    body: Incoming,
) -> Result<Fields, Refusal> {
    let mut all = query(head)?;
    let (fields, _) = fields(app, head, body, SMALL_BODY).await?;
    all.extend(fields);
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
fn refuse_foreign_media(headers: &HeaderMap) -> Result<(), Refusal> {
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
