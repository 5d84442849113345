//! Bytes that stay the same while the process runs: made small once for those who take that, and not sent again to who has
//! them already.

use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
    VARY,
};
use hyper::{Response, StatusCode};
use sha2::{Digest as _, Sha256};

use super::payload::Payload;
use super::reply::{Reply, api_headers};

const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// Asked about every time.
const ASK: HeaderValue = HeaderValue::from_static("no-cache");
/// What stands behind an address that changes with it is never asked about again.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Less than this is not worth the work.
const SMALL: usize = 1024;

/// Bytes with what is known of them.
pub(crate) struct StaticContent {
    plain: Bytes,
    media_type: &'static str,
    /// Made when somebody first takes it; nothing when it would not be smaller.
    packed: OnceLock<Option<Bytes>>,
    mark: HeaderValue,
}

impl StaticContent {
    pub(crate) fn new(media_type: &'static str, plain: Bytes) -> Self {
        let mark = HeaderValue::from_str(&format!("\"{}\"", digest(&plain)));
        Self {
            plain,
            media_type,
            packed: OnceLock::new(),
            mark: mark.unwrap_or(HeaderValue::from_static("\"-\"")),
        }
    }

    /// The bytes as they are.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// The bytes for whoever sent these headers; `fixed` says that their address changes with them.
    pub(crate) fn reply(&self, asked: &HeaderMap, fixed: bool) -> Reply {
        let packed = takes_gzip(asked).then(|| self.packed()).flatten();
        let mut reply = Response::new(Payload::Whole(Bytes::new()));
        *reply.headers_mut() = api_headers(HeaderValue::from_static(self.media_type));
        let headers = reply.headers_mut();
        headers.insert(CACHE_CONTROL, if fixed { FOR_EVER } else { ASK });
        headers.insert(ETAG, self.mark.clone());
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        if asked.get(IF_NONE_MATCH) == Some(&self.mark) {
            *reply.status_mut() = StatusCode::NOT_MODIFIED;
            return reply;
        }
        if packed.is_some() {
            headers.insert(CONTENT_ENCODING, GZIP);
        }
        *reply.body_mut() = Payload::Static(packed.unwrap_or_else(|| self.plain.clone()));
        reply
    }

    fn packed(&self) -> Option<Bytes> {
        let pack = || {
            let worth = self.plain.len() > SMALL && !self.media_type.starts_with("image/w");
            let packed = worth.then(|| gzip(&self.plain).ok()).flatten()?;
            (packed.len() < self.plain.len()).then_some(packed)
        };
        self.packed.get_or_init(pack).clone()
    }
}

/// Sixteen digits that tell bytes apart.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let first = digest.iter().take(8);
    let number = first.fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    format!("{number:016x}")
}

fn gzip(bytes: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.into())
}

/// Whether gzip is among what is taken, and not with a weight of nothing.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let given = asked.get_all(ACCEPT_ENCODING).iter();
    given
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| {
            let mut parts = one.split(';').map(str::trim);
            let named = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            named && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(encoding: &'static str) -> HeaderMap {
        let mut asked = HeaderMap::new();
        asked.insert(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        asked
    }

    #[test]
    fn bytes_are_made_small_for_who_takes_that_alone() {
        let kept = StaticContent::new("text/plain", Bytes::from("word ".repeat(1000)));
        let sent = |encoding| {
            let reply = kept.reply(&asking(encoding), false);
            reply.headers().get(CONTENT_ENCODING).cloned()
        };
        assert_eq!(sent("br, gzip;q=0.5"), Some(GZIP));
        assert_eq!(sent("GZIP"), Some(GZIP));
        assert_eq!(sent("gzip;q=0, br"), None);
        assert_eq!(sent("identity"), None);
        let tiny = StaticContent::new("text/plain", Bytes::from("word"));
        let reply = tiny.reply(&asking("gzip"), false);
        assert_eq!(reply.headers().get(CONTENT_ENCODING), None);
    }
}
