//! What vendors post to this service, and whether they have signed it. What they post is not believed all the same: it only
//! makes the next question due. A vendor that says nowhere else what came of its work is the exception: what it posts is kept,
//! and is the answer to that question.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::Sha256;

/// How far the clock of a vendor may be off, in seconds.
const MOST_OFF: u64 = 300;
/// What is posted to be kept is not larger.
pub const MOST_KEPT: usize = 24 * 1024 * 1024;

/// Where in the asset store a post is kept, under a name that no other has.
pub(crate) fn kept_at(name: &str) -> String {
    format!("in/posted/{name}")
}

/// What was posted to the hook of an attempt.
#[derive(Clone, Debug, Default)]
pub struct WebhookRequest {
    /// The lines of its head.
    pub headers: HeaderMap,
    /// Its body, to the byte.
    pub body: Bytes,
}

impl WebhookRequest {
    /// A line of its head; empty when there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// Whether a line of its head is a time near this one, in seconds since 1970.
    pub(crate) fn is_fresh(&self, name: &str, now: u64) -> bool {
        let time: Option<u64> = self.header(name).parse().ok();
        time.is_some_and(|time| time.abs_diff(now) <= MOST_OFF)
    }
}

/// Whether it is signed by the scheme that many vendors share (Standard Webhooks), with a secret such as `whsec_…`.
pub(crate) fn is_signed(post: &WebhookRequest, secret: &str, now: u64) -> bool {
    let key = secret.strip_prefix("whsec_").unwrap_or(secret);
    let Ok(key) = STANDARD.decode(key) else {
        return false;
    };
    let (id, time) = (post.header("webhook-id"), post.header("webhook-timestamp"));
    if key.is_empty() || id.is_empty() || !post.is_fresh("webhook-timestamp", now) {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else {
        return false;
    };
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(&post.body);
    let signatures = post.header("webhook-signature").split(' ');
    let signatures = signatures.filter_map(|one| one.strip_prefix("v1,"));
    let mut signatures = signatures.filter_map(|one| STANDARD.decode(one).ok());
    signatures.any(|one| mac.clone().verify_slice(&one).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the scheme's own documents.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const TIME: u64 = 1_614_265_330;

    fn example() -> WebhookRequest {
        let lines = [
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
            ("webhook-timestamp", "1614265330"),
            (
                "webhook-signature",
                "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            ),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.insert(name, value.parse().expect("a value"));
        }
        WebhookRequest {
            headers,
            body: Bytes::from_static(b"{\"test\": 2432232314}"),
        }
    }

    #[test]
    fn the_example_of_the_scheme_is_taken() {
        assert!(is_signed(&example(), SECRET, TIME + 299));
    }

    #[test]
    fn another_body_secret_time_or_none_is_not() {
        let other = WebhookRequest {
            body: Bytes::from_static(b"{\"test\": 2432232315}"),
            ..example()
        };
        assert!(!is_signed(&other, SECRET, TIME));
        assert!(!is_signed(&example(), "whsec_AAAA", TIME));
        assert!(!is_signed(&example(), "", TIME));
        assert!(!is_signed(&example(), SECRET, TIME + 301));
        assert!(!is_signed(&example(), SECRET, TIME - 301));
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            let mut without = example();
            without.headers.remove(name);
            assert!(!is_signed(&without, SECRET, TIME), "{name}");
        }
    }
}
