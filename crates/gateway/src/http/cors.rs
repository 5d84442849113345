//! Which pages of other origins may read answers. A browser asks; everybody else does not care.

use hyper::Method;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    HeaderMap, HeaderValue, ORIGIN, VARY,
};

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const SENT: &str = "SVC-API-KEY, Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Range, X-Request-Id, mj-api-secret, x-goog-api-key, x-goog-api-client";
const READ: &str = "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Content-Range, ETag, Location, \
     Preference-Applied, X-Atelier-Job-Id";
/// How long a browser remembers what it was told, in seconds.
const REMEMBERED_S: &str = "600";

/// The allowed origins; `*` stands for all.
pub(crate) struct Origins(Vec<String>);

/// An origin that may read the answer.
pub(super) struct AllowedOrigin {
    origin: HeaderValue,
    is_preflight: bool,
}

impl Origins {
    pub(crate) fn new(origins: &[String]) -> Self {
        Self(origins.to_vec())
    }

    /// Whether an origin is listed by its name.
    pub(super) fn lists(&self, origin: &str) -> bool {
        self.0.iter().any(|one| one == origin)
    }

    /// The origin of a request, if it may read the answer.
    pub(super) fn reader(&self, method: &Method, headers: &HeaderMap) -> Option<AllowedOrigin> {
        if self.0.is_empty() {
            return None;
        }
        let origin = headers.get(ORIGIN)?;
        let known = |one: &String| one == "*" || origin.as_bytes() == one.as_bytes();
        self.0.iter().any(known).then(|| AllowedOrigin {
            origin: origin.clone(),
            is_preflight: *method == Method::OPTIONS
                && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        })
    }
}

impl AllowedOrigin {
    /// Whether this is only the question whether a request would be allowed.
    pub(super) fn is_preflight(&self) -> bool {
        self.is_preflight
    }

    /// Says in the answer that the origin may read it.
    pub(super) fn tell(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if self.is_preflight {
            let rules = [
                (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
                (ACCESS_CONTROL_ALLOW_HEADERS, SENT),
                (ACCESS_CONTROL_MAX_AGE, REMEMBERED_S),
            ];
            for (name, value) in rules {
                headers.insert(name, HeaderValue::from_static(value));
            }
        } else {
            headers.insert(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static(READ),
            );
        }
    }
}
