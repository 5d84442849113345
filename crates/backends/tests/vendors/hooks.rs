//! What vendors post: the two that sign it are held to their signatures, with the keys that they themselves show.

use std::time::{SystemTime, UNIX_EPOCH};

use atelier_backends::WebhookRequest;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::stand::{Stand, json as answer, status};

const BODY: &str = r#"{"id": "t1", "status": "succeeded"}"#;
const KEY: &[u8] = b"sixteen bytes of";

#[expect(
    clippy::disallowed_methods,
    reason = "vendors sign by the time of the machine"
)]
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

fn post(lines: &[(&'static str, String)]) -> WebhookRequest {
    let mut post = WebhookRequest {
        body: BODY.into(),
        ..WebhookRequest::default()
    };
    for (name, value) in lines {
        post.headers.insert(*name, value.parse().expect("a value"));
    }
    post
}

/// A post as Replicate signs it.
fn replicates(key: &[u8], time: u64) -> WebhookRequest {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key");
    mac.update(format!("msg_1.{time}.{BODY}").as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    post(&[
        ("webhook-id", "msg_1".to_owned()),
        ("webhook-timestamp", time.to_string()),
        ("webhook-signature", format!("v1,{signature}")),
    ])
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("a digit");
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

/// A post as fal signs it.
fn fals(pair: &Ed25519KeyPair, time: u64) -> WebhookRequest {
    let message = format!("r1\nu1\n{time}\n{}", hex(&Sha256::digest(BODY)));
    post(&[
        ("x-fal-webhook-request-id", "r1".to_owned()),
        ("x-fal-webhook-user-id", "u1".to_owned()),
        ("x-fal-webhook-timestamp", time.to_string()),
        (
            "x-fal-webhook-signature",
            hex(pair.sign(message.as_bytes()).as_ref()),
        ),
    ])
}

#[tokio::test]
async fn a_post_of_replicate_is_heard_when_it_is_signed_with_the_secret_it_gave_the_account() {
    let stand = Stand::new(|seen| match &*seen.line {
        "GET /v1/webhooks/default/secret" => {
            answer(&json!({"key": format!("whsec_{}", STANDARD.encode(KEY))}))
        }
        _ => status(404, &json!({})),
    });
    let worker = stand.worker("replicate", json!({}));
    assert!(worker.verify_webhook(&replicates(KEY, now())).await);
    assert!(
        !worker
            .verify_webhook(&replicates(b"another key of 16", now()))
            .await
    );
    assert!(
        !worker.verify_webhook(&replicates(KEY, now() - 400)).await,
        "too old"
    );
    assert!(
        !worker.verify_webhook(&WebhookRequest::default()).await,
        "unsigned"
    );
    assert_eq!(stand.seen().len(), 1, "the secret is read once");
    let trusting = stand.worker("replicate", json!({"check_webhooks": false}));
    assert!(trusting.verify_webhook(&WebhookRequest::default()).await);
}

#[tokio::test]
async fn nothing_of_replicate_is_heard_while_its_secret_cannot_be_read() {
    let stand = Stand::always(status(500, &json!({})));
    let worker = stand.worker("replicate", json!({}));
    assert!(!worker.verify_webhook(&replicates(KEY, now())).await);
    assert!(!worker.verify_webhook(&replicates(b"", now())).await);
}

#[tokio::test]
async fn a_post_of_fal_is_heard_when_it_is_signed_with_a_key_that_fal_shows() {
    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a pair");
    let other = Ed25519KeyPair::from_seed_unchecked(&[8; 32]).expect("a pair");
    let shown = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
    let stand = Stand::new(move |_| {
        answer(&json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": shown}]}))
    });
    let settings = json!({"webhook_keys_url": stand.url("/keys.json")});
    let worker = stand.worker("fal", settings);
    assert!(worker.verify_webhook(&fals(&pair, now())).await);
    assert!(!worker.verify_webhook(&fals(&other, now())).await);
    assert!(
        !worker.verify_webhook(&fals(&pair, now() - 400)).await,
        "too old"
    );
    assert!(
        !worker.verify_webhook(&WebhookRequest::default()).await,
        "unsigned"
    );
    assert_eq!(stand.seen().len(), 1, "the keys are read once");
    let trusting = stand.worker("fal", json!({"webhook_keys_url": ""}));
    assert!(trusting.verify_webhook(&WebhookRequest::default()).await);
}

#[tokio::test]
async fn what_a_vendor_says_is_left_is_told_with_a_probe() {
    let told = [
        ("runway", json!({"creditBalance": 1250}), 12_500_000, "USD"),
        ("bfl", json!({"credits": 99.5}), 995_000, "USD"),
        ("recraft", json!({"credits": 2000}), 2_000_000, "USD"),
        (
            "relay",
            json!({"status": "SUCCESS", "data": {"balance": 7.5}}),
            7_500_000,
            "quota",
        ),
    ];
    for (vendor, said, micros, currency) in told {
        let stand = Stand::always(answer(&said));
        let left = stand.worker(vendor, json!({})).probe().await;
        let left = left
            .expect("well")
            .unwrap_or_else(|| panic!("{vendor} says nothing"));
        assert_eq!((left.micros, left.currency), (micros, currency), "{vendor}");
    }
    let stand = Stand::always(answer(&json!({})));
    assert_eq!(
        stand.worker("xai", json!({})).probe().await.expect("well"),
        None
    );
}
