//! Live callers send odd content types and stringly values; they are understood, and nothing else is.

use reqwest::Method;
use serde_json::json;

use crate::files::png;
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

/// The promise: files under the label that the page of the interface shows are read as the form they are.
#[tokio::test]
async fn a_form_under_the_label_of_json_is_known_by_its_boundary() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(100).await;
    let form = |boundary: &str| {
        let mut body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na red hat\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"size\"\r\n\r\n256x256\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\
             Content-Type: image/png\r\n\r\n"
        )
        .into_bytes();
        body.extend(png(64, 64));
        body.extend(format!("\r\n--{boundary}--\r\n").bytes());
        body
    };
    let ask = async |label: &'static str, pieces: Vec<Vec<u8>>| {
        let stream = futures_util::stream::iter(pieces.into_iter().map(Ok::<_, std::io::Error>));
        let request = gateway
            .request(Method::POST, "/v1/images/edits")
            .header("SVC-API-KEY", &caller.key)
            .header("Content-Type", label);
        send(request.body(reqwest::Body::wrap_stream(stream))).await
    };
    for label in ["application/json", "application-json", "text/plain"] {
        let answer = ask(label, vec![form("----WebKitFormBoundaryx7")]).await;
        assert_eq!(answer.status, 200, "{label}: {}", answer.json);
        assert!(answer.json["data"][0]["url"].is_string(), "{}", answer.json);
    }
    // However it is cut into pieces.
    let pieces = form("b").chunks(3).map(<[u8]>::to_vec).collect();
    let answer = ask("application/json", pieces).await;
    assert_eq!(answer.status, 200, "{}", answer.json);
    for odd in [
        &b"--"[..],
        b"--\r\n",
        b"-- x\r\n\r\n",
        b"--b\r\nnothing else",
    ] {
        let answer = ask("application/json", vec![odd.to_vec()]).await;
        answer.assert_refused(400, "invalid_body");
    }
    let long = format!("--{}\r\n", "b".repeat(71));
    let answer = ask("application/json", vec![long.into_bytes()]).await;
    answer.assert_refused(400, "invalid_body");
    // Where no files are expected, it is what its label says, and that it is not.
    let request = gateway
        .request(Method::POST, "/facegen/v1/swap")
        .header("SVC-API-KEY", &caller.key)
        .header("Content-Type", "application/json");
    let answer = send(request.body(form("b"))).await;
    answer.assert_refused(400, "invalid_body");
}
