//! `X-Request-Id`: the caller's own when it is harmless, else one of ours.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::header::{HeaderMap, HeaderName, HeaderValue};

/// The header, both ways.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The identifier of a request.
pub(super) fn of(headers: &HeaderMap) -> HeaderValue {
    match headers.get(HEADER) {
        Some(given) if is_harmless(given.as_bytes()) => given.clone(),
        _ => next(),
    }
}

fn is_harmless(id: &[u8]) -> bool {
    (1..=64).contains(&id.len())
        && id
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A random start for this process, counted up and scattered so that numbers tell nothing of the traffic.
fn next() -> HeaderValue {
    static START: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let start = *START.get_or_init(|| u64::from_le_bytes(atelier_engine::random_bytes()));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut mixed = start.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    let mut text = [0; 16];
    for (place, digit) in text.iter_mut().enumerate() {
        *digit = DIGITS[(mixed >> (60 - 4 * place)) as usize & 15];
    }
    HeaderValue::from_bytes(&text).unwrap_or(HeaderValue::from_static("0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_harmless_id_is_taken_over() {
        for (given, taken) in [
            ("abc-1_Z", true),
            ("", false),
            ("a b", false),
            ("<script>", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_str(given).expect("a header"));
            assert_eq!(of(&headers) == given, taken, "{given}");
        }
    }

    #[test]
    fn ids_differ() {
        let ids: std::collections::HashSet<_> = (0..1000)
            .map(|_| next().to_str().expect("text").to_owned())
            .collect();
        assert_eq!(ids.len(), 1000);
    }
}
