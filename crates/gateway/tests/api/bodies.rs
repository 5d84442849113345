//! Live callers send odd content types and stringly values; they are understood, and nothing else is.

use reqwest::Method;
use serde_json::json;

use crate::gateway::{Gateway, send, swap_body};

#[tokio::test]
async fn json_is_read_under_any_json_like_content_type() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let types = [
        "application/json",
        "application-json",
        "text/plain",
        "application/json; charset=utf-8",
        "",
    ];
    for media_type in types {
        let mut request = gateway
            .request(Method::POST, "/facegen/v1/swap")
            .header("SVC-API-KEY", &caller.key);
        if !media_type.is_empty() {
            request = request.header("Content-Type", media_type);
        }
        let answer = send(request.body(swap_body().to_string())).await;
        assert_eq!(answer.status, 200, "{media_type}: {}", answer.json);
    }
}

#[tokio::test]
async fn other_content_types_and_compressed_bodies_are_not_supported() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let wrong = [
        ("Content-Type", "application/xml"),
        ("Content-Type", "multipart/form-data; boundary=x"),
        ("Content-Type", "application/octet-stream"),
        ("Content-Encoding", "gzip"),
        ("Content-Encoding", "br"),
    ];
    for (name, value) in wrong {
        let request = gateway
            .request(Method::POST, "/facegen/v1/swap")
            .header("SVC-API-KEY", &caller.key);
        let answer = send(request.header(name, value).body(swap_body().to_string())).await;
        answer.assert_refused(415, "unsupported_media");
    }
    assert_eq!(gateway.balance(&caller.key).await, (100.0, 0.0));
}

#[tokio::test]
async fn both_spellings_of_the_callback_address_are_read() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    for spelling in ["hookUrl", "hook_url"] {
        let mut body = swap_body();
        body[spelling] = json!("ftp://example.com/");
        let answer = gateway.post(&caller.key, "/facegen/v1/swap", body).await;
        assert_eq!(answer.status, 400, "{spelling}: {}", answer.json);
        let mut body = swap_body();
        body[spelling] = json!(false);
        let answer = gateway.post(&caller.key, "/facegen/v1/swap", body).await;
        assert_eq!(answer.status, 200, "{spelling}: {}", answer.json);
    }
}
