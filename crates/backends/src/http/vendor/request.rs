//! What is asked of a vendor.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// An answer that is only looked at for its words.
pub(super) const MOST_ANSWER: u64 = 4 * 1024 * 1024;
/// A call that is answered from memory, such as a poll.
const QUICK: Duration = Duration::from_secs(30);

/// One call to a vendor.
#[derive(Clone, Debug)]
pub struct VendorRequest {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<(Bytes, String)>,
    pub(super) headers: HeaderMap,
    pub(super) limit: Duration,
    pub(super) most: u64,
}

impl VendorRequest {
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

    /// Puts a JSON document where a name of its own says.
    pub(crate) fn put_json(path: impl Into<String>, body: &serde_json::Value) -> Self {
        let json = "application/json".to_owned();
        Self::new(Method::PUT, path).body(body.to_string(), json)
    }

    /// The JSON document that it carries, where it is one.
    pub(crate) fn json(&self) -> Option<serde_json::Value> {
        let (body, _) = self.body.as_ref()?;
        serde_json::from_slice(body).ok()
    }

    /// The same with another JSON document.
    pub(crate) fn with_json(self, body: &serde_json::Value) -> Self {
        self.body(body.to_string(), "application/json".to_owned())
    }

    /// Sets the body and its `content-type`.
    #[must_use]
    pub fn body(mut self, bytes: impl Into<Bytes>, media_type: String) -> Self {
        self.body = Some((bytes.into(), media_type));
        self
    }

    /// Adds a header line; one that cannot be sent is left out.
    #[must_use]
    pub fn header(self, name: &'static str, value: &str) -> Self {
        self.line(HeaderName::from_static(name), value)
    }

    /// The same where only the settings know the name of the line.
    pub(crate) fn line(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
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
