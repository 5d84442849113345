//! What a vendor answered.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;

use super::secrets::Secrets;
use crate::backend::{Class, Fault};

/// How much of an answer goes into a log.
const DETAIL_CHARACTERS: usize = 300;

/// A vendor's answer, read whole.
#[derive(Clone, Debug)]
pub struct VendorResponse {
    /// The status, also of answers that are not good.
    pub status: u16,
    /// The header lines, as they came.
    pub headers: HeaderMap,
    /// The whole body; empty for an answer without one.
    pub bytes: Bytes,
    /// What must not be repeated of it.
    pub(crate) secrets: Secrets,
}

impl VendorResponse {
    /// Whether the status is of the 200s.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; anything else is nonsense of the vendor.
    pub fn json(&self) -> Result<serde_json::Value, Fault> {
        serde_json::from_slice(&self.bytes)
            .map_err(|_| Fault::vendor(Class::Retry, format!("not JSON: {}", self.start())))
    }

    /// The first words of the body, for a log; without the credential, should the vendor repeat it.
    pub fn start(&self) -> String {
        let longest = self.secrets.longest();
        let enough = 4 * DETAIL_CHARACTERS + longest;
        let text = String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(enough)]);
        let mut words = self.secrets.hide(&text);
        if self.bytes.len() > enough {
            // The first half of a secret may stand at the end.
            words.truncate(words.floor_char_boundary(words.len().saturating_sub(longest)));
        }
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let words: String = words.chars().map(plain).take(DETAIL_CHARACTERS).collect();
        format!("status {}: {}", self.status, words.trim())
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
