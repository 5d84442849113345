//! Receivers check callbacks with the official library; it must accept what we sign and refuse everything else.

use std::time::{SystemTime, UNIX_EPOCH};

use atelier_contract::webhook::{new_webhook_secret, sign_webhook};
use http::HeaderMap;
use standardwebhooks::Webhook;

const ID: &str = "0190a0f0-0000-7000-8000-000000000001";
const BODY: &[u8] = br#"{"status":"SUCCESS","message":"success","jobId":"0190"}"#;

#[expect(
    clippy::disallowed_methods,
    reason = "the library compares with the machine's clock"
)]
fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs() as i64
}

fn headers(id: &str, timestamp_s: i64, signature: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let timestamp = timestamp_s.to_string();
    for (name, value) in [
        ("webhook-id", id),
        ("webhook-timestamp", &timestamp),
        ("webhook-signature", signature),
    ] {
        headers.insert(name, value.parse().expect("a header value"));
    }
    headers
}

fn accepts(secret: &str, headers: &HeaderMap, body: &[u8]) -> bool {
    let receiver = Webhook::new(secret).expect("a secret");
    receiver.verify(body, headers).is_ok()
}

#[test]
fn the_official_library_accepts_our_signature() {
    let secret = new_webhook_secret(&[42; 32]);
    let now = now_s();
    let signature = sign_webhook(&[&secret], ID, now, BODY);
    assert!(accepts(&secret, &headers(ID, now, &signature), BODY));
}

#[test]
fn the_official_library_refuses_what_was_altered() {
    let secret = new_webhook_secret(&[42; 32]);
    let now = now_s();
    let signature = sign_webhook(&[&secret], ID, now, BODY);
    for place in 0..BODY.len() {
        let mut altered = BODY.to_vec();
        altered[place] ^= 1;
        assert!(!accepts(&secret, &headers(ID, now, &signature), &altered));
    }
    assert!(!accepts(
        &secret,
        &headers("another", now, &signature),
        BODY
    ));
    assert!(!accepts(&secret, &headers(ID, now + 1, &signature), BODY));
    let other = new_webhook_secret(&[43; 32]);
    assert!(!accepts(&other, &headers(ID, now, &signature), BODY));
}

#[test]
fn an_old_callback_is_refused_as_a_replay() {
    let secret = new_webhook_secret(&[42; 32]);
    let old = now_s() - 3600;
    let signature = sign_webhook(&[&secret], ID, old, BODY);
    assert!(!accepts(&secret, &headers(ID, old, &signature), BODY));
}

#[test]
fn during_a_rotation_receivers_with_either_secret_accept() {
    let (old, new) = (new_webhook_secret(&[1; 32]), new_webhook_secret(&[2; 32]));
    let now = now_s();
    let signature = sign_webhook(&[&new, &old], ID, now, BODY);
    assert_eq!(signature.split(' ').count(), 2);
    for secret in [&old, &new] {
        assert!(accepts(secret, &headers(ID, now, &signature), BODY));
    }
    let after = sign_webhook(&[&new], ID, now, BODY);
    assert!(!accepts(&old, &headers(ID, now, &after), BODY));
}

#[test]
fn every_try_has_a_fresh_signature_under_the_same_id() {
    let secret = new_webhook_secret(&[42; 32]);
    let now = now_s();
    let first = sign_webhook(&[&secret], ID, now - 60, BODY);
    let second = sign_webhook(&[&secret], ID, now, BODY);
    assert_ne!(first, second);
    assert!(accepts(&secret, &headers(ID, now - 60, &first), BODY));
    assert!(accepts(&secret, &headers(ID, now, &second), BODY));
}
