//! The way to a vendor: one base address, bounded calls, and answers that tell whether the vendor may have taken a
//! request. The address rules of the house hold here too; an operator's own base address is an exception to them, one
//! that a caller brought is not.

mod stream;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::fault::classify;
use super::{FetchFault, HttpClient, Outbound, Trouble, USER_AGENT, client, tls};
use crate::backend::{Class, Fault, Taken};
use crate::guard::Purpose;
use crate::http::connect::Rules;

/// An answer that is only looked at for its words.
const MOST_ANSWER: u64 = 4 * 1024 * 1024;
/// A result file.
const MOST_FILE: u64 = 512 * 1024 * 1024;
/// A call that is answered from memory, such as a poll.
const QUICK: Duration = Duration::from_secs(30);
/// How much of an answer goes into a log.
const DETAIL_CHARACTERS: usize = 300;

/// The way to one vendor with one worker account's headers; clones share connections.
#[derive(Clone)]
pub struct VendorHttp {
    base: Url,
    headers: HeaderMap,
    guard: Outbound,
    /// Keeps no connection: a request that costs money never meets one that is about to close.
    once: HttpClient,
    kept: HttpClient,
}

/// One call to a vendor.
#[derive(Clone, Debug)]
pub struct VendorCall {
    method: Method,
    path: String,
    body: Option<(Bytes, String)>,
    headers: HeaderMap,
    limit: Duration,
    most: u64,
}

/// A vendor's answer, read whole.
#[derive(Clone, Debug)]
pub struct VendorAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The header lines.
    pub headers: HeaderMap,
    /// The body.
    pub bytes: Bytes,
}

impl VendorCall {
    /// Asks for something; harmless to repeat.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// A call by another method.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            body: None,
            headers: HeaderMap::new(),
            limit: QUICK,
            most: MOST_ANSWER,
        }
    }

    /// Sends a JSON document.
    pub fn post_json(path: impl Into<String>, body: &serde_json::Value) -> Self {
        let json = "application/json".to_owned();
        Self::new(Method::POST, path).body(body.to_string(), json)
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Bytes>, media_type: String) -> Self {
        self.body = Some((bytes.into(), media_type));
        self
    }

    /// Adds a header line; one that cannot be sent is left out.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// Waits longer for the last byte of the answer.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Takes a larger answer.
    #[must_use]
    pub fn at_most(mut self, bytes: u64) -> Self {
        self.most = bytes;
        self
    }
}

impl VendorAnswer {
    /// Whether the status is of the 200s.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; anything else is nonsense of the vendor.
    pub fn json(&self) -> Result<serde_json::Value, Fault> {
        serde_json::from_slice(&self.bytes)
            .map_err(|_| Fault::vendor(Class::Retry, format!("not JSON: {}", self.start())))
    }

    /// The first words of the body, for a log.
    pub fn start(&self) -> String {
        let text =
            String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(4 * DETAIL_CHARACTERS)]);
        let words: String = text.chars().take(DETAIL_CHARACTERS).collect();
        format!("status {}: {}", self.status, words.escape_debug())
    }

    /// How long the vendor asks to be left alone: `retry-after-ms`, or `Retry-After` in seconds or as a date.
    pub fn retry_after(&self, now: std::time::SystemTime) -> Option<Duration> {
        let text = |name: &str| self.headers.get(name)?.to_str().ok();
        if let Some(ms) = text("retry-after-ms").and_then(|text| text.trim().parse().ok()) {
            return Some(Duration::from_millis(ms));
        }
        let after = text("retry-after")?.trim();
        match after.parse() {
            Ok(seconds) => Some(Duration::from_secs(seconds)),
            Err(_) => httpdate::parse_http_date(after)
                .ok()?
                .duration_since(now)
                .ok(),
        }
    }
}

impl Outbound {
    /// The way to a vendor. An operator's base address is trusted as it stands; a caller's must obey the rules.
    pub fn vendor(&self, base_url: &str, trusted: bool) -> Result<VendorHttp, String> {
        let mut base = Url::parse(base_url.trim()).map_err(|why| format!("base_url: {why}"))?;
        if !matches!(base.scheme(), "http" | "https") || !base.username().is_empty() {
            return Err("base_url: must be an http or https address without user name".into());
        }
        base.set_fragment(None);
        base.set_query(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let policy = if trusted {
            let host = base.host_str().unwrap_or_default();
            let port = base.port_or_known_default().unwrap_or(0);
            self.policy.with_exception(&format!("{host}:{port}"))?
        } else {
            (*self.policy).clone()
        };
        policy
            .check_url(base.as_str(), Purpose::Image)
            .map_err(|blocked| format!("base_url: {blocked}"))?;
        let policy = Arc::new(policy);
        let build = |idle| -> Result<HttpClient, String> {
            let tls = tls::config(&self.roots).map_err(|error| error.to_string())?;
            let rules = Rules {
                purpose: Purpose::Image,
                policy: Arc::clone(&policy),
                resolver: self.resolver.clone(),
                limits: self.limits,
            };
            Ok(client(rules, tls, idle))
        };
        Ok(VendorHttp {
            once: build(0)?,
            kept: build(IDLE_CONNECTIONS)?,
            guard: self
                .clone()
                .with_policy(policy)
                .map_err(|error| error.to_string())?,
            base,
            headers: HeaderMap::new(),
        })
    }
}

/// Connections kept open to one vendor while nothing is asked.
const IDLE_CONNECTIONS: usize = 8;

impl VendorHttp {
    /// Adds a header line to every call; its value is never logged.
    pub fn with_header(mut self, name: &'static str, value: &str) -> Result<Self, String> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("{name}: cannot be sent as a header"))?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// The base address, ending in `/`.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Makes a call that may be repeated, such as a poll.
    pub async fn ask(&self, call: VendorCall) -> Result<VendorAnswer, Fault> {
        self.call(&self.kept, call).await
    }

    /// Makes a call that starts work; its fault says whether the vendor may have taken it.
    pub async fn submit(&self, call: VendorCall) -> Result<VendorAnswer, Fault> {
        self.call(&self.once, call).await
    }

    /// Reads a result file. An address of the vendor's own host is asked with the worker's headers, any other one by
    /// the rules for strangers' addresses.
    pub async fn download(&self, address: &str) -> Result<VendorAnswer, Fault> {
        let url = self
            .base
            .join(address)
            .map_err(|_| Fault::vendor(Class::Retry, "the result's address cannot be read"))?;
        if url.origin() == self.base.origin() {
            let call = VendorCall::get(url.as_str())
                .at_most(MOST_FILE)
                .within(self.guard.limits.file);
            return self.ask(call).await;
        }
        self.fetch(url.as_str()).await.map_err(|fault| {
            let class = match fault.trouble {
                Trouble::Status(404 | 410 | 403) => Class::Gone,
                _ => Class::Retry,
            };
            Fault::vendor(class, format!("result file: {:?}", fault.trouble))
        })
    }

    async fn fetch(&self, url: &str) -> Result<VendorAnswer, FetchFault> {
        use futures_util::StreamExt as _;
        let mut download = self.guard.fetch_file(url, MOST_FILE).await?;
        let mut bytes = BytesMut::new();
        while let Some(piece) = download.next().await {
            bytes.extend_from_slice(&piece?);
        }
        let mut headers = HeaderMap::new();
        if let Some(value) = download.media_type.and_then(|text| text.parse().ok()) {
            headers.insert(header::CONTENT_TYPE, value);
        }
        Ok(VendorAnswer {
            status: 200,
            headers,
            bytes: bytes.freeze(),
        })
    }

    async fn call(&self, client: &HttpClient, call: VendorCall) -> Result<VendorAnswer, Fault> {
        let deadline = Instant::now() + call.limit;
        let most = call.most;
        let (head, body) = self.send(client, call, deadline).await?.into_parts();
        let bytes = timeout_at(deadline, whole(body, most))
            .await
            .unwrap_or(Err(Trouble::TimedOut))
            .map_err(|trouble| lost(trouble, Taken::Perhaps))?;
        Ok(VendorAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            bytes,
        })
    }

    /// Sends a call and waits for the head of its answer.
    async fn send(
        &self,
        client: &HttpClient,
        call: VendorCall,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Fault> {
        let request = self.request(call)?;
        match timeout_at(deadline, client.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                let taken = if error.is_connect() {
                    Taken::No
                } else {
                    Taken::Perhaps
                };
                Err(lost(classify(&error), taken))
            }
            Err(_) => Err(lost(Trouble::TimedOut, Taken::Perhaps)),
        }
    }

    fn request(&self, call: VendorCall) -> Result<Request<Full<Bytes>>, Fault> {
        let unusable = |what: &str| Fault::ours(format!("a call to the vendor has a bad {what}"));
        let path = call.path.trim_start_matches('/');
        let url = self.base.join(path).map_err(|_| unusable("address"))?;
        if url.origin() != self.base.origin() {
            return Err(unusable("host"));
        }
        let mut request = Request::builder()
            .method(call.method)
            .uri(url.as_str())
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT_ENCODING, "identity");
        let (bytes, media_type) = call.body.unzip();
        if let Some(media_type) = media_type {
            request = request.header(header::CONTENT_TYPE, media_type);
        }
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
            headers.extend(call.headers);
        }
        request
            .body(Full::new(bytes.unwrap_or_default()))
            .map_err(|_| unusable("head"))
    }
}

/// An identifier of a vendor as one segment of a path.
pub(crate) fn segment(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().filter(|c| is_plain(*c)).collect()
}

fn lost(trouble: Trouble, taken: Taken) -> Fault {
    Fault {
        taken,
        ..Fault::vendor(Class::Retry, format!("{trouble:?}"))
    }
}

async fn whole(mut body: Incoming, most: u64) -> Result<Bytes, Trouble> {
    if body.size_hint().lower() > most {
        return Err(Trouble::TooLarge);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Trouble::Protocol)?.into_data() else {
            continue;
        };
        if (bytes.len() + data.len()) as u64 > most {
            return Err(Trouble::TooLarge);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}
