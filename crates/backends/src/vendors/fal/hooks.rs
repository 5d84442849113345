//! The signatures of fal's posts: Ed25519, by keys that the vendor shows to everybody.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use crate::clock;
use crate::hex::{bytes_of, hex};
use crate::hooks::WebhookRequest;
use crate::http::VendorHttp;

/// Where the keys usually are.
pub(super) const KEYS: &str = "https://rest.fal.ai/.well-known/jwks.json";
/// A list of keys is not longer.
const MOST_KEYS: u64 = 64 * 1024;
/// Keys are read anew after this many seconds, and sooner when a post does not fit the ones that are known.
const KEPT: u64 = 24 * 3600;
/// But no more often than this.
const PAUSE: u64 = 60;

/// What is signed, besides the body: these lines of the head, in this order.
const SIGNED: [&str; 3] = [
    "x-fal-webhook-request-id",
    "x-fal-webhook-user-id",
    "x-fal-webhook-timestamp",
];

type SigningKey = Vec<u8>;

/// The vendor's keys, as far as they have been read.
#[derive(Default)]
pub(super) struct SigningKeys(Mutex<(u64, Vec<SigningKey>)>);

impl SigningKeys {
    /// Whether a post is the vendor's.
    pub(super) async fn fit(
        &self,
        http: &VendorHttp,
        address: &str,
        post: &WebhookRequest,
    ) -> bool {
        let now = clock::seconds();
        let mut known = self.0.lock().await;
        let (read, keys) = &mut *known;
        if now.abs_diff(*read) < KEPT && is_signed(post, keys, now) {
            return true;
        }
        if now.abs_diff(*read) < PAUSE {
            return false;
        }
        *read = now;
        let found = http.download(address, MOST_KEYS).await;
        let document = found.ok().filter(crate::http::VendorResponse::is_good);
        if let Some(document) = document.and_then(|answer| answer.json().ok()) {
            *keys = listed(&document);
        }
        is_signed(post, keys, now)
    }
}

fn listed(document: &Value) -> Vec<SigningKey> {
    let keys = document["keys"].as_array().into_iter().flatten();
    let texts = keys.filter_map(|key| key["x"].as_str());
    texts
        .filter_map(|text| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok())
        .collect()
}

fn is_signed(post: &WebhookRequest, keys: &[SigningKey], now: u64) -> bool {
    let [request, user, time] = SIGNED.map(|name| post.header(name));
    if request.is_empty() || !post.is_fresh(SIGNED[2], now) {
        return false;
    }
    let Some(signature) = bytes_of(post.header("x-fal-webhook-signature")) else {
        return false;
    };
    let digest = hex(&Sha256::digest(&post.body));
    let message = [request, user, time, &*digest].join("\n");
    let fits = |key: &SigningKey| {
        let key = UnparsedPublicKey::new(&ED25519, key);
        key.verify(message.as_bytes(), &signature).is_ok()
    };
    keys.iter().any(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    const NOW: u64 = 1_800_000_000;

    fn pair() -> Ed25519KeyPair {
        Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a pair")
    }

    fn signed(body: &'static [u8], time: u64) -> WebhookRequest {
        let digest = hex(&Sha256::digest(body));
        let message = format!("r1\nu1\n{time}\n{digest}");
        let signature = hex(pair().sign(message.as_bytes()).as_ref());
        let mut post = WebhookRequest {
            body: Bytes::from_static(body),
            ..WebhookRequest::default()
        };
        let lines = [
            (SIGNED[0], "r1".to_owned()),
            (SIGNED[1], "u1".to_owned()),
            (SIGNED[2], time.to_string()),
            ("x-fal-webhook-signature", signature),
        ];
        for (name, value) in lines {
            post.headers.insert(name, value.parse().expect("a value"));
        }
        post
    }

    #[test]
    fn a_post_with_the_vendors_signature_is_taken_and_no_other() {
        let own = vec![pair().public_key().as_ref().to_vec()];
        let body = b"{\"status\": \"OK\"}";
        assert!(is_signed(&signed(body, NOW), &own, NOW));
        assert!(
            !is_signed(&signed(body, NOW), &[vec![1; 32]], NOW),
            "another key"
        );
        assert!(
            !is_signed(&signed(body, NOW - 301), &own, NOW),
            "an old one"
        );
        let mut other = signed(body, NOW);
        other.body = Bytes::from_static(b"{\"status\": \"ERROR\"}");
        assert!(!is_signed(&other, &own, NOW), "another body");
        let mut other = signed(body, NOW);
        other
            .headers
            .insert(SIGNED[0], "r2".parse().expect("a value"));
        assert!(!is_signed(&other, &own, NOW), "another request");
        for text in ["", "0", "zz", "00"] {
            let mut other = signed(body, NOW);
            let value = text.parse().expect("a value");
            other.headers.insert("x-fal-webhook-signature", value);
            assert!(!is_signed(&other, &own, NOW), "{text}");
        }
    }

    #[test]
    fn keys_are_read_as_the_vendor_lists_them() {
        let document = serde_json::json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AQID"}, {"kty": "RSA"}]});
        assert_eq!(listed(&document), [vec![1, 2, 3]]);
    }
}
