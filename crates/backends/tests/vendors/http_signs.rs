//! How a described vendor is sent the credential, as its server sees it.

use atelier_backends::{Class, WebhookRequest};
use serde_json::{Value, json};

use crate::stand::{Stand, json as answer, worker_with_key};

/// A description with a way to sign.
fn signed(sign: &Value) -> Value {
    json!({
        "sign": sign,
        "calls": {"draw": {"submit": {"path": "images", "json": {}}, "result": {"files": [{"at": "/urls"}]}}},
        "models": {"imgmodel.chat": {"call": "draw"}},
        "probe": {"request": {"path": "me", "query": {"a": "b c", "z": "1"}}},
        "recorded": [{"call": "draw", "to": "submit", "body": {"urls": ["https://a.example/1.png"]},
            "means": {"state": "done"}}],
    })
}

#[tokio::test]
async fn each_way_to_sign_arrives_as_it_was_described() {
    let stand = Stand::always(answer(&json!({})));
    let asked = |sign: Value, key: &'static str| {
        let worker = worker_with_key("http", &stand.url("/v1"), key, signed(&sign));
        async { worker.expect("good settings").probe().await }
    };
    for (sign, key, line) in [
        (
            json!({"by": "bearer"}),
            "sk-1234",
            "authorization: Bearer sk-1234\n",
        ),
        (
            json!({"by": "header", "name": "X-Key"}),
            "sk-1234",
            "x-key: sk-1234\n",
        ),
        (
            json!({"by": "header", "name": "Authorization", "prefix": "Token "}),
            "sk-1234",
            "authorization: Token sk-1234\n",
        ),
        (
            json!({"by": "basic"}),
            "me:pass",
            "authorization: Basic bWU6cGFzcw==\n",
        ),
    ] {
        asked(sign, key).await.expect("well");
        let seen = stand.seen().pop().expect("a call");
        assert!(seen.head.contains(line), "{}", seen.head);
        assert!(!seen.line.contains("1234"), "{}", seen.line);
    }
    asked(json!({"by": "query", "name": "api_key"}), "sk 1234")
        .await
        .expect("well");
    let seen = stand.seen().pop().expect("a call");
    assert_eq!(seen.line, "GET /v1/me?a=b%20c&z=1&api_key=sk+1234");
    asked(json!({"by": "none"}), "").await.expect("well");
    assert!(
        !stand
            .seen()
            .pop()
            .expect("a call")
            .head
            .contains("authorization")
    );
    let missing = worker_with_key(
        "http",
        &stand.url("/v1"),
        "",
        signed(&json!({"by": "bearer"})),
    );
    assert!(
        missing
            .err()
            .is_some_and(|wrong| wrong.field == "credential")
    );
}

#[tokio::test]
async fn a_hash_covers_what_was_described() {
    let stand = Stand::always(answer(&json!({})));
    let sign = json!({"by": "hmac", "text": "base64", "over": "{{method}}\n{{host}}\n{{path}}\n{{query}}\n{{timestamp}}\n{{body_sha256}}",
        "headers": {"x-key": "{{key}}", "x-time": "{{timestamp}}", "x-nonce": "{{nonce}}", "x-sign": "v1={{signature}}"}});
    let settings = signed(&sign);
    let worker = worker_with_key("http", &stand.url("/v1"), "me:secret", settings.clone());
    worker.expect("good settings").probe().await.expect("well");
    let seen = stand.seen().pop().expect("a call");
    let line = |name: &str| {
        let rest = seen
            .head
            .split(&format!("{name}: "))
            .nth(1)
            .expect("a line");
        rest.lines().next().expect("a value").to_owned()
    };
    assert_eq!(
        (line("x-key"), line("x-nonce").len()),
        ("me".to_owned(), 24)
    );
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let over = format!(
        "GET\n{}\n/v1/me\na=b%20c&z=1\n{}\n{empty}",
        line("host"),
        line("x-time")
    );
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"secret");
    let hash = ring::hmac::sign(&key, over.as_bytes());
    assert_eq!(
        line("x-sign"),
        format!("v1={}", crate::stand::base64(hash.as_ref()))
    );
    assert!(!seen.head.contains("secret"));
    // What is no pair cannot sign: the account is dead, and nothing is sent.
    let before = stand.seen().len();
    let worker = worker_with_key("http", &stand.url("/v1"), "only-a-key", settings);
    let fault = worker
        .expect("good settings")
        .probe()
        .await
        .expect_err("no pair");
    assert_eq!((fault.class, stand.seen().len()), (Class::Dead, before));
}

#[tokio::test]
async fn keys_for_a_signature_are_never_sent() {
    let stand = Stand::always(answer(&json!({})));
    for (form, region, line) in [
        ("aws", "us-east-1", "AWS4-HMAC-SHA256 Credential=AKID/"),
        ("volc", "cn-north-1", "HMAC-SHA256 Credential=AKID/"),
        ("tencent", "", "TC3-HMAC-SHA256 Credential=AKID/"),
    ] {
        let sign = json!({"by": "sigv4", "form": form, "region": region, "service": "visual"});
        let worker = worker_with_key(
            "http",
            &stand.url("/v1"),
            "AKID:topsecret:session",
            signed(&sign),
        );
        worker.expect("good settings").probe().await.expect("well");
        let seen = stand.seen().pop().expect("a call");
        assert!(seen.head.contains(line), "{}", seen.head);
        assert!(!seen.head.contains("topsecret") && seen.head.contains(": session\n"));
    }
}

/// The secret of posts stands behind the key, and is not sent.
#[tokio::test]
async fn posts_are_checked_by_the_second_part_of_the_credential() {
    let stand = Stand::always(answer(&json!({})));
    let mut settings = signed(&json!({"by": "bearer"}));
    settings["webhook"] = json!({"by": "hmac", "header": "x-sign"});
    let worker = worker_with_key("http", &stand.url("/v1"), "sk-1234 post-secret", settings);
    let worker = worker.expect("good settings");
    worker.probe().await.expect("well");
    assert!(
        stand.seen()[0]
            .head
            .contains("authorization: Bearer sk-1234\n")
    );
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"post-secret");
    let hash = ring::hmac::sign(&key, b"{}");
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("a digit");
    let digits = hash.as_ref().iter();
    let hex: String = digits
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect();
    let mut post = WebhookRequest {
        body: "{}".into(),
        ..WebhookRequest::default()
    };
    assert!(!worker.verify_webhook(&post).await);
    post.headers.insert("x-sign", hex.parse().expect("a value"));
    assert!(worker.verify_webhook(&post).await);
}
