//! The way to a vendor: one base address, bounded calls, and answers that tell whether the vendor may have taken a
//! request. The address rules of the service hold here too; an operator's own base address is an exception to them, one
//! that a caller brought is not.

mod body_reader;
mod download;
mod request;
mod response;
mod secrets;
mod stream;
mod websocket;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::client::{HttpClient, KeepAlive, OutboundClient, USER_AGENT, client};
use super::error::{OutboundError, classify};
use super::fence::{self, Fence, FencedBody, fence};
use super::trace;
use crate::backend::{Acceptance, Class, Fault};
use crate::field_error::FieldError;
use crate::guard::Purpose;
use crate::http::connect::ConnectRules;
use crate::http::memory::MemoryBudget;
use body_reader::BodyReader;
pub use request::VendorRequest;
pub use response::VendorResponse;
pub(crate) use secrets::Secrets;

/// The largest answer of a stranger's server that is read as words.
const MOST_OF_STRANGERS: u64 = 24 * 1024 * 1024;
/// How much memory a stranger's words may take beyond their own once they are understood.
const WEIGHT_OF_STRANGERS: u64 = 8;
/// The way to one vendor with one worker account's headers; clones share connections.
#[derive(Clone)]
pub struct VendorHttp {
    base: Url,
    /// The query of the base address, which goes with every call to it.
    query: Option<String>,
    headers: HeaderMap,
    secrets: Secrets,
    guard: OutboundClient,
    /// An operator's address, not one that a caller brought.
    trusted: bool,
    /// The vendor's own domain, where it answers from several hosts.
    domain: Option<&'static str>,
    /// Keeps no connection: a request that costs money never meets one that is about to close,
    once: HttpClient,
    /// unless the vendor says that it keeps them: then they are kept for a moment.
    briefly: HttpClient,
    says_it_keeps: Arc<AtomicBool>,
    kept: HttpClient,
}

impl OutboundClient {
    /// The way to a vendor. An operator's base address is trusted as it stands; a caller's must obey the rules.
    pub fn vendor(&self, base_url: &str, trusted: bool) -> Result<VendorHttp, FieldError> {
        let wrong = |why: &dyn fmt::Display| FieldError::new("base_url", why);
        let mut base = Url::parse(base_url.trim()).map_err(|why| wrong(&why))?;
        if !matches!(base.scheme(), "http" | "https") || !base.username().is_empty() {
            return Err(wrong(&"must be an http or https URL without a user name"));
        }
        base.set_fragment(None);
        let query = base.query().filter(|query| !query.is_empty());
        let query = query.map(str::to_owned);
        base.set_query(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let policy = if trusted {
            let host = base.host_str().unwrap_or_default();
            let port = base.port_or_known_default().unwrap_or(0);
            let excepted = self.policy.with_exception(&format!("{host}:{port}"));
            excepted.map_err(|why| wrong(&why))?
        } else {
            (*self.policy).clone()
        };
        policy
            .check_url(base.as_str(), Purpose::Image)
            .map_err(|blocked| wrong(&blocked))?;
        let policy = Arc::new(policy);
        let build = |keep| {
            let rules = ConnectRules {
                purpose: Purpose::Image,
                policy: Arc::clone(&policy),
                resolver: self.resolver.clone(),
                limits: self.limits,
                places: None,
            };
            client(rules, self.tls.clone(), keep)
        };
        Ok(VendorHttp {
            once: build(KeepAlive::NONE),
            briefly: build(BRIEFLY),
            says_it_keeps: Arc::default(),
            kept: build(KEPT),
            guard: self.clone().with_policy(policy),
            base,
            query,
            headers: HeaderMap::new(),
            secrets: Secrets::default(),
            trusted,
            domain: None,
        })
    }
}

/// Connections kept open to one vendor while nothing is asked; jobs by the hundred are asked about at once.
const KEPT: KeepAlive = KeepAlive {
    most: 64,
    time: Duration::from_secs(90),
};
/// The same for calls that cost. Nobody who says that connections are kept hangs up so soon after an answer.
const BRIEFLY: KeepAlive = KeepAlive {
    most: 256,
    time: Duration::from_millis(500),
};

/// Whether a call goes to the base address. What another host of the vendor's says of its connections is its own affair.
fn is_here(call: &VendorRequest) -> bool {
    !call.path.contains("://")
}

/// Whether an answer says that its connection is kept, as most vendors' front doors do.
fn says_it_keeps(headers: &HeaderMap) -> bool {
    let line = headers.get(header::CONNECTION);
    line.is_some_and(|line| line.as_bytes().eq_ignore_ascii_case(b"keep-alive"))
}

impl VendorHttp {
    /// Adds a header line to every call; its value is never logged, even if the vendor repeats it. `field` is what its
    /// owner calls it.
    pub fn with_header(
        mut self,
        name: &'static str,
        field: &str,
        value: &str,
    ) -> Result<Self, FieldError> {
        self.secrets = self.secrets.with(value);
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| FieldError::new(field, "cannot be sent as a header"))?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }

    /// Adds the worker account's credential as a bearer token to every call.
    pub fn with_bearer(self, credential: &str) -> Result<Self, FieldError> {
        let value = format!("Bearer {credential}");
        self.with_header("authorization", "credential", &value)
    }

    /// Never lets this text be logged, even if the vendor repeats it.
    pub(crate) fn with_secret(mut self, secret: &str) -> Self {
        self.secrets = self.secrets.with(secret);
        self
    }

    /// Lets calls go to any host of the vendor's own domain, with the worker's headers, when the vendor names it.
    pub(crate) fn with_domain(mut self, domain: &'static str) -> Self {
        self.domain = Some(domain);
        self
    }

    /// What must not be repeated of the vendor's words.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The base address, ending in `/`.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Makes a call that may be repeated, such as a poll.
    pub fn ask(&self, call: VendorRequest) -> BoxFuture<'_, Result<VendorResponse, Fault>> {
        self.call(&self.kept, call, None)
    }

    /// Makes a call that starts work; its fault says whether the vendor may have taken it. Nothing is sent once the right to
    /// order it is gone.
    pub fn submit(&self, call: VendorRequest) -> BoxFuture<'_, Result<VendorResponse, Fault>> {
        self.call(self.for_paid(&call), call, fence())
    }

    /// What a call that costs goes through.
    fn for_paid(&self, call: &VendorRequest) -> &HttpClient {
        if is_here(call) && self.says_it_keeps.load(Ordering::Relaxed) {
            &self.briefly
        } else {
            &self.once
        }
    }

    /// Boxed, so that it is compiled once and not for every vendor.
    fn call<'a>(
        &'a self,
        client: &'a HttpClient,
        call: VendorRequest,
        fence: Option<Fence>,
    ) -> BoxFuture<'a, Result<VendorResponse, Fault>> {
        Box::pin(async move {
            let deadline = Instant::now() + call.limit;
            let most = call.most;
            let (head, body) = self.send(client, call, fence, deadline).await?.into_parts();
            let mut answer = self.answer(head);
            let mut reading = self.reading(most, deadline);
            if !self.trusted {
                reading.most = most.min(MOST_OF_STRANGERS);
                reading.weight = WEIGHT_OF_STRANGERS;
            }
            let read = whole(reading, body).await;
            answer.bytes = read.map_err(|trouble| self.lost(trouble, Acceptance::Perhaps))?;
            Ok(answer)
        })
    }

    fn answer(&self, head: http::response::Parts) -> VendorResponse {
        VendorResponse {
            status: head.status.as_u16(),
            headers: head.headers,
            bytes: Bytes::new(),
            secrets: self.secrets.clone(),
        }
    }

    fn reading(&self, most: u64, deadline: Instant) -> BodyReader {
        let limits = &self.guard.limits;
        BodyReader {
            memory: self.memory().clone(),
            most: most.min(self.most_file()),
            weight: 1,
            deadline,
            stall: limits.stall,
            wait: limits.place,
        }
    }

    fn memory(&self) -> &MemoryBudget {
        if self.trusted {
            &self.guard.vendor_memory
        } else {
            &self.guard.stranger_memory
        }
    }

    /// Sends a call and waits for the head of its answer.
    async fn send(
        &self,
        client: &HttpClient,
        call: VendorRequest,
        fence: Option<Fence>,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Fault> {
        let here = is_here(&call);
        let request = self.request(call, fence)?;
        match timeout_at(deadline, client.request(request)).await {
            Ok(Ok(answer)) => {
                if here {
                    let keeps = says_it_keeps(answer.headers());
                    self.says_it_keeps.store(keeps, Ordering::Relaxed);
                }
                Ok(answer)
            }
            Ok(Err(error)) => {
                self.says_it_keeps.store(false, Ordering::Relaxed);
                if fence::is_fence_error(&error) {
                    return Err(Fault::internal(
                        "the lease ran out before anything was sent",
                    ));
                }
                let taken = if error.is_connect() {
                    Acceptance::No
                } else {
                    Acceptance::Perhaps
                };
                Err(self.lost(classify(&error), taken))
            }
            Err(_) => Err(self.lost(OutboundError::TimedOut, Acceptance::Perhaps)),
        }
    }

    fn request(
        &self,
        call: VendorRequest,
        fence: Option<Fence>,
    ) -> Result<Request<FencedBody>, Fault> {
        let unusable = |what: &str| Fault::ours(format!("a call to the vendor has a bad {what}"));
        let path = call.path.trim_start_matches('/');
        let mut url = self.base.join(path).map_err(|_| unusable("address"))?;
        if is_here(&call) {
            self.keep_query(&mut url);
        }
        let own = url.origin() == self.base.origin();
        if !own && !self.domain.is_some_and(|domain| is_of(&url, domain)) {
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
            if let Some(parent) = trace::parent() {
                headers.insert(trace::HEADER, parent);
            }
            headers.extend(self.headers.clone());
            headers.extend(call.headers);
        }
        request
            .body(FencedBody::new(bytes.unwrap_or_default(), fence))
            .map_err(|_| unusable("head"))
    }

    /// Adds the query of the base address, such as the version of an interface.
    fn keep_query(&self, url: &mut Url) {
        let Some(kept) = &self.query else {
            return;
        };
        let query = match url.query() {
            Some(own) => format!("{own}&{kept}"),
            None => kept.clone(),
        };
        url.set_query(Some(&query));
    }

    /// What it means that an answer did not come.
    fn lost(&self, trouble: OutboundError, taken: Acceptance) -> Fault {
        let class = match trouble {
            // The memory for answers is this service's own matter.
            OutboundError::Busy => Class::Service,
            _ => Class::Retry,
        };
        Fault {
            taken,
            ..Fault::vendor(class, format!("{:?}", self.shown(trouble)))
        }
    }

    /// A trouble as it is shown. Whoever brought an address does not learn from it what this service can see there.
    fn shown(&self, trouble: OutboundError) -> OutboundError {
        match trouble {
            OutboundError::Blocked | OutboundError::Unresolved if !self.trusted => {
                OutboundError::Unreachable
            }
            trouble => trouble,
        }
    }
}

/// Whether an address is one of a domain, and safe to send a credential to.
fn is_of(url: &Url, domain: &str) -> bool {
    let host = url.host_str().unwrap_or_default();
    let above = host.strip_suffix(domain);
    url.scheme() == "https"
        && url.username().is_empty()
        && above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// Any identifier of a vendor as one segment of a path, whatever characters it has.
pub(crate) fn encoded(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    id.bytes().map(one).collect()
}

/// An identifier of a vendor as one segment of a path.
pub(crate) fn segment(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars().filter(|c| is_plain(*c)).collect()
}

/// A body read whole.
async fn whole(reading: BodyReader, body: Incoming) -> Result<Bytes, OutboundError> {
    let length = body.size_hint().lower();
    let pieces = body.into_data_stream();
    let pieces = pieces.map(|piece| piece.map_err(|_| OutboundError::Protocol));
    reading.whole(pieces, length).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_of_the_domain_get_the_credential() {
        let is = |text: &str| is_of(&Url::parse(text).expect("an address"), "bfl.ai");
        assert!(is("https://api.eu2.bfl.ai/v1/get_result?id=1") && is("https://bfl.ai/"));
        for other in [
            "http://api.bfl.ai/",
            "https://notbfl.ai/",
            "https://bfl.ai.evil.example/",
            "https://x@api.bfl.ai/",
            "https://evil.example/bfl.ai",
        ] {
            assert!(!is(other), "{other}");
        }
    }
}
