//! Memory of a service that rests, and of those who only wait. Bounds are generous: the figures are the bench's.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::gateway::{Gateway, Options};

/// Those whose memory is counted.
const LISTENERS: usize = 400;
/// Those who come first, because what the service learns from them is not theirs.
const FIRST: usize = 100;

#[tokio::test]
async fn memory_comes_in_small_pages() {
    let gateway = Gateway::spawn().await;
    let path = format!("/proc/{}/smaps_rollup", gateway.process_id());
    let pages = std::fs::read_to_string(path).expect("the process runs");
    let large = pages
        .lines()
        .find_map(|line| line.strip_prefix("AnonHugePages:"));
    assert_eq!(large.map(str::trim), Some("0 kB"));
}

#[tokio::test]
async fn a_listener_takes_little_memory() {
    let gateway = Options::default()
        .set("LIMITS_CONNECTIONS", "1000")
        .set("LIMITS_CONNECTIONS_PER_ADDRESS", "1000")
        .set("LIMITS_EVENT_STREAMS", "8000")
        .set("LIMITS_CALLS_PER_SECOND", "0")
        .spawn()
        .await;
    let caller = gateway.account(100).await;
    let id = gateway.imagine(&caller.key, "a lake [[stall]]").await;
    let call = format!(
        "GET /jobs/v1/{id}/events HTTP/1.1\r\nhost: x\r\nsvc-api-key: {}\r\n\r\n",
        caller.key
    );
    let mut streams = Vec::new();
    for _ in 0..FIRST {
        streams.push(listen(&gateway, &call).await);
    }
    let before = gateway.status_kib("RssAnon:");
    for _ in 0..LISTENERS {
        streams.push(listen(&gateway, &call).await);
    }
    let each = (gateway.status_kib("RssAnon:") - before) * 1024 / LISTENERS as u64;
    assert!(each < 24_000, "{each} bytes each");
}

/// A connection on which the first event has come.
async fn listen(gateway: &Gateway, call: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&gateway.addresses[0])
        .await
        .expect("a connection");
    stream.write_all(call.as_bytes()).await.expect("written");
    let (mut text, mut piece) = (Vec::new(), [0; 2048]);
    while !text.windows(6).any(|window| window == b"event:") {
        let size = stream.read(&mut piece).await.expect("read");
        assert!(size > 0, "closed: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..size]);
    }
    stream
}
