//! Changed forms and changed heads over a socket: every answer is one of ours, nothing fails inside, the process lives.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::gateway::{Gateway, Options};
use crate::inputs::Inputs;

/// Sends bytes and reads until the other side has nothing more to say.
async fn told(gateway: &Gateway, bytes: &[u8]) -> Vec<u8> {
    let mut stream = sent(gateway, bytes).await;
    let _ = stream.shutdown().await;
    answer(stream).await
}

async fn sent(gateway: &Gateway, bytes: &[u8]) -> TcpStream {
    let address = &gateway.addresses[0];
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    // Whoever has refused a head reads no more of it.
    let _ = stream.write_all(bytes).await;
    stream
}

async fn answer(mut stream: TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = timeout(Duration::from_secs(30), read)
        .await
        .expect("an end");
    answer
}

/// Every status line in an answer.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answer);
    let lines = text.split("HTTP/1.1 ").skip(1);
    lines
        .filter_map(|rest| rest.get(..3)?.parse().ok())
        .collect()
}

async fn quick() -> Gateway {
    Options::default()
        .set("LIMITS_CALLS_PER_SECOND", "0")
        .set("LIMITS_SUBMITS_PER_SECOND", "0")
        .set("LIMITS_WRONG_KEYS_PER_MINUTE", "0")
        .set("LIMITS_HEADER_TIMEOUT_S", "2")
        .set("LIMITS_BODY_GRACE_S", "2")
        .spawn()
        .await
}

fn check(answer: &[u8]) {
    for status in statuses(answer) {
        assert!(status < 500 || status == 503, "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn no_head_breaks_the_service() {
    let gateway = quick().await;
    let key = gateway.account(10).await.key;
    let seeds = [
        format!("GET /artgen/v1/info HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\n\r\n"),
        format!("POST /account/v1/quote HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\nContent-Length: 2\r\n\r\n{{}}"),
        format!("POST /account/v1/quote HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {key}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"),
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".into(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0\0\0\u{5}\u{1}\u{4}\0\0\0\u{1}abcde".into(),
        "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nOrigin: https://a\r\nExpect: 100-continue\r\n\r\n".into(),
    ];
    let seeds = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "\r\n",
        "\n",
        "\r",
        "\0",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Host: y\r\n",
        ": ",
        "HTTP/1.0",
        "HTTP/2.0",
        "0\r\n\r\n",
        "ffffffffffffffff\r\n",
        "gzip, chunked",
        " ",
        "\t",
        "?e=1&k=2&s=3",
        "%00",
        "/../",
    ];
    for input in Inputs::new("framing", 150, seeds, &words) {
        check(&told(&gateway, &input).await);
    }
    let health = gateway.get("", "/healthz").await;
    assert_eq!(health.status, 200);
    assert!(
        !gateway.printed().contains("panicked"),
        "{}",
        gateway.printed()
    );
}

#[tokio::test]
async fn no_form_breaks_the_service() {
    let gateway = quick().await;
    let caller = gateway.account(0).await;
    let part = |head: &str, body: &str| {
        format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n")
    };
    let seeds = [
        format!(
            "{}{}--b--\r\n",
            part("name=\"prompt\"", "a fox"),
            part("name=\"image\"; filename=\"a.png\"", "\u{89}PNG\r\n")
        ),
        format!(
            "{}--b--\r\n",
            part(
                "name=\"image[]\"; filename*=utf-8''%e2.png\r\nContent-Type: image/png",
                "x"
            )
        ),
        format!("{}--b--", part("name=\"file\"", "")),
        "--b\r\n\r\n--b--\r\n".into(),
    ];
    let seeds = seeds.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "--b",
        "--b--",
        "\r\n",
        "\r\n\r\n",
        "name=\"",
        "filename=",
        "Content-Type: multipart/mixed; boundary=b",
        "\0",
        "Content-Transfer-Encoding: base64\r\n",
        ";",
        "\"",
        "\\",
    ];
    for (number, input) in Inputs::new("multipart", 150, seeds, &words).enumerate() {
        let path = ["/v1/images/edits", "/files/v1", "/v1/videos"][number % 3];
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nSVC-API-KEY: {}\r\n\
             Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n",
            caller.key,
            input.len()
        );
        // Whoever closes its side before the answer is taken to have gone away, so this one waits.
        let stream = sent(&gateway, &[head.as_bytes(), &input].concat()).await;
        let answer = answer(stream).await;
        assert!(!statuses(&answer).is_empty(), "{path}: no answer");
        check(&answer);
    }
    assert!(
        !gateway.printed().contains("panicked"),
        "{}",
        gateway.printed()
    );
}
