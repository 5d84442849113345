//! HTTP/1 that two readers could read differently is refused with an envelope, and the connection is closed.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::gateway::{Gateway, Options};
use crate::stopwatch::Stopwatch;

/// What comes back for some bytes until the other side closes.
async fn said(gateway: &Gateway, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    stream.write_all(bytes).await.expect("written");
    let mut text = Vec::new();
    let begun = Stopwatch::start();
    let closed = timeout(Duration::from_secs(40), stream.read_to_end(&mut text)).await;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(
        closed.is_ok() && begun.elapsed() < Duration::from_secs(8),
        "it is not closed: {:?}: {text}",
        String::from_utf8_lossy(bytes)
    );
    text
}

fn assert_refused(text: &str, status: u16, code: &str) {
    assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
    assert!(text.contains(&format!("\"code\":\"{code}\"")), "{text}");
    assert!(text.contains("\"status\":\"FAILED\""), "{text}");
    assert!(text.contains("connection: close"), "{text}");
    assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{text}");
}

#[tokio::test]
async fn heads_that_could_be_read_in_two_ways_are_refused() {
    let gateway = Gateway::spawn().await;
    let smuggled = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    for head in [
        "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "GET /healthz HTTP/1.1\nHost: x\n\n",
        "GET /healthz HTTP/1.1\r\nHost: x\n\r\n",
        "GET /healthz HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
        "GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let text = said(&gateway, format!("{head}{smuggled}").as_bytes()).await;
        assert_refused(&text, 400, "invalid_request");
    }
}

#[tokio::test]
async fn a_refused_head_is_answered_after_the_requests_before_it() {
    let gateway = Gateway::spawn().await;
    let good = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let bad = "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n";
    let text = said(&gateway, format!("{good}{good}{bad}{good}").as_bytes()).await;
    let answers = text.split("HTTP/1.1 ").skip(1);
    let statuses: Vec<&str> = answers.map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "200", "400"], "{text}");
}

#[tokio::test]
async fn chunked_bodies_are_read_and_broken_ones_are_not() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let head = format!(
        "POST /artgen/v1/promptCheck HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        caller.key
    );
    let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let body = "9\r\n{\"prompt\"\r\n8;x=y\r\n:\"lake\"}\r\n0\r\nTrailer: z\r\n\r\n";
    let text = said(&gateway, format!("{head}{body}{last}").as_bytes()).await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 2, "{text}");
    for broken in [
        "9\n{\"prompt\"\n",
        "9\r\n{\"prompt\" x\r\n",
        "-1\r\n",
        "fffffffff\r\n",
        "\r\n",
    ] {
        let text = said(&gateway, format!("{head}{broken}{last}").as_bytes()).await;
        assert!(!text.contains("HTTP/1.1 200"), "{broken:?}: {text}");
        assert!(
            text.is_empty() || text.starts_with("HTTP/1.1 400"),
            "{broken:?}: {text}"
        );
    }
}

#[tokio::test]
async fn long_targets_and_long_heads_have_their_own_status() {
    let gateway = Gateway::spawn().await;
    for length in [9_000, 70_000] {
        let long = "a".repeat(length);
        let text = said(
            &gateway,
            format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes(),
        )
        .await;
        assert_refused(&text, 414, "target_too_long");
    }
    let long = "a".repeat(70_000);
    let text = said(
        &gateway,
        format!("GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n").as_bytes(),
    )
    .await;
    assert_refused(&text, 431, "head_too_large");
}

/// Whether an answer has come with all of its body.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.expect("a length").parse().expect("a number");
    body.len() >= length
}

#[tokio::test]
async fn a_slow_head_is_told_so() {
    let gateway = Options::default()
        .set("LIMITS_HEADER_TIMEOUT_S", "4")
        .spawn()
        .await;
    let text = said(&gateway, b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ").await;
    assert_refused(&text, 408, "request_timeout");
    // Also after requests that were answered.
    let mut stream = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    let whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(whole).await.expect("written");
    let mut text = Vec::new();
    while !is_whole(&text) {
        let more = timeout(Duration::from_secs(40), stream.read_buf(&mut text)).await;
        let more = more.expect("an answer").expect("bytes");
        assert!(more > 0, "{}", String::from_utf8_lossy(&text));
    }
    stream.write_all(&whole[..20]).await.expect("written");
    let closed = timeout(Duration::from_secs(40), stream.read_to_end(&mut text)).await;
    assert!(closed.is_ok());
    let text = String::from_utf8_lossy(&text);
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert!(text.contains("HTTP/1.1 408"), "{text}");
}
