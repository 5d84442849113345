//! Connections that take without giving are closed; the others do not notice.

use std::time::Duration;

use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::gateway::{Gateway, Options, send};
use crate::stopwatch::Stopwatch;

async fn connect(gateway: &Gateway) -> TcpStream {
    TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection")
}

/// How long until the other side closes, with what it sent before.
async fn closed(stream: &mut TcpStream, within: Duration) -> (Duration, String) {
    let (start, watch) = (Instant::now(), Stopwatch::start());
    let mut text = Vec::new();
    // A reset is a way to close, too.
    let _ = timeout(Duration::from_mins(2), stream.read_to_end(&mut text))
        .await
        .expect("it closes");
    let counted = watch.elapsed();
    assert!(counted < within, "it closed after {counted:?}");
    (start.elapsed(), String::from_utf8_lossy(&text).into_owned())
}

#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off() {
    let gateway = Options::default()
        .set("LIMITS_HEADER_TIMEOUT_S", "2")
        .spawn()
        .await;
    let mut silent = connect(&gateway).await;
    let mut slow = connect(&gateway).await;
    let start = Stopwatch::start();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        .await
        .expect("written");
    while slow.write_all(b"X").await.is_ok() && start.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(100)).await;
    }
    // The usual limit is ten seconds.
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "the trickle went on for {:?}",
        start.elapsed()
    );
    closed(&mut silent, Duration::from_secs(8)).await;
}

#[tokio::test]
async fn many_half_open_connections_do_not_keep_callers_out() {
    let limits = Options::default()
        .set("LIMITS_CONNECTIONS", "60")
        .set("LIMITS_CONNECTIONS_PER_ADDRESS", "50");
    let gateway = limits.spawn().await;
    let mut crowd = Vec::new();
    for _ in 0..200 {
        let mut stream = connect(&gateway).await;
        let _ = stream
            .write_all(b"POST /artgen/v1/imagine HTTP/1.1\r\n")
            .await;
        crowd.push(stream);
    }
    let client = crate::gateway::client();
    let start = Stopwatch::start();
    let answer = send(client.get(format!("{}/healthz", gateway.base_url))).await;
    assert_eq!(answer.status, 200);
    // Half a head is waited for twice as long.
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_a_while_and_then_closed() {
    let limits = Options::default()
        .set("LIMITS_HEADER_TIMEOUT_S", "4")
        .set("LIMITS_IDLE_TIMEOUT_S", "8");
    let gateway = limits.spawn().await;
    let mut stream = connect(&gateway).await;
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .expect("written");
    let (after, text) = closed(&mut stream, Duration::from_secs(20)).await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    // The limit on heads is shorter, and must not apply while nothing is being sent.
    assert!(after > Duration::from_secs(6), "closed after {after:?}");
}

#[tokio::test]
async fn a_body_that_trickles_in_is_answered_with_408_and_closed() {
    let limits = Options::default().set("LIMITS_BODY_GRACE_S", "1");
    let gateway = limits.spawn().await;
    let caller = gateway.account(10).await;
    let mut stream = connect(&gateway).await;
    let head = format!(
        "POST /facegen/v1/swap HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {}\r\nContent-Length: 5000\r\n\r\n{{",
        caller.key
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let (_, text) = closed(&mut stream, Duration::from_secs(8)).await;
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    assert!(text.contains("\"code\":\"request_timeout\""), "{text}");
}

#[tokio::test]
async fn what_is_no_http_is_answered_with_400_and_closed() {
    let gateway = Gateway::spawn().await;
    let heads = [
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST /artgen/v1/imagine HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "NONSENSE\r\n\r\n",
    ];
    for head in heads {
        let mut stream = connect(&gateway).await;
        stream.write_all(head.as_bytes()).await.expect("written");
        let (_, text) = closed(&mut stream, Duration::from_secs(8)).await;
        assert!(text.starts_with("HTTP/1.1 400"), "{head:?}: {text:?}");
    }
    let many = "X-Header: y\r\n".repeat(200);
    let mut stream = connect(&gateway).await;
    stream
        .write_all(format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n").as_bytes())
        .await
        .expect("written");
    let (_, text) = closed(&mut stream, Duration::from_secs(8)).await;
    assert!(text.starts_with("HTTP/1.1 431"), "{text:?}");
}

#[tokio::test]
async fn a_large_body_is_refused_before_it_is_sent() {
    let gateway = Gateway::spawn().await;
    let caller = gateway.account(10).await;
    let mut stream = connect(&gateway).await;
    let head = format!(
        "POST /facegen/v1/swap HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: {}\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n",
        caller.key
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let (_, text) = closed(&mut stream, Duration::from_secs(8)).await;
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let gateway = Gateway::spawn().await;
    let mut stream = connect(&gateway).await;
    let numbered = (0..300).map(|number| format!("n{number}"));
    let expected: Vec<_> = numbered.chain(["last".to_owned()]).collect();
    let head = |id| format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Request-Id: {id}\r\n");
    let requests: Vec<_> = expected.iter().map(head).collect();
    let requests = requests.join("\r\n") + "Connection: close\r\n\r\n";
    stream
        .write_all(requests.as_bytes())
        .await
        .expect("written");
    let (_, text) = closed(&mut stream, Duration::from_secs(10)).await;
    let ids: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("x-request-id: "))
        .collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn http2_is_spoken_too() {
    let gateway = Gateway::spawn().await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .no_proxy()
        .build()
        .expect("a client");
    let caller = gateway.account(10).await;
    let url = format!("{}/artgen/v1/info", gateway.base_url);
    let calls = (0..50).map(|_| {
        send(
            client
                .request(Method::GET, &url)
                .header("SVC-API-KEY", &caller.key),
        )
    });
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.status, 200);
    }
}

/// What a proxy does: it sends the whole body before it looks for an answer, and calls a line that breaks meanwhile a
/// broken service.
#[tokio::test]
async fn whoever_sends_a_refused_body_to_its_end_gets_the_answer_and_no_reset() {
    let gateway = Gateway::spawn().await;
    let mut stream = connect(&gateway).await;
    let size = 8 * 1024 * 1024;
    let head = format!(
        "POST /artgen/v1/imagine HTTP/1.1\r\nHost: x\r\nSVC-API-KEY: at_wrong\r\nContent-Length: {size}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("the head");
    let piece = vec![b'x'; 64 * 1024];
    for sent in 0..size / piece.len() {
        if let Err(error) = stream.write_all(&piece).await {
            panic!("the line broke after {sent} pieces: {error}");
        }
        sleep(Duration::from_millis(1)).await;
    }
    let (took, text) = closed(&mut stream, Duration::from_secs(8)).await;
    assert!(text.starts_with("HTTP/1.1 401 "), "{text}");
    eprintln!("closed {took:?} after the body");
}
